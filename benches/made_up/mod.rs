//! What benchmarks are made of: numbers and texts, the same in every run.

use toolyard::domain::Chance;

/// Numbers without pattern; and how many were taken.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn new() -> Self {
        Self(0)
    }

    /// From 0 to 1, without 1.
    pub fn unit(&mut self) -> f64 {
        self.0 += 1;
        Chance::new(self.0).unit()
    }

    /// A whole number, smaller than `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        (self.unit() * end as f64) as u64
    }

    /// Small numbers are frequent, as popular tools and common words are.
    pub fn popular(&mut self, end: u64) -> u64 {
        (self.unit().powi(3) * end as f64) as u64
    }
}

/// So many words of a vocabulary of this size, in which few are common.
pub fn sentence(numbers: &mut Numbers, words: u64, vocabulary: u64) -> String {
    let words = (0..words).map(|_| letters(numbers.popular(vocabulary)));
    words.collect::<Vec<_>>().join(" ")
}

/// A number as a word of letters: tokenizers treat digits apart.
fn letters(mut n: u64) -> String {
    // Longer than any stop word.
    let mut word = String::from("wordy");
    loop {
        word.push(char::from(b'a' + (n % 26) as u8));
        n /= 26;
        if n == 0 {
            return word;
        }
    }
}
