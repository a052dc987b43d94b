//! Values in a JSON text, found without parsing their content.

use std::ops::Range;

use memchr::memchr2;

/// The value of this quoted key in an object, of which the text begins here, or the comma after one of its values.
pub(super) fn member(json: &[u8], object: usize, key: &[u8]) -> Option<Range<usize>> {
    let begin = begin(json, object, key)?;
    Some(begin..value_end(json, begin)?)
}

/// The beginning of the same.
pub(super) fn begin(json: &[u8], object: usize, key: &[u8]) -> Option<usize> {
    let mut at = object;
    while at == object && json.get(at) == Some(&b'{') || json.get(at) == Some(&b',') {
        let end = string_end(json, at + 1)?;
        if &json[at + 1..end] == key {
            return Some(end + 1);
        }
        at = value_end(json, end + 1)?;
    }
    None
}

/// The end of the value that begins here; `None` for one that does not end.
pub(super) fn value_end(json: &[u8], from: usize) -> Option<usize> {
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
pub(super) fn string_end(json: &[u8], from: usize) -> Option<usize> {
    let mut at = from + 1;
    loop {
        at += memchr2(b'"', b'\\', json.get(at..)?)?;
        match json[at] {
            b'"' => return Some(at + 1),
            _ => at += 2,
        }
    }
}
