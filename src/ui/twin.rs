//! A second session beside the one on the screen: the same seed and tasks from the start, with one thing left out. It
//! shows what the fault, or learning, really changed.

use std::path::PathBuf;

use strum::{IntoStaticStr, VariantArray};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::domain::{Lap, State};

/// Part of the session that the twin leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray, IntoStaticStr)]
pub enum TwinKind {
    #[strum(serialize = "without the fault")]
    Unbroken,
    #[strum(serialize = "learning off")]
    Frozen,
}

impl TwinKind {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Progress of the twin.
#[derive(Clone, Debug, PartialEq)]
pub enum TwinNews {
    /// A task of the twin ended.
    Lap(Lap),
    /// The twin has ended, and this is its journal.
    Ended(Option<PathBuf>),
    Failed(String),
}

/// The twin as the screen knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Twin {
    pub kind: TwinKind,
    pub laps: Vec<Lap>,
    /// Whether the twin runs no more.
    pub over: bool,
}

impl Twin {
    pub fn new(kind: TwinKind) -> Self {
        Self { kind, laps: Vec::new(), over: false }
    }
}

/// Starts a twin of the session in this state.
pub type StartTwin =
    Box<dyn FnMut(TwinKind, &State) -> Result<UnboundedReceiver<TwinNews>, String> + Send>;
