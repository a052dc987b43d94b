//! Reads a program's output to its end but keeps only a part: endless output must neither fill the
//! memory nor block the program on a full pipe.

use tokio::io::{AsyncRead, AsyncReadExt};

use crate::net::known::without_known;

/// The part of the output that is kept.
#[derive(Clone, Copy, PartialEq)]
pub enum Keep {
    First,
    Last,
}

pub struct Capture {
    keep: Keep,
    most: usize,
    kept: Vec<u8>,
    total: u64,
}

impl Capture {
    /// Keeps at most `most` bytes (of the last ones up to twice as many, so that each byte is moved once on average).
    pub fn new(keep: Keep, most: usize) -> Self {
        Self { keep, most, kept: Vec::new(), total: 0 }
    }

    pub fn kept(&self) -> &[u8] {
        &self.kept
    }

    /// The number of bytes read.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The last `most` bytes that were kept, as text. Keys are removed first: half a key would not be found later.
    pub fn tail(&self, most: usize) -> String {
        let kept = String::from_utf8_lossy(&self.kept);
        let kept = without_known(&kept);
        kept[kept.ceil_char_boundary(kept.len().saturating_sub(most))..].trim().to_owned()
    }

    /// Reads until the other side closes. A broken pipe counts as closed.
    pub async fn fill(&mut self, mut from: impl AsyncRead + Unpin) {
        let mut chunk = vec![0; 64 * 1024];
        while let Ok(read @ 1..) = from.read(&mut chunk).await {
            self.add(&chunk[..read]);
        }
    }

    fn add(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        match self.keep {
            Keep::First => {
                let room = self.most - self.kept.len();
                self.kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
            }
            Keep::Last => {
                self.kept.extend_from_slice(bytes);
                if self.kept.len() > 2 * self.most {
                    self.kept.drain(..self.kept.len() - self.most);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn beginnings_and_ends_are_those_of_the_whole(
            chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..50), 0..20),
            most in 1usize..40,
        ) {
            let whole = chunks.concat();
            let mut first = Capture::new(Keep::First, most);
            let mut last = Capture::new(Keep::Last, most);
            for chunk in &chunks {
                first.add(chunk);
                last.add(chunk);
            }
            prop_assert_eq!(first.kept(), &whole[..whole.len().min(most)]);
            prop_assert!(last.kept().len() <= 2 * most);
            prop_assert!(whole.ends_with(last.kept()));
            prop_assert!(last.kept().len() >= whole.len().min(most));
            prop_assert_eq!(first.total(), whole.len() as u64);
        }
    }
}
