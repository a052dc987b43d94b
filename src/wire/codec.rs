//! The codec of a format, as a value: each format's folder has one.

use std::sync::Arc;

use serde_json::Value;

use crate::asked::{IncomingRequest, NotRead};
use crate::domain::{Reply, Request, ToolCall};
use crate::node::JsonItem;
use crate::plan::AnswerEvent;
use crate::reading::GrowingAnswer;
use crate::{AnswerForm, Answering, Envelope, FunctionNames, Report, WireSettings};

/// The facts and the functions of a format.
pub struct Codec {
    /// The name that a person reads.
    pub(crate) name: &'static str,
    /// The kind of its models in a configuration.
    pub kind: &'static str,
    /// An example of an endpoint's address.
    pub address: &'static str,
    pub http: HttpFacts,
    /// Where a client posts requests, below the endpoint's address: for this model, and for a stream or not.
    pub path: fn(&str, bool) -> ServicePath,
    /// The facts in the address of a posted request; `None` if the request is not of this format.
    pub(crate) addressed: fn(&RequestAddress<'_>) -> Option<AddressFacts>,
    /// The form of a stream, unless its address names another one.
    pub streamed: AnswerForm,
    /// Whether an answer that begins with a bracket is a sequence of JSON objects, rather than one.
    pub is_sequence: bool,
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
    /// Begins an answer to a request with these names of tools. The report has what the endpoint tells apart from the
    /// usage.
    pub(crate) begin: fn(&Arc<FunctionNames>, Report) -> Box<dyn GrowingAnswer>,
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

/// The parts of requests and errors over HTTP that are specific to a format.
#[derive(Clone, Copy, Debug)]
pub struct HttpFacts {
    /// The header that carries the key.
    pub key_header: &'static str,
    /// The prefix of the key in that header, such as `Bearer ` with its space.
    pub key_prefix: &'static str,
    /// Names and values of further headers. The endpoint's own headers replace these.
    pub headers: &'static [(&'static str, &'static str)],
    /// The API that an endpoint must offer, for errors, such as `an OpenAI-compatible API`.
    pub api: &'static str,
    /// The end of most addresses, for errors, such as `/v1`.
    pub address_end: &'static str,
    /// The path of the list of models, below the endpoint's address.
    pub models: &'static str,
}

/// The facts of OpenAI's API, which most endpoints offer.
pub(crate) const OPENAI: HttpFacts = HttpFacts {
    key_header: "authorization",
    key_prefix: "Bearer ",
    headers: &[],
    api: "an OpenAI-compatible API",
    address_end: "/v1",
    models: "models",
};

/// A path below an endpoint's address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServicePath {
    pub segments: Vec<String>,
    pub query: Option<&'static str>,
}

impl ServicePath {
    /// A path of these segments, separated by slashes.
    pub fn of(path: &str) -> Self {
        Self { segments: path.split('/').map(str::to_owned).collect(), query: None }
    }
}

/// The address to which a client posts a request.
#[derive(Clone, Copy, Debug)]
pub struct RequestAddress<'a> {
    pub path: &'a str,
    pub query: Option<&'a str>,
    /// Whether its headers or its path are those of Anthropic's API.
    pub is_anthropic: bool,
}

/// The facts that the address of a request has and its body lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddressFacts {
    pub model: Option<String>,
    /// The form of the answer; `None`: the body says whether it is a stream.
    pub form: Option<AnswerForm>,
    /// The envelope around request and answer, if there is one.
    pub envelope: Option<Envelope>,
}

impl AddressFacts {
    /// No facts, for an address whose path ends like this.
    pub(crate) fn of_end(address: &RequestAddress<'_>, end: &str) -> Option<Self> {
        address.path.ends_with(end).then(Self::default)
    }
}
