//! Byte-pair encoding: the pair of neighbours with the lowest rank is merged, the leftmost first, until no pair of the
//! model is left.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::{alphabet, vocabulary::Vocabulary};
use crate::{error::ModelFileFault, gguf::Metadata};

/// The most merges.
const MOST: usize = 1 << 20;

/// The tokens of single bytes, and the pairs of tokens to merge.
pub struct Merges {
    bytes: [Option<u32>; 256],
    /// The rank and the merged token of each pair.
    pairs: HashMap<(u32, u32), (u32, u32)>,
}

impl Merges {
    pub fn read(metadata: &Metadata, vocabulary: &Vocabulary) -> Result<Self, ModelFileFault> {
        let key = "tokenizer.ggml.merges";
        let missing = || ModelFileFault::bad(format!("no `{key}`"), "a list of merges");
        let texts = metadata.texts(key)?.ok_or_else(missing)?;
        if texts.len() > MOST {
            return Err(ModelFileFault::bad(
                format!("`{key}` has {} merges", texts.len()),
                format!("at most {MOST}"),
            ));
        }
        let tokens = vocabulary.by_bytes();
        let mut pairs = HashMap::with_capacity(texts.len());
        let mut pair = Vec::new();
        for (rank, text) in (0..).zip(texts.iter()) {
            let merged = read_pair(text, &mut pair).and_then(|middle| {
                let (left, right) = (tokens.get(&pair[..middle])?, tokens.get(&pair[middle..])?);
                Some(((*left, *right), (rank, *tokens.get(pair.as_slice())?)))
            });
            let Some((pair, merged)) = merged else {
                let found = format!("merge {rank} is {:?}", String::from_utf8_lossy(text));
                return Err(ModelFileFault::bad(
                    found,
                    "two tokens whose text together is a token",
                ));
            };
            pairs.entry(pair).or_insert(merged);
        }
        let bytes = std::array::from_fn(|byte| tokens.get([byte as u8].as_slice()).copied());
        // SmolLM's vocabulary lacks bytes that its training texts did not have, such as most control characters.
        match (b' '..=b'~').find(|byte| bytes[usize::from(*byte)].is_none()) {
            Some(byte) => {
                let found = format!("no token for byte {byte:#04x}");
                Err(ModelFileFault::bad(found, "a token for each printable character of ASCII"))
            }
            None => Ok(Self { bytes, pairs }),
        }
    }

    /// Calls `found` with the tokens of a word and the end of each in it. Bytes that the vocabulary lacks are left out.
    /// Takes time `n log n` for `n` bytes.
    pub fn merge(&self, word: &[u8], mut found: impl FnMut(u32, usize)) {
        let mut chain = Chain::new(word.iter().map(|byte| self.bytes[usize::from(*byte)]));
        let mut heap = BinaryHeap::new();
        let propose = |heap: &mut BinaryHeap<_>, chain: &Chain, left: usize| {
            let Some((right, pair)) = chain.pair(left) else { return };
            if let Some((rank, token)) = self.pairs.get(&pair) {
                heap.push(Reverse((*rank, left, right, pair, *token)));
            }
        };
        (0..word.len()).for_each(|left| propose(&mut heap, &chain, left));
        while let Some(Reverse((_, left, right, pair, token))) = heap.pop() {
            // One of the two may have been merged meanwhile.
            if chain.pair(left) != Some((right, pair)) {
                continue;
            }
            chain.merge(left, right, token);
            propose(&mut heap, &chain, left);
            if let Some(before) = chain.before(left) {
                propose(&mut heap, &chain, before);
            }
        }
        chain.tokens().for_each(|(token, end)| found(token, end));
    }
}

/// Reads `left right` into the bytes of both; returns where the second begins.
fn read_pair(text: &[u8], pair: &mut Vec<u8>) -> Option<usize> {
    let (left, right) = std::str::from_utf8(text).ok()?.split_once(' ')?;
    pair.clear();
    let decode = |text: &str, pair: &mut Vec<u8>| {
        if !alphabet::decode(text, pair) {
            pair.extend_from_slice(text.as_bytes());
        }
        pair.len()
    };
    let middle = decode(left, pair);
    (decode(right, pair) > middle && middle > 0).then_some(middle)
}

/// A place that no link has.
const NONE: usize = usize::MAX;

/// A word's tokens, linked so that two are merged in constant time. A token's place is that of its first byte.
struct Chain(Vec<Link>);

struct Link {
    /// `None` for a byte that the vocabulary lacks, and for a link that was merged into the one before.
    token: Option<u32>,
    /// In bytes.
    length: usize,
    before: usize,
    after: usize,
}

impl Chain {
    fn new(tokens: impl ExactSizeIterator<Item = Option<u32>>) -> Self {
        let last = tokens.len().wrapping_sub(1);
        let links = tokens.enumerate().map(|(at, token)| Link {
            token,
            length: 1,
            before: at.wrapping_sub(1),
            after: if at == last { NONE } else { at + 1 },
        });
        Self(links.collect())
    }

    /// The neighbour of a token, and both tokens.
    fn pair(&self, left: usize) -> Option<(usize, (u32, u32))> {
        let right = self.0[left].after;
        Some((right, (self.0[left].token?, self.0.get(right)?.token?)))
    }

    fn before(&self, at: usize) -> Option<usize> {
        let before = self.0[at].before;
        (before != NONE).then_some(before)
    }

    fn merge(&mut self, left: usize, right: usize, token: u32) {
        let (length, after) = (self.0[right].length, self.0[right].after);
        self.0[right].token = None;
        self.0[left].token = Some(token);
        self.0[left].length += length;
        self.0[left].after = after;
        if let Some(next) = self.0.get_mut(after) {
            next.before = left;
        }
    }

    /// The remaining tokens, with the end of each.
    fn tokens(&self) -> impl Iterator<Item = (u32, usize)> {
        self.0.iter().enumerate().filter_map(|(at, link)| Some((link.token?, at + link.length)))
    }
}
