//! Assembles a message of the assistant from its blocks.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::blocks::{kind, type_of};
use crate::domain::blocks::Block;
use crate::domain::{ReplySource, ToolCall};

/// The field of a source that has the citations of each text block, or null for a block without.
pub(super) const CITATIONS: &str = "citations";

/// A message of the assistant, as far as its blocks have been added.
#[derive(Debug, Default)]
pub(super) struct AssistantMessage {
    pub text: String,
    pub calls: Vec<ToolCall>,
    blocks: Vec<Block>,
    citations: Vec<Value>,
    fields: BTreeMap<String, Map<String, Value>>,
}

impl AssistantMessage {
    /// Adds a text block. An empty one without citations is skipped.
    pub fn text(&mut self, text: &str, citations: Value) {
        let is_cited = citations.as_array().is_some_and(|list| !list.is_empty());
        if text.is_empty() && !is_cited {
            return;
        }
        self.text.push_str(text);
        self.blocks.push(Block::Text { bytes: text.len() });
        self.citations.push(if is_cited { citations } else { Value::Null });
    }

    /// Adds a call, and the fields of its block that the call itself does not have.
    pub fn call(&mut self, call: ToolCall, fields: Map<String, Value>) {
        self.blocks.push(Block::Call { id: call.id.clone() });
        if !fields.is_empty() {
            self.fields.insert(call.id.clone(), fields);
        }
        self.calls.push(call);
    }

    /// Adds any other block.
    pub fn keep(&mut self, raw: Value) {
        self.blocks.push(Block::kept(kind(type_of(&raw)), raw));
    }

    /// The message's text and calls, and its source. `None` if it has no calls, whose ids must be recognised later, and
    /// nothing besides one text.
    pub fn into_parts(self, endpoint: &str) -> (String, Vec<ToolCall>, Option<Arc<ReplySource>>) {
        let is_cited = self.citations.iter().any(Value::is_array);
        let is_plain = !is_cited && is_plain(&self.blocks);
        if is_plain && self.calls.is_empty() {
            return (self.text, self.calls, None);
        }
        let mut message = Map::new();
        if is_cited {
            message.insert(CITATIONS.into(), self.citations.into());
        }
        let source = ReplySource {
            endpoint: endpoint.to_owned(),
            message,
            blocks: if is_plain { Vec::new() } else { self.blocks },
            calls: self.fields,
        };
        (self.text, self.calls, Some(Arc::new(source)))
    }
}

/// Whether these are at most one text, and then calls.
fn is_plain(blocks: &[Block]) -> bool {
    let calls = match blocks {
        [Block::Text { .. }, calls @ ..] => calls,
        calls => calls,
    };
    calls.iter().all(|block| matches!(block, Block::Call { .. }))
}
