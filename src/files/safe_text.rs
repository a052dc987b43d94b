//! Text that is safe to print. A terminal obeys control characters, and some other characters reorder a line.

use std::borrow::Cow;

use crate::domain::invisible::reorders;

/// The picture of a character that a terminal obeys or that reorders a line; `None` for other characters.
pub fn picture(c: char) -> Option<char> {
    Some(match c {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('�'),
        '\u{7f}' => '␡',
        '\u{80}'..='\u{9f}' => '�',
        c if reorders(c) => '�',
        _ => return None,
    })
}

/// The text with pictures in place of such characters. Line endings and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    let shown = |c: char| if matches!(c, '\n' | '\t') { None } else { picture(c) };
    if !text.contains(|c| shown(c).is_some()) {
        return Cow::Borrowed(text);
    }
    // A carriage return before a line feed is part of the line ending.
    let text = text.replace("\r\n", "\n");
    Cow::Owned(text.chars().map(|c| shown(c).unwrap_or(c)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stay_and_whatever_a_terminal_obeys_is_shown() {
        assert_eq!(visible("\x1b]0;x\x07\ta\r\nb\r\u{9b}31m"), "␛]0;x␇\ta\nb␍�31m");
        assert_eq!(visible("pay\u{202e}txt.exe"), "pay�txt.exe");
        assert!(matches!(visible("größer\n\t日本 👩\u{200d}🚀"), Cow::Borrowed(_)));
    }
}
