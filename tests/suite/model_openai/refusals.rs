//! Refusals in the words of many servers, and the waits that they ask for. Field cases 7.1 to 7.4.

use std::time::Duration;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use toolyard::domain::ModelErrorKind as Kind;
use toolyard::model::{ModelProgress, http::Endpoint};

use super::{HELLO, STOP, ask, endpoint, error, request};
use crate::fake_endpoint::{Fake, Script, json as body, response, stream};

/// What comes of a refusal that is followed by an answer: the kind of failure if there is no retry, and
/// the waits.
async fn tried(script: Script) -> (Option<Kind>, Vec<Duration>) {
    let fake = Fake::start(vec![script, stream(&[HELLO, STOP])]).await;
    let endpoint = Endpoint { max_retries: 1, ..endpoint(&fake) };
    let (reply, seen) = ask(endpoint, &request()).await;
    let waits = seen.iter().filter_map(|news| match news {
        ModelProgress::Retrying { wait, .. } => Some(*wait),
        ModelProgress::Text(_)
        | ModelProgress::Reasoning(_)
        | ModelProgress::Noticed(_)
        | ModelProgress::Sent(_)
        | ModelProgress::Answered(_) => None,
    });
    (reply.err().map(|error| error.kind), waits.collect())
}

fn refused(status: &str, document: &Value) -> Script {
    body(status, &document.to_string())
}

#[tokio::test]
async fn prompts_that_are_too_long_are_told_by_any_server_s_words() {
    // 7.1
    let bad = "400 Bad Request";
    let error_in = |text: &str| json!({"error": {"message": text, "type": "invalid_request_error", "code": null}});
    let cases = [
        (
            bad,
            error_in(
                "input length and `max_tokens` exceed context limit: 198000 + 8192 > 200000, decrease input length or `max_tokens` and try again",
            ),
        ),
        (
            "422 Unprocessable Entity",
            json!({"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 20 `max_new_tokens`", "error_type": "validation"}),
        ),
        (
            bad,
            json!([{"error": {"code": 400, "message": "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", "status": "INVALID_ARGUMENT"}}]),
        ),
        (bad, json!({"message": "Input is too long for requested model."})),
        (
            bad,
            error_in(
                "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
            ),
        ),
        (
            bad,
            json!({"object": "error", "message": "The input (40001 tokens) is longer than the model's context length (32768 tokens).", "code": 400}),
        ),
        (bad, error_in("prompt too long; exceeded max context length by 153 tokens")),
        (
            bad,
            json!({"message": "too many tokens: total number of tokens in the prompt cannot exceed 128000 - received 130001."}),
        ),
        (bad, error_in("invalid params, context window exceeds limit (2013)")),
        (
            bad,
            json!({"error": "Trying to keep the first 5200 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"}),
        ),
        (
            "413 Payload Too Large",
            json!({"error": {"code": "tokens_limit_reached", "message": "Request body too large for gpt-4o model. Max size: 8000 tokens."}}),
        ),
    ];
    for (status, document) in cases {
        let error = error(refused(status, &document)).await;
        assert_eq!(error.kind, Kind::ContextOverflow, "{error}");
        assert!(error.text.contains("Set `context` of this model"), "{error}");
    }
    let minimax = json!({"choices": null, "base_resp": {"status_code": 2013, "status_msg": "invalid params, context window exceeds limit"}});
    assert_eq!(tried(refused("200 OK", &minimax)).await, (Some(Kind::ContextOverflow), Vec::new()));
    let streamed = error_in("This model's maximum context length is 8192 tokens.").to_string();
    assert_eq!(tried(stream(&[&streamed])).await, (Some(Kind::ContextOverflow), Vec::new()));
}

#[tokio::test]
async fn a_limit_of_the_answer_or_of_a_minute_is_no_long_prompt() {
    for (status, text, kind) in [
        (
            "400 Bad Request",
            "max_tokens is too large: 5000. This model supports at most 4096 completion tokens",
            Kind::Refused,
        ),
        (
            "413 Payload Too Large",
            "Request too large for model on tokens per minute (TPM): Limit 6000, Requested 8000",
            Kind::Refused,
        ),
        (
            "429 Too Many Requests",
            "Rate limit reached on tokens per min (TPM): Limit 30000, Used 29000, Requested 4000.",
            Kind::RateLimited,
        ),
    ] {
        let error = error(refused(status, &json!({"error": {"message": text}}))).await;
        assert_eq!(error.kind, kind, "{error}");
    }
}

#[tokio::test]
async fn the_wait_is_found_wherever_a_server_says_it() {
    // 7.2
    let limited = "429 Too Many Requests";
    let ms = Duration::from_millis;
    let info = |delay: &str| json!([{"error": {"code": 429, "message": "Quota exceeded.", "status": "RESOURCE_EXHAUSTED", "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}]}}]);
    let said = |text: &str| json!({"error": {"message": text, "code": "rate_limit_exceeded"}});
    for (document, wait) in [
        (info("0.9s"), ms(900)),
        (said("Rate limit reached. Please try again in 0.8s."), ms(800)),
        (said("Please try again in 700ms."), ms(700)),
    ] {
        assert_eq!(tried(refused(limited, &document)).await, (None, vec![wait]), "{document}");
    }
    for (header, wait) in [
        ("x-ratelimit-reset-requests: 0.7s", ms(700)),
        ("retry-after: 1", ms(1000)),
        ("x-ratelimit-reset-tokens: 650ms", ms(650)),
    ] {
        let script = response(limited, &format!("{header}\r\n"), "");
        assert_eq!(tried(script).await, (None, vec![wait]), "{header}");
    }
    let in_stream = json!({"error": {"code": 429, "message": "Please try again in 0.6s."}});
    assert_eq!(tried(stream(&[&in_stream.to_string()])).await, (None, vec![ms(600)]));
    let (failed, waits) =
        tried(response("500 Internal Server Error", "x-ratelimit-reset-requests: 6s\r\n", ""))
            .await;
    assert_eq!(failed, None);
    assert!(waits[0] < ms(501), "{waits:?}");
    let long = refused(limited, &said("Please retry after 86400 seconds"));
    let error = error(long).await;
    assert!(error.text.contains("It asks to wait 86400 s."), "{error}");
}

#[tokio::test]
async fn an_account_without_credit_is_asked_once() {
    // 7.3
    let quota = json!({"error": {"message": "You exceeded your current quota, please check your plan and billing details.", "type": "insufficient_quota", "code": "insufficient_quota"}});
    let broke = json!({"error": {"message": "Insufficient Balance"}});
    let cases = [
        refused("429 Too Many Requests", &quota),
        response("429 Too Many Requests", "retry-after: 1\r\n", &quota.to_string()),
        refused("402 Payment Required", &broke),
        stream(&[&quota.to_string()]),
        refused(
            "200 OK",
            &json!({"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}),
        ),
    ];
    for script in cases {
        assert_eq!(tried(script).await, (Some(Kind::Quota), Vec::new()));
    }
    let error = error(refused("429 Too Many Requests", &quota)).await;
    assert!(
        error.text.contains("check your plan") && error.text.contains("no quota or credit left"),
        "{error}"
    );
}

#[tokio::test]
async fn errors_in_streams_and_in_successes_are_shown() {
    // 7.4
    let engine = json!({"object": "error", "message": "EngineCore died.", "type": "InternalServerError", "param": null, "code": 500});
    let overloaded = json!({"object": "error", "message": "The model is overloaded.", "code": 503});
    let detail = json!({"detail": "The pod is gone."});
    let nested = json!({"object": "error", "message": {"detail": [{"loc": ["body", "x"], "msg": "Extra inputs are not permitted"}]}, "type": "invalid_request_error"});
    for (script, kind, phrase) in [
        (stream(&[&engine.to_string()]), Kind::Endpoint, "EngineCore died."),
        (stream(&[HELLO, &engine.to_string()]), Kind::Endpoint, "EngineCore died."),
        (refused("200 OK", &overloaded), Kind::Endpoint, "The model is overloaded."),
        (refused("200 OK", &detail), Kind::Endpoint, "The pod is gone."),
        (stream(&[&detail.to_string()]), Kind::Endpoint, "The pod is gone."),
        (
            refused("422 Unprocessable Entity", &nested),
            Kind::Refused,
            r#"["body","x"]: Extra inputs are not permitted"#,
        ),
        (
            refused("400 Bad Request", &json!({"odd": "its own words"})),
            Kind::Refused,
            "its own words",
        ),
    ] {
        let error = error(script).await;
        assert_eq!(error.kind, kind, "{error}");
        assert!(error.text.contains(phrase) && !error.text.contains("`url`"), "{error}");
    }
    assert_eq!(tried(refused("200 OK", &overloaded)).await.0, None, "it is tried again");
}

#[tokio::test]
async fn an_answer_without_choices_raises_no_doubt_about_the_address() {
    // 7.4
    for document in
        [json!({"choices": null, "usage": null}), json!({"choices": []}), json!({"choices": [{}]})]
    {
        let error = error(refused("200 OK", &document)).await;
        assert_eq!(error.kind, Kind::BadAnswer);
        let says = error.text.contains("no choices") || error.text.contains("has no message");
        assert!(says && !error.text.contains("`url`"), "{error}");
    }
}

#[tokio::test]
async fn a_filter_that_refuses_a_request_is_told_apart() {
    // 7.5
    for (status, document) in [
        (
            "400 Bad Request",
            json!({"error": {"message": "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.", "code": "content_filter", "status": 400}}),
        ),
        (
            "400 Bad Request",
            json!({"error": {"message": "Content Exists Risk", "type": "invalid_request_error"}}),
        ),
        (
            "403 Forbidden",
            json!({"error": {"message": "requires moderation on OpenAI. Your input was flagged", "code": 403}}),
        ),
    ] {
        assert_eq!(tried(refused(status, &document)).await, (Some(Kind::Filtered), Vec::new()));
    }
}
