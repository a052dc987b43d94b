//! Fields that an endpoint refuses: the request is made again without them, once for a model, and it is said.

use serde_json::{Value, json};
use toolyard::domain::{Message, ModelError, ModelErrorKind, Reply, Request, ToolCall};
use toolyard::model::{Model, ModelProgress, hosted::Hosted, http::Endpoint};

use super::{DONE, HELLO, STOP, endpoint, request};
use crate::fake_endpoint::{Fake, Script, json as body, stream};

fn full() -> Request {
    Request {
        temperature: Some(0.0.into()),
        top_p: Some(0.5.into()),
        seed: Some(7),
        max_tokens: Some(64),
        stop: vec!["\nObservation:".into()],
        schema: Some(json!({"type": "object"})),
        ..request()
    }
}

fn hello() -> Script {
    stream(&[HELLO, STOP, DONE])
}

fn refusal(message: &str, param: &Value) -> Script {
    let error = json!({"error": {"message": message, "type": "invalid_request_error",
        "param": param, "code": "unsupported_value"}});
    body("400 Bad Request", &error.to_string())
}

struct Told {
    replies: Vec<Result<Reply, ModelError>>,
    bodies: Vec<Value>,
    notices: Vec<String>,
}

/// Asks one model so often.
async fn ask(scripts: Vec<Script>, times: usize, change: impl FnOnce(&mut Endpoint)) -> Told {
    let fake = Fake::start(scripts).await;
    let mut endpoint = endpoint(&fake);
    change(&mut endpoint);
    let model = Hosted::new(endpoint).unwrap();
    let (mut replies, mut notices) = (Vec::new(), Vec::new());
    for _ in 0..times {
        let request = full();
        let mut tell = |progress| match progress {
            ModelProgress::Noticed(text) => notices.push(text),
            ModelProgress::Retrying { why, .. } => panic!("tried again: {why}"),
            ModelProgress::Text(_)
            | ModelProgress::Reasoning(_)
            | ModelProgress::Sent(_)
            | ModelProgress::Answered(_) => {}
        };
        replies.push(model.ask(&request, &mut tell).await);
    }
    Told { replies, bodies: fake.bodies(), notices }
}

fn without(body: &Value, field: &str) -> Value {
    let mut body = body.clone();
    body.as_object_mut().unwrap().shift_remove(field);
    body
}

#[tokio::test]
async fn a_refused_field_is_left_out_from_then_on_and_said_once() {
    for field in ["temperature", "top_p", "seed", "stop", "response_format", "stream_options"] {
        let refused =
            refusal(&format!("Unsupported value: '{field}' does not support this."), &json!(field));
        let told = ask(vec![refused, hello(), hello()], 2, |_| {}).await;
        assert!(told.replies.iter().all(Result::is_ok), "{field}: {:?}", told.replies);
        assert!(told.bodies[0].get(field).is_some());
        assert_eq!(told.bodies[1], without(&told.bodies[0], field), "{field}");
        assert_eq!(told.bodies[2], told.bodies[1], "{field}");
        let [notice] = &told.notices[..] else { panic!("{:?}", told.notices) };
        assert!(notice.contains(&format!("leave out `{field}`")), "{notice}");
        assert!(notice.contains("does not support this"), "{notice}");
    }
}

#[tokio::test]
async fn the_limit_of_tokens_gets_the_name_that_the_endpoint_knows() {
    let text = "Unsupported parameter: 'max_tokens' is not supported with this model. Use \
                'max_completion_tokens' instead.";
    for (first, second) in
        [("max_tokens", "max_completion_tokens"), ("max_completion_tokens", "max_tokens")]
    {
        let text = text.replace("'max_tokens'", &format!("'{first}'"));
        let told = ask(vec![refusal(&text, &json!(null)), hello(), hello()], 2, |endpoint| {
            endpoint.max_tokens_field = first.into();
        });
        let told = told.await;
        assert!(told.replies.iter().all(Result::is_ok));
        assert_eq!(told.bodies[1].get(first), None);
        assert_eq!((&told.bodies[1][second], &told.bodies[2][second]), (&json!(64), &json!(64)));
        assert_eq!(told.notices.len(), 1);
        assert!(
            told.notices[0].contains(&format!("max_tokens_field = \"{second}\"")),
            "{:?}",
            told.notices
        );
    }
    // An endpoint that takes neither gets none.
    let refused = |field| refusal("not supported", &json!(field));
    let scripts = vec![refused("max_tokens"), refused("max_completion_tokens"), hello()];
    let told = ask(scripts, 1, |_| {}).await;
    assert!(told.replies[0].is_ok());
    assert_eq!(told.bodies[2], without(&told.bodies[0], "max_tokens"));
}

#[tokio::test]
async fn a_field_is_found_in_lists_of_faults_and_in_wrapped_errors() {
    let item = json!({"type": "extra_forbidden", "loc": ["body", "stream_options", "include_usage"],
        "msg": "Extra inputs are not permitted"});
    let detail = json!({"detail": [item]});
    for answer in [
        detail.clone(),
        json!({"object": "error", "message": detail, "type": "invalid_request_error"}),
        json!({"error": {"message": "Provider returned error", "code": 400,
            "metadata": {"raw": detail.to_string()}}}),
        json!({"error": {"message": format!("litellm.BadRequestError: {detail}"), "param": null}}),
        json!([{"error": {"code": 400, "message": "Invalid JSON payload received. Unknown name \
            \"stream_options\": Cannot find field.", "status": "INVALID_ARGUMENT"}}]),
    ] {
        let refused = body("422 Unprocessable Entity", &answer.to_string());
        let told = ask(vec![refused, hello()], 1, |_| {}).await;
        let reply = told.replies[0].as_ref().unwrap();
        assert_eq!(told.bodies[1], without(&told.bodies[0], "stream_options"), "{answer}");
        assert!(reply.usage.estimated, "nothing was counted");
    }
}

#[tokio::test]
async fn faults_of_a_list_stand_in_the_error_where_there_is_no_way_out() {
    let item = json!({"type": "missing", "loc": ["body", "messages", 0, "content"], "msg": "Field required"});
    let answer = json!({"object": "error", "message": {"detail": [item]}});
    let told = ask(vec![body("422 Unprocessable Entity", &answer.to_string())], 1, |_| {}).await;
    let error = told.replies[0].as_ref().unwrap_err();
    assert!(error.text.contains("Field required") && error.text.contains("messages"), "{error}");
}

#[tokio::test]
async fn several_fields_are_refused_one_after_the_other() {
    let refused = |field: &str| refusal(&format!("Unsupported parameter: '{field}'"), &json!(null));
    let scripts = vec![refused("temperature"), refused("seed"), refused("stop"), hello()];
    let told = ask(scripts, 1, |_| {}).await;
    assert!(told.replies[0].is_ok());
    assert_eq!((told.bodies.len(), told.notices.len()), (4, 3));
}

#[tokio::test]
async fn a_field_that_is_refused_all_the_same_is_refused_once() {
    let again = || refusal("'temperature' is not supported", &json!("temperature"));
    let told = ask(vec![again(), again()], 1, |_| {}).await;
    let error = told.replies[0].as_ref().unwrap_err();
    assert_eq!((error.kind, told.bodies.len()), (ModelErrorKind::Refused, 2));
}

#[tokio::test]
async fn what_every_request_needs_is_never_left_out_and_prose_names_no_field() {
    for (message, param) in [
        ("The model `gpt-x` is not supported", json!("model")),
        ("This model does not support tools.", json!("tools")),
        ("Please stop. This content is not allowed.", json!(null)),
        ("'temperature' must be between 0 and 2", json!("temperature")),
        ("max_tokens is too large: 64", json!("max_tokens")),
        (
            "This model's maximum context length is 4 tokens. However, you requested 9 tokens: \
             5 in the messages and `max_tokens` is not supported above 4.",
            json!(null),
        ),
    ] {
        let error = json!({"error": {"message": message, "param": param, "code": "invalid_value"}});
        let refused = body("400 Bad Request", &error.to_string());
        let told = ask(vec![refused], 1, |_| {}).await;
        assert!(told.replies[0].is_err(), "{message}");
        assert_eq!((told.bodies.len(), told.notices.len()), (1, 0), "{message}");
    }
    let told = ask(
        vec![body("401 Unauthorized", r#"{"error":{"message":"'seed' is unsupported"}}"#)],
        1,
        |_| {},
    );
    assert_eq!(told.await.bodies.len(), 1);
}

#[tokio::test]
async fn a_field_that_a_person_has_set_is_left_out_with_a_word_of_it() {
    let refused = refusal("Unknown parameter: 'reasoning_effort'.", &json!("reasoning_effort"));
    let told = ask(vec![refused, hello()], 1, |endpoint| {
        endpoint.extra.insert("reasoning_effort".into(), json!("high"));
    });
    let told = told.await;
    assert!(told.replies[0].is_ok());
    assert_eq!(told.bodies[1], without(&told.bodies[0], "reasoning_effort"));
    assert!(told.notices[0].contains("`extra` of [models.m] sets it"), "{:?}", told.notices);
}

#[tokio::test]
async fn calls_at_the_same_time_learn_it_together_and_say_it_once() {
    let refused = || refusal("'temperature' is not supported", &json!("temperature"));
    let fake = Fake::start(vec![refused(), refused(), hello(), hello()]).await;
    let model = Hosted::new(endpoint(&fake)).unwrap();
    let (one, other) = (full(), full());
    let (mut first, mut second) = (Vec::new(), Vec::new());
    let mut tell_first = |progress| first.push(progress);
    let mut tell_second = |progress| second.push(progress);
    let both = futures::future::join(
        model.ask(&one, &mut tell_first),
        model.ask(&other, &mut tell_second),
    );
    let (one, other) = both.await;
    assert!(one.is_ok() && other.is_ok(), "{one:?} {other:?}");
    let said = first.iter().chain(&second);
    assert_eq!(said.filter(|it| matches!(it, ModelProgress::Noticed(_))).count(), 1);
}

#[tokio::test]
async fn what_an_endpoint_misses_in_calls_of_another_model_is_added() {
    let missed =
        "thinking is enabled but reasoning_content is missing in assistant tool call message";
    let undefined = "Requests which include `tool_use` or `tool_result` blocks must define tools";
    let unsigned = "Function call is missing a thought_signature in functionCall parts.";
    for (text, place, value) in [
        (missed, "/messages/2/reasoning_content", json!("")),
        (undefined, "/tools/0/function/name", json!("search")),
        (undefined, "/tool_choice", json!("none")),
        (
            unsigned,
            "/messages/2/tool_calls/0/extra_content/google/thought_signature",
            json!("skip_thought_signature_validator"),
        ),
    ] {
        let fake = Fake::start(vec![refusal(text, &json!(null)), hello()]).await;
        let model = Hosted::new(endpoint(&fake)).unwrap();
        let calls =
            vec![ToolCall { id: "abcdefgh1".into(), tool: "search".into(), arguments: json!({}) }];
        let mut request = Request { tools: Vec::new().into(), ..request() };
        request.messages.push(Message::Assistant { text: "I look.".into(), calls, source: None });
        let tool = "search".into();
        request.messages.push(Message::result("abcdefgh1", tool, "x"));
        model.ask(&request, &mut |_| {}).await.unwrap();
        let bodies = fake.bodies();
        assert_eq!(bodies[0].pointer(place), None);
        assert_eq!(bodies[1].pointer(place), Some(&value));
    }
}
