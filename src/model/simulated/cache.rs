//! The prompt cache of the simulated model, as providers describe theirs: what a request has in common
//! with the beginning of a recent one is cheaper, in whole blocks, from a least length on.

use std::{cell::RefCell, collections::HashSet};

use crate::domain::{Chance, tokens::Part};

/// Tokens of the shortest prefix that is kept, and of a block (both as OpenAI documents them).
const LEAST: u64 = 1024;
const BLOCK: u64 = 128;
/// Prefixes remembered at least; at most twice as many are.
const REMEMBERED: usize = 8192;

/// The beginnings of recent requests, each as a hash of all parts up to a place.
#[derive(Debug, Default)]
pub(super) struct PrefixCache(RefCell<Generations>);

#[derive(Debug, Default)]
struct Generations {
    young: HashSet<u64>,
    old: HashSet<u64>,
}

impl PrefixCache {
    /// Tokens of the longest known beginning of this request, whose beginnings are known from now on.
    /// Parts are compared whole, so it is never more than what they share.
    pub fn read(&self, parts: &[Part]) -> u64 {
        let mut known = self.0.borrow_mut();
        let mut prefix = Chance::new(0);
        let (mut shared, mut is_shared) = (0, true);
        for part in parts.iter().filter(|part| !part.text.is_empty()) {
            prefix = prefix.with(part.label.as_bytes()).with(part.text.as_bytes());
            is_shared &= known.has(prefix.bits());
            shared += if is_shared { part.tokens } else { 0 };
            known.add(prefix.bits());
        }
        if shared < LEAST { 0 } else { shared / BLOCK * BLOCK }
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

    fn part(text: &str, tokens: u64) -> Part {
        Part { label: "user".into(), text: text.into(), tokens }
    }

    #[test]
    fn a_beginning_counts_in_whole_blocks_from_a_least_length_on() {
        let cache = PrefixCache::default();
        let (tools, task) = (part("tools", 1000), part("task", 100));
        assert_eq!(cache.read(&[tools.clone(), task.clone()]), 0, "never seen");
        assert_eq!(cache.read(&[tools.clone(), part("other", 100)]), 0, "1000 tokens are too few");
        let long = [tools.clone(), task.clone(), part("more", 300)];
        assert_eq!(cache.read(&long), 1024, "of 1100, whole blocks");
        assert_eq!(cache.read(&long), 1280, "of 1400");
        assert_eq!(cache.read(&[task, tools]), 0, "the same parts in another order");
    }

    #[test]
    fn what_was_long_ago_is_forgotten() {
        let cache = PrefixCache::default();
        let first = [part("first", 2048)];
        cache.read(&first);
        for other in 0..2 * REMEMBERED {
            cache.read(&[part(&other.to_string(), 1)]);
        }
        assert_eq!(cache.read(&first), 0);
    }
}
