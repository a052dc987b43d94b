//! The parts of a message and their order. Besides texts and calls a message has images, signed thoughts and others. Code
//! that reads only texts and calls needs none of this.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A part of a message. Blocks keep the message's order; a message without blocks is its text, followed by its calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "block", rename_all = "snake_case")]
pub enum Block {
    /// The next `bytes` bytes of the message's text.
    Text { bytes: usize },
    /// The call with this id.
    Call { id: String },
    /// Any other part, unchanged. The endpoint gets it back uninterpreted.
    Kept { kind: BlockKind, raw: Value },
}

/// Kind of a block, as a person sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockKind {
    /// Thoughts, signed or encrypted by the endpoint.
    Thinking,
    Image,
    Document,
    Audio,
    /// A call that the endpoint made itself, or what it returned.
    Server,
    /// A kind that toolyard does not know.
    Unknown,
}

/// Fields that can hold a block's content: the longest one gives the block's size.
const CONTENTS: [&str; 8] =
    ["data", "url", "file_data", "image_url", "encrypted_content", "signature", "thinking", "text"];

impl Block {
    /// A block that is kept as it was received.
    pub fn kept(kind: BlockKind, raw: Value) -> Self {
        Block::Kept { kind, raw }
    }

    /// Returns the label that a person sees for a block that is neither text nor a call, such as `[image 34 kB]` or
    /// `[thinking, signed]`.
    pub fn label(&self) -> Option<String> {
        let Block::Kept { kind, raw } = self else { return None };
        let what = match kind {
            BlockKind::Thinking => return Some(thinking(raw).to_owned()),
            BlockKind::Image => Cow::from("image"),
            BlockKind::Document => Cow::from("document"),
            BlockKind::Audio => Cow::from("audio"),
            BlockKind::Server => Cow::from(format!("{} by the endpoint", name_of(raw))),
            BlockKind::Unknown => Cow::from(format!("{}, not understood", name_of(raw))),
        };
        Some(match size(raw) {
            0 => format!("[{what}]"),
            bytes @ 1..1000 => format!("[{what} {bytes} B]"),
            bytes => format!("[{what} {} kB]", bytes.div_ceil(1000)),
        })
    }
}

fn thinking(raw: &Value) -> &'static str {
    let has = |field: &str| raw[field].as_str().is_some_and(|text| !text.is_empty());
    match () {
        () if has("encrypted_content") || raw["type"] == "redacted_thinking" => {
            "[thinking, encrypted]"
        }
        () if has("signature") => "[thinking, signed]",
        () => "[thinking]",
    }
}

fn name_of(raw: &Value) -> &str {
    raw["type"].as_str().unwrap_or("part")
}

/// The bytes of the content. Three bytes are four letters of a text in base 64.
fn size(raw: &Value) -> usize {
    let of_text = |text: &str| match text.split_once(";base64,") {
        Some((_, data)) => data.len() / 4 * 3,
        None => text.len(),
    };
    match raw {
        Value::Object(fields) => {
            let is_in_base64 = fields.get("type").is_some_and(|kind| kind == "base64");
            let own = fields.iter().filter(|(name, _)| CONTENTS.contains(&name.as_str()));
            let own = own.map(|(name, value)| match value.as_str() {
                Some(data) if is_in_base64 && name == "data" => data.len() / 4 * 3,
                Some(text) => of_text(text),
                None => 0,
            });
            own.chain(fields.values().map(size)).max().unwrap_or(0)
        }
        Value::Array(items) => items.iter().map(size).sum(),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

/// The texts of a message's text blocks. If a person changed the text, so that the lengths no longer fit it, the first
/// block gets all of it.
pub fn texts<'a>(blocks: &[Block], text: &'a str) -> Vec<&'a str> {
    let lengths: Vec<usize> = blocks
        .iter()
        .filter_map(|block| if let Block::Text { bytes } = block { Some(*bytes) } else { None })
        .collect();
    let fits = lengths.iter().sum::<usize>() == text.len();
    let (mut texts, mut rest) = (Vec::with_capacity(lengths.len()), text);
    for length in lengths {
        let part =
            if fits { rest.split_at_checked(length) } else { rest.split_at_checked(rest.len()) };
        let Some((part, after)) = part else { return whole_first(blocks, text) };
        texts.push(part);
        rest = after;
    }
    texts
}

fn whole_first<'a>(blocks: &[Block], text: &'a str) -> Vec<&'a str> {
    let count = blocks.iter().filter(|block| matches!(block, Block::Text { .. })).count();
    (0..count).map(|at| if at == 0 { text } else { "" }).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_person_sees_what_stands_there() {
        let data = "A".repeat(45_000);
        for (kind, raw, label) in [
            (
                BlockKind::Image,
                json!({"type": "image", "source": {"type": "base64", "data": data}}),
                "[image 34 kB]",
            ),
            (
                BlockKind::Image,
                json!({"image_url": {"url": format!("data:image/png;base64,{data}")}}),
                "[image 34 kB]",
            ),
            (BlockKind::Image, json!({"type": "input_image", "file_id": "f"}), "[image]"),
            (
                BlockKind::Thinking,
                json!({"type": "thinking", "thinking": "x", "signature": "s"}),
                "[thinking, signed]",
            ),
            (
                BlockKind::Thinking,
                json!({"type": "redacted_thinking", "data": "x"}),
                "[thinking, encrypted]",
            ),
            (
                BlockKind::Thinking,
                json!({"type": "reasoning", "encrypted_content": "x"}),
                "[thinking, encrypted]",
            ),
            (
                BlockKind::Server,
                json!({"type": "web_search_call"}),
                "[web_search_call by the endpoint]",
            ),
            (
                BlockKind::Unknown,
                json!({"type": "hologram", "data": "abc"}),
                "[hologram, not understood 3 B]",
            ),
        ] {
            assert_eq!(Block::kept(kind, raw).label().as_deref(), Some(label));
        }
        assert_eq!(Block::Text { bytes: 3 }.label(), None);
    }

    #[test]
    fn blocks_share_the_text_out_until_somebody_changes_it() {
        let blocks =
            [Block::Text { bytes: 2 }, Block::Call { id: "c".into() }, Block::Text { bytes: 1 }];
        assert_eq!(texts(&blocks, "abc"), ["ab", "c"]);
        assert_eq!(texts(&blocks, "other"), ["other", ""]);
        // A boundary inside a character is not used.
        assert_eq!(texts(&blocks, "aé"), ["aé", ""]);
        assert_eq!(texts(&[], "abc"), [""; 0]);
    }
}
