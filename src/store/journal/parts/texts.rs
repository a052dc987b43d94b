//! Texts that were written, by their words, to find slices of them in a new text.

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::ops::Range;
use std::sync::Arc;

use foldhash::fast::RandomState;

/// The bytes from the beginning of a word that identify it.
const SIGHT: usize = 24;
/// Shorter slices cost as much as they save.
const LEAST: usize = 40;
/// Bytes between the words that are remembered.
const BETWEEN: usize = 12;
/// An escape of JSON in bytes.
const ESCAPE: usize = 6;

/// Places of words in texts that are parts.
#[derive(Debug, Default)]
pub(super) struct Texts {
    places: HashMap<u64, (usize, usize), RandomState>,
}

/// Bytes of a text that an earlier text has, too. Both are JSON without their quotes.
#[derive(Debug)]
pub(super) struct Slice {
    pub to: Range<usize>,
    pub part: usize,
    /// The beginning of the slice in the earlier text.
    pub from: usize,
}

impl Texts {
    /// Finds the slices of this text that earlier texts contain, in the order of this text.
    pub fn slices(&self, text: &[u8], parts: &[Arc<[u8]>]) -> Vec<Slice> {
        let mut slices: Vec<Slice> = Vec::new();
        let mut end = 0;
        for word in words(text) {
            if word < end {
                continue;
            }
            let Some((part, place)) = self.find(&text[word..]) else { continue };
            let Some(earlier) = parts.get(part).and_then(|it| it.get(1..it.len() - 1)) else {
                continue;
            };
            let before = text[end..word].iter().rev().zip(earlier[..place].iter().rev());
            let before = before.take_while(|(own, other)| own == other).count();
            let after = text[word..].iter().zip(&earlier[place..]);
            let after = after.take_while(|(own, other)| own == other).count();
            let (mut from, mut until) = (word - before, word + after);
            while from < until && !can_cut(text, from) {
                from += 1;
            }
            while from < until && !can_cut(text, until) {
                until -= 1;
            }
            if until - from >= LEAST {
                slices.push(Slice { to: from..until, part, from: place + from - word });
                end = until;
            }
        }
        slices
    }

    /// Remembers the new words of a text.
    pub fn add(&mut self, text: &[u8], part: usize, slices: &[Slice]) {
        let mut slices = slices.iter().peekable();
        let mut next = 0;
        for word in words(text) {
            while slices.next_if(|slice| slice.to.end <= word).is_some() {}
            let is_known = slices.peek().is_some_and(|slice| slice.to.start <= word);
            if word < next || is_known {
                continue;
            }
            if let Some(sight) = text.get(word..word + SIGHT) {
                let hash = self.places.hasher().hash_one(sight);
                self.places.entry(hash).or_insert((part, word));
                next = word + BETWEEN;
            }
        }
    }

    fn find(&self, text: &[u8]) -> Option<(usize, usize)> {
        let sight = text.get(..SIGHT)?;
        self.places.get(&self.places.hasher().hash_one(sight)).copied()
    }
}

/// The places where words begin.
fn words(text: &[u8]) -> impl Iterator<Item = usize> {
    let is_of_word = |byte: u8| byte.is_ascii_alphanumeric() || !byte.is_ascii();
    let mut was_of_word = false;
    (0..text.len()).filter(move |at| {
        let is = is_of_word(text[*at]);
        let was = std::mem::replace(&mut was_of_word, is);
        is && !was
    })
}

/// Whether both sides of this place are whole characters.
fn can_cut(text: &[u8], at: usize) -> bool {
    let is_inside = text.get(at).is_some_and(|byte| (0x80..0xC0).contains(byte));
    let is_escaped = (at.saturating_sub(ESCAPE - 1)..at).any(|begin| {
        let before = text[..begin].iter().rev().take_while(|byte| **byte == b'\\').count();
        let len = if text.get(begin + 1) == Some(&b'u') { ESCAPE } else { 2 };
        text[begin] == b'\\' && before.is_multiple_of(2) && begin + len > at
    });
    !is_inside && !is_escaped
}
