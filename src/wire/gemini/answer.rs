//! A growing answer: the parts of a stream, or one whole answer, become a reply.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::parts::{SIGNATURE, SIGNATURES, kind, of};
use crate::arguments;
use crate::assistant_message::AssistantMessage;
use crate::chat::finish;
use crate::domain::blocks::BlockKind;
use crate::domain::{Reply, Request, ToolCall, value_bytes};
use crate::errors::is_error;
use crate::ids::{FreeIds, given_here, ids};
use crate::names::FunctionNames;
use crate::pieces::{Joiner, joined};
use crate::reading::{self, AnswerFault, AnswerPiece, GrowingAnswer};
use crate::sse::Event;
use crate::usage::{self, Report};

/// Largest answer in bytes, and most calls of one. No model writes that much, but a broken server may.
const LARGEST: usize = 16 * 1024 * 1024;
const MOST_CALLS: usize = 1024;

/// An answer, as far as it has arrived.
#[derive(Debug, Default)]
pub(super) struct GeminiAnswer {
    names: Arc<FunctionNames>,
    parts: Vec<GrownPart>,
    text: String,
    reasoning: String,
    /// A part of a character at the end of the text.
    open: Joiner,
    finish: Option<String>,
    id: String,
    usage: Option<Report>,
    /// The cost that the endpoint reports in a header, apart from the usage.
    cost: Report,
    /// Bytes that the model has written, and bytes that are kept beside them.
    written: usize,
    held: usize,
}

/// A part of the answer. A text and a thought may come in several pieces.
#[derive(Debug)]
enum GrownPart {
    Text { bytes: usize, signature: Value },
    Call { call: Value, beside: Map<String, Value> },
    Kept(BlockKind, Value),
}

impl GrowingAnswer for GeminiAnswer {
    fn whole(
        &mut self,
        document: &Value,
        seen: &mut dyn FnMut(AnswerPiece),
    ) -> Result<(), AnswerFault> {
        if is_error(document) {
            return Err(AnswerFault::Said(document.clone()));
        }
        let [candidates, feedback, usage] =
            ["candidates", "promptFeedback", "usageMetadata"].map(|name| of(document, name));
        if [candidates, feedback, usage].iter().all(|part| part.is_null()) {
            return Err(AnswerFault::Other(document.clone()));
        }
        self.usage = usage::read(&usual(usage)).or(self.usage.take());
        if let Some(id) = of(document, "responseId").as_str() {
            id.clone_into(&mut self.id);
        }
        if of(feedback, "blockReason").is_string() {
            // There is no candidate then.
            self.finish = Some("blocked".to_owned());
        }
        // Further candidates are other answers to the same prompt.
        let first = &candidates[0];
        for part in first["content"]["parts"].as_array().into_iter().flatten() {
            self.part(part, seen);
        }
        match of(first, "finishReason").as_str() {
            None | Some("" | "FINISH_REASON_UNSPECIFIED") => {}
            Some(reason) => self.end(reason)?,
        }
        let calls = self.parts.iter().filter(|it| matches!(it, GrownPart::Call { .. })).count();
        if self.written.max(self.held) > LARGEST || calls > MOST_CALLS {
            return Err(AnswerFault::TooLarge(LARGEST / (1024 * 1024)));
        }
        Ok(())
    }

    fn event(
        &mut self,
        event: &Event,
        seen: &mut dyn FnMut(AnswerPiece),
    ) -> Result<bool, AnswerFault> {
        // Some gateways end every stream in this way.
        if event.is_last() {
            return Ok(true);
        }
        let data = reading::data(event)?;
        self.whole(&data, seen).map(|()| false)
    }

    fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    fn id(&self) -> &str {
        &self.id
    }

    fn text(&self) -> &str {
        &self.text
    }

    fn size(&self) -> usize {
        self.written
    }

    fn reply(mut self: Box<Self>, request: &Request, endpoint: &str) -> (Reply, Report) {
        self.flush(&mut |_| {});
        let (reasoning, finish) = (std::mem::take(&mut self.reasoning), self.finish.take());
        let (report, cost) =
            (self.usage.take().unwrap_or_default(), std::mem::take(&mut self.cost));
        let (text, calls, source) = self.said(request).into_parts(endpoint, SIGNATURES);
        let finish = finish::finish(&finish.unwrap_or_default(), !calls.is_empty());
        let report = report.or_cost(cost);
        let usage = report.usage(|| usage::estimate(request, &[&text, &reasoning], &calls));
        (Reply { text, reasoning, calls, finish, usage, source, repairs: Vec::new() }, report)
    }

    fn is_sequence(&self) -> bool {
        true
    }
}

impl GeminiAnswer {
    pub fn begin(names: &Arc<FunctionNames>, cost: Report) -> Self {
        Self { cost, names: Arc::clone(names), ..Self::default() }
    }

    /// Reads the reason of the end. A call that the endpoint could not read is a failure.
    fn end(&mut self, reason: &str) -> Result<(), AnswerFault> {
        if finish::is_failure(reason) {
            return Err(AnswerFault::Ended(reason.to_owned()));
        }
        self.finish = Some(reason.to_owned());
        Ok(())
    }

    fn part(&mut self, part: &Value, seen: &mut dyn FnMut(AnswerPiece)) {
        let signature = of(part, SIGNATURE);
        self.held += value_bytes(part);
        if of(part, "functionCall").is_object() {
            self.flush(seen);
            let mut beside = Map::new();
            if !signature.is_null() {
                beside.insert(SIGNATURE.to_owned(), signature.clone());
            }
            let call = of(part, "functionCall").clone();
            self.written += value_bytes(&call);
            self.parts.push(GrownPart::Call { call, beside });
        } else if let Some(text) = part["text"].as_str() {
            match part["thought"] == true {
                true => self.think(text, part, seen),
                false => self.say(text, signature, seen),
            }
        } else {
            self.flush(seen);
            self.parts.push(GrownPart::Kept(kind(part), part.clone()));
        }
    }

    fn say(&mut self, text: &str, signature: &Value, seen: &mut dyn FnMut(AnswerPiece)) {
        let is_unsigned =
            |part: &GrownPart| matches!(part, GrownPart::Text { signature: Value::Null, .. });
        // The endpoint wants a signed part back as it came.
        let goes_on = signature.is_null() && self.parts.last().is_some_and(is_unsigned);
        if !goes_on {
            if text.is_empty() && signature.is_null() {
                return;
            }
            self.flush(seen);
            self.parts.push(GrownPart::Text { bytes: 0, signature: signature.clone() });
        }
        let text = self.open.next(text);
        self.add(text, seen);
    }

    /// Ends a text: an incomplete character at its end becomes a replacement character.
    fn flush(&mut self, seen: &mut dyn FnMut(AnswerPiece)) {
        let rest = std::mem::take(&mut self.open).end();
        self.add(rest, seen);
    }

    /// Adds to the last text.
    fn add(&mut self, text: String, seen: &mut dyn FnMut(AnswerPiece)) {
        let last = self.parts.iter_mut().rev().find_map(|part| match part {
            GrownPart::Text { bytes, .. } => Some(bytes),
            GrownPart::Call { .. } | GrownPart::Kept(..) => None,
        });
        let Some(bytes) = last.filter(|_| !text.is_empty()) else { return };
        *bytes += text.len();
        self.written += text.len();
        self.text.push_str(&text);
        seen(AnswerPiece::Text(text));
    }

    /// Adds a piece of a thought. Consecutive pieces are one thought, whose signature comes last.
    fn think(&mut self, text: &str, part: &Value, seen: &mut dyn FnMut(AnswerPiece)) {
        self.flush(seen);
        let text = joined(text).into_owned();
        match self.parts.last_mut() {
            Some(GrownPart::Kept(BlockKind::Thinking, raw)) if of(raw, SIGNATURE).is_null() => {
                let so_far = raw["text"].as_str().unwrap_or_default().to_owned();
                let mut raw_part = part.clone();
                raw_part["text"] = (so_far + &text).into();
                *raw = raw_part;
            }
            _ => {
                if !self.reasoning.is_empty() {
                    self.reasoning.push_str("\n\n");
                    seen(AnswerPiece::Reasoning("\n\n".into()));
                }
                self.parts.push(GrownPart::Kept(BlockKind::Thinking, part.clone()));
            }
        }
        self.written += text.len();
        if !text.is_empty() {
            self.reasoning.push_str(&text);
            seen(AnswerPiece::Reasoning(text));
        }
    }

    /// The message of the parts, with tools' own names and an id for each call.
    fn said(self, request: &Request) -> AssistantMessage {
        let mut rest = self.text.as_str();
        let (mut said, mut taken) = (AssistantMessage::default(), HashSet::<String>::new());
        let free = |taken: &HashSet<String>| -> String {
            // As a later request counts them.
            FreeIds::beside(ids(request).chain(taken.iter().map(String::as_str)), "call").take()
        };
        for part in self.parts {
            match part {
                GrownPart::Text { bytes, signature } => {
                    let (own, after) = rest.split_at_checked(bytes).unwrap_or((rest, ""));
                    said.text(own, signature);
                    rest = after;
                }
                GrownPart::Call { call, mut beside } => {
                    let text = |name: &str| call[name].as_str().map(|it| joined(it).into_owned());
                    let mut id = text("id").unwrap_or_default();
                    if id.is_empty() {
                        beside.extend(given_here());
                    }
                    while id.is_empty() || !taken.insert(id.clone()) {
                        id = free(&taken);
                    }
                    let arguments = match &call["args"] {
                        Value::Null => json!({}),
                        Value::String(raw) => arguments::read(raw),
                        arguments => arguments.clone(),
                    };
                    let tool = self.names.back(&text("name").unwrap_or_default());
                    said.call(ToolCall { id, tool, arguments }, beside);
                }
                GrownPart::Kept(kind, raw) => said.keep(kind, raw),
            }
        }
        said
    }
}

/// A usage in the words of most other servers. Thoughts and the results of the endpoint's own tools are counted apart.
fn usual(usage: &Value) -> Value {
    let sum = |names: [&str; 2]| {
        let all = names.map(|name| of(usage, name));
        match all.map(Value::as_u64) {
            [None, None] => all.into_iter().find(|it| !it.is_null()).cloned().unwrap_or_default(),
            counts => counts.into_iter().flatten().fold(0, u64::saturating_add).into(),
        }
    };
    json!({
        "prompt_tokens": sum(["promptTokenCount", "toolUsePromptTokenCount"]),
        "completion_tokens": sum(["candidatesTokenCount", "thoughtsTokenCount"]),
        "total_tokens": of(usage, "totalTokenCount"),
        "cached_tokens": of(usage, "cachedContentTokenCount"),
    })
}
