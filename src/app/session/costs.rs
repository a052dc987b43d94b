//! Tool costs that are drawn instead of declared, as in BTP's experiments (section 3.1), where the
//! cost of a tool is independent of its quality.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::domain::Chance;
use crate::tool::manifest::Manifest;

/// The highest drawn cost of a tool, in credits.
const MOST: u32 = 1_000_000;

/// A range of whole credits, including both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CostRange {
    low: u32,
    high: u32,
}

impl CostRange {
    /// Draws the cost of each tool by the seed and the tool's name alone, so that a tool costs the
    /// same in every compared session, even if other tools differ.
    pub fn draw(self, seed: u64, manifests: &mut [Manifest]) {
        for manifest in manifests {
            let chance =
                Chance::new(seed).with(b"cost").with(manifest.spec.name.as_str().as_bytes());
            let span = f64::from(self.high - self.low) + 1.0;
            // `unit` is below 1, so this is at most `high`.
            let cost = f64::from(self.low) + (chance.unit() * span).floor();
            Arc::make_mut(&mut manifest.spec).cost = Some(cost.into());
        }
    }
}

impl fmt::Display for CostRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.low, self.high)
    }
}

impl FromStr for CostRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.trim().parse().ok().filter(|number| *number <= MOST);
        let ends =
            text.split_once("..").and_then(|(low, high)| Some((number(low)?, number(high)?)));
        match ends {
            Some((low, high)) if low <= high => Ok(Self { low, high }),
            Some(_) | None => Err(format!(
                "expected two whole numbers of credits, the lower one first and none above {MOST}, \
                 such as 1..10"
            )),
        }
    }
}

impl TryFrom<String> for CostRange {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<CostRange> for String {
    fn from(range: CostRange) -> Self {
        range.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_two_whole_numbers_in_order() {
        assert_eq!("1..10".parse(), Ok(CostRange { low: 1, high: 10 }));
        assert_eq!(" 0 .. 0".parse(), Ok(CostRange { low: 0, high: 0 }));
        for wrong in ["", "5", "5..1", "-1..4", "1.5..2", "1...3", "0..1000001", "a..b"] {
            assert!(wrong.parse::<CostRange>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_cost_of_the_range_is_drawn_and_no_other() {
        let mut manifests = crate::stage::Sample::General.manifests().unwrap_or_default();
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..50 {
            CostRange { low: 1, high: 3 }.draw(seed, &mut manifests);
            seen.extend(
                manifests.iter().filter_map(|manifest| manifest.spec.cost).map(|cost| *cost as u32),
            );
        }
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [1, 2, 3]);
    }
}
