//! OpenAI's Responses: a conversation is a list of typed items, and so is an answer.
//!
//! Servers differ in which of the events they send. So this reader takes a text from the pieces, from the event that
//! ends it, or from the item at its end, whichever comes. The final response takes precedence if it has items.

use crate::AnswerForm;
use crate::chat;
use crate::codec::{AddressFacts, Codec, OPENAI, ServicePath};

mod answer;
#[cfg(test)]
mod arbitrary;
mod body;
mod built;
mod calls;
mod changed;
mod content;
mod frames;
mod item;
mod items;
mod kinds;
mod order;
mod reply;
mod request;
mod sent;
#[cfg(test)]
mod tests;
mod tools;

pub(crate) const CODEC: Codec = Codec {
    name: "OpenAI Responses",
    kind: "responses",
    address: "https://api.openai.com/v1",
    http: OPENAI,
    path: |_, _| ServicePath::of("responses"),
    addressed: |address| AddressFacts::of_end(address, "/responses"),
    streamed: AnswerForm::Events,
    is_sequence: false,
    heartbeat: ": held\n\n",
    id: "resp_",
    overloaded: 503,
    conversation: "input",
    has_items: true,
    text_event: r#""type":"response.output_text.delta""#,
    quotes_arguments: true,
    read_request,
    write_request,
    begin: ResponsesAnswer::begin,
    write_reply,
    write_stream,
    write_error,
    write_overflow: chat::write_overflow,
    write_error_event,
    is_end,
    has_call,
    change,
    items,
    is_of_assistant: |item| is_of_assistant(item.fields.as_ref()),
};

pub use self::answer::ResponsesAnswer;
pub use self::body::write_request;
pub use self::calls::{has_call, is_end};
pub(crate) use self::changed::change;
pub use self::frames::{write_error_event, write_stream};
pub(crate) use self::items::is_of_assistant;
pub use self::reply::{write_error, write_reply};
pub use self::request::read_request;
pub(crate) use self::sent::items;
