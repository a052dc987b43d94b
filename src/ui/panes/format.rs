//! The words for money, weights and counts.

use crate::domain::{CallProgress, ClassedBy, Knobs, State, TaskId, WeightFormat, pairs::Cost};
use crate::symbols::{FELL, ROSE};
use crate::text;

/// The format of weights: as the model sees them; as whole numbers if no model sees them.
pub fn weight_format(knobs: &Knobs) -> WeightFormat {
    match knobs.choice() {
        WeightFormat::None => WeightFormat::Integer,
        format => format,
    }
}

/// The change of a weight as it is shown: an arrow and the difference. Empty without a change; the arrow alone if the
/// change is smaller than the format shows.
pub fn moved(format: WeightFormat, before: f64, after: f64) -> String {
    let arrow = match after - before {
        d if d.abs() < 5e-4 => return String::new(),
        d if d > 0.0 => ROSE,
        _ => FELL,
    };
    let number = |weight: f64| format.show(weight).parse::<f64>().unwrap_or(0.0);
    let shown = number(after) - number(before);
    if shown == 0.0 {
        return arrow.to_owned();
    }
    let places = match format {
        WeightFormat::Per100 => 2,
        WeightFormat::Per10 => 1,
        WeightFormat::None | WeightFormat::Integer | WeightFormat::X10 => 0,
    };
    format!("{arrow}{:.places$}", shown.abs())
}

/// The cost of model calls: `$0.0123`, `$0`, `~$0.0123` by list prices, `≥ $0.0123` where some had no known price,
/// `unknown` without any other.
pub fn dollars(sum: f64, unpriced: u32, listed: bool) -> String {
    let about = if listed { "~" } else { "" };
    match unpriced {
        0 => format!("{about}{}", sum_of_dollars(sum)),
        _ if sum == 0.0 => "$ unknown".to_owned(),
        _ => format!("≥ {about}{}", sum_of_dollars(sum)),
    }
}

/// Formats without needless digits; a sum below the last digit is not shown as 0.
fn sum_of_dollars(sum: f64) -> String {
    match sum {
        0.0 => "$0".to_owned(),
        0.0..0.0001 => "<$0.0001".to_owned(),
        _ => format!("${sum:.4}"),
    }
}

/// Credits in at most five cells: `8`, `2.35`, `123.4`, `12.3k`; `?` for NaN.
pub fn credits(value: f64) -> String {
    let size = value.abs();
    match size {
        _ if !value.is_finite() => "?".to_owned(),
        0.0..1e-9 => "0".to_owned(),
        _ if size < 0.005 => "<0.01".to_owned(),
        _ if (size - size.round()).abs() < 0.005 && size < 9999.5 => format!("{value:.0}"),
        0.0..99.995 => format!("{value:.2}"),
        0.0..999.95 => format!("{value:.1}"),
        0.0..9999.5 => format!("{value:.0}"),
        0.0..999_950.0 => format!("{:.0}k", value / 1e3),
        0.0..1e9 => format!("{:.1}M", value / 1e6),
        _ => format!("{value:.0e}"),
    }
}

/// Credits with their unit: `1 credit`.
pub fn in_credits(value: f64) -> String {
    let text = credits(value);
    let unit = if text == "1" { "credit" } else { "credits" };
    format!("{text} {unit}")
}

/// An expected value, which is mostly below 1.
pub fn worth(value: f64) -> String {
    match value.abs() {
        _ if !value.is_finite() => "?".to_owned(),
        0.0..99.995 => format!("{value:.2}"),
        _ => credits(value),
    }
}

/// The source of a tool's class, in words.
pub fn said(by: ClassedBy) -> &'static str {
    match by {
        ClassedBy::Kept => "classified by a model in an earlier session",
        ClassedBy::Model => "classified by a model",
        ClassedBy::Declared => "declared by the tool",
        ClassedBy::User => "set by you",
    }
}

/// The cost of 1,000 tasks: `$3.01`, `≥ $3.01` where part of it had no known price.
pub fn per_thousand(cost: Cost) -> String {
    let number = |dollars: f64| match dollars {
        _ if dollars > 0.0 && dollars < 0.005 => format!("${dollars:.4}"),
        _ if dollars < 9999.5 => format!("${dollars:.2}"),
        _ => format!("${}", credits(dollars)),
    };
    match cost {
        Cost::Known(dollars) => number(dollars),
        Cost::AtLeast(dollars) => format!("≥ {}", number(dollars)),
        Cost::Unknown => "unknown".to_owned(),
    }
}

/// The progress of a call, with its tool's message: `40 % copying`.
pub fn progress(progress: &CallProgress) -> String {
    let CallProgress { done, total, message } = progress;
    let far = match total.filter(|total| **total > 0.0) {
        Some(total) => format!("{:.0} %", 100.0 * **done / *total),
        None => format!("progress {}", **done),
    };
    format!("{far} {message}").trim_end().to_owned()
}

/// When the client of an MCP server gives up, if nothing keeps it waiting; `held`: in microseconds.
pub fn gives_up(state: &State, task: TaskId, held: u64) -> Option<String> {
    let guest = state.runs.get(&state.run_of(task))?.guest.as_ref()?;
    let patience = guest.patience_ms.filter(|_| guest.is_of_tools())?.saturating_mul(1000);
    Some(match patience.checked_sub(held) {
        Some(left) => format!("its client gives up in {}", text::span(left)),
        None => "its client has given up".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_price_is_never_nothing() {
        assert_eq!(dollars(0.0, 0, false), "$0");
        assert_eq!(dollars(0.0, 3, true), "$ unknown");
        assert_eq!(dollars(0.01234, 1, false), "≥ $0.0123");
        assert_eq!([0, 1].map(|n| dollars(0.01234, n, true)), ["~$0.0123", "≥ ~$0.0123"]);
        assert_eq!(
            [0.0, 0.00002, 0.0001].map(|sum| dollars(sum, 0, false)),
            ["$0", "<$0.0001", "$0.0001"]
        );
        let costs = [Cost::Known(3.009), Cost::AtLeast(12.0), Cost::Known(0.0012), Cost::Unknown];
        assert_eq!(costs.map(per_thousand), ["$3.01", "≥ $12.00", "$0.0012", "unknown"]);
    }

    #[test]
    fn credits_are_short_and_never_nothing_where_something_was_spent() {
        let shown = [0.0, 8.0, 2.346, 0.001, 123.44, 9998.7, 1e15, f64::NAN].map(credits);
        assert_eq!(shown, ["0", "8", "2.35", "<0.01", "123.4", "9999", "1e15", "?"]);
        assert_eq!([12_345.0, 999_999.0, 2.5e8].map(credits), ["12k", "1.0M", "250.0M"]);
        assert_eq!([0.15, 0.0, 1234.5, f64::INFINITY].map(worth), ["0.15", "0.00", "1234", "?"]);
    }

    #[test]
    fn a_difference_is_that_of_the_numbers_shown() {
        use WeightFormat::{Integer, Per100};
        assert_eq!(moved(Integer, 0.304, 0.346), "▲5");
        assert_eq!(moved(Integer, 0.301, 0.302), "▲");
        assert_eq!(moved(Integer, 0.3, 0.3), "");
        assert_eq!(moved(Per100, 0.37, 0.3), "▼0.07");
    }
}
