//! Comparison of combinations by a measure: the one that is right most often, and how much others differ.

use super::result::{CellResult, SeedResult};
use crate::papers::noise::{Difference, clear};

/// The value of one session that a verdict compares.
pub type Measure<'m> = &'m dyn Fn(&SeedResult) -> f64;

/// The reason why a comparison over a single seed has no verdict.
pub const ONE_SEED: &str = "one seed is not judged; compare several with --seeds 0..4";

/// Percent.
pub const RIGHT: (&str, Measure<'_>) =
    ("right", &|seed: &SeedResult| 100.0 * seed.numbers.quality.accuracy.unwrap_or(0.0));

/// A line on the rows that are right most often; none for a single row.
pub fn of_rows(results: &[CellResult]) -> Vec<String> {
    let Some(top) = best(RIGHT, results.iter()).filter(|_| results.len() > 1) else {
        return Vec::new();
    };
    let others: Vec<_> =
        results.iter().filter(|result| result.cell.name != top.cell.name).collect();
    let all: Vec<_> = others.iter().map(|other| difference(RIGHT.1, other, top)).collect();
    let by = format!("over {} seeds", top.seeds.len());
    if !all.iter().all(|difference| difference.is_judged()) {
        return vec![format!("Right: {ONE_SEED}")];
    }
    let (mut behind, mut as_good) = (Vec::new(), Vec::new());
    for ((other, difference), clear) in others.iter().zip(&all).zip(clear(&all)) {
        let name = &other.cell.name;
        match clear {
            true => behind.push(format!("{name} ({difference} points)").replace(" (-", " (−")),
            false => as_good.push(name.clone()),
        }
    }
    let top = &top.cell.name;
    vec![match (behind.is_empty(), as_good.is_empty()) {
        (true, _) => format!("Right: no clear difference {by}"),
        (false, true) => format!("Right: {top} is best {by}; behind: {}", behind.join(", ")),
        (false, false) => format!(
            "Right: {top} leads {by}; not clearly different: {}; behind: {}",
            as_good.join(", "),
            behind.join(", ")
        ),
    }]
}

/// The combination with the largest measure on average.
pub fn best<'r>(
    (_, measure): (&str, Measure<'_>),
    results: impl Iterator<Item = &'r CellResult>,
) -> Option<&'r CellResult> {
    let mean = |result: &CellResult| Difference::over(result.seeds.iter().map(measure)).mean;
    results.max_by(|a, b| mean(a).total_cmp(&mean(b)))
}

/// The measure of `own` less that of `other`, seed by seed.
pub fn difference(measure: Measure<'_>, own: &CellResult, other: &CellResult) -> Difference {
    let pairs = own.seeds.iter().zip(&other.seeds);
    Difference::over(pairs.map(|(own, other)| measure(own) - measure(other)))
}
