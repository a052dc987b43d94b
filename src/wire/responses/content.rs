//! Contents of messages and results: one text, or a list of parts.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::kinds;
use crate::asked::Unknown;
use crate::domain::blocks::{Block, BlockKind, texts};
use crate::node::JsonNode;

/// Reads a content: all of its text, and its parts if it is more than one text.
pub(super) fn read(content: Option<JsonNode<'_>>, unknown: &mut Unknown) -> (String, Vec<Block>) {
    let (mut text, mut blocks) = (String::new(), Vec::new());
    for part in parts(content) {
        match part {
            ReadPart::Text(more) => {
                text.push_str(&more);
                blocks.push(Block::Text { bytes: more.len() });
            }
            ReadPart::Other(kind, node) => blocks.push(other(&kind, node, unknown)),
        }
    }
    let is_plain = matches!(blocks.as_slice(), [Block::Text { .. }]);
    (text, if is_plain { Vec::new() } else { blocks })
}

/// A part of a content.
pub(super) enum ReadPart<'a> {
    Text(String),
    /// A part that is not a text, with its type.
    Other(String, JsonNode<'a>),
}

/// The parts of a content.
pub(super) fn parts(content: Option<JsonNode<'_>>) -> Vec<ReadPart<'_>> {
    let Some(content) = content else { return Vec::new() };
    if let Some(text) = content.string() {
        return vec![ReadPart::Text(text.into_owned())];
    }
    // Some clients send one part without a list around it.
    let items = content.items().unwrap_or_else(|| vec![content]);
    let part = |node: JsonNode<'_>| {
        let fields = node.fields();
        let kind = fields.as_ref().and_then(|fields| fields.string("type"));
        let kind = kind.unwrap_or_default().into_owned();
        let text = kinds::text_field(&kind).and_then(|name| fields.as_ref()?.string(name));
        (kind, text.map(|text| text.into_owned()))
    };
    let read = |node| match part(node) {
        (_, Some(text)) => ReadPart::Text(text),
        (kind, None) => ReadPart::Other(kind, node),
    };
    items.into_iter().map(read).collect()
}

/// Reads the output of commands, as a person sees it, and whether one of them failed.
pub(super) fn of_shell(output: Option<JsonNode<'_>>) -> (String, Vec<Block>, bool) {
    let (mut texts, mut failed) = (Vec::new(), false);
    for part in output.and_then(|output| output.items()).unwrap_or_default() {
        let Some(part) = part.fields() else { continue };
        let said = ["stdout", "stderr"].map(|name| part.string(name).unwrap_or_default());
        texts.extend(said.into_iter().filter(|text| !text.is_empty()).map(Cow::into_owned));
        let outcome = part.fields("outcome");
        let code = outcome.as_ref().and_then(|it| it.get("exit_code")?.i64()).unwrap_or_default();
        let is_late = outcome.and_then(|it| it.string("type")).as_deref() == Some("timeout");
        failed |= is_late || code != 0;
        texts.extend(is_late.then(|| "time limit exceeded".to_owned()));
        texts.extend((code != 0).then(|| format!("exit code {code}")));
    }
    (texts.join("\n"), Vec::new(), failed)
}

/// A part that is not a text, as a block.
fn other(kind: &str, node: JsonNode<'_>, unknown: &mut Unknown) -> Block {
    let what = kinds::of_part(kind);
    if what == BlockKind::Unknown {
        unknown.add(format!("input[].content[].type={kind}"));
    }
    Block::kept(what, node.value())
}

/// Writes a content. Parts of another format become labels.
pub(super) fn write(text: &str, blocks: &[Block]) -> Value {
    if blocks.is_empty() {
        return text.into();
    }
    let of_text = |text: &str| json!({"type": "input_text", "text": text});
    let mut texts = texts(blocks, text).into_iter();
    let part = |block: &Block| match block {
        Block::Text { .. } => texts.next().map(of_text),
        Block::Call { .. } => None,
        Block::Kept { raw, .. } if is_own(raw) => Some(raw.clone()),
        Block::Kept { .. } => block.label().as_deref().map(of_text),
    };
    let mut parts: Vec<Value> = blocks.iter().filter_map(part).collect();
    // Text was added where there was none.
    if !text.is_empty() && !blocks.iter().any(|block| matches!(block, Block::Text { .. })) {
        parts.insert(0, of_text(text));
    }
    parts.into()
}

/// Whether a part belongs to this format.
fn is_own(raw: &Value) -> bool {
    raw["type"].as_str().is_some_and(|kind| kinds::of_part(kind) != BlockKind::Unknown)
}

/// A text with a label for each of the parts beside it.
pub(super) fn with_labels(text: String, blocks: &[Block]) -> String {
    blocks.iter().filter_map(Block::label).fold(text, |text, label| text + "\n" + &label)
}
