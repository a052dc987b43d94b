//! Pieces of long texts that were searched before. A conversation is recorded again with every request, so most of a
//! long record is known.

use std::collections::HashSet;
use std::hash::BuildHasher;
use std::sync::{Mutex, PoisonError};

use foldhash::fast::RandomState;
use memchr::memmem;

/// The end of an object in JSON, and the beginning of the next one after any spaces: texts are cut between them.
const BETWEEN: [&str; 2] = ["},", "{\""];
/// The shortest piece in bytes: each cut costs a search around it.
const PIECE: usize = 1024;
/// The shortest text, in bytes, that is cut.
const LONG: usize = 1 << 15;
/// Bytes on either side of a cut that are searched together: more than a key with everything that hides it.
const AROUND: usize = 512;
/// The most pieces that are kept.
const MOST: usize = 1 << 17;

/// Hashes of pieces without a match.
#[derive(Debug, Default)]
pub struct Pieces {
    clean: Mutex<HashSet<u64, RandomState>>,
    hasher: RandomState,
}

impl Pieces {
    /// Whether something is found in any piece of the text, or across the cut between two.
    pub fn any(&self, text: &str, find: impl Fn(&str) -> bool) -> bool {
        if text.len() < LONG {
            return find(text);
        }
        let mut start = 0;
        let [end, next] = BETWEEN;
        for cut in memmem::find_iter(text.as_bytes(), end) {
            let cut = cut + 1;
            if cut - start < PIECE || !text[cut + 1..].trim_ascii_start().starts_with(next) {
                continue;
            }
            if self.has(&text[start..cut], &find) || self.has(around(text, cut), &find) {
                return true;
            }
            start = cut;
        }
        self.has(&text[start..], &find)
    }

    fn has(&self, piece: &str, find: impl Fn(&str) -> bool) -> bool {
        let hash = self.hasher.hash_one(piece);
        if self.clean().contains(&hash) {
            return false;
        }
        if find(piece) {
            return true;
        }
        let mut clean = self.clean();
        if clean.len() >= MOST {
            clean.clear();
        }
        clean.insert(hash);
        false
    }

    fn clean(&self) -> std::sync::MutexGuard<'_, HashSet<u64, RandomState>> {
        self.clean.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn around(text: &str, cut: usize) -> &str {
    let start = text.floor_char_boundary(cut.saturating_sub(AROUND));
    let end = text.ceil_char_boundary((cut + AROUND).min(text.len()));
    &text[start..end]
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn what_was_searched_is_not_searched_again_and_nothing_is_missed() {
        [",", ", ", ",\n  "].into_iter().for_each(is_searched_once);
    }

    fn is_searched_once(between: &str) {
        let object = |text: &str| format!(r#"{{"text":"{}"}}"#, text.repeat(900));
        let list: Vec<String> = (0..40).map(|n| object(&format!("{n} "))).collect();
        let text = format!("[{}]", list.join(between));
        let (pieces, searched) = (Pieces::default(), Cell::new(0));
        let find = |piece: &str| {
            searched.set(searched.get() + piece.len());
            piece.contains("k3y")
        };
        assert!(!pieces.any(&text, find) && searched.get() > text.len());
        searched.set(0);
        let grown = text.replace(']', r#",{"text":"more"}]"#);
        assert!(!pieces.any(&grown, find) && searched.get() < 10_000, "{}", searched.get());
        for at in [0, 1000, text.len() / 2, text.len() - 1] {
            let with = format!("{}k3y{}", &text[..at], &text[at..]);
            assert!(pieces.any(&with, find), "{at}");
        }
        // The match is across a cut.
        let across = format!(r#"1 "}}{between}{{"te"#);
        let apart = |piece: &str| piece.contains(&across);
        assert!(Pieces::default().any(&text, apart));
    }
}
