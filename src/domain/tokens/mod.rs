//! Token counts: for the prompt inspector, for budgets, and where an endpoint sends no usage.
//!
//! The vocabulary is o200k, that of today's OpenAI models; for other models the count is an estimate, as is the
//! endpoint's overhead per message. Loading takes longer than a first frame may, so it happens at the first count, or
//! before that in a thread of its own: [`load`].

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};

use foldhash::quality::RandomState;
use tiktoken::{CoreBpe, encoding};

mod composition;
mod parts;

pub use self::composition::{PromptGroup, PromptSum, made_of};
pub use self::parts::{
    PromptPart, PromptPiece, count_request, count_tools, each, framing, of_message, parts,
};

/// Longest text, in bytes, that is counted completely. For longer texts, samples are counted and scaled.
const EXACT: usize = 128 * 1024;
/// Length in bytes of one sample of a longer text.
const SAMPLE: usize = 4 * 1024;
/// The fewest texts that are remembered; at most twice as many are.
const REMEMBERED: usize = 4096;
static ENCODER: LazyLock<CoreBpe> = LazyLock::new(|| {
    let encoder = encoding::o200k_base();
    LOADED.store(true, Ordering::Release);
    encoder
});
static LOADED: AtomicBool = AtomicBool::new(false);

/// Loads the vocabulary, unless a count has done so before. A count in the meantime waits for it.
pub fn load() {
    LazyLock::force(&ENCODER);
}

/// Whether a count need not wait for the vocabulary.
pub fn is_loaded() -> bool {
    LOADED.load(Ordering::Acquire)
}

/// The number of tokens of a text. Exact for o200k up to 128 KiB; an estimate for longer texts, so
/// that no text takes seconds.
pub fn count(text: &str) -> u64 {
    let key = Memory::key(text);
    if let Some(known) = memory(|memory| memory.get(key)) {
        return known;
    }
    let tokens = if text.len() <= EXACT { encode(text) } else { sample(text) };
    memory(|memory| memory.put(key, tokens));
    tokens
}

fn encode(text: &str) -> u64 {
    ENCODER.count(text) as u64
}

/// Counts evenly spaced samples and scales. The same text always gives the same number.
fn sample(text: &str) -> u64 {
    let samples = EXACT / SAMPLE;
    let stride = text.len() / samples;
    let (mut tokens, mut bytes) = (0, 0);
    for n in 0..samples {
        let piece = &text[boundary(text, n * stride)..];
        let piece = &piece[..boundary(piece, SAMPLE)];
        tokens += encode(piece);
        bytes += piece.len() as u64;
    }
    // 128 bits: tokens and length may each be large.
    (u128::from(tokens) * text.len() as u128 / u128::from(bytes.max(1))) as u64
}

/// The last place at or before byte `at` where a text may be cut between characters.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// Counts already made, by a keyed hash of the text. There are two generations: when the young one
/// is full it replaces the old one, which is forgotten; a count in use moves back to the young one.
#[derive(Default)]
struct Memory {
    young: HashMap<u64, u64, RandomState>,
    old: HashMap<u64, u64, RandomState>,
}

impl Memory {
    /// Uses a new key in each process, so that no text can be made to collide with another.
    fn key(text: &str) -> u64 {
        static KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::default);
        KEYS.hash_one(text)
    }

    fn get(&mut self, key: u64) -> Option<u64> {
        if let Some(&tokens) = self.young.get(&key) {
            return Some(tokens);
        }
        let tokens = self.old.remove(&key)?;
        self.put(key, tokens);
        Some(tokens)
    }

    fn put(&mut self, key: u64, tokens: u64) {
        if self.young.len() >= REMEMBERED {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, tokens);
    }
}

fn memory<T>(work: impl FnOnce(&mut Memory) -> T) -> T {
    static MEMORY: LazyLock<Mutex<Memory>> = LazyLock::new(|| Mutex::new(Memory::default()));
    // A panic elsewhere cannot leave a map of numbers in an inconsistent state.
    work(&mut MEMORY.lock().unwrap_or_else(PoisonError::into_inner))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    /// The tokens are `hello`, ` world`; and `hello`, ` <`, `|`, `end`, `of`, `text`, `|`, `>`.
    #[test]
    fn counts_what_the_vocabulary_says() {
        assert_eq!(count(""), 0);
        assert_eq!(count("hello world"), 2);
        assert_eq!(count("hello <|endoftext|>"), 8, "a special token in a text is only text");
    }

    /// The expected counts are those of tiktoken-rs 0.12.
    #[test]
    fn counts_what_other_encoders_of_the_vocabulary_count() {
        let texts = [
            (30, "The river, it's said, rose 12.5 m — in 1907!\n\n\tThen  it fell. DON'T, we'LL."),
            (18, r#"{"type":"object","properties":{"query":{"description":"What to look for."}}}"#),
            (25, "fn main() {\n    let x = vec![1, 2, 3];\n    println!(\"{x:?}\");\n}\n"),
            (16, "東京の天気は晴れです。한국어 문장도 있다."),
            (25, "👩\u{200d}👩\u{200d}👧\u{200d}👦 🦀🦀 e\u{301} Ünïcödé ß"),
            (6, "   \n\n \t \n  x   "),
            (16, "1234567890 3.14159265 0xdeadbeef"),
            (9, "../a/b.c\n/d --------========######"),
            (15, "pneumonoultramicroscopicsilicovolcanoconiosis"),
        ];
        for (tokens, text) in texts {
            assert_eq!(count(text), tokens, "{text:?}");
        }
    }

    #[test]
    fn no_text_takes_seconds() {
        let words = "Lorem ipsum dolor sit amet. ".repeat(80_000);
        for text in ["a".repeat(1 << 20), " ".repeat(1 << 20), "\u{1F980}".repeat(1 << 18), words] {
            let start = Instant::now();
            let tokens = count(&text);
            assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
            assert!(tokens > 1000 && tokens <= text.len() as u64, "{tokens}");
        }
    }

    #[test]
    fn long_prose_is_estimated_well() {
        let line = "A quick brown fox jumps over the lazy dog near the old mill. ";
        let estimate = count(&line.repeat(10_000)) as f64;
        let truth = (count(line.trim_end()) * 10_000) as f64;
        assert!((estimate / truth - 1.0).abs() < 0.02, "{estimate} for {truth}");
    }

    #[test]
    fn memory_is_bounded_and_keeps_what_is_used() {
        let mut memory = Memory::default();
        memory.put(0, 7);
        for key in 1..=(3 * REMEMBERED as u64) {
            memory.put(key, 1);
            assert_eq!(memory.get(0), Some(7), "after {key} others");
            assert!(memory.young.len() + memory.old.len() <= 2 * REMEMBERED);
        }
        assert_eq!(memory.get(1), None);
    }
}
