//! Prices in credits, the unit of a budget: model tokens, tool calls and time. An unknown price
//! counts as a configured fallback, never as 0: a budget that ignores unknown costs is not kept.

use crate::finite::Finite;
use serde::{Deserialize, Serialize};

/// The exchange rates.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rates {
    /// Credits for one US dollar, at least 0; at 100 a credit is a US cent. At 0 a budget does not count
    /// what models cost.
    pub credits_per_dollar: Finite,
    /// Credits for one second of waiting, at least 0. Unless it is 0, the cost of a run depends on
    /// its speed, and no run repeats another exactly.
    pub credits_per_second: Finite,
    /// Credits counted for one call of a model with an unknown price, above 0.
    pub unknown_ask: Finite,
    /// Credits counted for one call of a tool without a declared cost, above 0.
    pub unknown_tool: Finite,
}

impl Default for Rates {
    fn default() -> Self {
        Self {
            credits_per_dollar: 100.0.into(),
            credits_per_second: 0.0.into(),
            unknown_ask: 1.0.into(),
            unknown_tool: 1.0.into(),
        }
    }
}

impl Rates {
    /// Credits of one model call at this price in US dollars. A negative price counts as unknown. If `credits_per_dollar` is 0, unknown prices are 0 too.
    pub fn model(&self, dollars: Option<Finite>) -> f64 {
        if self.credits_per_dollar == 0.0 {
            return 0.0;
        }
        amount(dollars).map_or(*self.unknown_ask, |dollars| dollars * self.credits_per_dollar)
    }

    /// Credits of one call of a tool that declares this cost. An invalid cost counts as unknown.
    pub fn tool(&self, cost: Option<Finite>) -> f64 {
        amount(cost).unwrap_or(*self.unknown_tool)
    }

    /// Credits for this many microseconds.
    pub fn time(&self, micros: u64) -> f64 {
        micros as f64 / 1e6 * self.credits_per_second
    }
}

/// A valid amount, if it is one.
fn amount(number: Option<Finite>) -> Option<f64> {
    number.map(f64::from).filter(|number| *number >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credit_is_a_cent_and_time_is_free_unless_it_is_said_otherwise() {
        let rates = Rates::default();
        assert_eq!(rates.model(Some(0.25.into())), 25.0);
        assert_eq!(rates.model(Some(0.0.into())), 0.0);
        assert_eq!(rates.time(u64::MAX), 0.0);
        let rates =
            Rates { credits_per_dollar: 1000.0.into(), credits_per_second: 4.0.into(), ..rates };
        assert_eq!((rates.model(Some(0.25.into())), rates.time(1_500_000)), (250.0, 6.0));
    }

    #[test]
    fn the_unknown_is_never_free() {
        let rates = Rates { unknown_ask: 3.0.into(), unknown_tool: 7.0.into(), ..Rates::default() };
        for unknown in [None, Some(-0.5)] {
            assert_eq!(
                (rates.model(unknown.map(Into::into)), rates.tool(unknown.map(Into::into))),
                (3.0, 7.0),
                "{unknown:?}"
            );
        }
        assert_eq!((rates.tool(Some(0.0.into())), rates.tool(Some(2.5.into()))), (0.0, 2.5));
    }

    #[test]
    fn where_dollars_are_not_counted_unknown_ones_are_not_either() {
        let rates = Rates { credits_per_dollar: 0.0.into(), ..Rates::default() };
        assert_eq!((rates.model(Some(5.0.into())), rates.model(None)), (0.0, 0.0));
    }

    #[test]
    fn what_is_left_out_of_a_file_is_at_its_default() {
        let rates: Rates = serde_json::from_str(r#"{"unknown_ask":2}"#).unwrap();
        assert_eq!(rates, Rates { unknown_ask: 2.0.into(), ..Rates::default() });
        let whole = serde_json::to_string(&rates).unwrap();
        assert_eq!(serde_json::from_str::<Rates>(&whole).unwrap(), rates);
    }
}
