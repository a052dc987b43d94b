//! The codec of a format, as a value: each format's folder has one.

use serde_json::Value;

use crate::asked::{IncomingRequest, NotRead};
use crate::domain::{Reply, Request, ToolCall};
use crate::node::JsonItem;
use crate::plan::AnswerEvent;
use crate::{Answering, WireSettings};

/// The facts and the functions of a format.
pub struct Codec {
    /// The name that a person reads.
    pub(crate) name: &'static str,
    /// The path of requests, below the endpoint's address.
    pub path: &'static [&'static str],
    /// An event without content, for a client that waits for the next one.
    pub heartbeat: &'static str,
    /// The beginning of an answer's id.
    pub id: &'static str,
    /// The status of an overloaded endpoint.
    pub overloaded: u16,
    /// The request's field for the conversation.
    pub(crate) conversation: &'static str,
    /// Whether a text may replace a conversation, and several items may form one message of the assistant.
    pub(crate) has_items: bool,
    /// A part of each event that has a piece of text.
    pub(crate) text_event: &'static str,
    /// Whether the arguments of a call are a text that contains JSON.
    pub(crate) quotes_arguments: bool,
    pub(crate) read_request: fn(&[u8]) -> Result<IncomingRequest, NotRead>,
    pub write_request: fn(&Request, &WireSettings<'_>) -> Value,
    pub(crate) write_reply: fn(&Reply, &Answering<'_>) -> String,
    pub(crate) write_stream: fn(&Reply, &Answering<'_>) -> String,
    pub(crate) write_error: fn(u16, &str) -> String,
    pub(crate) write_overflow: fn(&str) -> String,
    pub(crate) write_error_event: fn(u16, &str) -> String,
    pub(crate) is_end: fn(&str) -> bool,
    pub(crate) has_call: fn(&str) -> bool,
    /// Gives an answer these calls. Its events end with an empty one, before which others can be added.
    pub(crate) change: fn(&mut [AnswerEvent<'_>], &str, &[ToolCall]),
    /// The items of a request's conversation.
    pub(crate) items: fn(&Request, &WireSettings<'_>) -> Vec<Value>,
    /// Whether an item of the conversation is from the assistant.
    pub(crate) is_of_assistant: fn(&JsonItem<'_>) -> bool,
}
