//! The parts of an assistant's message in their order.

use serde_json::{Value, json};

use crate::domain::blocks::{Block, BlockKind, texts};
use crate::domain::{ReplySource, ToolCall};

/// The field of a message's source with the phase of each of its texts. Newer models want phases back.
pub(super) const PHASE: &str = "phase";

/// A part of an assistant's message.
pub(super) enum OrderedPart<'a> {
    /// A text, and its phase.
    Text(&'a str, Option<&'a Value>),
    Call(&'a ToolCall),
    /// A block that the endpoint wrote besides texts and calls.
    Kept(BlockKind, &'a Value),
}

/// The parts of a message. Calls without a block come last, since they were added later.
pub(super) fn parts<'a>(
    text: &'a str,
    calls: &'a [ToolCall],
    source: Option<&'a ReplySource>,
) -> Vec<OrderedPart<'a>> {
    let blocks = source.map_or(&[][..], |source| &source.blocks);
    let phases = source.and_then(|source| source.message.get(PHASE)).and_then(Value::as_array);
    let mut phases = phases.into_iter().flatten();
    let mut text_part = |text: &'a str| {
        let phase = phases.next().filter(|phase| phase.is_string());
        OrderedPart::Text(text, phase)
    };
    let (mut parts, mut left) = (Vec::new(), calls.iter().collect::<Vec<_>>());
    let has_text = blocks.iter().any(|block| matches!(block, Block::Text { .. }));
    if !has_text && !text.is_empty() {
        parts.push(text_part(text));
    }
    let mut texts = texts(blocks, text).into_iter();
    for block in blocks {
        match block {
            Block::Text { .. } => parts.extend(texts.next().map(&mut text_part)),
            Block::Call { id } => {
                let at = left.iter().position(|call| call.id == *id);
                parts.extend(at.map(|at| OrderedPart::Call(left.remove(at))));
            }
            Block::Kept { kind, raw } => parts.push(OrderedPart::Kept(*kind, raw)),
        }
    }
    parts.extend(left.into_iter().map(OrderedPart::Call));
    parts
}

/// Returns the blocks, or none if they are at most one text and then its calls.
pub(super) fn unless_plain(blocks: Vec<Block>) -> Vec<Block> {
    let calls = match blocks.as_slice() {
        [Block::Text { .. }, calls @ ..] => calls,
        calls => calls,
    };
    let is_plain = calls.iter().all(|block| matches!(block, Block::Call { .. }));
    if is_plain { Vec::new() } else { blocks }
}

/// Notes the phases of texts, if one of them has any.
pub(super) fn note_phases(source: &mut ReplySource, phases: Vec<Value>) {
    if phases.iter().any(Value::is_string) {
        source.message.insert(PHASE.into(), phases.into());
    }
}

/// An item for a part of a message that is not a text, so that it has its own place.
pub(super) fn alone(part: Value) -> Value {
    json!({"type": "message", "role": "assistant", "content": [part]})
}
