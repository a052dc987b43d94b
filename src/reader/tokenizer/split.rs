//! The rule that splits a text into words before pairs are merged (GPT-2; SmolLM also splits off every digit).

use std::ops::Range;

use regex::Regex;

use crate::error::ModelFileFault;

/// GPT-2's expression without its look-ahead, which [`Splitter::words`] implements.
const WORD: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+";

/// Splits a text as the model's tokenizer does.
pub struct Splitter {
    word: Regex,
    /// Whether each digit is a word.
    digits: bool,
}

impl Splitter {
    /// The rule of this name in a model file.
    pub fn named(name: &str) -> Result<Self, ModelFileFault> {
        let digits = match name {
            "gpt-2" => false,
            "smollm" => true,
            _ => {
                let found = format!("`tokenizer.ggml.pre` is {name:?}");
                return Err(ModelFileFault::bad(
                    found,
                    "\"smollm\" or \"gpt-2\"; other tokenizers are not supported",
                ));
            }
        };
        let word = Regex::new(WORD)
            .map_err(|error| ModelFileFault::bad(error.to_string(), "an expression"))?;
        Ok(Self { word, digits })
    }

    /// Calls `found` with the words in order; together they make up the text.
    pub fn split(&self, text: &str, mut found: impl FnMut(Range<usize>)) {
        if !self.digits {
            return self.words(text, 0..text.len(), &mut found);
        }
        let mut begin = 0;
        for (at, digit) in text.char_indices().filter(|(_, character)| character.is_numeric()) {
            self.words(text, begin..at, &mut found);
            begin = at + digit.len_utf8();
            found(at..begin);
        }
        self.words(text, begin..text.len(), &mut found);
    }

    fn words(&self, text: &str, part: Range<usize>, found: &mut impl FnMut(Range<usize>)) {
        let (offset, text) = (part.start, &text[part]);
        let mut at = 0;
        while let Some(word) = self.word.find_at(text, at) {
            at = word.end();
            let mut characters = word.as_str().char_indices();
            // The last character of white space before a word belongs to the word: `\s+(?!\S)`.
            if let Some((last, character)) = characters.next_back()
                && character.is_whitespace()
                && last > 0
                && at < text.len()
            {
                at = word.start() + last;
            }
            found(offset + word.start()..offset + at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(name: &str, text: &str) -> Vec<String> {
        let mut words = Vec::new();
        Splitter::named(name).unwrap().split(text, |word| words.push(text[word].to_owned()));
        assert_eq!(words.concat(), text);
        words
    }

    #[test]
    fn words_have_their_space_and_digits_are_alone() {
        let text = "I'll pay  12 €3.\n\n ok";
        let smollm = ["I", "'ll", " pay", "  ", "1", "2", " €", "3", ".", "\n\n", " ok"];
        assert_eq!(split("smollm", text), smollm);
        let gpt2 = ["I", "'ll", " pay", " ", " 12", " €", "3", ".", "\n\n", " ok"];
        assert_eq!(split("gpt-2", text), gpt2);
    }

    #[test]
    fn marks_are_no_letters() {
        // A vowel sign is alphabetic in Rust, but not `\p{L}`.
        assert_eq!(split("smollm", "कि"), ["क", "ि"]);
        assert_eq!(split("smollm", "a\u{a0}\u{a0}b \t"), ["a", "\u{a0}", "\u{a0}", "b", " \t"]);
    }
}
