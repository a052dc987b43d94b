use serde_json::json;

use super::*;
use crate::wire::WireFormat;

fn side(body: Value) -> ComparedRequest {
    let read = WireFormat::Chat.read_request(body.to_string().as_bytes()).unwrap();
    ComparedRequest { model: read.model, request: read.request, body: Some(body) }
}

fn body() -> Value {
    let call = json!({"id": "c1", "type": "function",
        "function": {"name": "weather", "arguments": "{\"at\": \"Oslo\", \"n\": 1}"}});
    let parameters = json!({"type": "object", "properties": {"at": {"type": "string"}}});
    json!({
        "model": "m", "temperature": 0.5, "metadata": {"run": 1}, "stop": ["a", "b"],
        "messages": [
            {"role": "system", "content": "Today is 2026-11-26. Be brief."},
            {"role": "user", "content": "How is the weather in Oslo?"},
            {"role": "assistant", "content": null, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "rain at 11:02"},
        ],
        "tools": [{"type": "function", "function":
            {"name": "weather", "description": "Tells it.", "parameters": parameters}}],
    })
}

fn varies() -> Varies {
    Varies::new(["/metadata", r"Today is [0-9-]+"].map(str::to_owned)).unwrap()
}

/// The first difference of the body from one in which this was changed.
fn found(pointer: &str, value: Value) -> Option<(String, String, String)> {
    let mut other = body();
    *other.pointer_mut(pointer).unwrap() = value;
    let varies = varies();
    let found = Compare::new(&varies).requests(&side(other), &side(body()));
    found.map(|it| (it.field, it.asked, it.recorded))
}

#[test]
fn the_first_field_that_differs_is_named() {
    let text = |text: &str| json!(text);
    let long = format!("{}XY{}", "a".repeat(100), "b".repeat(100));
    for (pointer, value, field) in [
        ("/model", text("other"), "model"),
        ("/messages/0/content", text("Today is 2026-11-26. Be long."), "messages[0].content"),
        ("/messages/1/role", text("system"), "messages[1].role"),
        ("/messages/2/tool_calls/0/function/name", text("rain"), "messages[2].tool_calls[0].name"),
        (
            "/messages/2/tool_calls/0/function/arguments",
            text("{\"at\": \"Rome\"}"),
            "messages[2].tool_calls[0].arguments",
        ),
        ("/messages/3/tool_call_id", text("c2"), "messages[3].tool_call_id"),
        ("/messages/3/content", text(&long), "messages[3].content"),
        ("/tools/0/function/description", text("Says it."), "tools[0].description"),
        ("/tools/0/function/parameters/type", text("array"), "tools[0].parameters"),
        ("/temperature", json!(0.7), "temperature"),
        ("/stop/1", text("c"), "stop[1]"),
        ("/stop", json!(["a"]), "stop[1]"),
    ] {
        let (found, asked, recorded) = found(pointer, value.clone()).unwrap();
        assert_eq!(found, field, "{value}");
        assert_ne!(asked, recorded, "{field}");
        assert!(asked.chars().count() <= EXCERPT + 2, "{asked}");
    }
    let (_, asked, recorded) = found("/messages/3/content", text("rain at 11:05")).unwrap();
    assert_eq!((&*asked, &*recorded), ("rain at 11:05", "rain at 11:02"));
}

#[test]
fn what_says_the_same_is_equal() {
    // The forms in which clients send an answer back, and additions on the way.
    let arguments = json!("{\"n\":1,\"at\":\"Oslo\"}");
    assert_eq!(found("/messages/2/tool_calls/0/function/arguments", arguments), None);
    assert_eq!(found("/messages/2/content", json!("")), None);
    let mut other = body();
    other["stream_options"] = json!({"include_usage": true});
    other["messages"][2]["refusal"] = Value::Null;
    let varies = varies();
    assert_eq!(Compare::new(&varies).requests(&side(body()), &side(other)), None);
}

#[test]
fn what_varies_is_left_out_and_noted() {
    let mut other = body();
    other["metadata"] = json!({"run": 2, "more": true});
    other["messages"][0]["content"] = json!("Today is 2026-11-27. Be brief.");
    let varies = varies();
    let mut compare = Compare::new(&varies);
    assert_eq!(compare.requests(&side(other), &side(body())), None);
    assert_eq!(compare.used, [0, 1].into());
    let mut compare = Compare::new(&varies);
    assert_eq!(compare.requests(&side(body()), &side(body())), None);
    assert!(compare.used.is_empty(), "nothing differed");
}

#[test]
fn a_message_more_or_less_is_a_difference() {
    let mut short = body();
    short["messages"].as_array_mut().unwrap().pop();
    let varies = varies();
    let difference = |one: &Value, other: &Value| {
        let found = Compare::new(&varies).requests(&side(one.clone()), &side(other.clone()));
        found.map(|it| (it.field, it.asked, it.recorded)).unwrap()
    };
    let told = "tool: rain at 11:02".to_owned();
    let field = "messages[3]".to_owned();
    assert_eq!(difference(&short, &body()), (field.clone(), String::new(), told.clone()));
    assert_eq!(difference(&body(), &short), (field, told, String::new()));
}

#[test]
fn a_conversation_is_known_by_its_beginning() {
    let varies = varies();
    let mut compare = Compare::new(&varies);
    let mut short = body();
    short["messages"].as_array_mut().unwrap().truncate(2);
    short["temperature"] = json!(1);
    assert!(compare.opens_alike(&side(short.clone()), &side(body())));
    for (pointer, value) in [
        ("/messages/1/content", json!("And in Rome?")),
        ("/model", json!("other")),
        ("/tools/0/function/name", json!("rain")),
    ] {
        let mut other = short.clone();
        *other.pointer_mut(pointer).unwrap() = value;
        assert!(!compare.opens_alike(&side(other), &side(body())), "{pointer}");
    }
}
