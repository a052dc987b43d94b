//! Repaired messages.

use rmcp::model::{CallToolRequest, CallToolRequestParams, CancelledNotification};
use rmcp::model::{CancelledNotificationParam, InitializeRequest, InitializeRequestParams};

use super::*;

fn request(id: i64, request: impl Into<ClientRequest>) -> ClientJsonRpcMessage {
    ClientJsonRpcMessage::request(request.into(), RequestId::Number(id))
}

fn call(id: i64) -> ClientJsonRpcMessage {
    request(id, CallToolRequest::new(CallToolRequestParams::new("weather")))
}

fn asked(calls: &[i64]) -> Asked {
    let mut asked = Asked::default();
    calls.iter().for_each(|id| asked.sent(&call(*id)));
    asked
}

/// Ids and texts of the answers.
fn shown(messages: Vec<ServerJsonRpcMessage>) -> Vec<(i64, String)> {
    let shown = |message: &ServerJsonRpcMessage| {
        let value = json!(message);
        let text = value["result"]["content"][0]["text"].as_str();
        let text = text.or(value["error"]["message"].as_str()).unwrap_or_default().to_owned();
        (value["id"].as_i64().unwrap_or(-1), text)
    };
    messages.iter().map(shown).collect()
}

fn read(asked: &mut Asked, line: &str) -> Vec<(i64, String)> {
    shown(asked.read(line.as_bytes(), None).unwrap_or_default())
}

const GOOD: &str =
    r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"sunny"}]}}"#;

#[test]
fn what_is_plain_in_a_line_is_repaired() {
    for (line, text) in [
        (GOOD.to_owned(), "sunny"),
        (format!("Processing... {GOOD}"), "sunny"),
        (format!("{{x}} {{\"a\": 1}} [2] {GOOD} done"), "sunny"),
        (format!("[{GOOD}]"), "sunny"),
        (GOOD.replace("sunny", "sunny \\ud83c"), "sunny \u{FFFD}"),
        (GOOD.replace("sunny", "\\udf24 \\\\ud83c \\ud83c\\udf24"), "\u{FFFD} \\ud83c 🌤"),
        (format!("x {}", GOOD.replace("sunny", "sunny \\ud83c")), "sunny \u{FFFD}"),
        (GOOD.replace("sunny", "sun\tny"), "sun\tny"),
        (GOOD.replace("}]}", "}],\"structuredContent\":{\"t\":NaN}}"), "sunny"),
        (GOOD.replace("\"id\":2", "\"id\":\"2\""), "sunny"),
        (GOOD.replace("\"id\":2", "\"id\":2.0"), "sunny"),
        (GOOD.replace("\"id\":2", "\"id\":null"), "sunny"),
        (GOOD.replace("\"id\":2", "\"id\":999"), "sunny"),
        (GOOD.replace("\"id\":2,", ""), "sunny"),
        (GOOD.replace("\"jsonrpc\":\"2.0\",", "\"error\":null,"), "sunny"),
        ("{\"id\":2,\"error\":\"no such city\"}".into(), "error of the server: no such city"),
        (
            "{\"id\":2,\"result\":null,\"error\":{\"message\":\"no\"}}".into(),
            "error of the server: no",
        ),
        ("{\"id\":2,\"error\":{\"code\":\"-32000\",\"message\":[\"no\"]}}".into(), "[\"no\"]"),
        ("{\"id\":2,\"error\":[\"no\"]}".into(), "error of the server: [\"no\"]"),
        ("{\"id\":null,\"error\":{\"code\":-32700,\"message\":\"no\"}}".into(), "no"),
    ] {
        let is_whole = read(&mut asked(&[2]), &line) == [(2, text.to_owned())];
        assert!(is_whole, "{line}: {:?}", read(&mut asked(&[2]), &line));
    }
    let two = format!("{GOOD} {}", GOOD.replace("\"id\":2", "\"id\":3"));
    let both = read(&mut asked(&[2, 3]), &two);
    assert_eq!(both, [(2, "sunny".to_owned()), (3, "sunny".to_owned())]);
}

#[test]
fn an_answer_that_cannot_be_read_fails_its_request_alone() {
    for (line, open, failed) in [
        (&GOOD[..50], &[2][..], Some(2)),
        (&GOOD[..50], &[1, 2], Some(2)),
        ("{\"jsonrpc\":\"2.0\",\"id\":2}", &[2], Some(2)),
        ("{\"jsonrpc\":\"2.0\",\"result\":oops}", &[7], Some(7)),
        ("{\"jsonrpc\":\"2.0\",\"result\":oops}", &[7, 8], None),
        // Servers print what they do.
        ("Listening on port 80", &[2], None),
        ("{\"level\":30,\"error\":\"x\",\"msg\":\"hi\"}", &[2], None),
        ("[]", &[2], None),
        ("\"text\"", &[2], None),
        ("{\"id\":{}}", &[2], None),
        ("\u{feff}x{\"jsonrpc\": 2}", &[2], None),
        ("got {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\"}", &[2], None),
    ] {
        let mut asked = asked(open);
        assert!(asked.read(line.as_bytes(), None).is_none(), "{line}");
        let error = asked.unread(line.as_bytes(), None).map(|error| shown(vec![error]).remove(0));
        assert_eq!(error.as_ref().map(|(id, _)| *id), failed, "{line}");
        let says = error.is_none_or(|(_, text)| text.contains("cannot be read: {\"jsonrpc\""));
        assert!(says, "{line}");
    }
}

#[test]
fn an_answer_goes_to_no_other_request() {
    let with = |id: &str, text: &str| {
        GOOD.replace("\"id\":2", &format!("\"id\":{id}")).replace("sunny", text)
    };
    // A late answer to a cancelled call, and an answer that comes twice.
    let mut late = asked(&[2]);
    let params = CancelledNotificationParam::new(Some(RequestId::Number(2)), None);
    late.sent(&ClientJsonRpcMessage::notification(CancelledNotification::new(params).into()));
    late.sent(&call(3));
    assert_eq!(read(&mut late, &with("2", "late")), []);
    assert_eq!(read(&mut late, &with("3", "three")), [(3, "three".to_owned())]);
    late.sent(&call(4));
    assert_eq!(read(&mut late, &with("4", "four")), [(4, "four".to_owned())]);
    late.sent(&call(5));
    assert_eq!(read(&mut late, &with("4", "four")), []);
    assert_eq!(read(&mut late, &with("3", "again")), []);
    assert_eq!(read(&mut late, &with("5", "five")), [(5, "five".to_owned())]);
    // Every answer has the id 0.
    let mut zero = asked(&[0]);
    for id in 1..5 {
        assert_eq!(read(&mut zero, &with("0", "same")), [(id - 1, "same".to_owned())]);
        zero.sent(&call(id));
        if id == 1 {
            // One that is repeated before the second is one.
            assert_eq!(read(&mut zero, &with("0", "same")), []);
            assert_eq!(read(&mut zero, &with("0", "other")), [(1, "other".to_owned())]);
            zero.sent(&call(1));
        }
    }
    // Nobody can know whose answer this is: all learn it at once.
    zero.sent(&call(9));
    let told = read(&mut zero, &with("0", "whose"));
    assert_eq!(told.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [4, 9]);
    assert!(told[0].1.contains("the id 0, which no open request has"), "{told:?}");
}

#[test]
fn a_greeting_needs_its_revision_only() {
    let greeted = |result: Value| {
        let mut asked = Asked::default();
        let params: InitializeRequestParams = serde_json::from_value(json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "x", "version": "1"}}))
        .unwrap();
        asked.sent(&request(1, InitializeRequest::new(params)));
        let line = json!({"id": 1, "result": result}).to_string();
        json!(asked.read(line.as_bytes(), None).unwrap()[0])
    };
    for rest in [
        json!({}),
        json!({"capabilities": [], "serverInfo": "x"}),
        json!({"capabilities": {"tools": true}, "serverInfo": {"name": 7}, "instructions": 5}),
    ] {
        let mut result = rest.clone();
        result["protocolVersion"] = "2025-06-18".into();
        let greeted = greeted(result);
        assert_eq!(greeted["result"]["protocolVersion"], "2025-06-18", "{rest}: {greeted}");
    }
    for wrong in [json!({}), json!({"protocolVersion": 2}), json!(null)] {
        let text = greeted(wrong)["error"]["message"].to_string();
        assert!(text.contains("no text `protocolVersion`"), "{text}");
    }
}

#[test]
fn a_hostile_line_takes_no_time() {
    let begun = std::time::Instant::now();
    let long = "{\"a\":[".repeat(100_000);
    for line in [long.clone(), "{\"".repeat(500_000), format!("x{}", "[".repeat(1_000_000))] {
        let mut asked = asked(&[2]);
        assert!(asked.read(line.as_bytes(), None).is_none());
    }
    let mut asked = asked(&[2]);
    let hostile = format!("{{\"jsonrpc\":\u{1b}[2J,\"id\":2,{long}");
    let error = shown(vec![asked.unread(hostile.as_bytes(), None).unwrap()]).remove(0).1;
    assert!(!error.contains('\u{1b}') && error.chars().count() < 300, "{error}");
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}
