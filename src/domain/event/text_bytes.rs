//! How much text an event holds. Memory is bounded by it where a number of events bounds nothing: results of tools may
//! have megabytes.

use serde_json::Value;

use super::{Event, ModelCallEvent, ToolCallEvent};
use crate::blocks::Block;
use crate::chat::{Message, Reply, Request, ToolCall};
use crate::output::ToolOutput;
use crate::wire_answer::{WireAnswer, WireBody};

/// The bytes that count for a value without a text, and for a list or an object besides its parts.
const PLAIN: usize = 8;

impl Event {
    /// The bytes of the texts that the event brings; 0 for an event without long texts. The messages of a request that
    /// repeat the request before it are not counted, since they are in memory once.
    pub fn text_bytes(&self) -> usize {
        match self {
            Event::ModelCall(event) => match event {
                ModelCallEvent::ModelCallRequested { request, .. } => new_bytes(request),
                ModelCallEvent::ModelCallSent { body, .. } => body.text().len(),
                ModelCallEvent::ModelCallAnswered { answer, .. } => answer.text_bytes(),
                ModelCallEvent::ModelCallProgressed { text, reasoning, .. } => {
                    text.len() + reasoning.len()
                }
                ModelCallEvent::ModelCallFinished { reply, .. } => reply.text_bytes(),
                ModelCallEvent::ModelCallStarted { .. }
                | ModelCallEvent::ModelCallRetried { .. }
                | ModelCallEvent::ModelCallFailed { .. } => 0,
            },
            Event::ToolCall(event) => match event {
                ToolCallEvent::ToolCallRequested { arguments, .. } => value_bytes(arguments),
                ToolCallEvent::ToolCallFinished { output, .. }
                | ToolCallEvent::ResultWithheld { output, .. } => output.text_bytes(),
                ToolCallEvent::ToolCallFailed { error, .. } => error.text.len(),
                _ => 0,
            },
            _ => 0,
        }
    }

    /// The same for the texts that a state keeps: the bodies of watched agents are in the journal only.
    pub(crate) fn kept_bytes(&self) -> usize {
        match self {
            Event::ModelCall(
                ModelCallEvent::ModelCallSent { .. } | ModelCallEvent::ModelCallAnswered { .. },
            ) => 0,
            event => event.text_bytes(),
        }
    }
}

impl ToolOutput {
    fn text_bytes(&self) -> usize {
        self.text.len() + self.whole.as_ref().map_or(0, |whole| whole.len())
    }
}

impl Reply {
    fn text_bytes(&self) -> usize {
        self.text.len() + self.reasoning.len() + calls_bytes(&self.calls)
    }
}

impl WireAnswer {
    fn text_bytes(&self) -> usize {
        match &self.body {
            WireBody::Text(text) | WireBody::Packed { deflate: text } => text.len(),
        }
    }
}

/// The bytes of the last answer in the messages and of all that comes after it.
fn new_bytes(request: &Request) -> usize {
    let mut bytes = 0;
    for at in (0..request.messages.len()).rev() {
        let Some(message) = request.messages.get(at) else { break };
        bytes += message.text().len();
        for block in message.blocks() {
            bytes += if let Block::Kept { raw, .. } = block { value_bytes(raw) } else { 0 };
        }
        if let Message::Assistant { calls, .. } = message {
            bytes += calls_bytes(calls);
            break;
        }
    }
    bytes
}

fn calls_bytes(calls: &[ToolCall]) -> usize {
    calls.iter().map(|call| value_bytes(&call.arguments)).sum()
}

/// The bytes of the texts in a JSON value. Values of requests and answers are not deep: their readers bound that.
pub fn value_bytes(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => PLAIN,
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(value_bytes).sum::<usize>() + PLAIN,
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| name.len() + value_bytes(value));
            fields.sum::<usize>() + PLAIN
        }
    }
}
