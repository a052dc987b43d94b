//! Tells reports from keys by the bytes after an ESC.

/// Kind of the bytes after an ESC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EscapeKind {
    Report,
    /// More bytes or the time will tell.
    Maybe,
    Keys,
}

use EscapeKind::{Keys, Maybe, Report};

/// The most bytes that may be held back one by one: a person who types waits for each.
const HELD: usize = 4;

/// The letter behind ESC that means the same as a control of eight bits.
pub(super) fn introducer(byte: u8) -> Option<u8> {
    let letter = byte.checked_sub(0x40)?;
    matches!(letter, b'[' | b']' | b'O' | b'P' | b'X' | b'^' | b'_').then_some(letter)
}

/// Classifies bytes after ESC and an introducer that came together.
pub(super) fn paired(introducer: &[u8], first: u8) -> EscapeKind {
    let fits = match introducer {
        b"O" => matches!(first, b'0'..=b'9' | b';' | b' ' | b'A'..=b'Z' | b'j'..=b'y'),
        b"]" => matches!(first, b'0'..=b'9' | b'l' | b'L'),
        b"P" => matches!(first, b' '..=b'?'),
        _ => first >= b' ' && first != 0x7f,
    };
    if fits { Report } else { Keys }
}

/// Classifies bytes after an ESC that came alone; the last `new` bytes came together. A person types one byte at a
/// time; a terminal writes a whole report at once. `is_quick`: no person types all of them so soon after each other.
pub(super) fn apart(bytes: &[u8], new: usize, is_quick: bool) -> EscapeKind {
    let Some((introducer, rest)) = bytes.split_first() else { return Keys };
    let is_parameter = |byte: &u8| matches!(byte, b' '..=b'?');
    let parameters = rest.iter().take_while(|byte| is_parameter(byte)).count();
    let is_begun = match introducer {
        b'[' => match rest.get(parameters) {
            None => true,
            // The keys of the Linux console.
            Some(b'[') => matches!(rest, [b'[', b'A'..=b'E', ..]),
            Some(last) => {
                matches!(last, b'@'..=b'~') && (parameters > 0 || b"ABCDEFHIMOPQSZ".contains(last))
            }
        },
        b'O' => rest.first().is_none_or(|first| matches!(first, b'A'..=b'S')),
        b']' => is_command(rest),
        b'P' => rest.first().is_none_or(is_parameter),
        b'_' => rest.first().is_none_or(|first| *first == b'G'),
        b'X' | b'^' => rest.is_empty(),
        _ => return Keys,
    };
    let is_string = !matches!(introducer, b'[' | b'O');
    // A control character is the end of a report, or the next key.
    let is_text = |byte: &&u8| matches!(byte, b' '..=b'~');
    let is_title = matches!(rest, [b'l' | b'L', ..]);
    let text = bytes[bytes.len() - new..].iter().take_while(|byte| is_text(byte) || is_title);
    let text = text.count();
    let is_open = parameters == rest.len() || is_string && text == new;
    match new {
        1 if is_begun && is_open && bytes.len() <= HELD => Maybe,
        1 if is_begun && is_open && is_quick => Report,
        1 => Keys,
        _ if is_begun && text > 1 || is_string && is_ended(rest) => Report,
        _ => Keys,
    }
}

/// Whether the text of an OSC begins as all of them do: with a number, or with the letter of a title.
fn is_command(text: &[u8]) -> bool {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match text.get(digits) {
        None | Some(b';') => true,
        Some(b'l' | b'L') => digits == 0,
        Some(_) => false,
    }
}

/// Whether the text of a string comes with its end.
fn is_ended(text: &[u8]) -> bool {
    let end = text.iter().position(|byte| !matches!(byte, b' '..=b'~'));
    end.is_some_and(|end| text[end] == 0x07 || text[end..].starts_with(b"\x1b\\"))
}
