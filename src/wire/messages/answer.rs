//! A growing answer: the events of a stream, or one whole message, become a reply.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::blocks::{CITATIONS, kind, type_of};
use super::finish::finish;
use super::growing::{Growing, Grown, MessagesCall, completed};
use crate::assistant_message::AssistantMessage;
use crate::domain::{Reply, Request, ToolCall};
use crate::errors::is_error;
use crate::ids::FreeIds;
use crate::names::FunctionNames;
use crate::reading::{self, AnswerFault, AnswerPiece, GrowingAnswer};
use crate::sse::Event;
use crate::usage::{self, Report};

/// Largest answer in bytes. No model writes that much, but a broken server may.
const LARGEST: usize = 16 * 1024 * 1024;
/// Most calls of an answer.
const MOST_CALLS: usize = 1024;
/// The reason of an answer whose server sends none.
const DONE: &str = "end_turn";

/// An answer, as far as it has arrived.
#[derive(Debug, Default)]
pub struct MessagesAnswer {
    names: Arc<FunctionNames>,
    growing: Growing,
    finish: Option<String>,
    id: String,
    /// The fields of the usage. A stream reports the input at its beginning, and the output at its end.
    usage: Map<String, Value>,
    /// The cost that the endpoint reports in a header, apart from the usage.
    cost: Report,
}

impl GrowingAnswer for MessagesAnswer {
    fn whole(
        &mut self,
        document: &Value,
        seen: &mut dyn FnMut(AnswerPiece),
    ) -> Result<(), AnswerFault> {
        if is_error(document) {
            return Err(AnswerFault::Said(document.clone()));
        }
        match &document["content"] {
            Value::Array(blocks) => {
                (0..).zip(blocks).for_each(|(at, block)| self.growing.start(Some(at), block, seen));
            }
            text @ Value::String(_) => self.growing.start(None, text, seen),
            _ if type_of(document) == "message" => return Err(AnswerFault::Missing("content")),
            _ => return Err(AnswerFault::Other(document.clone())),
        }
        self.count(&document["usage"]);
        document["id"].as_str().unwrap_or_default().clone_into(&mut self.id);
        let reason = document["stop_reason"].as_str().unwrap_or(DONE);
        self.finish = Some(reason.to_owned());
        self.growing.flush(seen);
        self.check()
    }

    fn event(
        &mut self,
        event: &Event,
        seen: &mut dyn FnMut(AnswerPiece),
    ) -> Result<bool, AnswerFault> {
        // Some gateways end every stream in this way.
        if event.is_last() {
            self.end(seen);
            return Ok(true);
        }
        let data = reading::data(event)?;
        if is_error(&data) || event.name == "error" {
            return Err(AnswerFault::Said(data));
        }
        let kind = data["type"].as_str().unwrap_or(&event.name);
        let index = data["index"].as_u64();
        match kind {
            "message_start" => {
                self.count(&data["message"]["usage"]);
                data["message"]["id"].as_str().unwrap_or_default().clone_into(&mut self.id);
                let blocks = data["message"]["content"].as_array().into_iter().flatten();
                (0..).zip(blocks).for_each(|(at, it)| self.growing.start(Some(at), it, seen));
            }
            "content_block_start" => self.growing.start(index, &data["content_block"], seen),
            "content_block_delta" => self.growing.delta(index, &data["delta"], seen),
            "content_block_stop" => self.growing.flush(seen),
            "message_delta" => {
                self.count(&data["usage"]);
                if let Some(reason) = data["delta"]["stop_reason"].as_str() {
                    self.finish = Some(reason.to_owned());
                }
            }
            "message_stop" => {
                self.end(seen);
                return Ok(true);
            }
            "message" => return self.whole(&data, seen).map(|()| true),
            "" => return Err(AnswerFault::Other(data)),
            // A ping, or an event type that is still unknown.
            _ => {}
        }
        self.check().map(|()| false)
    }

    fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    fn id(&self) -> &str {
        &self.id
    }

    fn text(&self) -> &str {
        &self.growing.text
    }

    fn size(&self) -> usize {
        self.growing.written
    }

    fn reply(mut self: Box<Self>, request: &Request, endpoint: &str) -> (Reply, Report) {
        self.growing.flush(&mut |_| {});
        let reasoning = std::mem::take(&mut self.growing.reasoning);
        let said = said(self.growing, request, &self.names);
        let (text, calls, source) = said.into_parts(endpoint, CITATIONS);
        let reason = self.finish.unwrap_or_default();
        let finish = finish(&reason, !calls.is_empty());
        let report = usage::read(&self.usage.into()).unwrap_or_default().or_cost(self.cost);
        let usage = report.usage(|| usage::estimate(request, &[&text, &reasoning], &calls));
        (Reply { text, reasoning, calls, finish, usage, source, repairs: Vec::new() }, report)
    }
}

impl MessagesAnswer {
    /// An answer to a request with these names of tools. `cost` is what the endpoint reports apart from the usage.
    pub fn begin(names: &Arc<FunctionNames>, cost: Report) -> Box<dyn GrowingAnswer> {
        Box::new(Self { cost, names: Arc::clone(names), ..Self::default() })
    }

    /// Ends the stream. Some servers send no reason. An answer with half of a call is not complete, whatever follows.
    fn end(&mut self, seen: &mut dyn FnMut(AnswerPiece)) {
        self.growing.flush(seen);
        if !self.growing.is_empty() && self.growing.are_calls_whole() {
            self.finish.get_or_insert_with(|| DONE.into());
        }
    }

    /// Adds a usage. Later numbers are sums that replace the earlier ones. A zero only fills a gap, since some servers
    /// send zeros for fields that they reported before.
    fn count(&mut self, usage: &Value) {
        let fields = usage.as_object().into_iter().flatten();
        for (name, value) in fields.filter(|(_, value)| !value.is_null()) {
            self.growing.held += name.len() + value.to_string().len();
            if !self.usage.contains_key(name) || value.as_f64() != Some(0.0) {
                self.usage.insert(name.clone(), value.clone());
            }
        }
    }

    fn check(&self) -> Result<(), AnswerFault> {
        let growing = &self.growing;
        let is_too_large = growing.written.max(growing.held) > LARGEST;
        if is_too_large || growing.calls > MOST_CALLS {
            return Err(AnswerFault::TooLarge(LARGEST / (1024 * 1024)));
        }
        Ok(())
    }
}

/// The message of these blocks, with tools' own names and an id for each call.
fn said(mut growing: Growing, request: &Request, names: &FunctionNames) -> AssistantMessage {
    let text = std::mem::take(&mut growing.text);
    let mut rest = text.as_str();
    let (mut said, mut free) = (AssistantMessage::default(), FreeIds::of(request, "call"));
    let mut taken = HashSet::new();
    for block in growing.into_blocks() {
        match block {
            Grown::Text { bytes, citations } => {
                let (own, after) = rest.split_at_checked(bytes).unwrap_or((rest, ""));
                said.text(own, citations.into());
                rest = after;
            }
            Grown::Call(call) if call.is_empty() => {}
            Grown::Call(call) => {
                let arguments = call.arguments();
                let MessagesCall { mut id, name, beside, .. } = call;
                while id.is_empty() || !taken.insert(id.clone()) {
                    id = free.take();
                }
                said.call(ToolCall { id, tool: names.back(&name), arguments }, beside);
            }
            Grown::Kept { raw, input } => said.keep(kind(type_of(&raw)), completed(raw, &input)),
        }
    }
    said
}
