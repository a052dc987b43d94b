//! The one rule for noise in all verdicts: the spread over seeds. A difference counts if it is larger than its standard
//! error.

use std::fmt;

use super::result::{CellResult, SeedResult};

/// The value of one session that a verdict compares.
pub type Measure<'m> = &'m dyn Fn(&SeedResult) -> f64;

/// An average difference over seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    pub mean: f64,
    /// Standard error of the mean; 0 for one seed, whose spread is unknown.
    pub error: f64,
}

impl Difference {
    /// The mean of these differences, one for each seed.
    pub fn over(all: impl Iterator<Item = f64>) -> Self {
        let all: Vec<f64> = all.collect();
        let count = all.len().max(1) as f64;
        let mean = all.iter().sum::<f64>() / count;
        let squares = all.iter().map(|one| (one - mean).powi(2)).sum::<f64>();
        let error = if all.len() < 2 { 0.0 } else { (squares / (count - 1.0) / count).sqrt() };
        Self { mean, error }
    }

    /// The measure of `own` minus that of `other`, seed by seed.
    pub fn of(own: &CellResult, other: &CellResult, measure: Measure<'_>) -> Self {
        let pairs = own.seeds.iter().zip(&other.seeds);
        Self::over(pairs.map(|(own, other)| measure(own) - measure(other)))
    }

    /// Whether the difference is above 0 by more than noise.
    pub fn is_more(self) -> bool {
        self.mean > self.error
    }

    /// Whether the difference is below 0 by more than noise.
    pub fn is_less(self) -> bool {
        -self.mean > self.error
    }
}

/// `-1.2 ± 0.4`, in the unit of the measure.
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = if self.mean.abs() < 100.0 { 1 } else { 0 };
        write!(f, "{:+.places$} ± {:.places$}", self.mean, self.error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_counts_beyond_the_spread_of_seeds() {
        let of = |all: &[f64]| Difference::over(all.iter().copied());
        assert_eq!(of(&[1.0, 3.0]), Difference { mean: 2.0, error: 1.0 });
        assert!(of(&[1.0, 3.0]).is_more() && of(&[-1.0, -3.0]).is_less());
        for noise in [&[-1.0, 2.0][..], &[0.0, 0.0], &[]] {
            assert!(!of(noise).is_more() && !of(noise).is_less(), "{noise:?}");
        }
        assert!(of(&[0.1]).is_more(), "of one seed no spread is known");
        assert_eq!(of(&[1.0, 3.0]).to_string(), "+2.0 ± 1.0");
    }
}
