//! Why an answer ended, in the words of many servers.

use serde_json::Value;

use crate::domain::Finish;
use crate::field::field;

/// Finish reasons for a limit of tokens.
const LENGTHS: [&str; 11] = [
    "length",
    "max_tokens",
    "max_length",
    "max_output_tokens",
    "max_new_tokens",
    "model_length",
    "token_limit",
    "context_length_exceeded",
    "model_context_window_exceeded",
    "error_limit",
    "repetition_truncation",
];
/// Finish reasons for a filter of the endpoint.
const FILTERS: [&str; 12] = [
    "content_filter",
    "content_filtered",
    "safety",
    "recitation",
    "prohibited_content",
    "blocklist",
    "spii",
    "sensitive",
    "guardrail_intervened",
    "blocked",
    "error_toxic",
    "image_safety",
];
/// Finish reasons for a server failure during the answer. Zhipu, DeepSeek, vLLM and Gemini have their own.
const FAILURES: [&str; 10] = [
    "error",
    "server_error",
    "internal_error",
    "network_error",
    "insufficient_system_resource",
    "abort",
    "cancelled",
    "canceled",
    "timeout",
    "malformed_function_call",
];
/// Finish reasons for a regular end.
const STOPS: [&str; 8] = [
    "stop",
    "eos",
    "end_turn",
    "stop_sequence",
    "eos_token",
    "tool_calls",
    "function_call",
    "tool_use",
];

/// The finish reason of a choice; an empty one counts as missing.
pub(crate) fn reason(choice: &Value) -> Option<&str> {
    let reason = field(choice, "finish_reason").as_str()?.trim();
    // Some servers write null as a text.
    let is_none = reason.is_empty() || ["null", "none"].contains(&lower(reason).as_str());
    (!is_none).then_some(reason)
}

/// Whether this finish reason means that the server failed.
pub(crate) fn is_failure(reason: &str) -> bool {
    let lower = lower(reason);
    FAILURES.contains(&lower.as_str()) || lower.ends_with("malformed_function_call")
}

/// How an answer with this finish reason ended.
pub(crate) fn finish(reason: &str, has_calls: bool) -> Finish {
    match lower(reason).as_str() {
        lower if LENGTHS.contains(&lower) => Finish::Length,
        lower if FILTERS.contains(&lower) => Finish::Filtered,
        // Observed: calls that end with "stop", and "tool_calls" without a call.
        _ if has_calls => Finish::Calls,
        lower if STOPS.contains(&lower) => Finish::Stop,
        "refusal" => Finish::Refused,
        _ => Finish::Other(reason.chars().take(64).collect()),
    }
}

/// The text in lower case: some servers pass on the names of another API.
fn lower(reason: &str) -> String {
    reason.trim().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_empty_reason_is_none() {
        for none in [json!(""), json!(" "), json!(null), json!("null"), json!("None"), json!(1)] {
            assert_eq!(reason(&json!({"finish_reason": none})), None, "{none}");
        }
        assert_eq!(reason(&json!({"finish_reason": "stop"})), Some("stop"));
        assert_eq!(reason(&json!({"finishReason": "stop"})), Some("stop"));
    }

    #[test]
    fn the_words_of_many_servers_are_understood() {
        for (reason, expected) in [
            ("stop", Finish::Stop),
            ("STOP", Finish::Stop),
            ("length", Finish::Length),
            ("MAX_TOKENS", Finish::Length),
            ("content_filter", Finish::Filtered),
            ("SAFETY", Finish::Filtered),
            ("blocked", Finish::Filtered),
            ("ERROR_TOXIC", Finish::Filtered),
            ("repetition_truncation", Finish::Length),
            ("refusal", Finish::Refused),
            ("odd", Finish::Other("odd".into())),
        ] {
            assert_eq!(finish(reason, false), expected, "{reason}");
            assert!(!is_failure(reason), "{reason}");
        }
        assert_eq!(finish("odd", true), Finish::Calls);
        for reason in [
            "error",
            "abort",
            "network_error",
            "cancelled",
            "timeout",
            "function_call_filter: MALFORMED_FUNCTION_CALL",
        ] {
            assert!(is_failure(reason), "{reason}");
        }
    }
}
