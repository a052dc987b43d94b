//! The words of a text with their weights by BM25, without the rarity of a word, which depends on the other texts.
//!
//! Words are those of Unicode in ASCII letters and lower case, stemmed, without NLTK's English stop words.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use deunicode::deunicode_with_tofu_cow;
use rust_stemmers::{Algorithm, Stemmer};
use unicode_segmentation::UnicodeSegmentation;

/// How soon further repetitions of a word add nothing.
const K1: f32 = 1.2;
/// How much the length of a text counts, 0 to 1.
const B: f32 = 0.75;
/// Stands for a character that has no ASCII letters.
const NO_LETTERS: &str = "[?]";
/// The average length where no texts are given.
const USUAL: f32 = 256.0;

/// Weighs the words of texts.
pub struct Bm25 {
    stemmer: Stemmer,
    b: f32,
    /// Words in an average text.
    average: f32,
}

impl Bm25 {
    /// Weighs each text by its length, compared with this average in words.
    pub fn with_average(average: f32) -> Self {
        Self {
            stemmer: Stemmer::create(Algorithm::English),
            b: B,
            average: if average > 0.0 { average } else { USUAL },
        }
    }

    /// Weighs each text by its length, compared with the average of these.
    pub fn of(texts: &[String]) -> Self {
        let new = Self::with_average(USUAL);
        let words: usize = texts.iter().map(|text| new.words(text).len()).sum();
        let average =
            if texts.is_empty() { USUAL } else { (words as f64 / texts.len() as f64) as f32 };
        Self { average: if average > 0.0 { average } else { USUAL }, ..new }
    }

    /// Weighs words by nothing but their number.
    pub fn without_length() -> Self {
        Self { b: 0.0, ..Self::with_average(USUAL) }
    }

    /// Returns each word of a text, in order, with the weight of all its occurrences.
    pub fn weigh(&self, text: &str) -> Vec<(String, f32)> {
        let words = self.words(text);
        let mut counts: HashMap<&str, u32> = HashMap::new();
        words.iter().for_each(|word| *counts.entry(word).or_default() += 1);
        let length = words.len() as f32 / self.average;
        let weight = |word: &String| {
            let count = counts.get(word.as_str()).map_or(0.0, |count| *count as f32);
            count * (K1 + 1.0) / (count + K1 * (1.0 - self.b + self.b * length))
        };
        let weights: Vec<f32> = words.iter().map(weight).collect();
        words.into_iter().zip(weights).collect()
    }

    fn words(&self, text: &str) -> Vec<String> {
        let text = in_ascii(text).to_lowercase();
        let words = text.unicode_words().filter(|word| !is_stop_word(word));
        words.map(|word| self.stemmer.stem(word).into_owned()).collect()
    }
}

/// Whether a word in lower case is one of NLTK's English stop words, such as `is` and `in`.
pub fn is_stop_word(word: &str) -> bool {
    static WORDS: LazyLock<HashSet<String>> = LazyLock::new(|| {
        let words = stop_words::get(stop_words::LANGUAGE::English);
        words.iter().map(|word| in_ascii(word).into_owned()).collect()
    });
    WORDS.contains(word)
}

/// The rarity of a word that this many of all texts have.
pub fn rarity(all: usize, having: usize) -> f32 {
    let (all, having) = (all as f32, having as f32);
    (1.0 + (all - having + 0.5) / (having + 0.5)).ln()
}

fn in_ascii(text: &str) -> std::borrow::Cow<'_, str> {
    deunicode_with_tofu_cow(text, NO_LETTERS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_stemmed_and_weighed_by_their_number_and_the_length_of_their_text() {
        let weigher = Bm25::with_average(4.0);
        let weighed = weigher.weigh("The cafés of cities: a Café.");
        let words: Vec<&str> = weighed.iter().map(|(word, _)| word.as_str()).collect();
        assert_eq!(words, ["cafe", "citi", "cafe"]);
        let of = |count: f32| count * 2.2 / (count + 1.2 * (0.25 + 0.75 * 0.75));
        assert_eq!([weighed[0].1, weighed[1].1], [of(2.0), of(1.0)]);
        assert_eq!(Bm25::without_length().weigh("tide")[0].1, 1.0);
        assert!(weigher.weigh("").is_empty() && weigher.weigh("the of").is_empty());
    }
}
