//! JSON as servers write it: with numbers that JSON does not have, bytes that are not text, halves of
//! characters, and a byte order mark. Only a document that JSON's own grammar refuses is repaired.

use std::iter::Peekable;
use std::str::Chars;

use serde_json::Value;

use super::pieces;

/// Reads a document. A number that JSON lacks is null; parts of characters are as
/// [`pieces::joined`] expects them.
///
/// # Errors
/// The text is not JSON.
pub fn read(bytes: &[u8]) -> Result<Value, serde_json::Error> {
    serde_json::from_slice(bytes)
        .or_else(|why| serde_json::from_str(&repaired(&pieces::text_of(bytes))).map_err(|_| why))
}

/// The same document in JSON's own grammar, if all its faults are known.
fn repaired(text: &str) -> String {
    let mut chars = text.chars().peekable();
    let mut json = String::with_capacity(text.len());
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                json.push(c);
                string(&mut chars, &mut json);
            }
            ' ' | '\t' | '\n' | '\r' => json.push(c),
            '\u{FEFF}' => {}
            c if c.is_control() => {}
            '-' | '+' | '0'..='9' | 'a'..='z' | 'A'..='Z' => {
                let mut word = String::from(c);
                let is_more = |c: &char| c.is_ascii_alphanumeric() || "+-._".contains(*c);
                while let Some(more) = chars.next_if(is_more) {
                    word.push(more);
                }
                json.push_str(if is_no_number(&word) { "null" } else { &word });
            }
            _ => json.push(c),
        }
    }
    json
}

/// Whether this word means a number that JSON cannot write, such as `NaN` or `-Infinity`.
fn is_no_number(word: &str) -> bool {
    word.parse::<f64>().is_ok_and(|number| !number.is_finite())
}

/// The rest of a string, after its first quotation mark.
fn string(chars: &mut Peekable<Chars<'_>>, json: &mut String) {
    while let Some(c) = chars.next() {
        match c {
            '"' => return json.push(c),
            '\\' => escape(chars, json),
            c if c < ' ' => json.push_str(&format!("\\u{:04x}", u32::from(c))),
            _ => json.push(c),
        }
    }
}

/// An escape, after its backslash.
fn escape(chars: &mut Peekable<Chars<'_>>, json: &mut String) {
    if chars.next_if_eq(&'u').is_none() {
        json.push('\\');
        json.extend(chars.next());
        return;
    }
    let mut ahead = chars.clone();
    let Some(half @ 0xD800..=0xDFFF) = unit(&mut ahead) else { return json.push_str("\\u") };
    *chars = ahead;
    let low = (ahead_is(chars, '\\') && half < 0xDC00).then(|| {
        let mut ahead = chars.clone();
        ahead.next();
        ahead.next_if_eq(&'u').and_then(|_| unit(&mut ahead)).map(|low| (low, ahead))
    });
    match low.flatten() {
        Some((low @ 0xDC00..=0xDFFF, ahead)) => {
            json.push_str(&format!("\\u{half:04x}\\u{low:04x}"));
            *chars = ahead;
        }
        _ => pieces::push_half(half, json),
    }
}

fn ahead_is(chars: &mut Peekable<Chars<'_>>, c: char) -> bool {
    chars.peek() == Some(&c)
}

/// Four hexadecimal digits.
fn unit(chars: &mut Peekable<Chars<'_>>) -> Option<u16> {
    let digits: String = chars.take(4).collect();
    let is_hex = digits.len() == 4 && digits.chars().all(|c| c.is_ascii_hexdigit());
    is_hex.then(|| u16::from_str_radix(&digits, 16).ok()).flatten()
}

/// Follows the brackets of a document as it arrives.
#[derive(Debug, Default)]
pub struct Scan {
    depth: usize,
    in_string: bool,
    escaped: bool,
    begun: bool,
    /// Whether something precedes or follows the document.
    extra: bool,
}

impl Scan {
    pub fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if self.in_string {
                self.in_string = self.escaped || *byte != b'"';
                self.escaped = !self.escaped && *byte == b'\\';
                continue;
            }
            let is_outside = self.depth == 0;
            match byte {
                b'{' | b'[' => {
                    self.extra |= is_outside && self.begun;
                    self.begun = true;
                    self.depth += 1;
                }
                b'}' | b']' => {
                    self.extra |= is_outside;
                    self.depth = self.depth.saturating_sub(1);
                }
                b'"' => {
                    self.extra |= is_outside;
                    self.in_string = true;
                }
                // A byte order mark too.
                b'\0' | b' ' | b'\t' | b'\n' | b'\r' | 0xEF | 0xBB | 0xBF => {}
                _ => self.extra |= is_outside,
            }
        }
    }

    /// Whether this was one document, all of it.
    pub fn is_whole(&self) -> bool {
        self.begun && self.depth == 0 && !self.extra
    }
}

/// Whether a text is one object or list, by its brackets.
pub fn is_whole(text: &str) -> bool {
    let mut scan = Scan::default();
    scan.feed(text.as_bytes());
    scan.is_whole()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn documents_that_json_refuses_are_read() {
        let sun = |json: &str| pieces::joined(json).into_owned();
        for (text, expected) in [
            (
                r#"{"a":-Infinity,"b":NaN,"c":[Infinity,1e999,-1.5]}"#,
                json!({"a":null,"b":null,"c":[null,null,-1.5]}),
            ),
            ("{\"a\":1}\0", json!({"a":1})),
            ("\u{FEFF}{\"a\":\"\u{FEFF}\"}\n", json!({"a":"\u{FEFF}"})),
            ("{\"a\":\"x\ty\"}", json!({"a":"x\ty"})),
            (
                r#"{"a":"\u0041\n\"-Infinity\" \ud83c\udf1e","b":nan}"#,
                json!({"a":"A\n\"-Infinity\" 🌞","b":null}),
            ),
        ] {
            assert_eq!(read(text.as_bytes()).unwrap(), expected, "{text}");
        }
        let halves = read(br#"["\ud83c", "\udf1e\ud83cx", "\ud83c\u0041"]"#).unwrap();
        let at = |n: usize| halves[n].as_str().unwrap();
        assert_eq!(sun(&format!("{}{}", at(0), at(1))), "🌞\u{FFFD}x");
        assert_eq!(sun(at(2)), "\u{FFFD}A");
        for text in ["{", "{\"a\":}", "nix", "{'a':1}", "{\"a\":\"\\ud8\"}", "", "{\"a\":infinite}"]
        {
            assert!(read(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn brackets_show_where_a_document_ends() {
        for text in ["{}", " {\"a\":\"}\\\"{\"} \0\n", "[[1],{}]", "\u{FEFF}{\"a\":-Infinity}"] {
            assert!(is_whole(text), "{text}");
        }
        for text in ["", "{", "{} {}", "{}x", "x{}", "{\"a\":\"}", "[DONE", "}", "\"{}\""] {
            assert!(!is_whole(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = read(&bytes);
        }

        #[test]
        fn faults_alone_are_changed(text in "([\\[\\]{}:,]|\"[a\\\\ué\"]{0,4}\"|-?[0-9]{1,3}|\\\\ud83c|NaN|\0){0,12}") {
            if let Ok(strict) = serde_json::from_str::<Value>(&text) {
                prop_assert_eq!(read(text.as_bytes()).unwrap(), strict);
            }
        }
    }
}
