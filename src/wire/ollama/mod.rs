//! Ollama's own API: its chat, and its completions of one prompt.
//!
//! Both stream one JSON object in each line, unless the request forbids it. A call comes whole, with its arguments as an
//! object, and often without an id.

use crate::AnswerForm;
use crate::codec::{AddressFacts, Codec, HttpFacts, OPENAI, ServicePath};
use crate::reading::GrowingAnswer;

mod answer;
mod body;
mod calls;
mod reply;
mod request;
#[cfg(test)]
mod tests;

use self::answer::OllamaAnswer;
use self::reply::Place;

const HTTP: HttpFacts =
    HttpFacts { api: "Ollama's API", address_end: ":11434", models: "api/tags", ..OPENAI };

pub(crate) const CODEC: Codec = Codec {
    name: "Ollama",
    kind: "ollama",
    address: "http://localhost:11434",
    http: HTTP,
    path: |_, _| ServicePath::of("api/chat"),
    addressed: |address| AddressFacts::of_end(address, "/api/chat"),
    streamed: AnswerForm::Lines,
    is_sequence: true,
    // A client that reads line by line refuses an empty one.
    heartbeat: " ",
    id: "",
    overloaded: 503,
    conversation: "messages",
    has_items: false,
    text_event: r#""done":false"#,
    quotes_arguments: false,
    read_request: request::chat,
    write_request: body::write_request,
    begin: |names, cost| Box::new(OllamaAnswer::begin(names, cost)) as Box<dyn GrowingAnswer>,
    write_reply: |reply, answering| reply::write_reply(reply, answering, Place::Message),
    write_stream: |reply, answering| reply::write_stream(reply, answering, Place::Message),
    write_error: |_, message| reply::write_error(message),
    write_overflow: |message| reply::write_error(&format!("prompt is too long: {message}")),
    write_error_event: |_, message| reply::write_error(message) + "\n",
    is_end: calls::is_end,
    has_call: calls::has_call,
    change: calls::change,
    items: body::messages,
    is_of_assistant: crate::node::has_role_of_assistant,
};

/// The completions of one prompt, which have no calls.
pub(crate) const GENERATE: Codec = Codec {
    name: "Ollama generate",
    kind: "",
    path: |_, _| ServicePath::of("api/generate"),
    addressed: |address| AddressFacts::of_end(address, "/api/generate"),
    conversation: "prompt",
    read_request: request::generate,
    write_request: body::write_prompt,
    write_reply: |reply, answering| reply::write_reply(reply, answering, Place::Response),
    write_stream: |reply, answering| reply::write_stream(reply, answering, Place::Response),
    has_call: |_| false,
    change: |_, _, _| {},
    ..CODEC
};
