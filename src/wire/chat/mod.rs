//! OpenAI's chat completions, which most endpoints speak.
//!
//! Servers differ in what they send more than in what they accept. So this reader tolerates the known differences, and
//! is strict in one thing: an answer is complete only if a finish reason arrived, or the event that ends a stream.

use crate::AnswerForm;
use crate::codec::{AddressFacts, Codec, OPENAI, ServicePath};

mod answer;
mod body;
mod calls;
mod changed;
pub(crate) mod finish;
mod frames;
mod kept;
mod messages;
mod reply;
mod request;
mod stream_usage;
#[cfg(test)]
mod tests;

pub(crate) const CODEC: Codec = Codec {
    name: "OpenAI chat",
    kind: "openai",
    address: "http://localhost:11434/v1",
    http: OPENAI,
    path: |_, _| ServicePath::of("chat/completions"),
    addressed: |address| AddressFacts::of_end(address, "/chat/completions"),
    streamed: AnswerForm::Events,
    is_sequence: false,
    heartbeat: ": held\n\n",
    id: "chatcmpl-",
    overloaded: 503,
    conversation: "messages",
    has_items: false,
    text_event: r#""delta":{"content":"#,
    quotes_arguments: true,
    read_request,
    write_request,
    begin: ChatAnswer::begin,
    write_reply,
    write_stream,
    write_error,
    write_overflow,
    write_error_event,
    is_end,
    has_call,
    change,
    items: messages,
    is_of_assistant: crate::node::has_role_of_assistant,
};

pub use self::answer::ChatAnswer;
pub use self::body::write_request;
pub(crate) use self::calls::is_old;
pub(crate) use self::changed::change;
pub use self::frames::{has_call, is_end};
pub(crate) use self::messages::messages;
pub use self::reply::{write_error, write_error_event, write_overflow, write_reply, write_stream};
pub use self::request::read_request;
pub(crate) use self::request::{ChatRequestReader, texts, tool};
pub use self::stream_usage::{asking_for_usage, is_usage_alone};
