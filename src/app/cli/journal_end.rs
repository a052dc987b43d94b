//! The end of a session that goes on from a journal.

use super::run::RunEnd;
use crate::ui::EndReason;

/// The end of a session that was resumed or forked.
pub enum JournalEnd {
    OnScreen(EndReason),
    Headless(RunEnd),
}
