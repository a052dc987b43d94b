//! The last lines that a server wrote to its standard error, or logged.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};

use crate::domain::words::clipped;
use crate::files::safe_text::visible;
use crate::net::known::without_keys;

/// Lines that are kept.
const LINES: usize = 200;
/// Bytes of a line that are kept.
const LINE: usize = 1000;

/// What a server says beside its answers.
#[derive(Debug, Default)]
pub struct Log {
    lines: Mutex<VecDeque<String>>,
}

impl Log {
    pub fn add(&self, text: &str) {
        let line = clipped(&visible(&without_keys(text.trim_end())), LINE);
        let mut lines = self.locked();
        if lines.len() == LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    /// Oldest first.
    pub fn lines(&self) -> Vec<String> {
        self.locked().iter().cloned().collect()
    }

    pub fn last(&self) -> Option<String> {
        self.locked().back().cloned()
    }

    /// Adds all lines until the end of what is read. A line without an end takes no more memory than others.
    pub async fn follow(&self, from: impl AsyncRead + Unpin) {
        let mut from = BufReader::new(from);
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = (&mut from).take(LINE as u64).read_until(b'\n', &mut line).await;
            if !read.is_ok_and(|read| read > 0) {
                return;
            }
            self.add(&String::from_utf8_lossy(&line));
        }
    }

    fn locked(&self) -> MutexGuard<'_, VecDeque<String>> {
        // The guarded data is consistent at every moment, even after a panic.
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
