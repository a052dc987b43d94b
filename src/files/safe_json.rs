//! JSON that is safe to display. JSON itself escapes only the first 32 control characters; a terminal also obeys the
//! others, and some characters reorder their line.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::Serialize;

use crate::domain::invisible::reorders;

/// The same JSON, with further control characters and those that reorder text as `\uXXXX`. Such a
/// character can only be inside a string, so every reader gets the same value.
pub fn safe(json: &str) -> Cow<'_, str> {
    if json.is_ascii() && !json.contains('\x7f') || !json.contains(is_risky) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        match is_risky(c) {
            true => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Writes a value as lines of JSON that are safe to display; `to` gets some whole lines at a time.
///
/// # Errors
/// The error of `to`, or the value cannot be written as JSON.
pub fn write_pretty(
    value: &impl Serialize,
    to: impl FnMut(&str) -> io::Result<()>,
) -> io::Result<()> {
    let mut lines = SafeWriter { to, text: Vec::new() };
    serde_json::to_writer_pretty(&mut lines, value)?;
    lines.text.push(b'\n');
    lines.flush()
}

/// Bytes that are passed on together.
const AT_ONCE: usize = 64 << 10;

struct SafeWriter<T> {
    to: T,
    text: Vec<u8>,
}

impl<T: FnMut(&str) -> io::Result<()>> Write for SafeWriter<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.extend_from_slice(bytes);
        if self.text.len() >= AT_ONCE && bytes.ends_with(b"\n") {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let passed = (self.to)(&safe(&String::from_utf8_lossy(&self.text)));
        self.text.clear();
        passed
    }
}

/// All of these have at most four hexadecimal digits.
fn is_risky(c: char) -> bool {
    matches!(c, '\u{7f}'..='\u{9f}') || reorders(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_value_is_passed_on_in_whole_lines() {
        let value: Vec<String> = (0..20_000).map(|n| format!("{n} ü\u{9b}")).collect();
        let mut parts = Vec::new();
        let take = |text: &str| {
            parts.push(text.to_owned());
            Ok(())
        };
        write_pretty(&value, take).unwrap();
        assert!(parts.len() > 1 && parts.iter().all(|part| part.ends_with('\n')));
        assert!(parts.iter().all(|part| part.len() < 2 * AT_ONCE));
        let text = parts.concat();
        assert_eq!(text, safe(&serde_json::to_string_pretty(&value).unwrap()) + "\n");
    }

    #[test]
    fn a_value_stays_the_same_and_shows_what_is_in_it() {
        let value = serde_json::json!({"a\u{9b}31m": "\u{7f}\u{202e}evil\u{2066} größer 日本 🦀"});
        let json = value.to_string();
        let safe = safe(&json);
        assert_eq!(safe, r#"{"a\u009b31m":"\u007f\u202eevil\u2066 größer 日本 🦀"}"#);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).unwrap(), value);
        assert!(matches!(super::safe("{\"a\":\"ä\"}"), Cow::Borrowed(_)));
    }
}
