//! Parts of characters. A server that cuts its text between tokens may cut a character: half of a surrogate pair in one
//! delta and half in the next, or some bytes of its UTF-8. Until they are joined, each part is encoded in the string as
//! two characters that never occur together.

use std::borrow::Cow;

/// The character that begins a part: a noncharacter, which Unicode reserves for use inside a program.
const MARK: char = '\u{FDD0}';
/// Half of a surrogate pair is this character of private use, plus its place among the halves.
const HALVES: u32 = 0x10_F800;
/// A byte is this character of private use, plus the byte.
const BYTES: u32 = 0x10_F000;
/// The length of a part in bytes.
const LENGTH: usize = 7;
/// The most parts that can wait for another: the bytes of two halves, written one by one.
const MOST_OPEN: usize = 5;

#[derive(Clone, Copy, Debug, PartialEq)]
enum CharPart {
    Half(u16),
    Byte(u8),
}

impl CharPart {
    /// The part that this character stands for after a [`MARK`].
    fn of(c: char) -> Option<Self> {
        match u32::from(c) {
            code @ HALVES.. => u16::try_from(code - HALVES + 0xD800).ok().map(CharPart::Half),
            code => {
                let byte = u8::try_from(code.checked_sub(BYTES)?).ok();
                byte.filter(|byte| !byte.is_ascii()).map(CharPart::Byte)
            }
        }
    }

    fn push_to(self, text: &mut String) {
        let code = match self {
            CharPart::Half(half) => HALVES + u32::from(half.saturating_sub(0xD800)),
            CharPart::Byte(byte) => BYTES + u32::from(byte),
        };
        text.push(MARK);
        text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
    }
}

/// Adds half of a surrogate pair, from 0xD800 to 0xDFFF, to a text.
pub fn push_half(half: u16, text: &mut String) {
    CharPart::Half(half).push_to(text);
}

/// Bytes as text. Bytes that are not UTF-8 become parts.
pub fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|byte| CharPart::Byte(*byte).push_to(&mut text));
    }
    Cow::Owned(text)
}

/// The text with its parts joined. A part without its counterpart becomes a replacement character.
pub fn joined(text: &str) -> Cow<'_, str> {
    if !text.contains(MARK) {
        return Cow::Borrowed(text);
    }
    let mut whole = String::with_capacity(text.len());
    let mut run = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let part = if c == MARK { chars.peek().copied().and_then(CharPart::of) } else { None };
        if let Some(part) = part {
            chars.next();
            run.push(part);
        } else {
            whole.push_str(&decoded(&std::mem::take(&mut run)));
            whole.push(c);
        }
    }
    whole.push_str(&decoded(&run));
    Cow::Owned(whole)
}

/// The characters of consecutive parts.
fn decoded(run: &[CharPart]) -> String {
    let mut text = String::new();
    let mut rest = run;
    while let Some(first) = rest.first() {
        // Some servers write the halves as three bytes each.
        let half = half_in_bytes(rest).map(|half| (half, 3));
        let half = half.or(if let CharPart::Half(half) = first { Some((*half, 1)) } else { None });
        if let Some((high, len)) = half {
            rest = &rest[len..];
            let low = match rest.first() {
                Some(CharPart::Half(low)) => Some((*low, 1)),
                _ => half_in_bytes(rest).map(|low| (low, 3)),
            };
            let pair = low.map_or([high, high], |(low, _)| [high, low]);
            let c = char::decode_utf16(pair).next().and_then(Result::ok);
            rest = &rest[c.and(low).map_or(0, |(_, len)| len)..];
            text.push(c.unwrap_or(char::REPLACEMENT_CHARACTER));
            continue;
        }
        let bytes = rest.iter().enumerate().map_while(|(at, part)| match part {
            CharPart::Byte(byte) if half_in_bytes(&rest[at..]).is_none() => Some(*byte),
            CharPart::Byte(_) | CharPart::Half(_) => None,
        });
        let bytes: Vec<u8> = bytes.collect();
        rest = &rest[bytes.len()..];
        text.push_str(&String::from_utf8_lossy(&bytes));
    }
    text
}

/// Half of a surrogate pair, if these parts begin with its three bytes.
fn half_in_bytes(parts: &[CharPart]) -> Option<u16> {
    let [
        CharPart::Byte(0xED),
        CharPart::Byte(high @ 0xA0..=0xBF),
        CharPart::Byte(low @ 0x80..=0xBF),
        ..,
    ] = parts
    else {
        return None;
    };
    Some(0xD000 | u16::from(high & 0x3F) << 6 | u16::from(low & 0x3F))
}

/// Joins the parts of a text that arrives in deltas.
#[derive(Debug, Default)]
pub struct Joiner {
    /// Parts at the end, which the next delta may complete.
    open: String,
}

impl Joiner {
    /// The text that is complete with this delta.
    pub fn next(&mut self, delta: &str) -> String {
        self.open.push_str(delta);
        let open = open_end(&self.open);
        let rest = self.open.split_off(self.open.len() - open);
        let whole = std::mem::replace(&mut self.open, rest);
        match joined(&whole) {
            Cow::Owned(joined) => joined,
            Cow::Borrowed(_) => whole,
        }
    }

    /// The rest, which no delta completed.
    pub fn end(self) -> String {
        joined(&self.open).into_owned()
    }
}

/// The length in bytes of the parts at the end of a text that another part may complete.
fn open_end(text: &str) -> usize {
    let mut chars = text.chars().rev();
    let mut parts = 0;
    while let (Some(code), Some(MARK)) = (chars.next(), chars.next())
        && CharPart::of(code).is_some()
    {
        parts += 1;
    }
    let run = &text[text.len() - parts * LENGTH..];
    let is_lost = |c: char| c == char::REPLACEMENT_CHARACTER;
    // Complete characters before them do not wait, and invalid parts do not either.
    let is_open = |open: &usize| {
        let (before, open) = run.split_at(run.len() - open * LENGTH);
        !joined(before).ends_with(is_lost) && joined(open).chars().all(is_lost)
    };
    (1..=parts.min(MOST_OPEN)).rev().find(is_open).map_or(0, |open| open * LENGTH)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn half(half: u16) -> String {
        let mut text = String::new();
        push_half(half, &mut text);
        text
    }

    #[test]
    fn halves_and_bytes_meet() {
        let sun = format!("a{}{}b", half(0xD83C), half(0xDF1E));
        assert_eq!(joined(&sun), "a🌞b");
        let alone = format!("{}a{}", half(0xDF1E), half(0xD83C));
        assert_eq!(joined(&alone), "\u{FFFD}a\u{FFFD}");
        let twice = format!("{}{}{}", half(0xD83C), half(0xD83C), half(0xDF1E));
        assert_eq!(joined(&twice), "\u{FFFD}🌞");
        assert_eq!(joined(&text_of(b"\xED\xA0\xBC\xED\xBC\x9E!")), "🌞!");
        assert_eq!(joined(&text_of(b"x\xFFy")), "x\u{FFFD}y");
    }

    #[test]
    fn deltas_are_joined_and_nothing_waits_for_ever() {
        let mut joiner = Joiner::default();
        assert_eq!(joiner.next(&format!("Sun {}", half(0xD83C))), "Sun ");
        assert_eq!(joiner.next(&format!("{} out.", half(0xDF1E))), "🌞 out.");
        assert_eq!(joiner.next(&half(0xD83C)), "");
        assert_eq!(joiner.next("x"), "\u{FFFD}x");
        assert_eq!(joiner.next(&half(0xDF1E)), "");
        assert_eq!(joiner.end(), "\u{FFFD}");
    }

    proptest! {
        /// Bytes that are cut anywhere give the same text.
        #[test]
        fn cut_bytes_are_the_same_text(text in "[aé\u{1F31E}\u{20ac}]{0,8}", cuts: Vec<prop::sample::Index>) {
            let bytes = text.as_bytes();
            let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            at.extend([0, bytes.len()]);
            at.sort_unstable();
            let mut joiner = Joiner::default();
            let pieces = at.windows(2).map(|cut| joiner.next(&text_of(&bytes[cut[0]..cut[1]])));
            let read: String = pieces.collect();
            prop_assert_eq!(read + &joiner.end(), text);
        }

        #[test]
        fn any_bytes_lose_their_parts(bytes: Vec<u8>) {
            prop_assert!(!joined(&text_of(&bytes)).contains(MARK));
        }
    }
}
