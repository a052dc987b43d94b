//! Runs a session from its start to its end, on this thread.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::mpsc;

use super::SessionStopper;
use crate::domain::{Command, Record, State};
use crate::session::{PreparedSession, SessionError};

/// A session that has ended.
pub struct Followed {
    pub state: State,
    /// The journal, if it wrote one.
    pub journal: Option<PathBuf>,
}

/// Runs a session to its end, with these commands first. `hear` gets each record; the session is stopped when it returns
/// false.
///
/// # Errors
/// The session cannot start, or ended early.
pub fn follow(
    prepared: PreparedSession,
    first: Vec<Command>,
    stop: &SessionStopper,
    mut hear: impl FnMut(&Record) -> bool + 'static,
) -> Result<Followed, SessionError> {
    let (commands, receiver) = mpsc::unbounded_channel();
    for command in first {
        // The receiver is used just below.
        let _ = commands.send(command);
    }
    stop.reach(commands.clone());
    let attached = prepared.is_attachable.then(|| commands.downgrade());
    let listener = Box::new(move |record: &Arc<Record>| {
        if !hear(record) {
            // An ended session takes no command, and needs none.
            let _ = commands.send(Command::Stop);
        }
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(SessionError::failed)?;
    let (state, journal) = runtime.block_on(prepared.run_kept(receiver, attached, listener))?;
    Ok(Followed { state, journal })
}
