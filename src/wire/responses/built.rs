//! Builds a reply from the items of an answer.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Value};

use super::answer::End;
use super::item::{Growing, ResponsesItem};
use super::kinds::{self, ClientCallKind};
use super::order;
use crate::arguments;
use crate::domain::blocks::{Block, BlockKind};
use crate::domain::{Finish, ReplySource, Request, ToolCall};
use crate::ids::FreeIds;
use crate::names::FunctionNames;
use crate::pieces::joined;

/// The longest reason in the endpoint's words, in characters.
const LONGEST_REASON: usize = 64;

/// A reply without its usage.
pub(super) struct Built {
    pub text: String,
    pub reasoning: String,
    pub calls: Vec<ToolCall>,
    pub source: Option<ReplySource>,
    is_refused: bool,
}

impl Built {
    pub fn finish(&self, end: Option<&End>) -> Finish {
        let reason = match end {
            _ if self.is_refused => return Finish::Refused,
            Some(End::Incomplete(reason)) => reason.as_str(),
            Some(End::Complete) | None if self.calls.is_empty() => return Finish::Stop,
            Some(End::Complete) | None => return Finish::Calls,
        };
        match reason {
            "max_output_tokens" | "max_tokens" | "length" => Finish::Length,
            "content_filter" => Finish::Filtered,
            other => Finish::Other(other.chars().take(LONGEST_REASON).collect()),
        }
    }
}

/// The reply of these items, which must be in order.
pub(super) fn of(
    mut items: Vec<ResponsesItem>,
    request: &Request,
    names: &FunctionNames,
    endpoint: &str,
) -> Built {
    items.iter_mut().for_each(ResponsesItem::close);
    let texts = || items.iter().flat_map(|item| item.contents.values().map(move |it| (item, it)));
    let said = |is_refusal: bool| {
        let is_it = |(item, it): (&ResponsesItem, &Growing)| {
            item.kind == "message" && it.is_refusal == is_refusal && !it.is_empty()
        };
        texts().any(is_it)
    };
    // A refusal becomes the text if there is no other.
    let is_refused = said(true) && !said(false);
    let source = ReplySource { endpoint: endpoint.to_owned(), ..ReplySource::default() };
    let mut building = Building {
        built: Built {
            text: String::new(),
            reasoning: String::new(),
            calls: Vec::new(),
            source: None,
            is_refused,
        },
        names,
        free: FreeIds::of(request, "call"),
        taken: HashSet::new(),
        phases: Vec::new(),
        source,
    };
    for item in items {
        building.add(item);
    }
    building.finish()
}

struct Building<'a> {
    built: Built,
    names: &'a FunctionNames,
    free: FreeIds<'a>,
    /// Ids of calls so far.
    taken: HashSet<String>,
    phases: Vec<Value>,
    source: ReplySource,
}

impl Building<'_> {
    fn add(&mut self, item: ResponsesItem) {
        match (item.kind.as_str(), ClientCallKind::of_value(&item.kind, &item.fields)) {
            ("message", _) => self.message(item),
            ("reasoning", _) => self.reasoning(item),
            (_, Some(call)) => self.call(item, call),
            // The kind of this item is unknown.
            ("", None) => {}
            (kind, None) => {
                let kind = kinds::of_item(kind);
                self.keep(kind, item.into_raw());
            }
        }
    }

    fn finish(mut self) -> Built {
        order::note_phases(&mut self.source, self.phases);
        self.source.blocks = order::unless_plain(self.source.blocks);
        let source = &self.source;
        // Without calls there are no ids to recognise later.
        let has_some =
            !self.built.calls.is_empty() || !source.message.is_empty() || !source.blocks.is_empty();
        self.built.source = has_some.then_some(self.source);
        self.built
    }

    fn keep(&mut self, kind: BlockKind, raw: Value) {
        self.source.blocks.push(Block::kept(kind, raw));
    }

    fn message(&mut self, item: ResponsesItem) {
        let phase = item.fields.get(order::PHASE).cloned().unwrap_or_default();
        for mut growing in item.contents.into_values() {
            if let Some(other) = growing.other.take() {
                self.keep(BlockKind::Unknown, order::alone(other));
            } else if growing.is_refusal == self.built.is_refused {
                let text = &growing.text;
                if !text.is_empty() {
                    self.source.blocks.push(Block::Text { bytes: text.len() });
                    self.phases.push(phase.clone());
                    self.built.text.push_str(text);
                }
            }
        }
    }

    fn reasoning(&mut self, item: ResponsesItem) {
        let has_some = |texts: &BTreeMap<u64, Growing>| texts.values().any(|it| !it.is_empty());
        let shown = if has_some(&item.summary) { &item.summary } else { &item.contents };
        let shown = shown.values().map(|it| it.text.as_str()).filter(|text| !text.is_empty());
        let before = std::mem::take(&mut self.built.reasoning);
        let before = Some(before.as_str()).filter(|text| !text.is_empty());
        self.built.reasoning = before.into_iter().chain(shown).collect::<Vec<_>>().join("\n\n");
        // An endpoint that stores nothing does not know an item by its id alone, and refuses one with only a summary.
        let secret = item.fields.get("encrypted_content").and_then(Value::as_str);
        if secret.is_some_and(|secret| !secret.is_empty()) || has_some(&item.contents) {
            self.keep(BlockKind::Thinking, item.into_raw());
        }
    }

    fn call(&mut self, item: ResponsesItem, call: ClientCallKind) {
        let text = |name: &str| item.fields.get(name).and_then(Value::as_str).unwrap_or_default();
        let name = joined(call.tool().unwrap_or_else(|| text("name"))).into_owned();
        let sent = [text("call_id"), item.id.as_str()].into_iter().find(|id| !id.is_empty());
        let mut id = sent.map(|id| joined(id).into_owned()).unwrap_or_default();
        let fields =
            item.fields.iter().filter(|(name, value)| !call.defines(name) && !value.is_null());
        let mut kept: Map<_, _> =
            fields.map(|(name, value)| (name.clone(), value.clone())).collect();
        let input = &item.input.text;
        if name.is_empty() && input.trim().is_empty() {
            return;
        }
        while id.is_empty() || self.taken.contains(&id) {
            id = self.free.take();
        }
        self.taken.insert(id.clone());
        if call != ClientCallKind::Function {
            kept.insert("type".into(), call.kind().into());
        }
        if !kept.is_empty() {
            self.source.calls.insert(id.clone(), kept);
        }
        let arguments = match call {
            ClientCallKind::Custom => input.as_str().into(),
            _ => arguments::read(input),
        };
        self.source.blocks.push(Block::Call { id: id.clone() });
        self.built.calls.push(ToolCall { id, tool: self.names.back(&name), arguments });
    }
}
