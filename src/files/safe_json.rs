//! JSON that is safe to look at. JSON itself escapes only the first 32 control characters; a terminal
//! also obeys the others, and some characters reorder the line in which they are.

use std::borrow::Cow;

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

/// All of these have at most four hexadecimal digits.
fn is_risky(c: char) -> bool {
    matches!(c, '\u{7f}'..='\u{9f}') || reorders(c)
}

#[cfg(test)]
mod tests {
    use super::*;

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
