//! A growing answer: deltas of a stream, or one whole message, become a reply.

use std::collections::HashSet;
use std::sync::Arc;

use reqwest::header::HeaderMap;
use serde_json::{Map, Value};

use super::calls::{Call, Calls};
use super::usage::{self, Report};
use super::{field::field, finish, kept::Kept, names::Names};
use crate::domain::{Finish, ModelErrorKind, Reply, ReplySource, Request, ToolCall};
use crate::http::pieces::{Joiner, joined};
use crate::http::{self, Again, Event, Failure, Place};
use crate::{Progress, ids::FreeIds};

/// Largest answer in bytes. No model writes that much, but a broken server may.
const LARGEST: usize = 16 * 1024 * 1024;

/// The parts that have arrived so far.
#[derive(Debug, Default)]
pub(super) struct Answer {
    names: Arc<Names>,
    text: String,
    reasoning: String,
    refusal: String,
    /// Parts of characters at the end of text and reasoning.
    open_text: Joiner,
    open_reasoning: Joiner,
    calls: Calls,
    /// The choice that is read: the first that came.
    choice: Option<u64>,
    /// Calls of other choices. Some gateways put the text into one choice and its calls into another.
    elsewhere: Calls,
    /// What the endpoint wants back of the message.
    kept: Kept,
    finish: Option<String>,
    usage: Option<Report>,
    /// What the endpoint reports in a header, apart from the usage.
    cost: Report,
}

impl http::Answer for Answer {
    fn whole(
        &mut self,
        document: &Value,
        place: &Place<'_>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), Failure> {
        let choice = &document["choices"][0];
        let is_whole = choice["message"].is_object()
            || choice["delta"].is_object() && finish::reason(choice).is_some();
        place.part(choice)?;
        if !is_whole {
            return Err(missing(document, place));
        }
        self.take(document, place, progress)?;
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
        if is_done(&event.data) {
            // Some servers send no reason. Half of a call is no answer, whatever follows it.
            if self.has_something() && self.calls.are_whole() {
                self.finish.get_or_insert_with(|| "stop".into());
            }
            return Ok(true);
        }
        let chunk = place.event(event)?;
        if chunk.get("choices").is_none()
            && let Some(failed) = place.said(&chunk)
        {
            return Err(failed);
        }
        self.take(&chunk, place, progress)?;
        Ok(false)
    }

    fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    fn text(&self) -> &str {
        &self.text
    }

    fn size(&self) -> usize {
        self.text.len() + self.reasoning.len() + self.refusal.len() + self.calls.size()
    }
}

/// Whether this is the end of a stream: `[DONE]`, however it is written.
fn is_done(data: &str) -> bool {
    data.trim_matches(|c: char| !c.is_alphanumeric()).eq_ignore_ascii_case("done")
}

/// Why a document is no answer.
fn missing(document: &Value, place: &Place<'_>) -> Failure {
    let host = place.host;
    match document.get("choices") {
        Some(Value::Array(choices)) if !choices.is_empty() => {
            Failure::bad(format!("the first choice of {host} has no message."))
        }
        Some(_) => Failure::bad(format!("the answer of {host} has no choices.")),
        None => place.said(document).unwrap_or_else(|| {
            Failure::bad(format!(
                "the answer of {host} contains no message; is `url` the address of {}?",
                place.api()
            ))
        }),
    }
}

impl Answer {
    /// An answer that begins with these headers, to a request with these names of tools.
    pub(super) fn begin(headers: &HeaderMap, names: &Arc<Names>) -> Self {
        Self { cost: litellm_cost(headers), names: Arc::clone(names), ..Self::default() }
    }

    /// Whether the model has said or called anything.
    fn has_something(&self) -> bool {
        !self.text.is_empty() || !self.refusal.is_empty() || !self.calls.is_empty()
    }

    /// Reads one chunk of a stream, or one whole completion, and reports what it adds.
    fn take(
        &mut self,
        chunk: &Value,
        place: &Place<'_>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), Failure> {
        let choices = chunk["choices"].as_array().map_or(&[][..], Vec::as_slice);
        // The last usage counts: some servers send a running one with every chunk.
        let usages = [&chunk["usage"], &chunk["choices"][0]["usage"], &chunk["x_groq"]["usage"]];
        self.usage = usages.into_iter().find_map(usage::read).or(self.usage.take());
        for (position, choice) in choices.iter().enumerate() {
            let index = choice["index"].as_u64().unwrap_or(position as u64);
            let parts = [&choice["delta"], &choice["message"]];
            if *self.choice.get_or_insert(index) == index {
                parts.into_iter().for_each(|part| self.part(part, progress));
                self.end(choice, place)?;
            } else {
                parts.into_iter().for_each(|part| self.elsewhere.read(part, &self.names));
            }
        }
        let kept = self.kept.size() + self.calls.kept() + self.elsewhere.size();
        let size = http::Answer::size(self).max(kept);
        if size <= LARGEST && self.calls.len() + self.elsewhere.len() <= 1024 {
            return Ok(());
        }
        let text = format!("the answer is larger than {} MiB.", LARGEST / (1024 * 1024));
        Err(Failure::new(ModelErrorKind::BadAnswer, text, Again::Never))
    }

    /// Reads how a choice ended, if it did.
    fn end(&mut self, choice: &Value, place: &Place<'_>) -> Result<(), Failure> {
        for part in [choice, &choice["delta"], &choice["message"]] {
            place.part(part)?;
        }
        let Some(reason) = finish::reason(choice) else { return Ok(()) };
        if let Some(failed) = finish::failure(reason, place.host) {
            return Err(failed);
        }
        self.finish = Some(reason.to_owned());
        Ok(())
    }

    fn part(&mut self, part: &Value, progress: &mut dyn FnMut(Progress)) {
        self.kept.add_message(part);
        let reasoning = [field(part, "reasoning_content"), &part["reasoning"]];
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
        self.calls.read(part, &self.names);
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
        let text = self.open_text.next(text);
        if !text.is_empty() {
            self.text.push_str(&text);
            progress(Progress::Text(text));
        }
    }

    fn think(&mut self, text: &str, progress: &mut dyn FnMut(Progress)) {
        let text = self.open_reasoning.next(text);
        if !text.is_empty() {
            self.reasoning.push_str(&text);
            progress(Progress::Reasoning(text));
        }
    }

    /// The reply, and what the endpoint of this name reported of its usage.
    pub(super) fn reply(self, request: &Request, endpoint: &str) -> (Reply, Report) {
        let message = self.kept.into_fields();
        let mut source =
            ReplySource { endpoint: endpoint.to_owned(), message, ..ReplySource::default() };
        let calls = if self.calls.is_empty() { self.elsewhere } else { self.calls };
        let calls = named(calls.in_order(), request, &self.names, &mut source);
        let text = self.text + &self.open_text.end();
        let reasoning = self.reasoning + &self.open_reasoning.end();
        let refused = !self.refusal.is_empty() && text.is_empty();
        let text = if refused { joined(&self.refusal).into_owned() } else { text };
        let finish = match self.finish.as_deref().unwrap_or_default() {
            _ if refused => Finish::Refused,
            reason => finish::finish(reason, !calls.is_empty()),
        };
        let report = self.usage.unwrap_or_default().or_cost(self.cost);
        let usage = report.usage(|| usage::estimate(request, &[&text, &reasoning], &calls));
        // Without calls there are no ids to know again either.
        let has_some = !calls.is_empty() || !source.message.is_empty();
        let source = has_some.then(|| Arc::new(source));
        (Reply { text, reasoning, calls, finish, usage, source, repairs: Vec::new() }, report)
    }
}

/// The calls with tools' own names, parsed arguments, and an id each.
fn named(
    calls: Vec<Call>,
    request: &Request,
    names: &Names,
    source: &mut ReplySource,
) -> Vec<ToolCall> {
    let mut free = FreeIds::of(request, "call");
    let mut taken = HashSet::new();
    let some = |call: &Call| !call.name.is_empty() || !call.arguments.trim().is_empty();
    calls
        .into_iter()
        .filter(some)
        .map(|call| {
            let mut id = joined(&call.id).into_owned();
            while id.is_empty() || taken.contains(&id) {
                id = free.next();
            }
            taken.insert(id.clone());
            let kept = call.kept.into_fields();
            if !kept.is_empty() {
                source.calls.insert(id.clone(), kept);
            }
            let (tool, arguments) = (joined(&call.name), joined(&call.arguments));
            ToolCall { id, tool: names.back(&tool), arguments: self::arguments(&arguments) }
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
