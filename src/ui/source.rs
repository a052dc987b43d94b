//! What the screen is given: a session to show, and how to show it.

use std::{path::PathBuf, sync::Arc};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use super::layout::LayoutFile;
use super::screen::Setup;
use crate::domain::{Command, Record};

/// Where a session comes from.
pub struct Source {
    /// When it was opened (RFC 3339), as in its header.
    pub opened: String,
    pub records: UnboundedReceiver<Arc<Record>>,
    /// `None`: a replay, to look at only.
    pub commands: Option<UnboundedSender<Command>>,
}

/// How the screen should be.
#[derive(Clone, Debug)]
pub struct Settings {
    pub screen: Setup,
    /// Whether the mouse is the program's; the terminal's own selection then needs shift.
    pub mouse: bool,
    /// Where screenshots go.
    pub shots: PathBuf,
    pub layouts: LayoutFile,
    /// Told when the screen opens: what was wrong with theme or keys.
    pub notices: Vec<String>,
}

/// Why the screen ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// The person left.
    ByUser,
    /// A signal with this number asked for it.
    BySignal(i32),
}
