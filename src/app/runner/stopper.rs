//! Several sessions at once that end together.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use tokio::sync::mpsc::UnboundedSender;

use crate::domain::Command;

/// Ends all running sessions properly, and starts no more.
#[derive(Debug, Default)]
pub struct SessionStopper {
    stopped: AtomicBool,
    sessions: Mutex<Vec<UnboundedSender<Command>>>,
    /// A temporary folder, which is deleted when the program ends.
    pub litter: Mutex<Option<PathBuf>>,
}

impl SessionStopper {
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        for session in self.sessions.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            // An ended session ignores this.
            let _ = session.send(Command::Stop);
        }
    }

    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    /// Registers a session to be stopped.
    pub fn reach(&self, session: UnboundedSender<Command>) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|session| !session.is_closed());
        sessions.push(session);
        drop(sessions);
        if self.is_stopped() {
            self.stop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_reaches_sessions_that_run_and_those_that_begin_later() {
        let stop = SessionStopper::default();
        let (session, mut early) = tokio::sync::mpsc::unbounded_channel();
        stop.reach(session);
        assert!(early.try_recv().is_err());
        stop.stop();
        let (session, mut late) = tokio::sync::mpsc::unbounded_channel();
        stop.reach(session);
        assert!(matches!(early.try_recv(), Ok(Command::Stop)));
        assert!(matches!(late.try_recv(), Ok(Command::Stop)));
    }
}
