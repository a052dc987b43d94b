//! The output of a watched agent: its last lines, for a screen.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fs::File;
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anstream::adapter::strip_str;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::watch;

use crate::files::safe_text::visible;
use crate::net::known::{learnt, without_known};

/// The most lines that are kept.
const LINES: usize = 2000;
/// The most bytes that are kept.
const BYTES: usize = 1 << 20;
/// The most bytes of a line; a longer one becomes several.
const LONGEST: usize = 16 * 1024;

/// A line of an agent's output, as it can be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentLine {
    pub stream: Stream,
    pub text: String,
}

/// The origin of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    Out,
    Err,
    /// A note of toolyard about the output.
    Toolyard,
}

/// The last lines of an agent's output. Readers see each change by its number.
#[derive(Debug)]
pub struct Output {
    kept: Mutex<OutputTail>,
    /// The number of lines so far.
    count: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct OutputTail {
    lines: VecDeque<Arc<AgentLine>>,
    bytes: usize,
    /// The keys that the lines are without, by their number.
    learnt: u64,
    /// A file to which the output is also written.
    file: Option<File>,
}

impl OutputTail {
    fn hide_keys(&mut self) {
        for line in &mut self.lines {
            let Cow::Owned(text) = without_known(&line.text) else { continue };
            self.bytes = self.bytes + text.len() - line.text.len();
            *line = Arc::new(AgentLine { stream: line.stream, text });
        }
    }
}

impl Output {
    pub fn new(file: Option<File>) -> Self {
        let kept = Mutex::new(OutputTail { file, ..OutputTail::default() });
        Self { kept, count: watch::Sender::new(0) }
    }

    /// The number of lines so far; it grows with each change.
    pub fn count(&self) -> u64 {
        *self.count.borrow()
    }

    /// A receiver of that number, to wait for changes.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.count.subscribe()
    }

    /// The lines that are kept, the oldest first, without keys that became known after they came.
    pub fn lines(&self) -> Vec<Arc<AgentLine>> {
        let (mut kept, learnt) = (self.locked(), learnt());
        if std::mem::replace(&mut kept.learnt, learnt) != learnt {
            kept.hide_keys();
        }
        kept.lines.iter().cloned().collect()
    }

    /// Reads a stream to its end.
    pub async fn follow(&self, stream: Stream, mut from: impl AsyncRead + Unpin) {
        let mut pending = Vec::new();
        let mut chunk = vec![0; 16 * 1024];
        loop {
            let read = from.read(&mut chunk).await.unwrap_or_default();
            pending.extend_from_slice(chunk.get(..read).unwrap_or_default());
            let mut rest = &pending[..];
            while let Some(length) = first_line(rest, read == 0) {
                let (line, after) = rest.split_at(length);
                self.add(stream, line);
                rest = after;
            }
            let taken = pending.len() - rest.len();
            pending.drain(..taken);
            if read == 0 {
                return;
            }
        }
    }

    /// Adds a line, with its end if it has one.
    pub fn add(&self, stream: Stream, bytes: &[u8]) {
        let mut kept = self.locked();
        if let Some(Err(error)) = kept.file.as_mut().map(|file| file.write_all(bytes)) {
            kept.file = None;
            let text = format!("the output is not written to its file any more: {error}");
            self.keep(&mut kept, AgentLine { stream: Stream::Toolyard, text });
        }
        self.keep(&mut kept, AgentLine { stream, text: shown(bytes) });
    }

    fn keep(&self, kept: &mut OutputTail, line: AgentLine) {
        kept.bytes += line.text.len();
        kept.lines.push_back(Arc::new(line));
        while kept.lines.len() > LINES || kept.bytes > BYTES {
            let Some(oldest) = kept.lines.pop_front() else { break };
            kept.bytes -= oldest.text.len();
        }
        self.count.send_modify(|count| *count += 1);
    }

    fn locked(&self) -> MutexGuard<'_, OutputTail> {
        // The guarded data is consistent at every moment, even after a panic.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The length of the first line with its end; `None` if no line is complete yet.
fn first_line(bytes: &[u8], is_last: bool) -> Option<usize> {
    match memchr::memchr(b'\n', bytes) {
        Some(end) if end < LONGEST => Some(end + 1),
        _ if bytes.len() > LONGEST => Some(whole_characters(bytes)),
        _ => (is_last && !bytes.is_empty()).then_some(bytes.len()),
    }
}

/// The length of the beginning of a long line that ends between characters.
fn whole_characters(bytes: &[u8]) -> usize {
    let is_inside = |at: &usize| bytes.get(*at).is_some_and(|byte| byte & 0xc0 == 0x80);
    // A character has at most four bytes; more continuation bytes are not text.
    (LONGEST - 3..=LONGEST).rev().find(|at| !is_inside(at)).unwrap_or(LONGEST)
}

/// A line as a terminal would show it: without escape sequences and without text that a return has overwritten.
fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let plain = strip_str(&text).to_string();
    let plain = plain.trim_end_matches(['\n', '\r']);
    let last = plain.rsplit('\r').next().unwrap_or_default();
    without_known(&visible(last)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn follow(output: &Output, stream: Stream, bytes: &[u8]) -> Vec<String> {
        output.follow(stream, bytes).await;
        output.lines().iter().map(|line| line.text.clone()).collect()
    }

    #[tokio::test]
    async fn lines_are_shown_as_a_terminal_would() {
        let output = Output::new(None);
        let mut changes = output.changes();
        let said = "\x1b[1;31mred\x1b[0m \x1b]0;title\x07word\r\n\n 10%\r 90%\r100%\nbell\x07 \x1b[2J\u{202e}\tx\nend";
        let lines = follow(&output, Stream::Out, said.as_bytes()).await;
        assert_eq!(lines, ["red word", "", "100%", "bell �\tx", "end"]);
        assert!(changes.has_changed().unwrap() && *changes.borrow_and_update() == 5);
        follow(&output, Stream::Err, b"why\n").await;
        let last = output.lines().pop().unwrap();
        assert_eq!(*last, AgentLine { stream: Stream::Err, text: "why".into() });
        assert_eq!(output.count(), 6);
    }

    #[tokio::test]
    async fn memory_stays_bounded() {
        let output = Output::new(None);
        let many: String = (0..5000).map(|n| format!("{n}\n")).collect();
        let lines = follow(&output, Stream::Out, many.as_bytes()).await;
        assert_eq!((lines.len(), &*lines[0], output.count()), (LINES, "3000", 5000));
        let lines = follow(&output, Stream::Out, "é".repeat(1 << 21).as_bytes()).await;
        let bytes: usize = lines.iter().map(String::len).sum();
        assert!(bytes <= BYTES && bytes > BYTES - LONGEST, "{bytes}");
        assert!(lines.iter().all(|line| line.chars().all(|c| c == 'é')));
    }

    #[tokio::test]
    async fn a_key_that_becomes_known_later_is_hidden_in_earlier_lines() {
        let output = Output::new(None);
        let lines = follow(&output, Stream::Out, b"early l4ter-known-1 and l4ter-known-2\n").await;
        assert_eq!(lines, ["early l4ter-known-1 and l4ter-known-2"]);
        for (key, shown) in [
            ("l4ter-known-1", "early [key] and l4ter-known-2"),
            ("l4ter-known-2", "early [key] and [key]"),
        ] {
            crate::net::learn::variable("KEY", key);
            assert_eq!(follow(&output, Stream::Out, b"").await, [shown]);
        }
        let many: String = (0..5000).map(|n| format!("{n}\n")).collect();
        let lines = follow(&output, Stream::Out, many.as_bytes()).await;
        let bytes: usize = lines.iter().map(String::len).sum();
        assert_eq!(output.locked().bytes, bytes, "bytes are counted as they are kept");
    }

    #[tokio::test]
    async fn the_file_has_every_byte() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let output = Output::new(Some(File::create(&path).unwrap()));
        let said = "\x1b[1mone\x1b[0m\r\ntwo".as_bytes();
        follow(&output, Stream::Out, said).await;
        assert_eq!(std::fs::read(&path).unwrap(), said);
    }

    #[tokio::test]
    async fn a_full_disk_is_said_once() {
        let output = Output::new(Some(File::options().write(true).open("/dev/full").unwrap()));
        let lines = follow(&output, Stream::Out, b"one\ntwo\n").await;
        assert_eq!((lines.len(), &*lines[1], &*lines[2]), (3, "one", "two"));
        assert!(lines[0].starts_with("the output is not written to its file any more: "));
    }
}
