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
            "messages[2].tool_calls[0].arguments.at",
        ),
        ("/messages/3/tool_call_id", text("c2"), "messages[3].tool_call_id"),
        ("/messages/3/content", text(&long), "messages[3].content"),
        ("/tools/0/function/description", text("Says it."), "tools[0].description"),
        ("/tools/0/function/parameters/type", text("array"), "tools[0].parameters.type"),
        ("/temperature", json!(0.7), "temperature"),
        ("/stop/1", text("c"), "stop[1]"),
        ("/stop", json!(["a"]), "stop[1]"),
    ] {
        let (found, asked, recorded) = found(pointer, value.clone()).unwrap();
        assert_eq!(found, field, "{value}");
        assert_ne!(asked, recorded, "{field}");
        assert!(asked.chars().count() <= 82, "{asked}");
    }
    let (_, asked, recorded) = found("/messages/3/content", text("rain at 11:05")).unwrap();
    assert_eq!((&*asked, &*recorded), ("rain at 11:05", "rain at 11:02"));
}

/// A conversation with an answer that has calls with these ids, and their results.
fn parallel(ids: &[&str], results: &[(&str, &str)], more: Value) -> Value {
    let call = |id: &&str| json!({"id": id, "type": "function", "function": {"name": "w", "arguments": "{}"}});
    let mut messages = vec![
        json!({"role": "user", "content": "How is it?"}),
        json!({"role": "assistant", "tool_calls": ids.iter().map(call).collect::<Vec<_>>()}),
    ];
    let result =
        |(id, text): &(&str, &str)| json!({"role": "tool", "tool_call_id": id, "content": text});
    messages.extend(results.iter().map(result));
    messages.push(more);
    json!({"model": "m", "messages": messages})
}

fn of_parallel(asked: Value, recorded: Value) -> Option<String> {
    let varies = Varies::default();
    let found = Compare::new(&varies).requests(&side(asked), &side(recorded));
    found.map(|it| format!("{}: {} / {}", it.field, it.asked, it.recorded))
}

#[test]
fn results_of_one_answer_count_by_their_calls_and_not_by_their_order() {
    let more = || json!({"role": "user", "content": "And?"});
    let then = || parallel(&["a", "b", "c"], &[("a", "1"), ("b", "2"), ("c", "3")], more());
    let now = |results: &[(&str, &str)]| parallel(&["a", "b", "c"], results, more());
    assert_eq!(of_parallel(now(&[("c", "3"), ("a", "1"), ("b", "2")]), then()), None);
    // The place is the one in the new request.
    let found = of_parallel(now(&[("c", "4"), ("a", "1"), ("b", "2")]), then());
    assert_eq!(found.as_deref(), Some("messages[2].content: 4 / 3"));
    let found = of_parallel(now(&[("c", "1"), ("a", "3"), ("b", "2")]), then());
    assert_eq!(found.as_deref(), Some("messages[3].content: 3 / 1"), "swapped results differ");
    let found = of_parallel(now(&[("x", "1"), ("c", "3"), ("b", "2")]), then()).unwrap();
    assert!(found.starts_with("messages[4].tool_call_id"), "{found}");
    // Ids that are equal or empty: the place counts.
    for id in ["", "same"] {
        let of = |results: [(&str, &str); 2]| parallel(&[id, id], &results, more());
        let then = || of([(id, "1"), (id, "2")]);
        assert_eq!(of_parallel(of([(id, "1"), (id, "2")]), then()), None);
        let found = of_parallel(of([(id, "2"), (id, "1")]), then());
        assert_eq!(found.as_deref(), Some("messages[2].content: 2 / 1"), "{id:?}");
    }
    // Two answers with the same ids: each result belongs to the answer before it.
    let twice = |first: [(&str, &str); 2], second: [(&str, &str); 2]| {
        let mut one = parallel(&["a", "b"], &first, more());
        let other = parallel(&["a", "b"], &second, more());
        let all = one["messages"].as_array_mut().unwrap();
        all.extend(other["messages"].as_array().unwrap()[1..].iter().cloned());
        one
    };
    let then = || twice([("a", "1"), ("b", "2")], [("a", "3"), ("b", "4")]);
    assert_eq!(
        of_parallel(twice([("b", "2"), ("a", "1")], [("b", "4"), ("a", "3")]), then()),
        None
    );
    let found = of_parallel(twice([("a", "3"), ("b", "4")], [("a", "1"), ("b", "2")]), then());
    assert_eq!(found.as_deref(), Some("messages[2].content: 3 / 1"));
}

#[test]
fn ids_that_a_client_invents_count_by_the_calls_that_they_stand_for() {
    let more = || json!({"role": "user", "content": "And?"});
    let of = |ids: [&str; 2], results: [&str; 2]| {
        parallel(&ids, &[(results[0], "1"), (results[1], "2")], more())
    };
    let then = || of(["a", "b"], ["a", "b"]);
    assert_eq!(of_parallel(of(["x", "y"], ["x", "y"]), then()), None);
    assert_eq!(of_parallel(of(["b", "a"], ["b", "a"]), then()), None, "swapped with their calls");
    let found = of_parallel(of(["x", "y"], ["y", "x"]), then());
    assert_eq!(found.as_deref(), Some("messages[3].content: 2 / 1"));
    let found = of_parallel(of(["x", "x"], ["x", "x"]), of(["a", "a"], ["a", "b"])).unwrap();
    assert!(found.starts_with("messages[3]"), "{found}");
    // A cache compares what is sent.
    let (varies, [asked, recorded]) = (Varies::default(), [of(["x", "y"], ["x", "y"]), then()]);
    let found = Compare::with_ids(&varies).requests(&side(asked), &side(recorded)).unwrap();
    assert_eq!(found.field, "messages[1].tool_calls[0].id");
}

#[test]
fn every_wire_may_send_results_in_another_order() {
    let messages = |results: Value| {
        let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "w", "input": {}});
        let body = json!({"model": "m", "max_tokens": 9, "messages": [
            {"role": "user", "content": "How is it?"},
            {"role": "assistant", "content": [call("a"), call("b")]},
            {"role": "user", "content": results}]});
        (WireFormat::Messages, body)
    };
    let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": id});
    let text = json!({"type": "text", "text": "Go on."});
    let responses = |order: [&str; 2]| {
        let call = |id: &str| json!({"type": "function_call", "call_id": id, "name": "w", "arguments": "{}"});
        let output =
            |id: &str| json!({"type": "function_call_output", "call_id": id, "output": id});
        let body = json!({"model": "m", "input": [{"role": "user", "content": "How is it?"},
            call("a"), call("b"), output(order[0]), output(order[1]), {"role": "user", "content": "Go on."}]});
        (WireFormat::Responses, body)
    };
    for (asked, recorded) in [
        (messages(json!([result("b"), result("a")])), messages(json!([result("a"), result("b")]))),
        (
            messages(json!([result("b"), result("a"), text])),
            messages(json!([result("a"), result("b"), text])),
        ),
        (responses(["b", "a"]), responses(["a", "b"])),
    ] {
        let [asked, recorded] = [asked, recorded].map(|(format, body)| {
            let read = format.read_request(body.to_string().as_bytes()).unwrap();
            ComparedRequest { model: read.model, request: read.request, body: Some(body) }
        });
        let varies = Varies::default();
        assert_eq!(Compare::new(&varies).requests(&asked, &recorded), None);
    }
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
