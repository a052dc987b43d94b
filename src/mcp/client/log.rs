//! The lines that a server writes to its standard error, or sends as log messages.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use super::message_repair;
use crate::domain::words::{clipped, counted};
use crate::files::safe_text::visible;
use crate::net::known::without_keys;

/// The most lines that are reported at once; the last ones are kept.
const LINES: usize = 20;
/// The most characters of a line that are kept.
const LINE: usize = 1000;
/// The time for which lines are gathered before they are reported.
const GATHER: Duration = Duration::from_millis(100);
/// The longest such time, for a server that writes without end.
const GATHER_LONGEST: Duration = Duration::from_secs(10);

/// Lines that a server writes besides its answers.
#[derive(Debug, Default)]
pub struct Log {
    new: Mutex<NewLines>,
    unread: Mutex<UnreadLines>,
    came: Notify,
}

/// The lines among its messages that are none.
#[derive(Debug, Default)]
struct UnreadLines {
    count: u64,
    first: String,
    /// Whether the last one was not reported yet.
    is_new: bool,
}

/// Lines that were not reported yet.
#[derive(Debug, Default)]
pub struct NewLines {
    pub lines: VecDeque<String>,
    /// The number of earlier lines that are left out.
    pub left_out: u64,
    /// The last of all lines.
    last: Option<String>,
}

impl Log {
    pub fn add(&self, text: &str) {
        let line = clipped(&visible(&without_keys(text.trim_end())), LINE);
        if line.is_empty() {
            return;
        }
        let mut new = self.locked();
        if new.lines.len() == LINES {
            new.lines.pop_front();
            new.left_out += 1;
        }
        new.last = Some(line.clone());
        new.lines.push_back(line);
        drop(new);
        self.came.notify_one();
    }

    /// Notes a line among its messages that is none.
    pub fn unread(&self, line: &[u8]) {
        let mut unread = self.unread.lock().unwrap_or_else(PoisonError::into_inner);
        if unread.count == 0 {
            unread.first = message_repair::beginning(line);
        }
        (unread.count, unread.is_new) = (unread.count + 1, true);
        drop(unread);
        self.locked().last = Some(message_repair::beginning(line));
        self.came.notify_one();
    }

    /// How many lines among its messages are none, for people.
    pub fn unread_lines(&self) -> Option<String> {
        let unread = self.unread.lock().unwrap_or_else(PoisonError::into_inner);
        let are = if unread.count == 1 { "is no message" } else { "are no messages" };
        let lines = counted(unread.count, "line");
        (unread.count > 0).then(|| format!("it wrote {lines} that {are}: {}", unread.first))
    }

    pub fn last(&self) -> Option<String> {
        self.locked().last.clone()
    }

    /// Calls this with all lines, in groups; the more lines there are, the rarer the calls. Never returns.
    pub async fn tell(&self, mut told: impl FnMut(NewLines)) {
        let (mut gather, mut flooded) = (GATHER, None::<Instant>);
        loop {
            self.came.notified().await;
            sleep(gather).await;
            let is_new =
                |mut unread: MutexGuard<'_, UnreadLines>| std::mem::take(&mut unread.is_new);
            let unread = is_new(self.unread.lock().unwrap_or_else(PoisonError::into_inner));
            let mut new = self.locked();
            let (mut lines, left_out) = (std::mem::take(&mut new.lines), new.left_out);
            new.left_out = 0;
            drop(new);
            lines.extend(self.unread_lines().filter(|_| unread));
            if left_out > 0 {
                gather = (2 * gather).min(GATHER_LONGEST);
                flooded = Some(Instant::now());
            } else if flooded.is_some_and(|flooded| flooded.elapsed() > GATHER_LONGEST) {
                (gather, flooded) = (GATHER, None);
            }
            if !lines.is_empty() {
                told(NewLines { lines, left_out, last: None });
            }
        }
    }

    /// Adds all lines until the end of the stream. A line without an end takes no more memory than others.
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

    fn locked(&self) -> MutexGuard<'_, NewLines> {
        // The guarded data is consistent at every moment, even after a panic.
        self.new.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flood takes a few lines of the journal, with the number of lines that are left out.
    #[tokio::test(start_paused = true)]
    async fn a_flood_is_told_in_few_lines() {
        let log = Log::default();
        let mut told: Vec<(usize, u64)> = Vec::new();
        let flood = async {
            for second in 0..60 {
                for n in 0..1000 {
                    log.add(&format!("{second} {n}\u{1b}[2J"));
                }
                sleep(Duration::from_secs(1)).await;
            }
            sleep(GATHER_LONGEST).await;
        };
        tokio::select! {
            () = log.tell(|new| told.push((new.lines.len(), new.left_out))) => {}
            () = flood => {}
        }
        let all: u64 = told.iter().map(|(lines, left_out)| *lines as u64 + left_out).sum();
        assert_eq!(all, 60_000);
        assert!(told.len() < 20, "{told:?}");
        assert_eq!(log.last().as_deref(), Some("59 999␛[2J"));
    }
}
