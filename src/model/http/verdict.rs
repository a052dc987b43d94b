//! Classifies a refusal as a kind of failure: by its status, its codes and its words.

use reqwest::StatusCode;

use super::{detail::Detail, overflow::is_overflow};
use crate::domain::ModelErrorKind;

/// Codes of accounts that cannot pay. A limit that passes with time has other ones.
const UNPAID: [&str; 10] = [
    "insufficient_quota",
    "insufficient_balance",
    "insufficient_credit",
    "insufficient_funds",
    "billing_hard_limit",
    "billing_not_active",
    "exceeded_current_quota",
    "credits_exhausted",
    "out_of_credit",
    "payment_required",
];
const UNPAID_PHRASES: [&str; 9] = [
    "insufficient balance",
    "insufficient credit",
    "insufficient quota",
    "insufficient funds",
    "insufficient_quota",
    "credit balance is too low",
    "out of credits",
    "billing hard limit",
    "payment required",
];

/// Phrases of refusals of a key, which Gemini and xAI send as a wrong request.
const KEY_PHRASES: [&str; 4] =
    ["api key not valid", "api key expired", "invalid api key", "incorrect api key"];

/// Codes of content filters.
const FILTERS: [&str; 8] = [
    "content_filter",
    "content_policy",
    "responsibleaipolicy",
    "moderation",
    "data_inspection_failed",
    "datainspectionfailed",
    "prohibited_content",
    "guardrail",
];
const FILTER_PHRASES: [&str; 14] = [
    "content management policy",
    "content policy",
    "content filter",
    "content_filter",
    "content exists risk",
    "content violates",
    "inappropriate content",
    "sensitive content",
    "new_sensitive",
    "flagged",
    "high risk",
    "safety system",
    "usage guidelines",
    "usage polic",
];

/// Words of codes and types, and the status that they mean.
const STATUSES: [(&str, u16); 25] = [
    ("rate_limit", 429),
    ("ratelimit", 429),
    ("too_many_requests", 429),
    ("resource_exhausted", 429),
    ("insufficient_quota", 429),
    ("throttl", 429),
    ("overloaded", 529),
    ("unavailable", 503),
    ("server_error", 500),
    ("internal", 500),
    ("timeout", 408),
    ("deadline_exceeded", 408),
    ("unauthenticated", 401),
    ("unauthorized", 401),
    ("authentication", 401),
    ("invalid_api_key", 401),
    ("permission", 403),
    ("not_found", 404),
    ("notfound", 404),
    ("invalid_request", 400),
    ("invalid_argument", 400),
    ("invalidparameter", 400),
    ("badrequest", 400),
    ("bad_request", 400),
    ("content_filter", 400),
];

/// The kind of failure.
pub(super) fn kind(status: StatusCode, detail: &Detail) -> ModelErrorKind {
    use ModelErrorKind::{Auth, ContextOverflow, Filtered, Quota, RateLimited, Refused};
    let by_status = ModelErrorKind::of_status(status.as_u16());
    let text = detail.message.to_lowercase();
    let has = |codes: &[&str], phrases: &[&str]| {
        codes.iter().any(|code| detail.words.contains(code))
            || phrases.iter().any(|phrase| text.contains(phrase))
    };
    let is_client_s = status.is_client_error() || by_status == ModelErrorKind::Endpoint;
    if status == StatusCode::PAYMENT_REQUIRED || is_client_s && has(&UNPAID, &UNPAID_PHRASES) {
        return Quota;
    }
    let is_limited = by_status == RateLimited;
    if by_status != Auth && is_overflow(&detail.words, &detail.message, is_limited) {
        return ContextOverflow;
    }
    match by_status {
        Auth if status != StatusCode::UNAUTHORIZED && has(&FILTERS, &FILTER_PHRASES) => Filtered,
        Refused if has(&["invalid_api_key"], &KEY_PHRASES) => Auth,
        Refused if has(&FILTERS, &FILTER_PHRASES) => Filtered,
        // A filter of a provider behind a router, or in a stream, with any status.
        ModelErrorKind::Endpoint if has(&FILTERS, &[]) => Filtered,
        kind => kind,
    }
}

/// The status that codes and types mean.
pub(super) fn status(words: &str) -> Option<u16> {
    STATUSES.iter().find(|(word, _)| words.contains(word)).map(|(_, status)| *status)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind_of(status: u16, body: &str) -> ModelErrorKind {
        kind(StatusCode::from_u16(status).unwrap(), &Detail::read(body.as_bytes()))
    }

    #[test]
    fn accounts_that_cannot_pay_are_told_from_limits_that_pass() {
        for (status, body) in [
            (
                429,
                r#"{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","code":"insufficient_quota","type":"insufficient_quota"}}"#,
            ),
            (
                429,
                r#"{"error":{"message":"Your account is suspended","type":"exceeded_current_quota_error"}}"#,
            ),
            (
                402,
                r#"{"error":{"message":"This request requires more credits, or fewer max_tokens."}}"#,
            ),
            (402, r#"{"error":{"message":"Prompt tokens limit exceeded: 5000 > 3000."}}"#),
            (402, r#"{"error":{"message":"Insufficient Balance"}}"#),
            (400, r#"{"error":{"message":"Your credit balance is too low to access the API."}}"#),
        ] {
            assert_eq!(kind_of(status, body), ModelErrorKind::Quota, "{body}");
        }
        for (status, body) in [
            (
                429,
                r#"[{"error":{"message":"You exceeded your current quota. Please retry in 44.2s.","status":"RESOURCE_EXHAUSTED"}}]"#,
            ),
            (
                429,
                r#"{"error":{"message":"Tokens per minute limit exceeded","code":"token_quota_exceeded"}}"#,
            ),
            (429, r#"{"error":{"message":"Rate limit reached","code":"rate_limit_exceeded"}}"#),
        ] {
            assert_eq!(kind_of(status, body), ModelErrorKind::RateLimited, "{body}");
        }
    }

    #[test]
    fn filters_are_told_from_wrong_requests_and_wrong_keys() {
        for (status, body) in [
            (
                400,
                r#"{"error":{"message":"x","code":"content_filter","innererror":{"code":"ResponsibleAIPolicyViolation"}}}"#,
            ),
            (
                400,
                r#"{"error":{"message":"x","code":null,"innererror":{"code":"ResponsibleAIPolicyViolation"}}}"#,
            ),
            (400, r#"{"error":{"message":"Content Exists Risk","code":"invalid_request_error"}}"#),
            (
                400,
                r#"{"error":{"message":"The request was rejected because it was considered high risk","type":"content_filter"}}"#,
            ),
            (
                400,
                r#"{"error":{"code":"data_inspection_failed","message":"Input data may contain inappropriate content."}}"#,
            ),
            (
                403,
                r#"{"error":{"message":"Your chosen model requires moderation and your input was flagged for \"violence\"","code":403}}"#,
            ),
            (403, r#"{"error":"Content violates usage guidelines."}"#),
        ] {
            assert_eq!(kind_of(status, body), ModelErrorKind::Filtered, "{body}");
        }
        for (status, body, kind) in [
            (400, r#"{"error":{"message":"Invalid schema"}}"#, ModelErrorKind::Refused),
            (
                400,
                r#"{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}"#,
                ModelErrorKind::Auth,
            ),
            (401, r#"{"error":{"message":"Your key was flagged"}}"#, ModelErrorKind::Auth),
            (403, r#"{"error":{"message":"Forbidden"}}"#, ModelErrorKind::Auth),
            (500, r#"{"error":{"message":"flagged"}}"#, ModelErrorKind::Endpoint),
        ] {
            assert_eq!(kind_of(status, body), kind, "{body}");
        }
    }
}
