//! Anthropic's Messages.
//!
//! ```text
//! a request ──► asked, past ────────► IncomingRequest
//! Request ────► body, turns, marks ─► a request
//! an answer ──► answer, growing ────► Reply
//! Reply ──────► reply ──────────────► an answer
//! ```
//!
//! A message is a list of blocks, and their order counts: signed thoughts come before the calls that they led to.
//! [`blocks`] classifies blocks; [`AssistantMessage`](crate::assistant_message) assembles the blocks of one message, and
//! [`message_layout`](crate::message_layout) splits it into blocks again.

use crate::AnswerForm;
use crate::codec::{Codec, HttpFacts, OPENAI, ServicePath};

mod address;
mod answer;
mod asked;
mod blocks;
mod body;
mod calls;
mod changed;
mod errors;
mod finish;
mod growing;
#[cfg(test)]
mod made;
mod marks;
mod past;
mod reply;
#[cfg(test)]
mod tests;
mod turns;

pub(crate) const CODEC: Codec = Codec {
    name: "Anthropic Messages",
    kind: "anthropic",
    address: "https://api.anthropic.com/v1",
    http: HttpFacts {
        key_header: "x-api-key",
        key_prefix: "",
        headers: &[("anthropic-version", "2023-06-01")],
        api: "Anthropic's Messages API",
        ..OPENAI
    },
    path: |_, _| ServicePath::of("messages"),
    addressed: address::addressed,
    streamed: AnswerForm::Events,
    is_sequence: false,
    heartbeat: "event: ping\ndata: {\"type\": \"ping\"}\n\n",
    id: "msg_",
    overloaded: 529,
    conversation: "messages",
    has_items: false,
    text_event: r#""type":"text_delta""#,
    quotes_arguments: false,
    read_request,
    write_request,
    begin: MessagesAnswer::begin,
    write_reply,
    write_stream,
    write_error,
    write_overflow: |message| write_error(400, &format!("prompt is too long: {message}")),
    write_error_event,
    is_end,
    has_call,
    change,
    items: |request, settings| messages(request.messages.iter(), settings),
    is_of_assistant: crate::node::has_role_of_assistant,
};

pub use self::answer::MessagesAnswer;
pub use self::asked::read_request;
pub use self::body::write_request;
pub use self::calls::{has_call, is_end};
pub(crate) use self::changed::change;
pub use self::errors::{write_error, write_error_event};
pub use self::reply::{write_reply, write_stream};
pub(crate) use self::turns::messages;
