//! Usage of a request, as several servers report it. Implausible numbers count as unknown: they are estimated here
//! instead, and a notice says so.

use serde_json::Value;

use super::field::field;
use crate::domain::{Finite, Request, ToolCall, Usage, tokens};

/// The most tokens that a report of one request may have; no model's context comes near.
const MOST_TOKENS: u64 = 1_000_000_000;
/// The most US dollars that one request may cost.
const MOST_DOLLARS: f64 = 1_000_000.0;
/// The longest part of a wrong number that a notice repeats, in characters.
const SHOWN: usize = 40;

/// Usage and cost of a request, as its endpoint reports them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    tokens_in: Number<u64>,
    tokens_out: Number<u64>,
    cached: Number<u64>,
    /// Input that the endpoint has put into its cache.
    written: u64,
    dollars: Number<Finite>,
    /// Fields that are not plausible, with their values.
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
pub fn read(usage: &Value) -> Option<Report> {
    let mut report = Report::default();
    let odd = &mut report.odd;
    let mut number = |fields: &[&str]| {
        let fields = fields.iter().map(|path| ((*path).to_owned(), whole(at(usage, path))));
        first(fields, odd)
    };
    report.tokens_in = number(&["prompt_tokens", "input_tokens"]);
    report.tokens_out = number(&["completion_tokens", "output_tokens"]);
    let is_empty = |number| matches!(number, Number::Missing | Number::Plausible(0));
    if is_empty(report.tokens_in) && is_empty(report.tokens_out) {
        return None;
    }
    report.cached = number(&[
        "prompt_tokens_details.cached_tokens",
        "input_tokens_details.cached_tokens",
        "prompt_cache_hit_tokens",
        "cache_read_input_tokens",
        "cached_tokens",
    ]);
    // These only help to interpret the others, so odd values are ignored.
    let plain = |path: &str| match whole(at(usage, path)) {
        Ok(Number::Plausible(tokens)) => Some(tokens),
        Ok(Number::Missing | Number::Odd) | Err(_) => None,
    };
    let reasoned = ["completion_tokens_details", "output_tokens_details"]
        .iter()
        .find_map(|details| plain(&format!("{details}.reasoning_tokens")))
        .or_else(|| plain("reasoning_tokens"));
    let written = plain("cache_creation_input_tokens");
    report.written = written.unwrap_or(0);
    let has_cache = plain("cache_read_input_tokens").or(written).is_some();
    let is_cache_beside = has_cache && field(usage, "prompt_tokens").is_null();
    let hints = Hints { total: plain("total_tokens"), reasoned, is_cache_beside };
    // OpenRouter charges nothing for a request with a person's own key: the provider does.
    let upstream = "cost_details.upstream_inference_cost";
    let is_upstream = usage["is_byok"] == true;
    let costs = is_upstream.then_some(upstream).into_iter().chain(["cost.total_cost", "cost"]);
    let costs = costs.map(|path| (path.to_owned(), amount(at(usage, path))));
    report.dollars = first(costs, &mut report.odd);
    report.complete(hints.total);
    report.interpret(&hints);
    Some(report)
}

/// The value at a path of fields, in either spelling.
fn at<'a>(usage: &'a Value, path: &str) -> &'a Value {
    path.split('.').fold(usage, |value, name| field(value, name))
}

/// Hints whether cached and reasoned tokens are part of input and output, or are counted separately.
struct Hints {
    total: Option<u64>,
    reasoned: Option<u64>,
    /// Whether the cache's tokens are in Anthropic's fields, whose input does not contain them.
    is_cache_beside: bool,
}

impl Report {
    /// Finds the part that is missing beside a total.
    fn complete(&mut self, total: Option<u64>) {
        let rest = |known| {
            let rest = total.and_then(|total| total.checked_sub(known));
            rest.map_or(Number::Missing, Number::Plausible)
        };
        match (self.tokens_in, self.tokens_out) {
            (Number::Plausible(known), Number::Missing) => self.tokens_out = rest(known),
            (Number::Missing, Number::Plausible(known)) => self.tokens_in = rest(known),
            _ => {}
        }
    }

    /// Makes input and output contain all their parts. The total decides; without one the dialect does, and a part that
    /// is larger than the whole is counted separately.
    fn interpret(&mut self, hints: &Hints) {
        let (Number::Plausible(tokens_in), Number::Plausible(tokens_out)) =
            (self.tokens_in, self.tokens_out)
        else {
            return;
        };
        let cached = if let Number::Plausible(cached) = self.cached { cached } else { 0 };
        let reasoned = hints.reasoned.unwrap_or(0);
        let beside = cached + if hints.is_cache_beside { self.written } else { 0 };
        let by_dialect = (hints.is_cache_beside || cached > tokens_in, reasoned > tokens_out);
        let of = |(is_cache_beside, is_reasoning_beside): (bool, bool)| {
            let more_in = if is_cache_beside { beside } else { 0 };
            let more_out = if is_reasoning_beside { reasoned } else { 0 };
            (tokens_in + more_in, tokens_out + more_out)
        };
        let readings = [by_dialect, (false, false), (true, false), (false, true), (true, true)];
        let is_total =
            |(tokens_in, tokens_out): &(u64, u64)| hints.total == Some(tokens_in + tokens_out);
        let by_total = readings.into_iter().map(of).find(is_total);
        let (tokens_in, mut tokens_out) = by_total.unwrap_or_else(|| of(by_dialect));
        // Gemini leaves its thoughts out of the output and has no details, but a total with them.
        if let (None, None, Some(total)) = (by_total, hints.reasoned, hints.total) {
            tokens_out = tokens_out.max(total.saturating_sub(tokens_in));
        }
        self.tokens_in = Number::Plausible(tokens_in);
        self.tokens_out = Number::Plausible(tokens_out);
    }
}

/// The cost that LiteLLM reports in a header.
pub fn cost_in_header(text: &str) -> Report {
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

    /// The usage. Unknown numbers come from this local estimate, and are marked so.
    pub fn usage(&self, estimate: impl FnOnce() -> Usage) -> Usage {
        let plausible = |number: Number<u64>| match number {
            Number::Plausible(tokens) => Some(tokens),
            Number::Missing | Number::Odd => None,
        };
        let dollars = match self.dollars {
            Number::Plausible(dollars) => Some(dollars),
            Number::Missing | Number::Odd => None,
        };
        let (tokens_in, tokens_out) = (plausible(self.tokens_in), plausible(self.tokens_out));
        let (cached, written) = (plausible(self.cached).unwrap_or(0), self.written);
        if let (Some(tokens_in), Some(tokens_out)) = (tokens_in, tokens_out) {
            return Usage { tokens_in, tokens_out, cached, written, estimated: false, dollars };
        }
        let here = estimate();
        // Endpoints report no output where there is none, as of embeddings.
        let estimated = tokens_in.is_none() || here.tokens_out > 0;
        let tokens_in = tokens_in.unwrap_or(here.tokens_in);
        let tokens_out = tokens_out.unwrap_or(here.tokens_out);
        Usage { tokens_in, tokens_out, cached, written, estimated, dollars }
    }

    /// The notice about a report that is not plausible; `None` if it is plausible.
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
pub fn estimate(request: &Request, said: &[&str], calls: &[ToolCall]) -> Usage {
    let called: u64 = calls
        .iter()
        .map(|call| tokens::count(call.tool.as_str()) + tokens::count(&call.arguments.to_string()))
        .sum();
    let said: u64 = said.iter().map(|text| tokens::count(text)).sum();
    Usage::estimate(tokens::count_request(request), said + called)
}

/// The first plausible number of these fields. Odd values before it are noted.
fn first<N: Copy>(
    fields: impl IntoIterator<Item = (String, Result<Number<N>, String>)>,
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
    fn the_total_decides_what_is_cached_and_reasoned() {
        let kimi = json!({"prompt_tokens": 1000, "completion_tokens": 20, "cached_tokens": 900});
        let beside =
            json!({"input_tokens": 10, "output_tokens": 20, "cache_read_input_tokens": 990});
        let mut summed = beside.clone();
        summed["total_tokens"] = json!(1020);
        let mut contained = beside.clone();
        (contained["input_tokens"], contained["total_tokens"]) = (json!(1000), json!(1020));
        let litellm = json!({"prompt_tokens": 1000, "completion_tokens": 20,
            "cache_read_input_tokens": 990, "cache_creation_input_tokens": 5});
        let written = json!({"input_tokens": 10, "output_tokens": 20,
            "cache_read_input_tokens": 400, "cache_creation_input_tokens": 590});
        let responses = json!({"input_tokens": 1000, "output_tokens": 20,
            "input_tokens_details": {"cached_tokens": 990}});
        let reasoned = |total: Option<u64>, out: u64, reasoned: Option<u64>| {
            json!({"prompt_tokens": 100, "completion_tokens": out, "total_tokens": total,
                "completion_tokens_details": {"reasoning_tokens": reasoned}})
        };
        for (value, expected) in [
            (kimi, (1000, 900, 20)),
            (beside, (1000, 990, 20)),
            (summed, (1000, 990, 20)),
            (contained, (1000, 990, 20)),
            (litellm, (1000, 990, 20)),
            (written, (1000, 400, 20)),
            (responses, (1000, 990, 20)),
            (reasoned(Some(220), 20, Some(100)), (100, 0, 120)),
            (reasoned(Some(120), 20, Some(100)), (100, 0, 20)),
            (reasoned(None, 20, Some(100)), (100, 0, 120)),
            (reasoned(None, 20, Some(10)), (100, 0, 20)),
            (reasoned(Some(220), 20, None), (100, 0, 120)),
            (reasoned(Some(7), 20, None), (100, 0, 20)),
            (json!({"promptTokens": 9, "completionTokens": 4}), (9, 0, 4)),
            (json!({"prompt_tokens": 9, "completion_tokens": null, "total_tokens": 13}), (9, 0, 4)),
            (json!({"output_tokens": 4, "total_tokens": 13}), (9, 0, 4)),
        ] {
            let read = usage(&value).unwrap();
            assert_eq!((read.tokens_in, read.cached, read.tokens_out), expected, "{value}");
            assert!(!read.estimated, "{value}");
        }
    }

    #[test]
    fn a_part_that_is_missing_without_a_total_is_estimated() {
        for value in [json!({"prompt_tokens": 9}), json!({"prompt_tokens": 9, "total_tokens": 8})] {
            let expected = Usage { tokens_in: 9, ..Usage::estimate(70, 30) };
            assert_eq!(usage(&value), Some(expected), "{value}");
            let embedded = read(&value).unwrap().usage(|| Usage::estimate(70, 0));
            assert_eq!(embedded, Usage { tokens_in: 9, ..Usage::default() });
        }
    }

    #[test]
    fn a_cost_may_be_in_parts_or_elsewhere() {
        let cost = |more: Value| {
            let mut value = more;
            (value["prompt_tokens"], value["completion_tokens"]) = (json!(9), json!(4));
            let report = read(&value).unwrap();
            assert_eq!(report.notice("m", "h"), None, "{value}");
            report.usage(Usage::default).dollars
        };
        let upstream = json!({"upstream_inference_cost": 0.019});
        for (value, expected) in [
            (json!({"cost": {"total_cost": 0.008, "request_cost": 0.006}}), Some(0.008)),
            (json!({"cost": 0, "is_byok": true, "cost_details": upstream}), Some(0.019)),
            (json!({"cost": 0.02, "is_byok": false, "cost_details": upstream}), Some(0.02)),
            (json!({"cost": 0.02, "is_byok": true, "cost_details": null}), Some(0.02)),
            (json!({"cost": null}), None),
        ] {
            assert_eq!(cost(value.clone()), expected.map(Into::into), "{value}");
        }
    }

    #[test]
    fn what_was_put_into_the_cache_is_part_of_the_input() {
        let beside =
            json!({"input_tokens": 10, "output_tokens": 1, "cache_creation_input_tokens": 590});
        let inside = json!({"prompt_tokens": 600, "completion_tokens": 1, "cache_creation_input_tokens": 590});
        for value in [beside, inside] {
            let read = usage(&value).unwrap();
            assert_eq!((read.tokens_in, read.cached, read.written), (600, 0, 590), "{value}");
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
