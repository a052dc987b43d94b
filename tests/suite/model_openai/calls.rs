//! Calls of tools in the deltas of many servers. What they send is in field cases 4.1 to 4.4 and 3.8.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use toolyard::domain::{Finish, Reply, Request, Role, ToolDef};
use toolyard::model::hosted::replies;

/// A request with the tools `weather` and `clock`.
fn offered() -> Request {
    let tool = |name: &str| ToolDef {
        name: name.into(),
        description: String::new(),
        parameters: json!({"type": "object"}).into(),
    };
    let tools = vec![tool("weather"), tool("clock")];
    Request { tools: tools.into(), ..Request::new(Role::Actor, Vec::new()) }
}

fn reply(deltas: &[Value]) -> Reply {
    let chunk = |delta: &Value| json!({"choices": [{"index": 0, "delta": delta}]}).to_string();
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
    let events = deltas.iter().map(chunk).chain([end.to_string(), "[DONE]".to_owned()]);
    let body: String = events.map(|event| format!("data: {event}\n\n")).collect();
    replies::read(body.as_bytes(), "text/event-stream", 1000, &offered(), &mut |_| {}).unwrap()
}

/// The calls of deltas, each of which has one call.
fn calls(deltas: &[Value]) -> Vec<(String, Value)> {
    let deltas: Vec<Value> = deltas.iter().map(|call| json!({"tool_calls": [call]})).collect();
    called(reply(&deltas))
}

fn called(reply: Reply) -> Vec<(String, Value)> {
    assert_eq!(reply.finish, Finish::Calls);
    let mut ids: Vec<&str> = reply.calls.iter().map(|call| call.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), reply.calls.len(), "ids are unique: {:?}", reply.calls);
    reply.calls.into_iter().map(|call| (call.tool.to_string(), call.arguments)).collect()
}

fn weather(city: &str) -> (String, Value) {
    ("weather".to_owned(), json!({"city": city}))
}

fn clock() -> (String, Value) {
    ("clock".to_owned(), json!({}))
}

const LISBON: &str = r#"{"city": "Lisbon"}"#;
const PORTO: &str = r#"{"city": "Porto"}"#;

fn function(name: &str, arguments: &str) -> Value {
    json!({"name": name, "arguments": arguments})
}

#[test]
fn two_calls_without_index_or_id_are_two() {
    // 4.1
    let call = |arguments| json!({"id": "", "type": "function", "function": function("weather", arguments)});
    assert_eq!(calls(&[call(LISBON), call(PORTO)]), [weather("Lisbon"), weather("Porto")]);
    assert_eq!(calls(&[call(LISBON), call(LISBON)]), [weather("Lisbon"), weather("Lisbon")]);
    let none = |arguments| json!({"function": function("weather", arguments)});
    assert_eq!(calls(&[none(LISBON), none(PORTO)]), [weather("Lisbon"), weather("Porto")]);
    let null =
        |arguments| json!({"index": null, "id": null, "function": function("weather", arguments)});
    assert_eq!(calls(&[null(LISBON), null(PORTO)]), [weather("Lisbon"), weather("Porto")]);
    let together = json!({"tool_calls": [none(LISBON), none(PORTO)]});
    let third = json!({"tool_calls": [{"function": function("clock", "")}]});
    let all = [weather("Lisbon"), weather("Porto"), clock()];
    assert_eq!(called(reply(&[together, third])), all);
    let object = |city: &str| json!({"function": {"name": "weather", "arguments": {"city": city}}});
    assert_eq!(calls(&[object("Lisbon"), object("Porto")]), [weather("Lisbon"), weather("Porto")]);
    let flat = |arguments: &str| json!({"name": "weather", "arguments": arguments});
    assert_eq!(calls(&[flat(LISBON), flat(PORTO)]), [weather("Lisbon"), weather("Porto")]);
}

#[test]
fn calls_without_index_arrive_in_pieces_too() {
    let deltas = [
        json!({"id": "a", "function": function("weather", "{\"city\": ")}),
        json!({"function": {"arguments": "\"Lisbon\"}"}}),
        json!({"id": "b", "function": function("weather", "{\"city\":")}),
        json!({"id": "b", "function": {"arguments": " \"Porto\""}}),
        json!({"id": "", "function": {"arguments": "}"}}),
    ];
    assert_eq!(calls(&deltas), [weather("Lisbon"), weather("Porto")]);
}

#[test]
fn a_call_without_arguments_is_not_joined_with_the_next_one() {
    // 4.2
    for (first, second) in [("c1", "c2"), ("", ""), ("c1", ""), ("c1", "c1")] {
        let deltas = [
            json!({"index": 0, "id": first, "function": function("clock", "")}),
            json!({"index": 0, "id": second, "function": function("weather", LISBON)}),
        ];
        assert_eq!(calls(&deltas), [clock(), weather("Lisbon")], "{first} {second}");
    }
    let pieces = [
        json!({"index": 0, "id": "c1", "function": function("clock", "")}),
        json!({"index": 0, "id": "c2", "function": function("weather", "")}),
        json!({"index": 0, "function": {"arguments": LISBON}}),
    ];
    assert_eq!(calls(&pieces), [clock(), weather("Lisbon")]);
}

#[test]
fn arguments_that_are_repeated_are_one_call() {
    // 4.3
    let first = json!({"index": 0, "id": "c1", "function": function("weather", LISBON)});
    for again in [
        first.clone(),
        json!({"index": 0, "function": {"arguments": LISBON}}),
        json!({"index": 0, "id": "", "function": function("weather", LISBON)}),
        json!({"index": 0, "id": "c1", "function": {"name": "weather", "arguments": {"city": "Lisbon"}}}),
        json!({"id": "c1", "function": function("weather", r#"{"city":"Lisbon"}"#)}),
        json!({"index": 0, "id": "c9", "function": {"arguments": LISBON}}),
    ] {
        assert_eq!(calls(&[first.clone(), again.clone()]), [weather("Lisbon")], "{again}");
    }
    let pieces = [
        json!({"index": 0, "id": "c1", "function": function("weather", "{\"city\": ")}),
        json!({"index": 0, "function": {"arguments": "\"Lisbon\"}"}}),
        first,
    ];
    assert_eq!(calls(&pieces), [weather("Lisbon")]);
    let placeholder = [
        json!({"index": 0, "id": "c1", "function": function("weather", "{}")}),
        json!({"index": 0, "function": {"arguments": "{\"city\": "}}),
        json!({"index": 0, "function": {"arguments": "\"Lisbon\"}"}}),
    ];
    assert_eq!(calls(&placeholder), [weather("Lisbon")]);
}

#[test]
fn arguments_that_grow_with_each_delta_are_one_call() {
    // 4.4
    for pieces in [
        ["{\"city", "{\"city\": \"Lis", LISBON],
        ["{", "{\"city\": ", LISBON],
        ["{\"city", LISBON, LISBON],
        ["", "{\"city", LISBON],
    ] {
        for (name, id) in [("weather", "c1"), ("weather", ""), ("", "c1"), ("", "")] {
            let delta = |(at, piece): (usize, &&str)| match at {
                0 => json!({"index": 0, "id": "c1", "function": function("weather", piece)}),
                _ => json!({"index": 0, "id": id, "function": function(name, piece)}),
            };
            let deltas: Vec<Value> = pieces.iter().enumerate().map(delta).collect();
            assert_eq!(calls(&deltas), [weather("Lisbon")], "{pieces:?} {name} {id}");
        }
    }
    // An object in an object may begin like the one around it.
    let nested = ["{\"a\":", "{\"a\":1}", "}"];
    let deltas = nested.map(|piece| json!({"index": 0, "function": function("weather", piece)}));
    assert_eq!(calls(&deltas)[0].1, json!({"a": {"a": 1}}));
    let two =
        |index: usize, piece: &str| json!({"index": index, "function": function("weather", piece)});
    let deltas = [two(0, "{\"city"), two(1, "{\"city\": \"Po"), two(0, LISBON), two(1, PORTO)];
    assert_eq!(calls(&deltas), [weather("Lisbon"), weather("Porto")]);
}

#[test]
fn a_whole_message_after_its_deltas_says_nothing_twice() {
    let chunk = |choice: Value| json!({"choices": [choice]}).to_string();
    let delta = |delta: Value| chunk(json!({"index": 0, "delta": delta}));
    let call = json!({"index": 0, "id": "c1", "function": function("weather", LISBON)});
    let read = |message: Value| {
        let events = [
            delta(json!({"reasoning_content": "Hm."})),
            delta(json!({"content": " It is"})),
            delta(json!({"content": " sunny."})),
            delta(json!({"tool_calls": [call]})),
            chunk(json!({"index": 0, "message": message, "finish_reason": "stop"})),
            "[DONE]".to_owned(),
        ];
        let body: String = events.map(|event| format!("data: {event}\n\n")).concat();
        replies::read(body.as_bytes(), "text/event-stream", 1000, &offered(), &mut |_| {}).unwrap()
    };
    for message in [
        json!({"role": "assistant", "content": " It is sunny.", "reasoning_content": "Hm.", "tool_calls": [call]}),
        json!({"content": "It is sunny."}),
        json!({"content": [{"type": "text", "text": "It is sunny."}]}),
        json!({"content": null, "reasoning": "Hm."}),
        json!({"content": ""}),
    ] {
        let reply = read(message.clone());
        assert_eq!(
            (reply.text.as_str(), reply.reasoning.as_str()),
            (" It is sunny.", "Hm."),
            "{message}"
        );
        assert_eq!(reply.calls.len(), 1, "{message}");
    }
    assert_eq!(read(json!({"content": "It is sunny. So."})).text, " It is sunny. So.");
    // Some servers stream pieces as messages.
    let pieces = ["ha", "ha"].map(|text| chunk(json!({"index": 0, "message": {"content": text}})));
    let body: String =
        pieces.map(|event| format!("data: {event}\n\n")).concat() + "data: [DONE]\n\n";
    let reply = replies::read(body.as_bytes(), "text/event-stream", 1000, &offered(), &mut |_| {});
    assert_eq!(reply.unwrap().text, "haha");
}

#[test]
fn half_a_character_in_arguments_is_a_replacement() {
    // 6.1
    for (written, read) in [
        (r#"{"city": "Lisbon \ud83c"}"#, "Lisbon \u{FFFD}"),
        (r#"{"city": "\udf1eLisbon"}"#, "\u{FFFD}Lisbon"),
        (r#"{"city": "\ud83c\ud83c\udf1e \\ud83c"}"#, "\u{FFFD}🌞 \\ud83c"),
    ] {
        let call = json!({"index": 0, "id": "c1", "function": function("weather", written)});
        assert_eq!(calls(&[call]), [weather(read)], "{written}");
    }
}

#[test]
fn names_and_ids_come_once_always_in_pieces_or_late() {
    // 4.4
    let pieces = ["{\"ci", "ty\": \"Lis", "bon\"}"];
    let named = |names: [&str; 3]| {
        for ids in [["c1", "", ""], ["c1", "c1", "c1"], ["c1", "c2", "c3"], ["", "", ""]] {
            let deltas: Vec<Value> = (0..3)
                .map(|n| json!({"index": 0, "id": ids[n], "function": function(names[n], pieces[n])}))
                .collect();
            assert_eq!(calls(&deltas), [weather("Lisbon")], "{names:?} {ids:?}");
        }
    };
    for names in [
        ["weather", "", ""],
        ["weather", "weather", "weather"],
        ["wea", "ther", ""],
        ["wea", "weather", "weather"],
        ["", "", "weather"],
    ] {
        named(names);
    }
    let late = [
        json!({"index": 0, "id": "c1", "function": {"arguments": LISBON}}),
        json!({"index": 0, "function": {"name": "weather"}}),
    ];
    assert_eq!(calls(&late), [weather("Lisbon")]);
}

#[test]
fn calls_that_arrive_at_the_same_time_stay_apart() {
    let deltas = [
        json!({"index": 0, "id": "a", "function": function("weather", "{\"city\":")}),
        json!({"index": 1, "id": "b", "function": function("weather", "{\"city\":")}),
        json!({"index": 0, "function": {"arguments": " \"Lisbon\"}"}}),
        json!({"index": "1", "function": {"arguments": " \"Porto\"}"}}),
    ];
    assert_eq!(calls(&deltas), [weather("Lisbon"), weather("Porto")]);
    let by_id = [
        json!({"index": 0, "id": "a", "function": function("weather", LISBON)}),
        json!({"index": 0, "id": "b", "function": function("clock", "")}),
        json!({"index": 0, "id": "a", "function": {"arguments": ""}}),
    ];
    assert_eq!(calls(&by_id), [weather("Lisbon"), clock()]);
}

#[test]
fn deltas_that_are_counted_are_one_call() {
    let deltas = [
        json!({"index": 0, "id": "a", "function": function("weather", "{\"city\":")}),
        json!({"index": 1, "function": {"arguments": " \"Lisbon"}}),
        json!({"index": 2, "function": {"arguments": "\"}"}}),
    ];
    assert_eq!(calls(&deltas), [weather("Lisbon")]);
}

#[test]
fn a_list_of_calls_may_be_one_call_or_have_capitals() {
    let one = json!({"tool_calls": {"id": "a", "function": function("weather", LISBON)}});
    assert_eq!(called(reply(&[one])), [weather("Lisbon")]);
    let capitals = json!({"toolCalls": [{"id": "a", "function": function("weather", LISBON)}]});
    assert_eq!(called(reply(&[capitals])), [weather("Lisbon")]);
}
