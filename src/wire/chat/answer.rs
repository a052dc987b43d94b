//! A growing answer: deltas of a stream, or one whole message, become a reply.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value;

use super::calls::{ChatCall, ChatCalls, old_kind};
use super::{finish, kept::EndpointFields};
use crate::arguments;
use crate::domain::{Finish, Reply, ReplySource, Request, ToolCall};
use crate::errors::is_error;
use crate::field::field;
use crate::ids::FreeIds;
use crate::names::FunctionNames;
use crate::pieces::{Joiner, joined};
use crate::reading::{self, AnswerFault, AnswerPiece, GrowingAnswer};
use crate::sse::Event;
use crate::usage::{self, Report};

/// Largest answer in bytes. No model writes that much, but a broken server may.
const LARGEST: usize = 16 * 1024 * 1024;

/// The parts that have arrived so far.
#[derive(Debug, Default)]
pub struct ChatAnswer {
    names: Arc<FunctionNames>,
    text: String,
    reasoning: String,
    refusal: String,
    /// Whether deltas have come: a whole message after them has their text once more.
    has_deltas: bool,
    /// Parts of characters at the end of text and reasoning.
    open_text: Joiner,
    open_reasoning: Joiner,
    calls: ChatCalls,
    /// The choice to read: the first that came.
    choice: Option<u64>,
    /// Calls of other choices. Some gateways put the text into one choice and its calls into another.
    elsewhere: ChatCalls,
    /// Fields of the message that the endpoint expects to get back.
    kept: EndpointFields,
    finish: Option<String>,
    usage: Option<Report>,
    /// The cost that the endpoint reports in a header, apart from the usage.
    cost: Report,
}

impl GrowingAnswer for ChatAnswer {
    fn whole(
        &mut self,
        document: &Value,
        seen: &mut dyn FnMut(AnswerPiece),
    ) -> Result<(), AnswerFault> {
        let choice = &document["choices"][0];
        let is_whole = choice["message"].is_object()
            || choice["delta"].is_object() && finish::reason(choice).is_some();
        part(choice)?;
        if !is_whole {
            return Err(missing(document));
        }
        self.take(document, seen)?;
        // A whole answer is complete, even if its server sends no reason.
        self.finish.get_or_insert_with(|| "stop".into());
        Ok(())
    }

    fn event(
        &mut self,
        event: &Event,
        seen: &mut dyn FnMut(AnswerPiece),
    ) -> Result<bool, AnswerFault> {
        if is_done(&event.data) {
            // Some servers send no reason. An answer with half of a call is not complete, whatever follows.
            if self.has_something() && self.calls.are_whole() {
                self.finish.get_or_insert_with(|| "stop".into());
            }
            return Ok(true);
        }
        let chunk = reading::data(event)?;
        if is_error(&chunk) || event.name == "error" {
            return Err(AnswerFault::Said(chunk));
        }
        self.take(&chunk, seen)?;
        if chunk.get("choices").is_none() { Err(AnswerFault::Other(chunk)) } else { Ok(false) }
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

    fn reply(self: Box<Self>, request: &Request, endpoint: &str) -> (Reply, Report) {
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
        // Without calls there are no ids to recognise later.
        let has_some = !calls.is_empty() || !source.message.is_empty();
        let source = has_some.then(|| Arc::new(source));
        (Reply { text, reasoning, calls, finish, usage, source, repairs: Vec::new() }, report)
    }
}

/// Whether this is the end of a stream: `[DONE]`, however it is written.
fn is_done(data: &str) -> bool {
    data.trim_matches(|c: char| !c.is_alphanumeric()).eq_ignore_ascii_case("done")
}

/// The error that a part of an answer reports, such as one of its choices.
fn part(part: &Value) -> Result<(), AnswerFault> {
    if is_error(part) { Err(AnswerFault::Said(part.clone())) } else { Ok(()) }
}

/// Why a document is not an answer.
fn missing(document: &Value) -> AnswerFault {
    match document.get("choices") {
        Some(Value::Array(choices)) if !choices.is_empty() => {
            AnswerFault::Missing("message in its first choice")
        }
        Some(_) => AnswerFault::Missing("choices"),
        None => AnswerFault::Other(document.clone()),
    }
}

impl ChatAnswer {
    /// An answer to a request with these names of tools. `cost` is what the endpoint reports apart from the usage.
    pub fn begin(names: &Arc<FunctionNames>, cost: Report) -> Box<dyn GrowingAnswer> {
        Box::new(Self::of(names, cost))
    }

    pub(crate) fn of(names: &Arc<FunctionNames>, cost: Report) -> Self {
        Self { cost, names: Arc::clone(names), ..Self::default() }
    }

    /// Whether the model has said or called anything.
    fn has_something(&self) -> bool {
        !self.text.is_empty() || !self.refusal.is_empty() || !self.calls.is_empty()
    }

    /// Reads one chunk of a stream, or one whole completion, and reports what it adds.
    pub(crate) fn take(
        &mut self,
        chunk: &Value,
        seen: &mut dyn FnMut(AnswerPiece),
    ) -> Result<(), AnswerFault> {
        let choices = chunk["choices"].as_array().map_or(&[][..], Vec::as_slice);
        // The last usage counts: some servers send a running one with every chunk.
        let usages = [&chunk["usage"], &chunk["choices"][0]["usage"], &chunk["x_groq"]["usage"]];
        self.usage = usages.into_iter().find_map(usage::read).or(self.usage.take());
        for (position, choice) in choices.iter().enumerate() {
            let index = choice["index"].as_u64().unwrap_or(position as u64);
            let parts = [&choice["delta"], &choice["message"]];
            if *self.choice.get_or_insert(index) == index {
                self.part(parts[0], seen);
                self.message(parts[1], seen);
                self.has_deltas |= parts[0].is_object();
                self.end(choice)?;
            } else {
                parts.into_iter().for_each(|part| self.elsewhere.read(part, &self.names));
            }
        }
        let kept = self.kept.size() + self.calls.kept() + self.elsewhere.size();
        let size = GrowingAnswer::size(self).max(kept);
        if size <= LARGEST && self.calls.len() + self.elsewhere.len() <= 1024 {
            return Ok(());
        }
        Err(AnswerFault::TooLarge(LARGEST / (1024 * 1024)))
    }

    /// Reads the finish reason of a choice, if it has one.
    fn end(&mut self, choice: &Value) -> Result<(), AnswerFault> {
        for part in [choice, &choice["delta"], &choice["message"]] {
            self::part(part)?;
        }
        let Some(reason) = finish::reason(choice) else { return Ok(()) };
        if finish::is_failure(reason) {
            return Err(AnswerFault::Ended(reason.to_owned()));
        }
        self.finish = Some(reason.to_owned());
        Ok(())
    }

    /// Reads a whole message. What deltas have said before it is not said again.
    fn message(&mut self, message: &Value, seen: &mut dyn FnMut(AnswerPiece)) {
        let mut message = Cow::Borrowed(message);
        if self.has_deltas {
            let texts = [
                ("content", &self.text),
                ("reasoning_content", &self.reasoning),
                ("reasoning", &self.reasoning),
                ("refusal", &self.refusal),
            ];
            for (name, said) in texts.into_iter().filter(|(_, said)| !said.is_empty()) {
                let all = match field(&message, name) {
                    Value::Null => continue,
                    Value::Array(parts) => {
                        parts.iter().filter_map(|it| it["text"].as_str()).collect()
                    }
                    all => all.as_str().unwrap_or_default().to_owned(),
                };
                let more = all.trim_start().strip_prefix(said.trim()).unwrap_or_default();
                message.to_mut()[name] = more.into();
            }
        }
        self.part(&message, seen);
    }

    fn part(&mut self, part: &Value, seen: &mut dyn FnMut(AnswerPiece)) {
        self.kept.add_message(part);
        let reasoning = [field(part, "reasoning_content"), &part["reasoning"]];
        // Servers that send both send the same text twice.
        if let Some(text) =
            reasoning.into_iter().find_map(|text| text.as_str().filter(|t| !t.is_empty()))
        {
            self.think(text, seen);
        }
        match &part["content"] {
            Value::String(text) => self.say(text, seen),
            Value::Array(parts) => parts.iter().for_each(|part| self.content(part, seen)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
        }
        if let Some(text) = part["refusal"].as_str() {
            self.refusal.push_str(text);
        }
        self.calls.read(part, &self.names);
    }

    /// Reads one part of a content in parts, such as `{"type": "text", "text": …}`; reasoning is nested.
    fn content(&mut self, part: &Value, seen: &mut dyn FnMut(AnswerPiece)) {
        if let Some(text) = part["text"].as_str() {
            self.say(text, seen);
        }
        for thought in part["thinking"].as_array().into_iter().flatten() {
            self.think(thought["text"].as_str().unwrap_or_default(), seen);
        }
    }

    fn say(&mut self, text: &str, seen: &mut dyn FnMut(AnswerPiece)) {
        let text = self.open_text.next(text);
        if !text.is_empty() {
            self.text.push_str(&text);
            seen(AnswerPiece::Text(text));
        }
    }

    fn think(&mut self, text: &str, seen: &mut dyn FnMut(AnswerPiece)) {
        let text = self.open_reasoning.next(text);
        if !text.is_empty() {
            self.reasoning.push_str(&text);
            seen(AnswerPiece::Reasoning(text));
        }
    }
}

/// The calls with tools' own names, parsed arguments, and an id each.
fn named(
    calls: Vec<ChatCall>,
    request: &Request,
    names: &FunctionNames,
    source: &mut ReplySource,
) -> Vec<ToolCall> {
    let mut free = FreeIds::of(request, "call");
    let mut taken = HashSet::new();
    let some = |call: &ChatCall| !call.name.is_empty() || !call.arguments.trim().is_empty();
    calls
        .into_iter()
        .filter(some)
        .map(|call| {
            let mut id = joined(&call.id).into_owned();
            while id.is_empty() || taken.contains(&id) {
                id = free.take();
            }
            taken.insert(id.clone());
            let mut kept = call.kept.into_fields();
            kept.extend(call.is_old.then(old_kind).into_iter().flatten());
            if !kept.is_empty() {
                source.calls.insert(id.clone(), kept);
            }
            let (tool, arguments) = (joined(&call.name), joined(&call.arguments));
            ToolCall { id, tool: names.back(&tool), arguments: arguments::read(&arguments) }
        })
        .collect()
}
