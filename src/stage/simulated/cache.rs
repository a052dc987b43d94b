//! The prompt cache of the simulated model, as providers describe theirs: what a request has in common
//! with the beginning of a recent one is cheaper, in whole blocks, from a least length on.

use std::{cell::RefCell, collections::HashSet};

use crate::domain::{Chance, Request, tokens, tokens::Part};

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
        let (mut shared, mut is_shared) = (0, true);
        let texts = parts.iter().map(|part| (&*part.label, &*part.text));
        for (part, prefix) in parts.iter().zip(prefixes(texts)) {
            let Some(prefix) = prefix else { continue };
            is_shared &= known.has(prefix);
            shared += if is_shared { part.tokens } else { 0 };
            known.add(prefix);
        }
        if shared < LEAST { 0 } else { shared / BLOCK * BLOCK }
    }

    /// Knows the beginnings of a request that it has read before.
    pub fn recall(&self, request: &Request) {
        let (mut known, texts) = (self.0.borrow_mut(), tokens::texts(request));
        let texts = texts.iter().map(|(label, text)| (&**label, &**text));
        prefixes(texts).flatten().for_each(|prefix| known.add(prefix));
    }
}

/// The hash of all parts up to each part that has a text.
fn prefixes<'t>(
    texts: impl Iterator<Item = (&'t str, &'t str)>,
) -> impl Iterator<Item = Option<u64>> {
    texts.scan(Chance::new(0), |prefix, (label, text)| {
        if text.is_empty() {
            return Some(None);
        }
        *prefix = prefix.with(label.as_bytes()).with(text.as_bytes());
        Some(Some(prefix.bits()))
    })
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
