//! The values of a JSON text: their ranges and their nesting, without parsing their content.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::{memchr2, memmem::Finder};

/// How each form of a part begins.
pub const MARK: &[u8] = b"{\"=";

/// Finds [`MARK`].
pub static MARKS: LazyLock<Finder> = LazyLock::new(|| Finder::new(MARK));

/// A value in a text.
#[derive(Debug)]
pub struct JsonSpan {
    pub range: Range<usize>,
    /// The key with its quotes, if the value is a member of an object.
    pub key: Range<usize>,
    pub kind: JsonSpanKind,
    /// Whether the value, or a value in it, could be taken for a part.
    pub is_marked: bool,
    /// The place in the list of the next value outside this one.
    pub next: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonSpanKind {
    /// A number or a word.
    Plain,
    Text,
    Array,
    Object,
}

/// The value that begins here and all values in it, in the order of their beginnings, into `nodes`; false where the
/// text is no JSON.
pub fn nodes(json: &[u8], from: usize, nodes: &mut Vec<JsonSpan>) -> bool {
    nodes.clear();
    let mut open: Vec<usize> = Vec::new();
    let (mut at, mut key) = (from, 0..0);
    loop {
        let Some(&byte) = json.get(at) else { return false };
        let kind = match byte {
            b'"' => JsonSpanKind::Text,
            b'{' => JsonSpanKind::Object,
            b'[' => JsonSpanKind::Array,
            b',' | b' ' => {
                at += 1;
                continue;
            }
            b'}' | b']' => {
                at += 1;
                let Some(closed) = open.pop() else { return false };
                let next = nodes.len();
                let Some(node) = nodes.get_mut(closed) else { return false };
                (node.range.end, node.next) = (at, next);
                if let (true, Some(outer)) = (node.is_marked, open.last()) {
                    nodes[*outer].is_marked = true;
                }
                if open.is_empty() {
                    return true;
                }
                continue;
            }
            _ => JsonSpanKind::Plain,
        };
        let end = match kind {
            JsonSpanKind::Text => match string_end(json, at) {
                Some(end) => end,
                None => return false,
            },
            JsonSpanKind::Plain => {
                let is_plain = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
                at + json[at..].iter().take_while(is_plain).count()
            }
            JsonSpanKind::Array | JsonSpanKind::Object => at + 1,
        };
        if end == at {
            return false;
        }
        // Where a member of an object begins, this is its key.
        if kind == JsonSpanKind::Text && key.is_empty() && json.get(end) == Some(&b':') {
            key = at..end;
            at = end + 1;
            continue;
        }
        let is_marked = kind == JsonSpanKind::Object && json[at..].starts_with(MARK);
        let next = nodes.len() + 1;
        nodes.push(JsonSpan {
            range: at..end,
            key: std::mem::take(&mut key),
            kind,
            is_marked,
            next,
        });
        match kind {
            JsonSpanKind::Array | JsonSpanKind::Object => open.push(next - 1),
            JsonSpanKind::Plain | JsonSpanKind::Text if open.is_empty() => return true,
            JsonSpanKind::Plain | JsonSpanKind::Text => {}
        }
        at = end;
    }
}

/// The end of the value that begins here; `None` for one that does not end.
pub fn value_end(json: &[u8], from: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = from;
    loop {
        match json.get(at)? {
            b'"' => at = string_end(json, at)?,
            b'{' | b'[' => {
                depth += 1;
                at += 1;
                continue;
            }
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                at += 1;
            }
            // A number or a word ends where something else begins.
            b',' | b':' | b' ' => {
                at += 1;
                continue;
            }
            _ => {
                let is_plain = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
                at += json[at..].iter().take_while(is_plain).count().max(1);
            }
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

/// The end of the string that begins here.
pub fn string_end(json: &[u8], from: usize) -> Option<usize> {
    let mut at = from + 1;
    loop {
        at += memchr2(b'"', b'\\', json.get(at..)?)?;
        match json[at] {
            b'"' => return Some(at + 1),
            _ => at += 2,
        }
    }
}
