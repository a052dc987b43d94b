//! Assembles messages from their blocks.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::domain::blocks::{Block, BlockKind};
use crate::domain::{ReplySource, ToolCall};

/// A message of the assistant, as far as its blocks have been added.
#[derive(Debug, Default)]
pub(crate) struct AssistantMessage {
    pub text: String,
    pub calls: Vec<ToolCall>,
    blocks: Vec<Block>,
    /// The parts of each text block beside its text, such as citations; null for a block without.
    beside: Vec<Value>,
    fields: BTreeMap<String, Map<String, Value>>,
}

impl AssistantMessage {
    /// Adds a text block, and what it has beside its text: a list or a text. An empty block with neither is skipped.
    pub fn text(&mut self, text: &str, beside: Value) {
        let has_some = match &beside {
            Value::Array(list) => !list.is_empty(),
            Value::String(text) => !text.is_empty(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
        };
        if text.is_empty() && !has_some {
            return;
        }
        self.text.push_str(text);
        self.blocks.push(Block::Text { bytes: text.len() });
        self.beside.push(if has_some { beside } else { Value::Null });
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
    pub fn keep(&mut self, kind: BlockKind, raw: Value) {
        self.blocks.push(Block::kept(kind, raw));
    }

    /// The message's text and calls, and its source, which has what texts have beside them in `field`. `None` if it has no
    /// calls, whose ids must be recognised later, and nothing besides one text.
    pub fn into_parts(
        self,
        endpoint: &str,
        field: &str,
    ) -> (String, Vec<ToolCall>, Option<Arc<ReplySource>>) {
        let has_beside = !self.beside.iter().all(Value::is_null);
        let is_plain = !has_beside && is_plain(&self.blocks);
        if is_plain && self.calls.is_empty() {
            return (self.text, self.calls, None);
        }
        let mut message = Map::new();
        if has_beside {
            message.insert(field.into(), self.beside.into());
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

/// Texts, and the parts between them.
#[derive(Debug, Default)]
pub(crate) struct TextParts {
    pub text: String,
    pub blocks: Vec<Block>,
}

impl TextParts {
    /// Adds a text.
    pub fn add(&mut self, text: &str) {
        self.text.push_str(text);
        self.blocks.push(Block::Text { bytes: text.len() });
    }

    /// The text, and the blocks, if they are more than that.
    pub fn into_message(self) -> (String, Vec<Block>) {
        let is_plain = matches!(self.blocks[..], [] | [Block::Text { .. }]);
        (self.text, if is_plain { Vec::new() } else { self.blocks })
    }
}
