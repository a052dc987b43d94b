//! The long runs, shared by two targets: `tests/long` runs them whole, `tests/slow` a part of each.

#[cfg(target_os = "linux")]
mod doors;
mod inputs;
mod journals;
#[cfg(target_os = "linux")]
pub mod kills;
#[cfg(all(target_os = "linux", feature = "nats"))]
mod machines;
#[cfg(target_os = "linux")]
mod relays;

/// How many of `whole` cases this target runs. `TOOLYARD_PART=10` runs a tenth of each instead.
fn cases(whole: usize) -> usize {
    let said = std::env::var("TOOLYARD_PART").ok().and_then(|text| text.parse().ok());
    whole.div_ceil(said.unwrap_or(crate::PART))
}
