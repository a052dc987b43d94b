//! Bytes as servers send them: characters that are cut, JSON that is none, and streams and documents of
//! the wrong type. Field cases 6.1 to 6.5, and the fuzz target's inputs.

use pretty_assertions::assert_eq;
use serde_json::json;
use toolyard::domain::{Finish, ModelErrorKind};
use toolyard::model::{ModelProgress, hosted::replies};

use super::{DONE, HELLO, STOP, USAGE, ask, delta, endpoint, error, reply, request};
use crate::fake_endpoint::{Fake, Step, json as body, response, send, stream, stream_head};

const WHOLE: &str = r#"{"choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}]}"#;

/// The text of a body of this type, the same in pieces of any size.
fn text(bytes: &[u8], kind: &str) -> String {
    let read = |size| {
        let mut shown = String::new();
        let mut progress = |news| {
            if let ModelProgress::Text(text) = news {
                shown.push_str(&text);
            }
        };
        let reply = replies::read(bytes, kind, size, &request(), &mut progress).unwrap();
        assert!(reply.text.starts_with(&shown), "{shown}");
        reply.text
    };
    let whole = read(bytes.len());
    for size in [1, 2, 3, 7, 64] {
        assert_eq!(read(size), whole, "in pieces of {size}");
    }
    whole
}

fn events(events: &[&[u8]]) -> Vec<u8> {
    events.iter().flat_map(|event| [b"data: ", *event, b"\n\n"].concat()).collect()
}

#[test]
fn halves_of_a_character_are_put_together() {
    // 6.1
    let half =
        |text: &str| format!(r#"{{"choices":[{{"index":0,"delta":{{"content":"{text}"}}}}]}}"#);
    let (first, second) = (half("Sun \\ud83c"), half("\\udf1e out."));
    let body = events(&[first.as_bytes(), second.as_bytes(), STOP.as_bytes()]);
    assert_eq!(text(&body, "text/event-stream"), "Sun 🌞 out.");
    let body = events(&[first.as_bytes(), STOP.as_bytes()]);
    assert_eq!(text(&body, "text/event-stream"), "Sun \u{FFFD}");
    let raw = |bytes: &[u8]| {
        [b"{\"choices\":[{\"delta\":{\"content\":\"" as &[u8], bytes, b"\"}}]}"].concat()
    };
    let (first, second) = (raw(b"Sun \xF0\x9F"), raw(b"\x8C\x9E out."));
    let body = events(&[&first, &second, STOP.as_bytes()]);
    assert_eq!(text(&body, "text/event-stream"), "Sun 🌞 out.");
}

#[test]
fn halves_in_thoughts_and_arguments_are_put_together() {
    let part = |part: &str| format!(r#"{{"choices":[{{"index":0,"delta":{{{part}}}}}]}}"#);
    let call = |text: &str| {
        part(&format!(
            r#""tool_calls":[{{"index":0,"function":{{"name":"search","arguments":"{text}"}}}}]"#
        ))
    };
    let parts = [
        part(r#""reasoning_content":"a\ud83c""#),
        part(r#""reasoning_content":"\udf1eb""#),
        call(r#"{\"q\": \"\ud83c"#),
        call(r#"\udf1e\"}"#),
        STOP.to_owned(),
    ];
    let parts: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
    let reply = replies::read(&events(&parts), "", 5, &request(), &mut |_| {}).unwrap();
    assert_eq!(reply.reasoning, "a🌞b");
    assert_eq!(reply.calls[0].arguments, json!({"q": "🌞"}));
}

#[test]
fn numbers_that_json_lacks_and_bytes_of_zero_are_read() {
    // 6.2
    let odd =
        r#"{"choices":[{"delta":{"content":"Hello"},"logprobs":{"logprob":-Infinity,"x":NaN}}]}"#;
    let zero = format!("{odd}\0");
    for event in [odd, &zero] {
        let body = events(&[event.as_bytes(), STOP.as_bytes()]);
        assert_eq!(text(&body, "text/event-stream"), "Hello");
        let separated = format!("data: {event}\n\n\0data: {STOP}\n\n\0");
        assert_eq!(text(separated.as_bytes(), "text/event-stream"), "Hello");
    }
    let whole = r#"{"choices":[{"message":{"content":"Hello"},"score":NaN}]}"#;
    assert_eq!(text(whole.as_bytes(), "application/json"), "Hello");
}

#[test]
fn the_beginning_tells_what_a_body_is_and_not_its_type() {
    // 6.3 and 6.5
    let streamed =
        String::from_utf8(events(&[HELLO.as_bytes(), STOP.as_bytes(), b"[DONE]"])).unwrap();
    let dense = format!("data: {HELLO}\ndata: {STOP}\ndata: {USAGE}\ndata: [DONE]\n");
    let bare = format!("{HELLO}\n{STOP}\n");
    let commented = format!(": PROCESSING\n\n{streamed}");
    let returned = streamed.replace('\n', "\r\n");
    let pretty =
        serde_json::to_string_pretty(&serde_json::from_str::<serde_json::Value>(WHOLE).unwrap())
            .unwrap();
    for kind in
        ["text/event-stream", "application/json", "text/plain; charset=utf-8", "", "text/html"]
    {
        for body in [&streamed, &dense, &bare, &commented, &returned, &pretty, WHOLE] {
            for begin in ["", "\u{FEFF}", "\n\n", " \n\u{FEFF}\n", "\0"] {
                assert_eq!(
                    text(format!("{begin}{body}").as_bytes(), kind),
                    "Hello",
                    "{kind} {begin:?} {body}"
                );
            }
        }
    }
}

#[tokio::test]
async fn a_stream_of_type_json_is_read_as_it_arrives() {
    // 6.3
    let events = format!("data: {HELLO}\n\ndata: {STOP}\n\ndata: {USAGE}\n\ndata: {DONE}\n\n");
    let fake = Fake::start(vec![body("200 OK", &events)]).await;
    let (reply, seen) = ask(endpoint(&fake), &request()).await;
    assert_eq!(reply.unwrap().usage.tokens_in, 9);
    assert_eq!(seen, [ModelProgress::Text("Hello".into())]);
}

#[tokio::test]
async fn what_follows_a_finished_answer_takes_nothing_away() {
    // 6.4
    let failure = r#"{"error":{"message":"too late"}}"#;
    for after in ["DONE", "{", "done!", failure, "\"[DONE]\""] {
        let reply = reply(stream(&[HELLO, STOP, after, USAGE])).await;
        assert_eq!((reply.text.as_str(), reply.finish), ("Hello", Finish::Stop), "{after}");
    }
    let unread = error(stream(&[HELLO, "{", STOP])).await;
    assert_eq!((unread.kind, unread.partial.as_str()), (ModelErrorKind::BadAnswer, "Hello"));
}

#[tokio::test]
async fn a_document_ends_by_itself_though_its_connection_stays_open() {
    let mut script = vec![stream_head(), send(WHOLE)];
    script.push(Step::Hang);
    assert_eq!(reply(script).await.text, "Hello");
}

#[tokio::test]
async fn a_body_that_is_neither_json_nor_a_stream_is_shown() {
    let plain = "content-type: text/plain\r\n";
    let said = error(response("200 OK", plain, "upstream \x1b[1mis gone")).await;
    assert!(
        said.text.contains("neither JSON nor a stream of events: upstream [1mis gone"),
        "{said}"
    );
    let page = error(response("200 OK", plain, "<!doctype html><title>Log in</title>")).await;
    assert!(page.text.contains("a web page, \"Log in\""), "{page}");
    let none = error(response("200 OK", plain, "")).await;
    assert!(none.text.contains("ended before the answer did"), "{none}");
}

#[test]
fn a_delta_is_the_same_in_any_spelling() {
    let hello = delta(json!({"content": "Hello"}));
    let end = r#"{"choices":[{"delta":{},"finishReason":"stop"}]}"#;
    let body = events(&[hello.as_bytes(), end.as_bytes()]);
    assert_eq!(text(&body, "text/event-stream"), "Hello");
}
