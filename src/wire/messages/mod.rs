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
//! [`blocks`] classifies blocks, [`said`] assembles the blocks of one assistant message, and [`layout`] splits a
//! message into blocks again.

use crate::codec::Codec;

mod answer;
mod asked;
mod blocks;
mod body;
mod calls;
mod changed;
mod errors;
mod finish;
mod growing;
mod layout;
#[cfg(test)]
mod made;
mod marks;
mod past;
mod reply;
mod said;
#[cfg(test)]
mod tests;
mod turns;

pub(crate) const CODEC: Codec = Codec {
    name: "Anthropic Messages",
    path: &["messages"],
    heartbeat: "event: ping\ndata: {\"type\": \"ping\"}\n\n",
    id: "msg_",
    overloaded: 529,
    conversation: "messages",
    has_items: false,
    text_event: r#""type":"text_delta""#,
    quotes_arguments: false,
    read_request,
    write_request,
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
