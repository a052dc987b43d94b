//! Usage of a request, as several servers report it.

use serde_json::Value;

use crate::domain::{Request, ToolCall, Usage, tokens};

/// Reads a `usage` object. `None` if it is missing or empty, as some servers send it in every chunk
/// but the last.
pub(super) fn read(usage: &Value) -> Option<Usage> {
    let first = |names: &[&str]| names.iter().find_map(|name| whole(&usage[name]));
    let tokens_in = first(&["prompt_tokens", "input_tokens"]);
    let tokens_out = first(&["completion_tokens", "output_tokens"]);
    let (tokens_in, tokens_out) = (tokens_in.unwrap_or(0), tokens_out.unwrap_or(0));
    if tokens_in == 0 && tokens_out == 0 {
        return None;
    }
    let cached = whole(&usage["prompt_tokens_details"]["cached_tokens"])
        .or_else(|| first(&["prompt_cache_hit_tokens", "cache_read_input_tokens"]));
    Some(Usage {
        tokens_in,
        tokens_out,
        cached: cached.unwrap_or(0),
        estimated: false,
        dollars: dollars(usage["cost"].as_f64()),
    })
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

/// A cost, if it is valid.
pub(super) fn dollars(cost: Option<f64>) -> Option<f64> {
    cost.filter(|cost| cost.is_finite() && *cost >= 0.0)
}

/// Servers in JavaScript and Python may write whole numbers as 12.0.
fn whole(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_f64().filter(|n| *n >= 0.0).map(|n| n as u64))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reads_every_dialect() {
        let openai = json!({"prompt_tokens": 9, "completion_tokens": 4,
            "prompt_tokens_details": {"cached_tokens": 8}});
        let expected = Usage { tokens_in: 9, tokens_out: 4, cached: 8, ..Usage::default() };
        assert_eq!(read(&openai), Some(expected));
        let other = json!({"input_tokens": 9.0, "output_tokens": 4, "prompt_cache_hit_tokens": 8});
        assert_eq!(read(&other), Some(expected));
        let priced = json!({"prompt_tokens": 9, "completion_tokens": 4, "cost": 0.0025});
        assert_eq!(read(&priced).and_then(|usage| usage.dollars), Some(0.0025));
        let nothing = [
            json!(null),
            json!({}),
            json!("x"),
            json!({"prompt_tokens": 0, "completion_tokens": 0}),
            json!({"prompt_tokens": -3}),
        ];
        for usage in nothing {
            assert_eq!(read(&usage), None, "{usage}");
        }
        assert_eq!(dollars(Some(f64::NAN)), None);
        assert_eq!(dollars(Some(-1.0)), None);
    }
}
