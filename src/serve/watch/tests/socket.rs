//! Websockets: their requests are seen, and their frames pass, wait, change and break as the events of a stream.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::{self, Message, WebSocket};

use super::endpoint::whole;
use super::session::SessionStub;
use super::*;
use crate::domain::{ModelError, ModelErrorKind, ToolCall};
use crate::model::relay::Sending;

const CREATE: &str = r#"{"type": "response.create", "model":"m-1", "x": 1.00, "input":[{"role":"user","content":"hi"}]}"#;
const TEXT: &str = r#"{"type":"response.output_text.delta","item_id":"m","output_index":0,"content_index":0,"delta":"Look: "}"#;
const CALL: &str = r#"{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","id":"f","call_id":"c1","name":"look","arguments":""}}"#;
const END: &str = r#"{"type":"response.completed","response":{"id":"r","object":"response","status":"completed","output":[{"type":"message","id":"m","role":"assistant","content":[{"type":"output_text","text":"Look: "}]},{"type":"function_call","id":"f","call_id":"c1","name":"look","arguments":"{}"}]}}"#;

/// An endpoint that answers each frame with these frames, and tells what it got.
fn endpoint(answer: &'static [&'static str]) -> (SocketAddr, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (tell, told) = channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut socket = tungstenite::accept(stream.unwrap()).unwrap();
            while let Ok(Message::Text(text)) = socket.read() {
                let _ = tell.send(text.to_string());
                for frame in answer {
                    socket.send(Message::text(*frame)).unwrap();
                }
            }
        }
    });
    (address, told)
}

fn client(yard: &Yard, path: &str) -> tungstenite::Result<WebSocket<TcpStream>> {
    let address = yard.listener.address();
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let opened = tungstenite::client(format!("ws://{address}{path}"), stream);
    opened.map(|(socket, _)| socket).map_err(|error| match error {
        tungstenite::HandshakeError::Failure(error) => error,
        tungstenite::HandshakeError::Interrupted(_) => panic!("the handshake stalls"),
    })
}

/// The next frame with a text.
fn text(socket: &mut WebSocket<TcpStream>) -> String {
    loop {
        match socket.read().unwrap() {
            Message::Text(text) => return text.to_string(),
            Message::Ping(_) => {}
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn frames_pass_as_they_came_and_wait_from_the_first_call_on() {
    let (address, got) = endpoint(&[TEXT, CALL, END]);
    let mut yard = Yard::before(address);
    let mut socket = client(&yard, "/v1/responses").unwrap();
    // Requests follow each other on one websocket.
    for turn in 0..2 {
        socket.send(Message::text(CREATE)).unwrap();
        let arrival = yard.arrival();
        assert_eq!((arrival.format, arrival.asked.streams), (WireFormat::Responses, true));
        assert_eq!(arrival.asked.model, "m-1");
        let session = SessionStub::new(arrival);
        assert_eq!(got.recv_timeout(PATIENCE).unwrap(), CREATE, "{turn}");
        assert_eq!(text(&mut socket), TEXT);
        assert_eq!(session.ended().2.unwrap().calls.len(), 1);
        session.release(Release::AsCame);
        assert_eq!([text(&mut socket), text(&mut socket)], [CALL, END]);
    }
    // What is no request passes at once.
    socket.send(Message::text(r#"{"type":"response.cancel"}"#)).unwrap();
    assert_eq!(got.recv_timeout(PATIENCE).unwrap(), r#"{"type":"response.cancel"}"#);
    assert_eq!(text(&mut socket), TEXT);
}

#[test]
fn calls_of_a_websocket_change() {
    let (address, _got) = endpoint(&[TEXT, CALL, END]);
    let mut yard = Yard::before(address);
    let mut socket = client(&yard, "/s/mine/v1/responses").unwrap();
    socket.send(Message::text(CREATE)).unwrap();
    let arrival = yard.arrival();
    assert_eq!(arrival.caller.session.as_deref(), Some("mine"));
    let session = SessionStub::new(arrival);
    session.ended().2.unwrap();
    let call =
        |id: &str| ToolCall { id: id.into(), tool: "seek".into(), arguments: json!({"n": 1}) };
    session.release(Release::Calls(vec![call("c1"), call("c2")]));
    let mut all = String::new();
    while !all.contains("response.completed") {
        all += &format!("data: {}\n\n", text(&mut socket));
    }
    let read = read(WireFormat::Responses, all.as_bytes());
    assert_eq!((read.text.as_str(), read.calls), ("Look: ", vec![call("c1"), call("c2")]));
}

#[test]
fn an_answer_in_the_endpoint_s_place_and_a_failure_are_frames() {
    // Nobody listens there.
    let mut yard = Yard::before("127.0.0.1:9".parse().unwrap());
    let mut socket = client(&yard, "/v1/responses").unwrap();
    socket.send(Message::text(CREATE)).unwrap();
    assert!(yard.arrival().way.send(Sending::Instead(Ok(Reply::of_text("Made up.").into()))));
    let mut all = String::new();
    while !all.contains("response.completed") {
        all += &text(&mut socket);
    }
    assert!(all.contains("Made up."), "{all}");
    socket.send(Message::text(CREATE)).unwrap();
    let error = ModelError::new(ModelErrorKind::RateLimited, "slow down");
    assert!(yard.arrival().way.send(Sending::Instead(Err(error))));
    let frame: Value = serde_json::from_str(&text(&mut socket)).unwrap();
    assert_eq!((&frame["type"], &frame["status"]), (&json!("error"), &json!(429)));
    assert_eq!(frame["error"]["message"], "slow down");
    // Without the endpoint there is no other answer.
    socket.send(Message::text(CREATE)).unwrap();
    let session = SessionStub::new(yard.arrival());
    assert_eq!(session.ended().2.unwrap_err().kind, ModelErrorKind::Connection);
}

#[test]
fn an_endpoint_without_websockets_has_none_here() {
    let other = Endpoint::answering(whole("404 Not Found", "application/json", "{}"));
    // Nor over a record: it was made without one.
    for has_record in [false, true] {
        let yard = Yard::over(other.address, has_record);
        for path in ["/v1/responses", "/v1/realtime?model=m", "/v1/chat"] {
            match client(&yard, path) {
                Err(tungstenite::Error::Http(response)) => {
                    assert_eq!(response.status(), 426, "{path}")
                }
                other => panic!("{path}: {other:?}"),
            }
        }
    }
}

#[test]
fn an_endpoint_that_refuses_a_client_says_so_itself() {
    // A client with an account renews its login then.
    let refusal = r#"{"detail":"token expired"}"#;
    let other = Endpoint::answering(whole("401 Unauthorized", "application/json", refusal));
    for (has_record, path) in [(false, "/v1/responses"), (true, "/v1/realtime?model=m")] {
        let yard = Yard::over(other.address, has_record);
        let Err(tungstenite::Error::Http(response)) = client(&yard, path) else { panic!("{path}") };
        let body = response.body().clone().unwrap_or_default();
        assert_eq!((response.status().as_u16(), &body[..]), (401, refusal.as_bytes()));
    }
    // Over a record no login is needed.
    let mut yard = Yard::over(other.address, true);
    let mut socket = client(&yard, "/v1/responses").unwrap();
    socket.send(Message::text(CREATE)).unwrap();
    assert!(yard.arrival().way.send(Sending::Instead(Ok(Reply::of_text("As before.").into()))));
    assert!(text(&mut socket).contains("response.created"));
}

#[test]
fn realtime_passes_and_is_named() {
    let (address, got) = endpoint(&["{\"type\":\"session.created\"}"]);
    let mut yard = Yard::before(address);
    let mut socket = client(&yard, "/v1/realtime?model=m").unwrap();
    socket.send(Message::text("anything")).unwrap();
    assert_eq!(got.recv_timeout(PATIENCE).unwrap(), "anything");
    assert_eq!(text(&mut socket), "{\"type\":\"session.created\"}");
    let ListenerNews::Passed { what, why: None } = yard.news() else { panic!() };
    assert_eq!(what, "GET /v1/realtime");
}

#[test]
fn a_client_that_never_closes_is_ended_with_the_listener() {
    let (address, _got) = endpoint(&[TEXT]);
    let yard = Yard::before(address);
    let mut socket = client(&yard, "/v1/responses").unwrap();
    drop(yard);
    assert!(socket.read().is_err());
}

#[test]
fn a_connection_that_breaks_in_an_answer_breaks_for_the_client() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut yard = Yard::before(listener.local_addr().unwrap());
    thread::spawn(move || {
        let mut socket = tungstenite::accept(listener.accept().unwrap().0).unwrap();
        socket.read().unwrap();
        socket.send(Message::text(TEXT)).unwrap();
    });
    let mut socket = client(&yard, "/v1/responses").unwrap();
    socket.send(Message::text(CREATE)).unwrap();
    let session = SessionStub::new(yard.arrival());
    assert_eq!(text(&mut socket), TEXT);
    let (said, _, ended) = session.ended();
    assert_eq!((said.as_str(), ended.unwrap_err().kind), ("Look: ", ModelErrorKind::Connection));
    let next = socket.read();
    assert!(matches!(next, Err(_) | Ok(Message::Close(_))), "{next:?}");
}
