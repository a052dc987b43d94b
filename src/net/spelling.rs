//! The spellings of keys, and their places in a text. Only this module knows how a key can be written.

use std::collections::BTreeSet;
use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind, BuildError, Input, MatchKind};

use super::decode::{Sink, cut_escape, decode, may_change};
use super::pieces::Pieces;

/// The most levels of encoding that are undone, such as JSON inside JSON inside JSON.
const ROUNDS: usize = 5;
/// The shortest encoded form that is searched, in letters and digits.
const SHORTEST_ENCODED: usize = 8;
/// The fewest letters and digits of a key that is found with other characters between them, such as line breaks.
/// Shorter keys, and those without digits, may be adjacent words.
const SHORTEST_APART: usize = 12;
/// The most bytes of text for one byte of a key, with its escapes and the characters that hide it.
const WIDEST: usize = 12;

const DIGITS_64: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// Whether a byte is a letter or a digit.
const IS_LETTER: [bool; 256] = {
    let mut is_letter = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        is_letter[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    is_letter
};

/// Searches for all keys at once.
#[derive(Debug)]
pub struct Spellings {
    /// Keys in their original form.
    whole: Patterns,
    /// Forms of which only letters and digits count. Base64 has two alphabets, which differ in their other characters,
    /// and is broken into lines; hex digits are separated by colons or spaces.
    letters: Patterns,
    searched: Pieces,
}

impl Spellings {
    /// # Errors
    /// The keys are too many or too long for one automaton.
    pub fn of(keys: &BTreeSet<String>) -> Result<Self, BuildError> {
        let whole = keys.iter().map(|key| key.as_bytes().to_vec());
        let letters = keys.iter().flat_map(|key| encoded(key.as_bytes()));
        Ok(Self {
            whole: Patterns::of(whole.collect())?,
            letters: Patterns::of(letters.collect())?,
            searched: Pieces::default(),
        })
    }

    /// Whether the text has a key in any spelling.
    pub fn is_in(&self, text: &str) -> bool {
        self.searched.any(text, |piece| self.is_in_piece(piece))
    }

    fn is_in_piece(&self, text: &str) -> bool {
        let is_in = |text: &[u8]| {
            self.whole.automaton.is_match(text) || self.letters.automaton.is_match(&letters(text))
        };
        if is_in(text.as_bytes()) {
            return true;
        }
        if !may_change(text.as_bytes()) {
            return false;
        }
        let mut now = Vec::with_capacity(text.len());
        let mut changed = decode(text.as_bytes(), &mut now);
        for _ in 1..ROUNDS {
            if !changed {
                return false;
            }
            if is_in(&now) {
                return true;
            }
            let mut next = Vec::with_capacity(now.len());
            changed = decode(&now, &mut next);
            now = next;
        }
        changed && is_in(&now)
    }

    /// The places of keys in the text, in order and without overlaps.
    pub fn places(&self, text: &str) -> Vec<Range<usize>> {
        let mut places: Vec<Range<usize>> = Vec::new();
        each_round(MappedText::of(text), |seen| {
            places.extend(self.whole.places(seen));
            places.extend(self.letters.places(&seen.letters()));
        });
        places.sort_by_key(|place| (place.start, place.end));
        let mut apart: Vec<Range<usize>> = Vec::new();
        for place in places {
            let start = text.floor_char_boundary(place.start);
            let end = text.ceil_char_boundary(place.end);
            match apart.last_mut() {
                Some(last) if start <= last.end => last.end = last.end.max(end),
                Some(_) | None => apart.push(start..end),
            }
        }
        apart
    }

    /// The number of bytes at the end of a text that may begin a key, if at least `least` bytes are there.
    pub fn begun(&self, text: &str, least: usize) -> usize {
        let tail = self.tail(text, 0);
        let mut start = tail.len();
        each_round(MappedText::of(tail), |seen| {
            if let Some(cut) = cut_escape(&seen.bytes) {
                if least <= 1 {
                    start = start.min(seen.parts[cut].start);
                }
                seen.bytes.truncate(cut);
                seen.parts.truncate(cut);
            }
            let letters = self.letters.begun(&seen.letters(), least);
            let begun = self.whole.begun(seen, least).into_iter().chain(letters);
            start = begun.fold(start, usize::min);
        });
        tail.len() - tail.floor_char_boundary(start)
    }

    /// The number of bytes at the end of a text from the start of the key that the last `begun` bytes would divide; else
    /// `begun`.
    pub fn undivided(&self, text: &str, begun: usize) -> usize {
        let tail = self.tail(text, begun);
        let start = tail.len() - begun;
        let around = self.places(tail).into_iter().find(|place| place.contains(&start));
        around.map_or(begun, |place| tail.len() - place.start)
    }

    /// The end of a text, from where a key can begin that lasts until its last `rest` bytes.
    fn tail<'a>(&self, text: &'a str, rest: usize) -> &'a str {
        let longest = self.whole.longest().max(self.letters.longest());
        let tail = text.len().saturating_sub(longest.saturating_mul(WIDEST).saturating_add(rest));
        &text[text.floor_char_boundary(tail)..]
    }
}

/// The letters and digits of a text. This runs over every record, so it does not branch.
fn letters(text: &[u8]) -> Vec<u8> {
    let (mut letters, mut len) = (vec![0; text.len()], 0);
    for byte in text {
        letters[len] = *byte;
        len += usize::from(IS_LETTER[usize::from(*byte)]);
    }
    letters.truncate(len);
    letters
}

/// The encoded forms of a key, in letters and digits only.
fn encoded(key: &[u8]) -> Vec<Vec<u8>> {
    let base64 = (0..3).map(|offset| base64(key, offset));
    let hex = |digits: &[u8; 16]| -> Vec<u8> {
        let pair = |byte: &u8| [digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]];
        key.iter().flat_map(pair).collect()
    };
    let hex = [hex(b"0123456789abcdef"), hex(b"0123456789ABCDEF")];
    let apart: Vec<u8> = key.iter().copied().filter(u8::is_ascii_alphanumeric).collect();
    let is_random = apart.len() >= SHORTEST_APART
        && apart.iter().any(u8::is_ascii_digit)
        && apart.iter().any(u8::is_ascii_alphabetic);
    let forms = base64.chain(hex).filter(|form| form.len() >= SHORTEST_ENCODED);
    forms.chain(is_random.then_some(apart)).collect()
}

/// The letters and digits in the Base64 of a key at this offset. Characters that also depend on the bytes around the
/// key are left out.
fn base64(key: &[u8], offset: usize) -> Vec<u8> {
    let bit = |at: usize| key[at / 8 - offset] >> (7 - at % 8) & 1;
    let first = (8 * offset).div_ceil(6);
    let end = 8 * (offset + key.len()) / 6;
    let digit = |at: usize| (0..6).fold(0, |digit, more| digit << 1 | bit(6 * at + more));
    (first..end).filter_map(|at| DIGITS_64.get(usize::from(digit(at))).copied()).collect()
}

/// The bytes that a text in Base64 encodes, in either alphabet; `None` if it has other characters.
pub fn from_base64(text: &str) -> Option<Vec<u8>> {
    let (mut bits, mut count, mut bytes) = (0_u32, 0, Vec::new());
    for byte in text.trim_end_matches('=').bytes() {
        let digit = match byte {
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => DIGITS_64.iter().position(|digit| *digit == byte)?,
        };
        bits = bits << 6 | digit as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    Some(bytes)
}

/// Texts that are searched together.
#[derive(Debug)]
struct Patterns {
    texts: BTreeSet<Vec<u8>>,
    automaton: AhoCorasick,
}

impl Patterns {
    fn of(texts: BTreeSet<Vec<u8>>) -> Result<Self, BuildError> {
        // This kind of match skips quickly; tokens of several thousand bytes would need a large table.
        let mut builder = AhoCorasick::builder();
        builder.match_kind(MatchKind::LeftmostLongest).kind(Some(AhoCorasickKind::ContiguousNFA));
        Ok(Self { automaton: builder.build(&texts)?, texts })
    }

    fn places(&self, seen: &MappedText) -> Vec<Range<usize>> {
        let (mut at, mut places) = (0, Vec::new());
        // One key may begin inside another one.
        while let Some(found) =
            self.automaton.find(Input::new(&seen.bytes).span(at..seen.bytes.len()))
        {
            places.push(seen.parts[found.start()].start..seen.parts[found.end() - 1].end);
            at = found.start() + 1;
        }
        places
    }

    fn longest(&self) -> usize {
        self.texts.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// The earliest start of a pattern's beginning with which the text ends.
    fn begun(&self, seen: &MappedText, least: usize) -> Option<usize> {
        let ends = |text: &[u8]| seen.bytes.ends_with(text);
        let begun = |text: &Vec<u8>| (least..text.len()).rev().find(|cut| ends(&text[..*cut]));
        let longest = self.texts.iter().filter_map(begun).max()?;
        Some(seen.parts[seen.bytes.len() - longest].start)
    }
}

/// A text, and the part of the original text for each of its bytes.
#[derive(Default)]
struct MappedText {
    bytes: Vec<u8>,
    parts: Vec<Range<usize>>,
}

impl MappedText {
    fn of(text: &str) -> Self {
        let parts = (0..text.len()).map(|at| at..at + 1);
        Self { bytes: text.as_bytes().to_vec(), parts: parts.collect() }
    }

    fn letters(&self) -> Self {
        let both = self.bytes.iter().copied().zip(self.parts.iter().cloned());
        let (bytes, parts) = both.filter(|(byte, _)| byte.is_ascii_alphanumeric()).unzip();
        Self { bytes, parts }
    }
}

/// The decoded text, with the one that it comes from.
struct Decoded<'a> {
    from: &'a MappedText,
    to: MappedText,
}

impl Sink for Decoded<'_> {
    fn keep(&mut self, bytes: &[u8], at: usize) {
        self.to.bytes.extend_from_slice(bytes);
        self.to.parts.extend_from_slice(&self.from.parts[at..at + bytes.len()]);
    }

    fn put(&mut self, bytes: &[u8], part: Range<usize>) {
        let part = self.from.parts[part.start].start..self.from.parts[part.end - 1].end;
        self.to.bytes.extend_from_slice(bytes);
        self.to.parts.extend(bytes.iter().map(|_| part.clone()));
    }
}

/// Gives the text, then the text decoded once, twice and so on.
fn each_round(mut seen: MappedText, mut give: impl FnMut(&mut MappedText)) {
    for _ in 0..=ROUNDS {
        give(&mut seen);
        let mut decoded = Decoded { from: &seen, to: MappedText::default() };
        if !decode(&seen.bytes, &mut decoded) {
            return;
        }
        seen = decoded.to;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_of_a_key_are_those_of_the_standards() {
        // RFC 4648, sections 4 and 8, without the first and last characters that other bytes change.
        let forms = encoded(b"pl4nted/k3y");
        let text = |form: &[u8]| String::from_utf8(form.to_vec()).unwrap();
        let forms: Vec<String> = forms.iter().map(|form| text(form)).collect();
        let expected = [
            "cGw0bnRlZC9rM3",
            "BsNG50ZWQvazN5",
            "wbDRudGVkL2sze",
            "706c346e7465642f6b3379",
            "706C346E7465642F6B3379",
        ];
        assert_eq!(forms, expected);
    }

    #[test]
    fn base64_is_decoded_in_both_alphabets() {
        // RFC 4648, section 10.
        for (text, expected) in [
            ("", ""),
            ("Zg==", "f"),
            ("Zm8=", "fo"),
            ("Zm9v", "foo"),
            ("Zm9vYg", "foob"),
            ("fn5+Pz8/", "~~~???"),
            ("fn5-Pz8_", "~~~???"),
        ] {
            assert_eq!(from_base64(text).as_deref(), Some(expected.as_bytes()), "{text}");
        }
        assert_eq!(from_base64("Zm 9v"), None);
    }
}
