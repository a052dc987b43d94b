//! Usage of a request, as several servers report it. What is not plausible is unknown: it is counted here instead, and
//! said.

use serde_json::Value;

use crate::domain::{Finite, Request, ToolCall, Usage, tokens};

/// The most tokens that a report of one request may have. No context of a model comes near.
const MOST_TOKENS: u64 = 1_000_000_000;
/// The most US dollars that one request may cost.
const MOST_DOLLARS: f64 = 1_000_000.0;
/// The longest part of a wrong number that a notice repeats, in characters.
const SHOWN: usize = 40;

/// What an endpoint reports.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Report {
    tokens_in: Number<u64>,
    tokens_out: Number<u64>,
    cached: Number<u64>,
    dollars: Number<Finite>,
    /// Fields that are not plausible, with what they were.
    odd: Vec<String>,
}

/// A number of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Number<N> {
    #[default]
    Missing,
    Plausible(N),
    Odd,
}

/// Reads a `usage` object. `None` if it is missing or empty, as some servers send it in every chunk
/// but the last.
pub(super) fn read(usage: &Value) -> Option<Report> {
    let mut report = Report::default();
    let odd = &mut report.odd;
    let whole = |field: &str, value: &Value| (field.to_owned(), whole(value));
    let [in_, out] = [["prompt_tokens", "input_tokens"], ["completion_tokens", "output_tokens"]];
    report.tokens_in = first(in_.map(|field| whole(field, &usage[field])), odd);
    report.tokens_out = first(out.map(|field| whole(field, &usage[field])), odd);
    let is_empty = |number| matches!(number, Number::Missing | Number::Plausible(0));
    if is_empty(report.tokens_in) && is_empty(report.tokens_out) {
        return None;
    }
    let cached = &usage["prompt_tokens_details"]["cached_tokens"];
    report.cached = first(
        [
            whole("prompt_tokens_details.cached_tokens", cached),
            whole("prompt_cache_hit_tokens", &usage["prompt_cache_hit_tokens"]),
            whole("cache_read_input_tokens", &usage["cache_read_input_tokens"]),
        ],
        odd,
    );
    report.dollars = first([("cost".to_owned(), amount(&usage["cost"]))], odd);
    Some(report)
}

/// The cost that LiteLLM reports in a header.
pub(super) fn cost_in_header(text: &str) -> Report {
    let mut report = Report::default();
    let cost = amount(&Value::from(text)).map_err(|_| text.to_owned());
    report.dollars = first([("x-litellm-response-cost".to_owned(), cost)], &mut report.odd);
    report
}

impl Report {
    /// Takes the charge of another report of the same request where this one has none.
    pub fn or_cost(mut self, other: Self) -> Self {
        if self.dollars == Number::Missing {
            self.dollars = other.dollars;
            self.odd.extend(other.odd);
        }
        self
    }

    /// The usage. What is unknown is taken from this local estimate, and marked so.
    pub fn usage(&self, estimate: impl FnOnce() -> Usage) -> Usage {
        let plausible = |number: Number<u64>| match number {
            Number::Plausible(tokens) => Some(tokens),
            Number::Missing => Some(0),
            Number::Odd => None,
        };
        let dollars = match self.dollars {
            Number::Plausible(dollars) => Some(dollars),
            Number::Missing | Number::Odd => None,
        };
        let is_empty = self.tokens_in == Number::Missing && self.tokens_out == Number::Missing;
        let (tokens_in, tokens_out) = (plausible(self.tokens_in), plausible(self.tokens_out));
        let cached = plausible(self.cached).unwrap_or(0);
        match (tokens_in, tokens_out) {
            (Some(tokens_in), Some(tokens_out)) if !is_empty => {
                Usage { tokens_in, tokens_out, cached, estimated: false, dollars }
            }
            _ if is_empty => Usage { dollars, ..estimate() },
            (tokens_in, tokens_out) => {
                let here = estimate();
                let tokens_in = tokens_in.unwrap_or(here.tokens_in);
                let tokens_out = tokens_out.unwrap_or(here.tokens_out);
                Usage { tokens_in, tokens_out, cached, estimated: true, dollars }
            }
        }
    }

    /// What to say of a report that is not plausible; `None` if it is.
    pub fn notice(&self, model: &str, host: &str) -> Option<String> {
        let fields = self.odd.join(", ");
        let has_odd_tokens = [self.tokens_in, self.tokens_out].contains(&Number::Odd);
        let tokens = has_odd_tokens.then_some("tokens are estimated here");
        let cached = (self.cached == Number::Odd).then_some("no tokens count as cached");
        let cost = (self.dollars == Number::Odd).then_some("the cost counts as unknown");
        let done: Vec<_> = tokens.into_iter().chain(cached).chain(cost).collect();
        (!fields.is_empty()).then(|| {
            let done = done.join(", ");
            format!("{host} reported implausible usage of {model}: {fields}; {done}")
        })
    }
}

/// Estimates locally what the endpoint did not report, and marks it so.
pub(super) fn estimate(request: &Request, said: &[&str], calls: &[ToolCall]) -> Usage {
    let called: u64 = calls
        .iter()
        .map(|call| tokens::count(call.tool.as_str()) + tokens::count(&call.arguments.to_string()))
        .sum();
    let said: u64 = said.iter().map(|text| tokens::count(text)).sum();
    Usage::estimate(tokens::count_request(request), said + called)
}

/// The first number of these fields. What is odd before it is noted.
fn first<N: Copy, const FIELDS: usize>(
    fields: [(String, Result<Number<N>, String>); FIELDS],
    odd: &mut Vec<String>,
) -> Number<N> {
    let mut number = Number::Missing;
    for (field, read) in fields {
        match read {
            Ok(Number::Missing | Number::Odd) => {}
            Ok(plausible) => return plausible,
            Err(was) => {
                let was: String = was.chars().take(SHOWN).collect();
                odd.push(format!("{field} {was}"));
                number = Number::Odd;
            }
        }
    }
    number
}

/// A number of tokens. Servers in JavaScript and Python may write whole numbers as 12.0, or as a text.
fn whole(value: &Value) -> Result<Number<u64>, String> {
    let tokens = amount_up_to(value, MOST_TOKENS as f64)?;
    Ok(match tokens {
        Number::Plausible(tokens) => Number::Plausible(*tokens as u64),
        Number::Missing | Number::Odd => Number::Missing,
    })
}

/// A number of dollars.
fn amount(value: &Value) -> Result<Number<Finite>, String> {
    amount_up_to(value, MOST_DOLLARS)
}

fn amount_up_to(value: &Value, most: f64) -> Result<Number<Finite>, String> {
    let number = match value {
        Value::Null => return Ok(Number::Missing),
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    match number {
        Some(number) if (0.0..=most).contains(&number) => Ok(Number::Plausible(number.into())),
        _ => Err(value.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn usage(value: &Value) -> Option<Usage> {
        read(value).map(|report| report.usage(|| Usage::estimate(70, 30)))
    }

    #[test]
    fn reads_every_dialect() {
        let openai = json!({"prompt_tokens": 9, "completion_tokens": 4,
            "prompt_tokens_details": {"cached_tokens": 8}});
        let expected = Usage { tokens_in: 9, tokens_out: 4, cached: 8, ..Usage::default() };
        assert_eq!(usage(&openai), Some(expected));
        let other =
            json!({"input_tokens": 9.0, "output_tokens": "4", "prompt_cache_hit_tokens": 8});
        assert_eq!(usage(&other), Some(expected));
        let priced = json!({"prompt_tokens": 9, "completion_tokens": 4, "cost": 0.0025});
        assert_eq!(usage(&priced).and_then(|usage| usage.dollars), Some(0.0025.into()));
        let nothing = [
            json!(null),
            json!({}),
            json!("x"),
            json!({"prompt_tokens": 0, "completion_tokens": 0}),
        ];
        for value in nothing {
            assert_eq!(usage(&value), None, "{value}");
        }
    }

    #[test]
    fn what_is_not_plausible_is_unknown_and_said() {
        for odd in [
            json!(-1),
            json!(-1.5),
            json!(1_000_000_001),
            json!(u64::MAX),
            json!(1e308),
            json!("many"),
            json!("NaN"),
            json!("inf"),
            json!([3]),
            json!({"tokens": 3}),
            json!(true),
        ] {
            let value = json!({"prompt_tokens": odd, "completion_tokens": 4, "cost": odd});
            let report = read(&value).unwrap();
            let usage = report.usage(|| Usage::estimate(70, 30));
            let expected = Usage { tokens_in: 70, tokens_out: 4, ..Usage::estimate(0, 0) };
            assert_eq!(usage, expected, "{odd}");
            let notice = report.notice("m", "h").unwrap();
            let was = format!("prompt_tokens {odd}, cost {odd}; tokens are estimated here, the");
            assert!(notice.contains(&was), "{notice}");
        }
        let whole = json!({"prompt_tokens": 1_000_000_000, "completion_tokens": null, "cost": 1e6});
        let report = read(&whole).unwrap();
        assert_eq!(report.notice("m", "h"), None);
        let usage = report.usage(Usage::default);
        assert_eq!((usage.tokens_in, usage.dollars), (1_000_000_000, Some(1e6.into())));
    }

    #[test]
    fn a_cost_may_come_in_a_header() {
        let none = Report::default;
        let cost = |text: &str| none().or_cost(cost_in_header(text)).usage(Usage::default).dollars;
        assert_eq!((cost("0.25"), cost("-1"), cost("nan")), (Some(0.25.into()), None, None));
        assert!(cost_in_header("1e308").notice("m", "h").unwrap().contains("cost 1e308"));
        let own = read(&json!({"prompt_tokens": 1, "cost": 2})).unwrap();
        let usage = own.or_cost(cost_in_header("7")).usage(Usage::default);
        assert_eq!(usage.dollars, Some(2.0.into()));
    }
}
