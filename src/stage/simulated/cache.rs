//! The prompt cache of the simulated model, as providers describe theirs: a prefix that a request shares with a recent
//! one is cheaper, in whole blocks, from a minimum length on.

use std::cell::{RefCell, RefMut};
use std::collections::HashSet;
use std::hash::BuildHasher;

use foldhash::quality::FixedState;

use crate::domain::{Request, tokens};

/// Tokens of the shortest prefix that is cached, and of a block (both as OpenAI documents them).
const LEAST: u64 = 1024;
const BLOCK: u64 = 128;
/// The least number of remembered prefixes; at most twice as many are.
const REMEMBERED: usize = 8192;
const HASHER: FixedState = FixedState::with_seed(0);

/// The beginnings of recent requests, each as a hash of all parts up to a place.
#[derive(Debug, Default)]
pub(super) struct PrefixCache(RefCell<Generations>);

#[derive(Debug, Default)]
struct Generations {
    young: HashSet<u64, FixedState>,
    old: HashSet<u64, FixedState>,
}

impl PrefixCache {
    /// Reads a request part by part, and remembers its beginnings.
    pub fn read(&self) -> CacheReading<'_> {
        CacheReading { known: self.0.borrow_mut(), prefix: 0, shared: 0, is_shared: true }
    }

    /// Remembers the beginnings of a request that it read before.
    pub fn recall(&self, request: &Request) {
        let mut reading = self.read();
        tokens::each(request, |piece| reading.take(&piece.label, &piece.text, 0));
    }
}

/// A request that is read.
pub(super) struct CacheReading<'a> {
    known: RefMut<'a, Generations>,
    /// The hash of all parts so far that have a text.
    prefix: u64,
    shared: u64,
    is_shared: bool,
}

impl CacheReading<'_> {
    pub fn take(&mut self, label: &str, text: &str, tokens: u64) {
        if text.is_empty() {
            return;
        }
        self.prefix = HASHER.hash_one((self.prefix, label, text));
        self.is_shared &= self.known.has(self.prefix);
        self.shared += if self.is_shared { tokens } else { 0 };
        self.known.add(self.prefix);
    }

    /// Tokens of the longest beginning that was known before. Parts are compared whole, so it never exceeds the shared
    /// prefix.
    pub fn cached(&self) -> u64 {
        if self.shared < LEAST { 0 } else { self.shared / BLOCK * BLOCK }
    }
}

impl Generations {
    fn has(&self, prefix: u64) -> bool {
        self.young.contains(&prefix) || self.old.contains(&prefix)
    }

    fn add(&mut self, prefix: u64) {
        if self.young.len() >= REMEMBERED {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(prefix);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(cache: &PrefixCache, parts: &[(&str, u64)]) -> u64 {
        let mut reading = cache.read();
        parts.iter().for_each(|(text, tokens)| reading.take("user", text, *tokens));
        reading.cached()
    }

    #[test]
    fn a_beginning_counts_in_whole_blocks_from_a_least_length_on() {
        let cache = PrefixCache::default();
        let (tools, task) = (("tools", 1000), ("task", 100));
        assert_eq!(read(&cache, &[tools, task]), 0, "never seen");
        assert_eq!(read(&cache, &[tools, ("other", 100)]), 0, "1000 tokens are too few");
        let long = [tools, task, ("more", 300)];
        assert_eq!(read(&cache, &long), 1024, "of 1100, whole blocks");
        assert_eq!(read(&cache, &long), 1280, "of 1400");
        assert_eq!(read(&cache, &[task, tools]), 0, "the same parts in another order");
    }

    #[test]
    fn what_was_long_ago_is_forgotten() {
        let cache = PrefixCache::default();
        read(&cache, &[("first", 2048)]);
        for other in 0..2 * REMEMBERED {
            read(&cache, &[(&other.to_string(), 1)]);
        }
        assert_eq!(read(&cache, &[("first", 2048)]), 0);
    }
}
