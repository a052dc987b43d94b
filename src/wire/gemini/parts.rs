//! Kinds of parts of a content.

use serde_json::Value;

use super::spelling::with_underscores;
use crate::domain::blocks::BlockKind;

/// The field of a source that has the signature of each text.
pub(super) const SIGNATURES: &str = "signatures";
/// The field of a part with the signature of the thought before it.
pub(super) const SIGNATURE: &str = "thoughtSignature";
/// Parts of the endpoint's own tools.
const OF_SERVER: [&str; 4] = ["executableCode", "codeExecutionResult", "toolCall", "toolResponse"];

/// A field of a part, in either spelling.
pub(super) fn of<'a>(part: &'a Value, name: &str) -> &'a Value {
    match part.get(name) {
        Some(value) => value,
        None => &part[with_underscores(name).as_ref()],
    }
}

/// The kind of a part other than a text, a call or a result.
pub(super) fn kind(part: &Value) -> BlockKind {
    let media = ["inlineData", "fileData"].map(|name| of(part, name));
    if part["thought"] == true {
        BlockKind::Thinking
    } else if let Some(media) = media.into_iter().find(|media| media.is_object()) {
        match of(media, "mimeType").as_str().and_then(|kind| kind.split('/').next()) {
            Some("image") => BlockKind::Image,
            Some("audio") => BlockKind::Audio,
            _ => BlockKind::Document,
        }
    } else if OF_SERVER.iter().any(|name| !of(part, name).is_null()) {
        BlockKind::Server
    } else {
        BlockKind::Unknown
    }
}

/// Whether a kept block is a part of this format.
pub(super) fn is_known(raw: &Value) -> bool {
    kind(raw) != BlockKind::Unknown
}
