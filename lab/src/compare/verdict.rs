//! Whether a claim of a paper holds in a comparison.

use crate::app::compare::result::{CellResult, SeedResult};
use crate::app::compare::verdict::{Measure, ONE_SEED, difference};
use crate::papers::noise::{Difference, clear};

/// Results that a verdict compares, each with another one.
type Pairs<'p, 'r> = &'p [(&'r CellResult, &'r CellResult)];

pub const TOKENS: (&str, Measure<'_>) = ("tokens", &|seed: &SeedResult| {
    seed.numbers.quality.tokens_in + seed.numbers.quality.tokens_out
});

pub fn held(is_so: bool, else_why: impl FnOnce() -> String) -> Result<(), String> {
    if is_so { Ok(()) } else { Err(else_why()) }
}

/// Whether a measure is clearly larger in the first one of each pair.
pub fn more(of: (&str, Measure<'_>), pairs: Pairs<'_, '_>) -> Result<(), String> {
    each(of, pairs, |difference, clear| clear && difference > 0.0)
}

/// Whether a measure is clearly smaller in the first one of no pair.
pub fn not_less(of: (&str, Measure<'_>), pairs: Pairs<'_, '_>) -> Result<(), String> {
    each(of, pairs, |difference, clear| !clear || difference >= 0.0)
}

/// Whether a measure is clearly smaller in the first one of each pair.
pub fn less(of: (&str, Measure<'_>), pairs: Pairs<'_, '_>) -> Result<(), String> {
    each(of, pairs, |difference, clear| clear && difference < 0.0)
}

/// Whether all differences are so, judged together.
fn each(
    (what, measure): (&str, Measure<'_>),
    pairs: Pairs<'_, '_>,
    is_so: impl Fn(f64, bool) -> bool,
) -> Result<(), String> {
    let all: Vec<_> = pairs.iter().map(|(own, other)| difference(measure, own, other)).collect();
    let clear = clear(&all);
    pairs.iter().zip(all).zip(clear).try_for_each(|(((_, other), by), clear)| {
        judged(by)?;
        held(is_so(by.mean, clear), || format!("{what} {by} against {}", other.cell.name))
    })
}

/// Whether a measure falls nowhere along the curve and ends above its start.
pub fn rises(of: (&str, Measure<'_>), curve: &[&CellResult]) -> Result<(), String> {
    let (Some(first), Some(last)) = (curve.first(), curve.last()) else {
        return Err("not compared".to_owned());
    };
    let steps: Vec<_> = curve.windows(2).map(|pair| (pair[1], pair[0])).collect();
    not_less(of, &steps).and(more(of, &[(last, first)]))
}

/// The reason why a difference is not judged, if it is not.
pub fn judged(difference: Difference) -> Result<(), String> {
    held(difference.is_judged(), || ONE_SEED.to_owned())
}

/// The verdict over all loops; `None` if none was compared.
pub fn line(what: &str, claim: &str, judged: &[(&str, Result<(), String>)]) -> Option<String> {
    let held: Vec<_> =
        judged.iter().filter(|(_, held)| held.is_ok()).map(|(name, _)| *name).collect();
    let failed: Vec<_> = judged
        .iter()
        .filter_map(|(name, held)| Some(format!("{name} ({})", held.as_ref().err()?)))
        .collect();
    let verdict = match (held.is_empty(), failed.is_empty()) {
        (true, true) => return None,
        (_, true) if held.len() == 1 => format!("reproduced for {}", held.join(", ")),
        (_, true) => format!("reproduced for all of {}", held.join(", ")),
        (true, _) => format!("not reproduced for {}", failed.join(", ")),
        (false, false) => {
            format!("reproduced for {}; not for {}", held.join(", "), failed.join(", "))
        }
    };
    Some(format!("{what} ({claim}): {verdict}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_names_where_a_claim_fails_and_why() {
        let judged =
            [("react", Ok(())), ("dfsdt", Err("PBC -25.0 ± 1.0 against react".to_owned()))];
        let said = line("Table 2", "more is solved", &judged).unwrap();
        let right = "Table 2 (more is solved): reproduced for react; not for dfsdt (PBC -25.0 ± 1.0 against react)";
        assert_eq!(said, right);
        assert_eq!(line("Table 2", "", &[]), None);
    }
}
