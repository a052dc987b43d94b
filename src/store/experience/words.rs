//! The similarity of two queries by their words: the cosine of their weighted words, from 0 to 1.
//!
//! Words (stemmed, without stop words) and the weight of a repeated word are BM25's, as in
//! [`retrieve`](crate::domain::retrieve). Its rarity is left out: it would make the similarity of
//! two texts, and with it every estimate, depend on the rest of the store. Length is left out too;
//! the cosine handles it.

use std::collections::BTreeMap;

use crate::domain::retrieve::{Bm25, taken_apart};

/// Most words of a longer text that count.
const MOST_WORDS: usize = 256;

/// A word's hash and its weight, in bytes.
const ENTRY: usize = 8;

/// Converts texts to vectors.
pub(super) struct WordVectorizer(Bm25);

/// A text's words by their hashes, with weights that make a vector of length 1. Empty for a text
/// without a word.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Words(Vec<(u32, f32)>);

impl WordVectorizer {
    pub fn new() -> Self {
        Self(Bm25::without_length())
    }

    pub fn read(&self, text: &str) -> Words {
        let mut weights = BTreeMap::new();
        for (word, weight) in self.0.weigh(&taken_apart(text)) {
            if weights.len() == MOST_WORDS {
                break;
            }
            weights.insert(hash(&word), weight);
        }
        let length = weights.values().map(|weight| weight * weight).sum::<f32>().sqrt();
        Words(weights.into_iter().map(|(word, weight)| (word, weight / length)).collect())
    }
}

/// The hash of stored words: 32-bit FxHash, as Rust hashes a text with it. It must never change.
pub(super) fn hash(word: &str) -> u32 {
    const SEED: u32 = 0x2722_0a95;
    let (words, rest) = word.as_bytes().as_chunks::<4>();
    let words = words.iter().map(|bytes| u32::from_le_bytes(*bytes));
    let rest = rest.iter().chain(&[0xff]).map(|byte| u32::from(*byte));
    words.chain(rest).fold(0, |hash: u32, next| (hash.rotate_left(5) ^ next).wrapping_mul(SEED))
}

impl Words {
    pub fn hashes(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().map(|(word, _)| *word)
    }

    /// The words with the highest weights, at most `k`.
    pub fn heaviest(&self, k: usize) -> Vec<(u32, f32)> {
        let mut words = self.0.clone();
        words.sort_by(|one, other| other.1.total_cmp(&one.1));
        words.truncate(k);
        words
    }

    /// The stored form.
    pub fn to_bytes(&self) -> Vec<u8> {
        let bytes = |(word, weight): &(u32, f32)| {
            word.to_le_bytes().into_iter().chain(weight.to_le_bytes())
        };
        self.0.iter().flat_map(bytes).collect()
    }

    /// The words of a stored vector.
    pub fn stored(bytes: &[u8]) -> impl Iterator<Item = (u32, f32)> + '_ {
        let (entries, _) = bytes.as_chunks::<ENTRY>();
        entries.iter().map(|[a, b, c, d, e, f, g, h]| {
            (u32::from_le_bytes([*a, *b, *c, *d]), f32::from_le_bytes([*e, *f, *g, *h]))
        })
    }

    /// The cosine with a stored vector, 0 to 1.
    pub fn cosine(&self, stored: &[u8]) -> f64 {
        let mut own = self.0.iter().peekable();
        let mut sum = 0.0_f32;
        for (word, weight) in Self::stored(stored) {
            while own.next_if(|(before, _)| *before < word).is_some() {}
            if let Some((_, same)) = own.next_if(|(other, _)| *other == word) {
                sum += same * weight;
            }
        }
        // A damaged vector must not spread.
        if sum.is_finite() { f64::from(sum).clamp(0.0, 1.0) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn stored_hashes_stay_as_they_are() {
        assert_eq!(
            ["tide", "citi", "encyclopedia"].map(hash),
            [0x0e46_c6dc, 0xc5d0_d70b, 0x8ab5_2439]
        );
    }

    fn cosine(one: &str, other: &str) -> f64 {
        let reader = WordVectorizer::new();
        reader.read(one).cosine(&reader.read(other).to_bytes())
    }

    #[test]
    fn more_common_words_are_more_alike() {
        let query = "weather in Paris tomorrow";
        let same = cosine(query, "Tomorrow: the weather in Paris?");
        let near = cosine(query, "What is the weather like in Lyon?");
        let far = cosine(query, "Convert ten dollars into euros");
        assert!((same - 1.0).abs() < 1e-6, "{same}");
        assert!((0.3..0.9).contains(&near), "{near}");
        assert_eq!(far, 0.0);
    }

    #[test]
    fn what_has_no_words_is_like_nothing() {
        for text in ["", "the of and", "  \n", "?!"] {
            assert_eq!(cosine(text, "weather"), 0.0, "{text:?}");
            assert_eq!(cosine("weather", text), 0.0, "{text:?}");
        }
    }

    #[test]
    fn a_damaged_vector_is_no_disaster() {
        let words = WordVectorizer::new().read("weather in Paris");
        let mut bytes = words.to_bytes();
        bytes.fill(0xff);
        bytes.pop();
        assert_eq!(words.cosine(&bytes), 0.0);
    }

    proptest! {
        #[test]
        fn likeness_is_between_0_and_1_and_mutual(one in ".{0,80}", other in ".{0,80}") {
            let (there, back) = (cosine(&one, &other), cosine(&other, &one));
            prop_assert!((0.0..=1.0).contains(&there));
            prop_assert!((there - back).abs() < 1e-6);
        }

        #[test]
        fn a_text_is_like_itself(text in "[a-z]{3,9}( [a-z]{3,9}){0,300}") {
            let own = cosine(&text, &text);
            prop_assert!(own == 0.0 || (own - 1.0).abs() < 1e-5, "{}", own);
        }
    }
}
