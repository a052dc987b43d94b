//! Where the values of a JSON text begin and end, without reading what they are.

use std::ops::Range;

use memchr::memchr2;

/// A string, an array or an object in a text.
pub struct Span {
    pub range: Range<usize>,
    /// An object whose first key could be taken for the mark of a part.
    pub looks_like_a_part: bool,
}

/// The values of at least this length, and those that look like parts, in the order of their beginnings.
/// The text is JSON from this place on, inside of an object. Objects that are fields of that object are left
/// out, since they are hardly ever the same as a whole: a request, a reply.
pub fn spans(json: &[u8], from: usize, least: usize) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut at = from;
    while let Some(&byte) = json.get(at) {
        match byte {
            b'"' => {
                let end = string_end(json, at).unwrap_or(json.len());
                // A key is no value.
                if end - at >= least && json.get(end) != Some(&b':') {
                    spans.push(Span { range: at..end, looks_like_a_part: false });
                }
                at = end;
            }
            b'{' | b'[' => {
                let looks_like_a_part = json[at..].starts_with(super::MARK);
                let is_left_out = byte == b'{' && open.is_empty() && !looks_like_a_part;
                open.push(if is_left_out { usize::MAX } else { spans.len() });
                if !is_left_out {
                    spans.push(Span { range: at..at, looks_like_a_part });
                }
                at += 1;
            }
            b'}' | b']' => {
                at += 1;
                if let Some(span) = open.pop().and_then(|open| spans.get_mut(open)) {
                    span.range.end = at;
                }
            }
            _ => at += 1,
        }
    }
    spans.retain(|span| span.range.len() >= least || span.looks_like_a_part);
    spans
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
fn string_end(json: &[u8], from: usize) -> Option<usize> {
    let mut at = from + 1;
    loop {
        at += memchr2(b'"', b'\\', json.get(at..)?)?;
        match json[at] {
            b'"' => return Some(at + 1),
            _ => at += 2,
        }
    }
}
