//! A copy of a journal elsewhere. Each line goes there as it is written; who must not act before that waits for it.

use tokio::sync::{mpsc::UnboundedSender, watch};

/// A line of a journal on its way to a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopiedLine {
    /// The number of its event; 0 for the header.
    pub n: u64,
    /// JSON without a line break.
    pub json: String,
}

/// How far a copy is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CopyState {
    /// The last event that it has.
    pub last: u64,
    /// Why it takes no more lines.
    pub lost: Option<String>,
}

/// The way to a copy.
#[derive(Debug)]
pub struct JournalCopy {
    lines: UnboundedSender<CopiedLine>,
    state: watch::Receiver<CopyState>,
    /// The last event that the copy had at the beginning, and the last one that went there.
    after: u64,
    last: u64,
}

impl JournalCopy {
    /// A copy that has the events up to `after` already.
    pub fn new(
        lines: UnboundedSender<CopiedLine>,
        state: watch::Receiver<CopyState>,
        after: u64,
    ) -> Self {
        Self { lines, state, after, last: after }
    }

    /// Sends a line, unless the copy has it.
    pub(super) fn add(&mut self, n: u64, json: &str) {
        if n == 0 || n > self.after {
            // Who waits for the line is told that nobody takes it.
            let _ = self.lines.send(CopiedLine { n, json: json.to_owned() });
            self.last = self.last.max(n);
        }
    }

    /// Waits until the copy has all that was sent so far.
    ///
    /// # Errors
    /// Why it takes no more lines.
    pub(super) fn reached(&self) -> impl Future<Output = Result<(), String>> + use<> {
        let (mut state, last) = (self.state.clone(), self.last);
        async move {
            let found = state.wait_for(|state| state.lost.is_some() || state.last >= last).await;
            match found.map(|state| state.lost.clone()) {
                Ok(None) => Ok(()),
                Ok(Some(why)) => Err(why),
                Err(_) => Err("nobody keeps it any more".to_owned()),
            }
        }
    }
}
