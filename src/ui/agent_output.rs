//! The lines of a watched agent's process, as the screen reads them. The program that starts the process keeps them.

use std::{fmt, rc::Rc, sync::Arc};

use futures::future::BoxFuture;

/// A line of an agent's process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputLine {
    /// Number of the line, from 1; lines that are no longer kept are counted too.
    pub n: u64,
    /// The line without its end.
    pub text: String,
    pub stream: Stream,
}

/// The origin of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    Out,
    Err,
    /// A note of toolyard about the output.
    Toolyard,
}

/// The lines of an agent's process that are kept.
pub trait AgentOutput: fmt::Debug + Send + Sync {
    /// A number that grows with every change of the lines.
    fn version(&self) -> u64;
    /// All kept lines, the oldest first.
    fn lines(&self) -> Vec<OutputLine>;
    /// Ends as soon as the version differs from `seen`; never if the lines change no more.
    fn changed(&self, seen: u64) -> BoxFuture<'_, ()>;
}

/// The lines on the screen.
#[derive(Debug)]
pub struct AgentLines {
    source: Arc<dyn AgentOutput>,
    /// The last version that the screen was told of.
    heard: u64,
    /// The version of `lines`.
    read: Option<u64>,
    lines: Rc<Vec<OutputLine>>,
    /// The number of the selected line; `None`: the newest line, also when others arrive.
    pub selected: Option<u64>,
}

impl AgentLines {
    pub fn new(source: Arc<dyn AgentOutput>) -> Self {
        let heard = source.version();
        Self { source, heard, read: None, lines: Rc::default(), selected: None }
    }

    /// The lines that were read last.
    pub fn lines(&self) -> &Rc<Vec<OutputLine>> {
        &self.lines
    }

    /// The index of the selected line; of the next one if that is gone.
    pub fn place(&self) -> Option<usize> {
        let n = self.selected?;
        let at = self.lines.partition_point(|line| line.n < n);
        Some(at).filter(|at| *at < self.lines.len())
    }

    /// Reads the lines if they have changed.
    pub fn read(&mut self) {
        let version = self.source.version();
        if self.read != Some(version) {
            self.lines = Rc::new(self.source.lines());
            self.read = Some(version);
        }
    }

    /// Waits until the lines have changed again.
    pub async fn grown(&mut self) {
        self.source.changed(self.heard).await;
        self.heard = self.source.version();
    }
}
