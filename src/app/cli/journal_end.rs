//! The end of a session that goes on from a journal.

use std::process::ExitCode;

use super::run::RunEnd;
use crate::ui::EndReason;

/// The end of a session that was resumed or forked.
pub enum JournalEnd {
    OnScreen(EndReason),
    Headless(RunEnd),
    /// Of a watched agent.
    Agent(ExitCode),
}
