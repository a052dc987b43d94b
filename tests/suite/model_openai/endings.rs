//! How answers end: by a reason, by `[DONE]`, by a filter, or by a failure of the server. Field cases 3.3,
//! 3.4 and 3.8.

use std::time::Duration;

use pretty_assertions::assert_eq;
use serde_json::json;
use toolyard::domain::{Finish, ModelErrorKind};
use toolyard::model::{ModelProgress, http::Endpoint};

use super::{DONE, HELLO, STOP, USAGE, ask, delta, endpoint, error, reply, request};
use crate::fake_endpoint::{Fake, Step, json as body, send, stream, stream_head};

#[tokio::test]
async fn an_empty_finish_reason_is_none() {
    // 3.3
    let part = |text: &str| {
        let choice = json!({"index": 0, "delta": {"content": text}, "finish_reason": ""});
        format!("data: {}\n\n", json!({"choices": [choice]}))
    };
    let mut script = vec![stream_head()];
    for text in ["It ", "is ", "sunny."] {
        script.push(send(&part(text)));
        script.push(Step::Wait(Duration::from_millis(300)));
    }
    script.push(send(&format!("data: {STOP}\n\ndata: {USAGE}\n\n")));
    let fake = Fake::start(vec![script]).await;
    let endpoint = Endpoint { silence_timeout: Duration::from_secs(2), ..endpoint(&fake) };
    let reply = ask(endpoint, &request()).await.0.unwrap();
    assert_eq!((reply.text.as_str(), reply.finish), ("It is sunny.", Finish::Stop));
    assert_eq!((reply.usage.tokens_in, reply.usage.estimated), (9, false));
}

#[tokio::test]
async fn a_reason_that_means_failure_is_a_failure() {
    // 3.4
    for reason in ["error", "ERROR", "network_error", "insufficient_system_resource", "abort"] {
        let su = json!({"choices": [{"delta": {"content": "Su"}, "finish_reason": reason}]});
        let failed = error(stream(&[&su.to_string(), DONE])).await;
        assert_eq!((failed.kind, failed.partial.as_str()), (ModelErrorKind::Endpoint, "Su"));
        assert!(failed.text.contains(reason), "{failed}");
    }
    let empty = STOP.replace("stop", "error");
    let fake = Fake::start(vec![stream(&[&empty]), stream(&[HELLO, STOP])]).await;
    let endpoint = Endpoint { max_retries: 1, ..endpoint(&fake) };
    let (reply, seen) = ask(endpoint, &request()).await;
    assert_eq!(reply.unwrap().text, "Hello");
    assert!(matches!(seen[0], ModelProgress::Retrying { attempt: 1, .. }), "{seen:?}");
}

#[tokio::test]
async fn an_error_inside_a_choice_is_that_error() {
    // 3.4
    let inside = json!({"code": 502, "message": "Upstream idle."});
    for choice in [
        json!({"index": 0, "delta": {"content": ""}, "finish_reason": "error", "error": inside}),
        json!({"index": 0, "delta": {"error": inside}}),
    ] {
        let chunk = json!({"choices": [choice]}).to_string();
        let fake = Fake::start(vec![stream(&[&chunk, DONE]), stream(&[HELLO, STOP])]).await;
        let endpoint = Endpoint { max_retries: 1, ..endpoint(&fake) };
        let (reply, seen) = ask(endpoint, &request()).await;
        assert_eq!(reply.unwrap().text, "Hello");
        let ModelProgress::Retrying { why, .. } = &seen[0] else { panic!("{seen:?}") };
        assert!(why.contains("Upstream idle."), "{why}");
    }
    let whole = json!({"choices": [{"message": {"content": null}, "error": inside}]}).to_string();
    let failed = error(body("200 OK", &whole)).await;
    assert_eq!(failed.kind, ModelErrorKind::Endpoint);
    assert!(failed.text.contains("Upstream idle."), "{failed}");
}

#[tokio::test]
async fn done_is_an_end_without_a_reason_and_a_stream_that_breaks_off_is_not() {
    // 3.8
    let call = |arguments: &str| {
        let function = json!({"name": "search", "arguments": arguments});
        delta(json!({"tool_calls": [{"index": 0, "id": "c", "function": function}]}))
    };
    let text = reply(stream(&[HELLO, DONE])).await;
    assert_eq!((text.text.as_str(), text.finish), ("Hello", Finish::Stop));
    let called = reply(stream(&[&call("{\"q\": 1}"), DONE])).await;
    assert_eq!((called.calls.len(), called.finish), (1, Finish::Calls));
    let last = vec![stream_head(), send(&format!("data: {HELLO}\n\ndata: [DONE]"))];
    assert_eq!(reply(last).await.text, "Hello");
    let mut open = vec![stream_head(), send(&format!("data: {HELLO}\n\ndata: [DONE]\n"))];
    open.push(Step::Hang);
    assert_eq!(reply(open).await.text, "Hello");
    for script in [
        stream(&[HELLO]),
        stream(&[&call("{\"q\": ")]),
        stream(&[&call("{\"q\": "), DONE]),
        stream(&[&delta(json!({"content": ""})), DONE]),
        stream(&[DONE]),
        stream(&[]),
    ] {
        let error = error(script).await;
        assert_eq!(error.kind, ModelErrorKind::BadAnswer, "{error}");
    }
}

#[tokio::test]
async fn capitals_in_a_finish_reason_are_read() {
    // 3.8
    let end = r#"{"choices":[{"index":0,"delta":{},"finishReason":"stop"}]}"#;
    assert_eq!(reply(stream(&[HELLO, end])).await.finish, Finish::Stop);
}

#[tokio::test]
async fn a_filter_that_ends_an_answer_is_no_refusal_of_the_model() {
    // 3.4
    for reason in ["content_filter", "SAFETY", "sensitive"] {
        let reply = reply(stream(&[HELLO, &STOP.replace("stop", reason)])).await;
        assert_eq!((reply.text.as_str(), reply.finish), ("Hello", Finish::Filtered), "{reason}");
    }
}
