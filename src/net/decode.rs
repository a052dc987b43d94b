//! The text that a reader sees: escapes are decoded, and invisible characters are left out.
//!
//! One round undoes one level of JSON and shell escapes, percent-encoding, HTML entities and terminal sequences. A text
//! that was encoded twice needs two rounds.

use std::ops::Range;

use unicode_width::UnicodeWidthChar;

use crate::domain::invisible::{is_invisible, reorders};

/// The longest string inside a terminal sequence, in bytes.
const LONGEST_STRING: usize = 4096;

/// The longest escape that is not a terminal sequence, in bytes: a pair of surrogates in JSON.
const LONGEST_ESCAPE: usize = 12;

/// The most bytes before the end of a text in which an escape that the end cuts is searched.
const LONGEST_CUT: usize = 256;

/// Receives the decoded text.
pub trait Sink {
    /// Receives bytes that stay unchanged; the first of them is at this place in the text.
    fn keep(&mut self, bytes: &[u8], at: usize);
    /// Receives the bytes that this part of the text encodes.
    fn put(&mut self, bytes: &[u8], part: Range<usize>);
}

impl Sink for Vec<u8> {
    fn keep(&mut self, bytes: &[u8], _: usize) {
        self.extend_from_slice(bytes);
    }

    fn put(&mut self, bytes: &[u8], _: Range<usize>) {
        self.extend_from_slice(bytes);
    }
}

/// The meaning of the beginning of a text.
enum Unit {
    /// Keeps this number of bytes.
    Keep(usize),
    /// Drops this number of invisible bytes.
    Drop(usize),
    /// Decodes this number of bytes as this byte.
    Byte(u8, usize),
    /// Decodes this number of bytes as this character.
    Char(char, usize),
}

/// Whether a text may have anything to decode. This runs over every record, so it does not branch.
pub fn may_change(text: &[u8]) -> bool {
    text.iter().fold(false, |may, byte| {
        let is_drawn = (0x20..0x7f).contains(byte) | (*byte == b'\n') | (*byte == b'\t');
        may | !is_drawn | (*byte == b'\\') | (*byte == b'%') | (*byte == b'&')
    })
}

/// Decodes one level; returns whether this changed the text.
pub fn decode(text: &[u8], to: &mut impl Sink) -> bool {
    let (mut at, mut changed) = (0, false);
    while at < text.len() {
        let rest = &text[at..];
        let plain = rest.iter().position(|byte| SPECIAL[usize::from(*byte)]).unwrap_or(rest.len());
        to.keep(&rest[..plain], at);
        at += plain;
        let rest = &text[at..];
        let Some(first) = rest.first() else { break };
        let len = match unit(*first, rest) {
            Unit::Keep(len) => {
                to.keep(&rest[..len], at);
                at += len;
                continue;
            }
            Unit::Drop(len) => len,
            Unit::Byte(byte, len) => {
                to.put(&[byte], at..at + len);
                len
            }
            Unit::Char(c, len) => {
                to.put(c.encode_utf8(&mut [0; 4]).as_bytes(), at..at + len);
                len
            }
        };
        at += len;
        changed = true;
    }
    changed
}

/// The beginning of an escape that the end of the text cuts.
pub fn cut_escape(text: &[u8]) -> Option<usize> {
    let mut at = text.len().saturating_sub(LONGEST_CUT);
    while let Some(first) = text.get(at) {
        if is_cut(&text[at..]) {
            return Some(at);
        }
        // The end of a sequence can look like the beginning of an escape.
        at += if *first == 0x1b { sequence(&text[at..]) } else { 1 };
    }
    None
}

fn is_cut(rest: &[u8]) -> bool {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"#{\\".contains(byte);
    match rest {
        [b'%', rest @ ..] => rest.len() < 2 && rest.iter().all(u8::is_ascii_hexdigit),
        [b'\\' | b'&', rest @ ..] => rest.len() < LONGEST_ESCAPE && rest.iter().all(is_name),
        [0x1b, b'[', rest @ ..] | [0xc2, 0x9b, rest @ ..] => rest.iter().all(is_parameter),
        [0x1b] => true,
        [0x1b, b']' | b'P' | b'X' | b'^' | b'_', ..] => sequence(rest) == 1,
        _ => false,
    }
}

/// Bytes that may begin an encoding. A line break and a tab are drawn as a space or a mark.
const SPECIAL: [bool; 256] = {
    let mut special = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        special[byte] = byte < 0x20 && byte != 0x09 && byte != 0x0a
            || byte >= 0x7f
            || byte == b'\\' as usize
            || byte == b'%' as usize
            || byte == b'&' as usize;
        byte += 1;
    }
    special
};

fn unit(first: u8, rest: &[u8]) -> Unit {
    match first {
        b'\\' => backslash(rest),
        b'%' => hex(rest.get(1..3)).map_or(Unit::Keep(1), |code| byte(code, 3)),
        b'&' => entity(rest).unwrap_or(Unit::Keep(1)),
        0x1b => Unit::Drop(sequence(rest)),
        0x80.. => character(rest),
        _ => Unit::Drop(1),
    }
}

/// An escape of JSON, of a programming language or of a shell.
fn backslash(rest: &[u8]) -> Unit {
    let Some(second) = rest.get(1) else { return Unit::Keep(1) };
    match second {
        b'u' => unicode(rest).unwrap_or(Unit::Keep(1)),
        b'x' => hex(rest.get(2..4)).map_or(Unit::Keep(1), |code| byte(code, 4)),
        b'0'..=b'3' => match rest.get(1..4).and_then(|digits| number(digits, 8)) {
            Some(code) => byte(code, 4),
            None if *second == b'0' => Unit::Byte(0, 2),
            None => Unit::Keep(1),
        },
        b'n' => Unit::Byte(b'\n', 2),
        b't' => Unit::Byte(b'\t', 2),
        b'r' => Unit::Byte(b'\r', 2),
        b'b' => Unit::Byte(0x08, 2),
        b'f' => Unit::Byte(0x0c, 2),
        b'e' => Unit::Byte(0x1b, 2),
        // A line continuation.
        b'\n' => Unit::Drop(2),
        b' '..=b'~' if !second.is_ascii_alphanumeric() => Unit::Byte(*second, 2),
        _ => Unit::Keep(1),
    }
}

/// `\u0041`, a pair of surrogates, or `\u{41}`.
fn unicode(rest: &[u8]) -> Option<Unit> {
    if rest.get(2) == Some(&b'{') {
        let len = rest.iter().take(LONGEST_ESCAPE).position(|byte| *byte == b'}')?;
        let c = char::from_u32(number(&rest[3..len], 16)?)?;
        return Some(Unit::Char(c, len + 1));
    }
    let unit =
        |at: usize| number(rest.get(at..at + 4)?, 16).and_then(|unit| u16::try_from(unit).ok());
    let first = unit(2)?;
    if let Ok(c) = char::from_u32(u32::from(first)).ok_or(()) {
        return Some(Unit::Char(c, 6));
    }
    let second = rest.get(6..8).filter(|begin| *begin == b"\\u").and_then(|_| unit(8))?;
    let c = char::decode_utf16([first, second]).next()?.ok()?;
    Some(Unit::Char(c, 12))
}

/// An HTML entity of those that programs write.
fn entity(rest: &[u8]) -> Option<Unit> {
    let len = rest.iter().take(LONGEST_ESCAPE).position(|byte| *byte == b';')?;
    let c = match &rest[1..len] {
        b"amp" => '&',
        b"lt" => '<',
        b"gt" => '>',
        b"quot" => '"',
        b"apos" => '\'',
        [b'#', b'x' | b'X', digits @ ..] => char::from_u32(number(digits, 16)?)?,
        [b'#', digits @ ..] => char::from_u32(number(digits, 10)?)?,
        _ => return None,
    };
    Some(Unit::Char(c, len + 1))
}

/// The length of a terminal sequence; if it does not end, the length of its first character.
fn sequence(rest: &[u8]) -> usize {
    let of_string = |end: &[u8]| {
        let string = &rest[..rest.len().min(LONGEST_STRING)];
        string.windows(end.len()).position(|bytes| bytes == end).map(|at| at + end.len())
    };
    let len = match rest.get(1) {
        Some(b'[') => parameters(&rest[2..]).map(|len| len + 2),
        Some(b']') => of_string(b"\x07").into_iter().chain(of_string(b"\x1b\\")).min(),
        Some(b'P' | b'X' | b'^' | b'_') => of_string(b"\x1b\\"),
        _ => None,
    };
    len.unwrap_or(1)
}

/// The length of the parameters of a control sequence and of the byte that ends it.
fn parameters(rest: &[u8]) -> Option<usize> {
    let end = rest.iter().take(64).position(|byte| !is_parameter(byte))?;
    (0x40..0x7f).contains(&rest[end]).then_some(end + 1)
}

fn is_parameter(byte: &u8) -> bool {
    (0x20..0x40).contains(byte)
}

/// A character that is not ASCII.
fn character(rest: &[u8]) -> Unit {
    let most = &rest[..rest.len().min(4)];
    let Some(valid) = most.utf8_chunks().next().map(|chunk| chunk.valid()) else {
        return Unit::Keep(1);
    };
    match valid.chars().next() {
        // The other encoding of the beginning of a control sequence.
        Some('\u{9b}') => Unit::Drop(2 + parameters(&rest[2..]).unwrap_or(0)),
        Some(c) if is_unseen(c) => Unit::Drop(c.len_utf8()),
        Some(c) => Unit::Keep(c.len_utf8()),
        None => Unit::Keep(1),
    }
}

/// Whether a text without this character looks the same, or nearly so. Cleaning produces replacement characters and
/// pictures of control characters.
fn is_unseen(c: char) -> bool {
    is_invisible(c)
        || reorders(c)
        || c.is_control()
        || matches!(c, '\u{fffd}' | '\u{2400}'..='\u{2426}' | '⏎')
        || c.width() == Some(0)
}

/// The meaning of an escape of `len` bytes for one byte. UTF-8 is encoded byte by byte.
fn byte(code: u32, len: usize) -> Unit {
    u8::try_from(code).map_or(Unit::Keep(1), |byte| Unit::Byte(byte, len))
}

fn hex(digits: Option<&[u8]>) -> Option<u32> {
    number(digits?, 16)
}

/// The number that these digits spell; `None` if there are other characters.
fn number(digits: &[u8], radix: u32) -> Option<u32> {
    let digits = str::from_utf8(digits).ok()?;
    // Otherwise a sign would be accepted.
    let is_digits = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
    is_digits.then(|| u32::from_str_radix(digits, radix).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(text: &str) -> (String, bool) {
        let mut to = Vec::new();
        let changed = decode(text.as_bytes(), &mut to);
        (String::from_utf8_lossy(&to).into_owned(), changed)
    }

    #[test]
    fn one_round_undoes_one_level_of_every_escape() {
        for (text, expected) in [
            (r"\u0041\/\x42\u{43}\103\n\\n", "A/BCC\n\\n"),
            (r"\ud83d\ude00 \ud83d", "😀 \\ud83d"),
            ("%41%2f%2F%C3%A4 100% %zz", "A//ä 100% %zz"),
            ("%2541 &amp;lt; &#65;&#x42;&quot; &nix; &", "%41 &lt; AB\" &nix; &"),
            ("a\x1b[1;31mb\x1b[0mc\x1b]8;;http://x\x07d\x1b]0;t\x1b\\e", "abcde"),
            ("a\u{200b}b\u{ad}c\u{202e}d\u{301}e\u{fe0f}f\0g\rh\u{9b}31mi␛j�k", "abcdefghijk"),
            ("a\x1b[", "a["),
        ] {
            assert_eq!(decoded(text), (expected.to_owned(), true), "{text:?}");
        }
        let same = "plain text\n\tgrößer 日本 🦀 a+b=c 50 % \\q";
        assert_eq!(decoded(same), (same.to_owned(), false));
    }

    #[test]
    fn an_escape_that_the_end_cuts_is_found() {
        let cut = |text: &'static str| cut_escape(text.as_bytes()).map(|at| &text[at..]);
        for (text, expected) in [
            (r"abc\u00", Some(r"\u00")),
            (r"abc\", Some("\\")),
            ("abc%4", Some("%4")),
            ("a%41%4", Some("%4")),
            ("x &#x4", Some("&#x4")),
            ("x\x1b[0mx\x1b[3", Some("\x1b[3")),
            ("x\x1b]8;;http:", Some("\x1b]8;;http:")),
            ("100%41", None),
            ("a & b", None),
            ("abc", None),
        ] {
            assert_eq!(cut(text), expected, "{text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn hostile_bytes_never_stop_it(text: Vec<u8>, cuts in "[\\\\%&\x1bux{}0-9a-f;#\\[\\]]{0,40}") {
            let changed = decode(&text, &mut Vec::new());
            assert!(may_change(&text) || !changed);
            assert_eq!(may_change(&text), text.iter().any(|byte| SPECIAL[usize::from(*byte)]));
            decode(cuts.as_bytes(), &mut Vec::new());
            cut_escape(cuts.as_bytes());
        }
    }
}
