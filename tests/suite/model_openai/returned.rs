//! What goes back to an endpoint: what it wants of its own replies, and nothing that a strict one refuses.

use serde_json::{Value, json};
use toolyard::domain::{Message, Reply, Request, ToolCall};
use toolyard::model::{Model, hosted::Hosted, http::Endpoint};

use super::{DONE, HELLO, STOP, delta, endpoint, request};
use crate::fake_endpoint::{Fake, json as body, stream};

const CALLS: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#;

/// The request after this reply, in which every call has a result.
fn after(reply: &Reply) -> Request {
    let mut request = request();
    let (text, calls, source) = (reply.text.clone(), reply.calls.clone(), reply.source.clone());
    let results =
        reply.calls.iter().map(|call| Message::result(call.id.clone(), call.tool.clone(), "sunny"));
    let results: Vec<Message> = results.collect();
    request.messages.push(Message::Assistant { text, calls, source });
    request.messages.extend(results);
    request
}

async fn ask(endpoint: Endpoint, request: &Request) -> Reply {
    Hosted::new(endpoint).unwrap().ask(request, &mut |_| {}).await.unwrap()
}

/// The messages of the second request to an endpoint that wrote these deltas, and of the same one to another.
async fn sent_back(deltas: &[Value]) -> [Value; 2] {
    let deltas: Vec<String> = deltas.iter().map(|it| delta(it.clone())).collect();
    let events: Vec<&str> = deltas.iter().map(String::as_str).chain([CALLS, DONE]).collect();
    let hello = || stream(&[HELLO, STOP]);
    let fake = Fake::start(vec![stream(&events), hello()]).await;
    let reply = ask(endpoint(&fake), &request()).await;
    // A journal keeps what an endpoint wants back.
    let reply: Reply = serde_json::from_value(serde_json::to_value(&reply).unwrap()).unwrap();
    let request = after(&reply);
    ask(endpoint(&fake), &request).await;
    let other = Fake::start(vec![hello()]).await;
    ask(endpoint(&other), &request).await;
    [fake.bodies().remove(1), other.bodies().remove(0)].map(|mut body| body["messages"].take())
}

fn call(more: &Value) -> Value {
    let mut call = json!({"index": 0, "id": "c1", "type": "function",
        "function": {"name": "search", "arguments": "{\"q\": 1}"}});
    call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"tool_calls": [call]})
}

fn is_everywhere(id: &Value) -> bool {
    let id = id.as_str().unwrap();
    id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

#[tokio::test]
async fn a_signature_of_a_call_goes_back_to_the_endpoint_that_wrote_it_alone() {
    let extra = json!({"google": {"thought_signature": "c2ln"}});
    let inside = json!({"function": {"name": "search", "arguments": "{\"q\": 1}",
        "thought_signature": "c2ln"}});
    for (more, place) in [
        (json!({"extra_content": extra}), "/extra_content"),
        (inside, "/function/thought_signature"),
    ] {
        let [own, other] = sent_back(&[call(&more)]).await;
        let kept = more.pointer(place);
        assert!(kept.is_some());
        assert_eq!(own[2]["tool_calls"][0].pointer(place), kept);
        assert_eq!(own[2]["tool_calls"][0]["id"], "c1");
        assert_eq!(own[3]["tool_call_id"], "c1");
        assert_eq!(other[2]["tool_calls"][0].pointer(place), None);
        let id = &other[2]["tool_calls"][0]["id"];
        assert!(is_everywhere(id), "{id}");
        assert_eq!(&other[3]["tool_call_id"], id);
    }
}

#[tokio::test]
async fn reasoning_goes_back_in_the_field_that_it_came_in() {
    let details = |text: &str| json!([{"type": "reasoning.text", "text": text, "index": 0}]);
    let cases = [
        ("reasoning_content", json!("I "), json!("see."), json!("I see.")),
        ("reasoning", json!("I "), json!("see."), json!("I see.")),
        ("reasoning_details", details("I "), details("see."), details("I see.")),
    ];
    for (field, first, second, whole) in cases {
        let deltas = [json!({field: first}), json!({field: second}), call(&json!({}))];
        let [own, other] = sent_back(&deltas).await;
        assert_eq!(own[2].get(field), Some(&whole), "{field}");
        assert_eq!(own[2].as_object().unwrap().len(), 4, "{own}");
        assert_eq!(other[2].as_object().unwrap().len(), 3, "{other}");
    }
    let [own, _] = sent_back(&[json!({"reasoning_content": ""}), call(&json!({}))]).await;
    assert_eq!(own[2].get("reasoning_content"), None, "the reply had none");
}

#[tokio::test]
async fn fields_of_a_whole_reply_go_back_and_those_of_the_protocol_do_not() {
    let message = json!({"role": "assistant", "content": null, "refusal": null, "annotations": [],
        "audio": null, "function_call": null, "reasoning_content": "Hm.",
        "tool_calls": call(&json!({"extra_content": {"a": 1}}))["tool_calls"]});
    let whole = json!({"choices": [{"message": message, "finish_reason": "tool_calls"}]});
    let fake = Fake::start(vec![body("200 OK", &whole.to_string()), stream(&[HELLO, STOP])]).await;
    let reply = ask(endpoint(&fake), &request()).await;
    ask(endpoint(&fake), &after(&reply)).await;
    let expected = json!({"role": "assistant", "content": null,
        "tool_calls": [{"id": "c1", "type": "function",
            "function": {"name": "search", "arguments": "{\"q\":1}"}, "extra_content": {"a": 1}}],
        "reasoning_content": "Hm."});
    assert_eq!(fake.bodies()[1]["messages"][2], expected);
}

/// The messages that an endpoint gets for these.
async fn sent(messages: Vec<Message>) -> Vec<Value> {
    let fake = Fake::start(vec![stream(&[HELLO, STOP])]).await;
    ask(endpoint(&fake), &Request { messages: messages.into(), ..request() }).await;
    fake.bodies()[0]["messages"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_message_that_says_nothing_is_not_sent_and_roles_still_take_turns() {
    let user = |text: &str| json!({"role": "user", "content": text});
    for empty in ["", " \n"] {
        let go_on = || [Message::assistant(empty), Message::user("Go on.")];
        let messages = [Message::user("Hi")].into_iter().chain(go_on()).chain(go_on()).collect();
        assert_eq!(sent(messages).await, [user("Hi\n\nGo on.\n\nGo on.")]);
        let calls =
            vec![ToolCall { id: "abcdefgh1".into(), tool: "search".into(), arguments: json!({}) }];
        let text = empty.to_owned();
        let messages = vec![
            Message::user("Hi"),
            Message::Assistant { text, calls, source: None },
            Message::result("abcdefgh1", "search".into(), "x"),
            Message::assistant(empty),
            Message::user("Go on."),
        ];
        let sent = sent(messages).await;
        assert_eq!((sent.len(), &sent[1]["content"]), (4, &Value::Null));
        assert_eq!(sent[3], user("Go on."));
    }
    // Nothing else is merged: two messages that were written apart stay so.
    let apart = sent(vec![Message::user("a"), Message::user("b")]).await;
    assert_eq!(apart, [user("a"), user("b")]);
}

#[tokio::test]
async fn arguments_that_go_back_are_always_an_object() {
    for (arguments, text) in [
        (json!({"q": 1}), r#"{"q":1}"#),
        (json!(null), "{}"),
        (json!("{\"q\": "), r#"{"not_valid_json":"{\"q\": "}"#),
        (json!([1]), r#"{"not_an_object":[1]}"#),
        (json!(7), r#"{"not_an_object":7}"#),
        (json!(true), r#"{"not_an_object":true}"#),
    ] {
        let calls = vec![ToolCall { id: "abcdefgh1".into(), tool: "search".into(), arguments }];
        let text_before = String::new();
        let message = Message::Assistant { text: text_before, calls, source: None };
        let sent = sent(vec![Message::user("Hi"), message]).await;
        assert_eq!(sent[1]["tool_calls"][0]["function"]["arguments"], text);
    }
}

#[tokio::test]
async fn an_id_that_is_made_fits_everywhere_and_is_new() {
    let bare = json!({"tool_calls": [
        {"index": 0, "function": {"name": "search", "arguments": "{}"}},
        {"index": 1, "id": "", "function": {"name": "search", "arguments": "{}"}}]});
    let fake =
        Fake::start(vec![stream(&[&delta(bare), CALLS, DONE]), stream(&[HELLO, STOP])]).await;
    let reply = ask(endpoint(&fake), &request()).await;
    let ids: Vec<&str> = reply.calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["call00001", "call00002"]);
    ask(endpoint(&fake), &after(&reply)).await;
    let messages = &fake.bodies()[1]["messages"];
    assert_eq!(messages[2]["tool_calls"][1]["id"], "call00002");
    assert_eq!(messages[4]["tool_call_id"], "call00002");
}

#[tokio::test]
async fn an_id_that_comes_twice_is_sent_once() {
    let first = call(&json!({}));
    let fake =
        Fake::start(vec![stream(&[&delta(first), CALLS, DONE]), stream(&[HELLO, STOP])]).await;
    let reply = ask(endpoint(&fake), &request()).await;
    let mut request = after(&reply);
    request.messages.extend(after(&reply).messages.iter().skip(2).cloned());
    ask(endpoint(&fake), &request).await;
    let messages = &fake.bodies()[1]["messages"];
    let id = &messages[4]["tool_calls"][0]["id"];
    assert_eq!(
        (&messages[2]["tool_calls"][0]["id"], &messages[3]["tool_call_id"]),
        (&json!("c1"), &json!("c1"))
    );
    assert!(is_everywhere(id), "{id}");
    assert_eq!(&messages[5]["tool_call_id"], id);
}
