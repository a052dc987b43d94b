//! The long runs, shared by two targets: `tests/long` runs them whole, `tests/slow` a part of each.

mod inputs;
mod journals;
#[cfg(target_os = "linux")]
pub mod kills;

/// How many of `whole` cases this target runs.
fn cases(whole: usize) -> usize {
    whole.div_ceil(crate::PART)
}
