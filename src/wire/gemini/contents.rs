//! The contents of a request as the endpoint accepts them: none is empty, and results follow their calls.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::parts::{SIGNATURE, SIGNATURES, is_known};
use crate::arguments;
use crate::domain::blocks::{Block, texts};
use crate::domain::{Message, ReplySource, Request, ToolCall};
use crate::ids::is_given_here;
use crate::learned::{Demand, NO_SIGNATURE};
use crate::message_layout::{LayoutBlock, parts};
use crate::settings::WireSettings;

/// The contents after the instructions.
pub(super) fn contents(request: &Request, settings: &WireSettings<'_>) -> Vec<Value> {
    let is_instruction = |message: &&Message| matches!(message, Message::System { .. });
    let begin = request.messages.iter().take_while(is_instruction).count();
    let mut contents = Contents { all: Vec::new(), own_ids: HashSet::new(), settings };
    request.messages.iter().skip(begin).for_each(|message| contents.add(message));
    contents.all
}

struct Contents<'a> {
    all: Vec<Value>,
    /// The ids that the endpoint has given: it gets no others.
    own_ids: HashSet<&'a str>,
    settings: &'a WireSettings<'a>,
}

impl<'a> Contents<'a> {
    fn add(&mut self, message: &'a Message) {
        match message {
            // There are no instructions between the turns.
            Message::System { text } => self.push("user", of_user(text, &[])),
            Message::User { text, blocks } => self.push("user", of_user(text, blocks)),
            Message::Assistant { text, calls, source } => {
                let source = source.as_deref();
                let own = source.filter(|source| source.endpoint == self.settings.source);
                let parts = self.of_model(text, calls, own);
                self.push("model", parts);
            }
            Message::Tool { id, tool, text, blocks, failed } => {
                let mut result = Map::new();
                if self.own_ids.contains(id.as_str()) {
                    result.insert("id".into(), id.as_str().into());
                }
                result.insert("name".into(), self.settings.names.out(tool).into());
                let field = if *failed { "error" } else { "result" };
                let (text, media) = with_media(text, blocks);
                result.insert("response".into(), json!({ field: text }));
                if !media.is_empty() {
                    result.insert("parts".into(), media.into());
                }
                self.push("user", vec![json!({ "functionResponse": result })]);
            }
        }
    }

    /// Adds parts. The results of several calls are one content, which has nothing else.
    fn push(&mut self, role: &str, parts: Vec<Value>) {
        if parts.is_empty() {
            return;
        }
        let is_result = |part: &Value| part.get("functionResponse").is_some();
        let last = self.all.last_mut().filter(|last| {
            last["role"] == role && is_result(&last["parts"][0]) == is_result(&parts[0])
        });
        match last.and_then(|last| last["parts"].as_array_mut()) {
            Some(before) => before.extend(parts),
            None => self.all.push(json!({"role": role, "parts": parts})),
        }
    }

    fn of_model(
        &mut self,
        text: &str,
        calls: &'a [ToolCall],
        own: Option<&ReplySource>,
    ) -> Vec<Value> {
        let has_id = |call: &&ToolCall| own.is_some() && !is_given_here(call, own);
        self.own_ids.extend(calls.iter().filter(has_id).map(|call| call.id.as_str()));
        let wants = self.settings.learned.demands.contains(&Demand::Signature);
        let mut lacks_signature = wants;
        let part = |block: LayoutBlock<'_>| match block {
            LayoutBlock::Text(text, None) if text.trim().is_empty() => None,
            LayoutBlock::Text(text, signature) => {
                let mut part = json!({ "text": text });
                if let Some(signature) = signature {
                    part[SIGNATURE] = signature.clone();
                }
                Some(part)
            }
            LayoutBlock::Call(call, beside) => {
                let mut part = self.call(call, beside);
                // One signature counts for all calls of a message.
                if std::mem::take(&mut lacks_signature) && part.get(SIGNATURE).is_none() {
                    part[SIGNATURE] = NO_SIGNATURE.into();
                }
                Some(part)
            }
            LayoutBlock::Kept(_, raw) => Some(raw.clone()),
        };
        parts(text, calls, own, SIGNATURES).into_iter().filter_map(part).collect()
    }

    fn call(&self, call: &ToolCall, beside: Option<&Map<String, Value>>) -> Value {
        let mut function = Map::new();
        if self.own_ids.contains(call.id.as_str()) {
            function.insert("id".into(), call.id.as_str().into());
        }
        function.insert("name".into(), self.settings.names.out(&call.tool).into());
        function.insert("args".into(), arguments::object(&call.arguments).into_owned());
        let mut part = Map::new();
        part.insert("functionCall".into(), function.into());
        let beside = beside.into_iter().flatten().filter(|(name, _)| *name != "id");
        part.extend(beside.map(|(name, value)| (name.clone(), value.clone())));
        part.into()
    }
}

/// The parts of a user. Blocks of another format become labels.
fn of_user(text: &str, blocks: &[Block]) -> Vec<Value> {
    let plain = [Block::Text { bytes: text.len() }];
    let blocks = if blocks.is_empty() { &plain } else { blocks };
    let mut texts = texts(blocks, text).into_iter();
    let part = |block: &Block| match block {
        Block::Text { .. } => {
            let text = texts.next().filter(|text| !text.trim().is_empty());
            text.map(|text| json!({ "text": text }))
        }
        Block::Call { .. } => None,
        Block::Kept { raw, .. } if is_known(raw) => Some(raw.clone()),
        Block::Kept { .. } => block.label().map(|label| json!({ "text": label })),
    };
    blocks.iter().filter_map(part).collect()
}

/// The text of a result, and its media. Blocks of another format become labels in the text.
fn with_media(text: &str, blocks: &[Block]) -> (String, Vec<Value>) {
    let (mut text, mut media) = (text.to_owned(), Vec::new());
    for block in blocks {
        match block {
            Block::Kept { raw, .. } if is_known(raw) => media.push(raw.clone()),
            Block::Kept { .. } => text.extend(block.label().map(|label| format!("\n{label}"))),
            Block::Text { .. } | Block::Call { .. } => {}
        }
    }
    (text, media)
}
