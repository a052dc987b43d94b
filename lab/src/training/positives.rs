//! Precision and recall of rare events. Two tokens of a hundred start a call, so a judge that never
//! fires has an accuracy of 98 %.

use serde::Serialize;

/// Counts of one kind of event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Positives {
    /// Events that were predicted.
    pub found: u64,
    /// Predictions without an event.
    pub wrong: u64,
    /// Events that were not predicted.
    pub missed: u64,
}

impl Positives {
    /// Counts pairs of prediction and truth.
    pub fn of(pairs: impl IntoIterator<Item = (bool, bool)>) -> Self {
        let mut counts = Self::default();
        for pair in pairs {
            match pair {
                (true, true) => counts.found += 1,
                (true, false) => counts.wrong += 1,
                (false, true) => counts.missed += 1,
                (false, false) => {}
            }
        }
        counts
    }

    /// Share of the predictions that are right, 0 to 1; 0 if there are none.
    pub fn precision(self) -> f64 {
        share(self.found, self.found + self.wrong)
    }

    /// Share of the events that are found, 0 to 1; 0 if there are none.
    pub fn recall(self) -> f64 {
        share(self.found, self.found + self.missed)
    }

    /// The harmonic mean of both, 0 to 1.
    pub fn f1(self) -> f64 {
        share(2 * self.found, 2 * self.found + self.wrong + self.missed)
    }
}

fn share(part: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { part as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_three_follow_from_the_counts() {
        let pairs = [(true, true), (true, true), (true, false), (false, true), (false, false)];
        let counts = Positives::of(pairs);
        assert_eq!(counts, Positives { found: 2, wrong: 1, missed: 1 });
        assert_eq!((counts.precision(), counts.recall()), (2.0 / 3.0, 2.0 / 3.0));
        assert!((counts.f1() - 2.0 / 3.0).abs() < 1e-15);
        let silent = Positives::of([(false, true)]);
        assert_eq!((silent.precision(), silent.recall(), silent.f1()), (0.0, 0.0, 0.0));
    }
}
