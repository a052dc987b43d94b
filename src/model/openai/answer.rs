//! A growing answer: deltas of a stream, or one whole message, become a reply.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use reqwest::header::HeaderMap;
use serde_json::{Map, Value};

use super::usage::{self, Report};
use super::{WIRE, kept::Kept, names::Names};
use crate::domain::{Finish, ModelErrorKind, Reply, ReplySource, Request, ToolCall};
use crate::model::http::{self, Again, Event, Failure, Place};
use crate::model::{Progress, ids::FreeIds};

/// Largest answer in bytes. No model writes that much, but a broken server may.
const LARGEST: usize = 16 * 1024 * 1024;

/// The parts that have arrived so far.
#[derive(Debug, Default)]
pub(super) struct Answer {
    text: String,
    reasoning: String,
    refusal: String,
    calls: Vec<Call>,
    /// The index in `calls` that a delta of this `index` continues.
    places: BTreeMap<u64, usize>,
    finish: Option<String>,
    usage: Option<Report>,
    /// What the endpoint reports in a header, apart from the usage.
    cost: Report,
    /// What the endpoint wants back of the message.
    kept: Kept,
}

#[derive(Debug, Default)]
struct Call {
    index: u64,
    id: String,
    name: String,
    arguments: String,
    /// What the endpoint wants back of it.
    kept: Kept,
}

impl http::Answer for Answer {
    fn begin(headers: &HeaderMap) -> Self {
        Self { cost: litellm_cost(headers), ..Self::default() }
    }

    fn whole(
        &mut self,
        document: &Value,
        place: &Place<'_>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), Failure> {
        if document["choices"][0]["message"].is_null() {
            return Err(Failure::bad(format!(
                "the answer of {} contains no message; is `url` the address of {}?",
                place.host, WIRE.api
            )));
        }
        self.take(document, progress)?;
        // It is complete, even if its server sends no reason.
        self.finish.get_or_insert_with(|| "stop".into());
        Ok(())
    }

    fn event(
        &mut self,
        event: &Event,
        place: &Place<'_>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<bool, Failure> {
        if event.data.trim() == "[DONE]" {
            return Ok(true);
        }
        self.take(&place.event(event)?, progress)?;
        Ok(false)
    }

    fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    fn text(&self) -> &str {
        &self.text
    }

    fn size(&self) -> usize {
        let calls = self.calls.iter().map(|call| call.name.len() + call.arguments.len());
        self.text.len() + self.reasoning.len() + self.refusal.len() + calls.sum::<usize>()
    }
}

impl Answer {
    /// Reads one chunk of a stream, or one whole completion, and reports what it adds.
    fn take(&mut self, chunk: &Value, progress: &mut dyn FnMut(Progress)) -> Result<(), Failure> {
        // The last usage counts: some servers send a running one with every chunk.
        self.usage = usage::read(&chunk["usage"]).or(self.usage.take());
        let choice = &chunk["choices"][0];
        for part in [&choice["delta"], &choice["message"]] {
            self.part(part, progress);
        }
        if let Some(reason) = choice["finish_reason"].as_str() {
            self.finish = Some(reason.to_owned());
        }
        let kept = self.calls.iter().map(|call| call.kept.size()).sum::<usize>() + self.kept.size();
        let size = http::Answer::size(self).max(kept);
        if size <= LARGEST && self.calls.len() <= 1024 {
            return Ok(());
        }
        let text = format!("the answer is larger than {} MiB.", LARGEST / (1024 * 1024));
        Err(Failure::new(ModelErrorKind::BadAnswer, text, Again::Never))
    }

    fn part(&mut self, part: &Value, progress: &mut dyn FnMut(Progress)) {
        self.kept.add_message(part);
        let reasoning = [&part["reasoning_content"], &part["reasoning"]];
        // Servers that send both send the same text twice.
        if let Some(text) =
            reasoning.into_iter().find_map(|text| text.as_str().filter(|t| !t.is_empty()))
        {
            self.think(text, progress);
        }
        match &part["content"] {
            Value::String(text) => self.say(text, progress),
            Value::Array(parts) => parts.iter().for_each(|part| self.content(part, progress)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
        }
        if let Some(text) = part["refusal"].as_str() {
            self.refusal.push_str(text);
        }
        for (position, delta) in part["tool_calls"].as_array().into_iter().flatten().enumerate() {
            self.call(position as u64, delta);
        }
    }

    /// One part of a content in parts, such as `{"type": "text", "text": …}`; reasoning is nested.
    fn content(&mut self, part: &Value, progress: &mut dyn FnMut(Progress)) {
        if let Some(text) = part["text"].as_str() {
            self.say(text, progress);
        }
        for thought in part["thinking"].as_array().into_iter().flatten() {
            self.think(thought["text"].as_str().unwrap_or_default(), progress);
        }
    }

    fn say(&mut self, text: &str, progress: &mut dyn FnMut(Progress)) {
        if !text.is_empty() {
            self.text.push_str(text);
            progress(Progress::Text(text.to_owned()));
        }
    }

    fn think(&mut self, text: &str, progress: &mut dyn FnMut(Progress)) {
        if !text.is_empty() {
            self.reasoning.push_str(text);
            progress(Progress::Reasoning(text.to_owned()));
        }
    }

    fn call(&mut self, position: u64, delta: &Value) {
        let index = delta["index"].as_u64().unwrap_or(position);
        let id = delta["id"].as_str().unwrap_or_default();
        let function = &delta["function"];
        let name = function["name"].as_str().unwrap_or_default();
        let call = self.place(index, id, name);
        call.kept.add_call(delta);
        if call.id.is_empty() {
            call.id = id.to_owned();
        }
        // Most servers send a name once, some with every delta, a few in pieces.
        if call.name != name {
            call.name.push_str(name);
        }
        match &function["arguments"] {
            Value::String(more) => call.arguments.push_str(more),
            Value::Null => {}
            whole @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                call.arguments = whole.to_string();
            }
        }
    }

    /// The call that a delta belongs to. Some servers give every call the index 0: there, a new id
    /// and name after complete arguments begin a new call.
    fn place(&mut self, index: u64, id: &str, name: &str) -> &mut Call {
        let known =
            self.places.get(&index).copied().filter(|&at| !self.calls[at].is_other(id, name));
        let at = known.unwrap_or(self.calls.len());
        if at == self.calls.len() {
            self.calls.push(Call { index, ..Call::default() });
            self.places.insert(index, at);
        }
        &mut self.calls[at]
    }

    /// The reply, and what the endpoint of this name reported of its usage.
    pub(super) fn reply(self, request: &Request, names: &Names, endpoint: &str) -> (Reply, Report) {
        let message = self.kept.into_fields();
        let mut source =
            ReplySource { endpoint: endpoint.to_owned(), message, ..ReplySource::default() };
        let calls = named(self.calls, request, names, &mut source);
        let refused = !self.refusal.is_empty() && self.text.is_empty();
        let text = if refused { self.refusal } else { self.text };
        let finish = match self.finish.as_deref().unwrap_or_default() {
            _ if refused => Finish::Refused,
            "length" | "max_tokens" => Finish::Length,
            "content_filter" => Finish::Refused,
            // Observed: calls that end with "stop", and "tool_calls" without a call.
            _ if !calls.is_empty() => Finish::Calls,
            "stop" | "eos" | "end_turn" | "tool_calls" | "function_call" => Finish::Stop,
            other => Finish::Other(other.chars().take(64).collect()),
        };
        let report = self.usage.unwrap_or_default().or_cost(self.cost);
        let usage = report.usage(|| usage::estimate(request, &[&text, &self.reasoning], &calls));
        // Without calls there are no ids to know again either.
        let has_some = !calls.is_empty() || !source.message.is_empty();
        let source = has_some.then(|| Arc::new(source));
        (
            Reply {
                text,
                reasoning: self.reasoning,
                calls,
                finish,
                usage,
                source,
                repairs: Vec::new(),
            },
            report,
        )
    }
}

impl Call {
    /// Whether a delta with this id and name belongs to another call.
    fn is_other(&self, id: &str, name: &str) -> bool {
        let given = !id.is_empty() && !name.is_empty() && !self.id.is_empty();
        given
            && self.id != id
            && serde_json::from_str::<Map<String, Value>>(&self.arguments).is_ok()
    }
}

/// The calls with tools' own names, parsed arguments, and an id each.
fn named(
    mut calls: Vec<Call>,
    request: &Request,
    names: &Names,
    source: &mut ReplySource,
) -> Vec<ToolCall> {
    let mut free = FreeIds::of(request, "call");
    let mut taken = HashSet::new();
    let some = |call: &Call| !call.name.is_empty() || !call.arguments.trim().is_empty();
    calls.sort_by_key(|call| call.index);
    calls
        .into_iter()
        .filter(some)
        .map(|call| {
            let mut id = call.id;
            while id.is_empty() || taken.contains(&id) {
                id = free.next();
            }
            taken.insert(id.clone());
            let kept = call.kept.into_fields();
            if !kept.is_empty() {
                source.calls.insert(id.clone(), kept);
            }
            ToolCall { id, tool: names.back(&call.name), arguments: arguments(&call.arguments) }
        })
        .collect()
}

/// The cost that LiteLLM reports in a header.
fn litellm_cost(headers: &HeaderMap) -> Report {
    let cost = headers.get("x-litellm-response-cost");
    let cost = cost.map(|cost| String::from_utf8_lossy(cost.as_bytes()));
    cost.map_or_else(Report::default, |cost| usage::cost_in_header(&cost))
}

/// Arguments as JSON; the raw text if they are not valid JSON.
fn arguments(raw: &str) -> Value {
    if raw.trim().is_empty() {
        return Value::Object(Map::new());
    }
    match serde_json::from_str(raw) {
        // Some models encode their object as a string.
        Ok(Value::String(inner)) => match serde_json::from_str::<Map<String, Value>>(&inner) {
            Ok(object) => Value::Object(object),
            Err(_) => Value::String(inner),
        },
        Ok(value) => value,
        Err(_) => Value::String(raw.to_owned()),
    }
}
