//! Google's `generateContent`, of the Gemini API and of Vertex AI.
//!
//! ```text
//! a request ──► request, past ─► IncomingRequest
//! Request ────► body, contents ► a request
//! an answer ──► answer ────────► Reply
//! Reply ──────► reply ─────────► an answer
//! ```
//!
//! The address has the model, and whether the answer is a stream: of events, or a list. A whole answer has the form of one
//! of its parts. A call comes whole, often without an id, and its part may have the signature of a thought, which the
//! endpoint wants back unchanged. Fields are written in either spelling: `functionCall`, `function_call`.

use crate::AnswerForm;
use crate::codec::{Codec, HttpFacts};
use crate::reading::GrowingAnswer;

mod address;
mod answer;
mod body;
mod calls;
mod contents;
#[cfg(test)]
mod made;
mod parts;
mod past;
mod reply;
mod request;
mod spelling;
#[cfg(test)]
mod tests;

use self::answer::GeminiAnswer;

pub(crate) const CODEC: Codec = Codec {
    name: "Gemini",
    kind: "gemini",
    address: "https://generativelanguage.googleapis.com/v1beta",
    http: HttpFacts {
        key_header: "x-goog-api-key",
        key_prefix: "",
        headers: &[],
        api: "Google's Gemini API",
        address_end: "/v1beta",
        models: "models",
    },
    path: address::path,
    addressed: address::addressed,
    streamed: AnswerForm::Events,
    is_sequence: true,
    // Google's client for Python takes a comment for the answer.
    heartbeat: "\n",
    id: "",
    overloaded: 503,
    conversation: "contents",
    has_items: false,
    text_event: r#"{"text":"#,
    quotes_arguments: false,
    read_request: request::read_request,
    write_request: body::write_request,
    begin: |names, cost| Box::new(GeminiAnswer::begin(names, cost)) as Box<dyn GrowingAnswer>,
    write_reply: reply::write_reply,
    write_stream: reply::write_stream,
    write_error: reply::write_error,
    write_overflow: reply::write_overflow,
    write_error_event: reply::write_error_event,
    is_end: calls::is_end,
    has_call: calls::has_call,
    change: calls::change,
    items: contents::contents,
    is_of_assistant: |item| {
        item.fields.as_ref().is_some_and(|it| it.string("role").is_some_and(|role| role == "model"))
    },
};
