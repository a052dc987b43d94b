//! Runs several sessions in parallel: each belongs to one thread, and none knows of another.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::{num::NonZeroUsize, path::PathBuf, thread, time::Duration};

use tokio::sync::mpsc::UnboundedSender;

use crate::cli::{live, out, runtime::runtime, trouble::Trouble};
use crate::domain::Command;

/// Two sessions for each processor, since they mostly wait for models and tools.
pub fn usual() -> usize {
    2 * thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// Ends all running sessions properly, and starts no more.
#[derive(Debug, Default)]
pub struct SessionStopper {
    stopped: AtomicBool,
    sessions: Mutex<Vec<UnboundedSender<Command>>>,
    /// A temporary folder, which is deleted when the program ends.
    pub litter: Mutex<Option<PathBuf>>,
}

/// How long sessions may take to end.
const PATIENCE: Duration = Duration::from_millis(700);

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
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).push(session);
        if self.is_stopped() {
            self.stop();
        }
    }

    /// Stops on Ctrl-C or SIGTERM from now on. Work that ignores the stop, such as training, ends with the program.
    pub fn on_interrupt(self: &std::sync::Arc<Self>, said: String) -> Result<(), Trouble> {
        let stop = std::sync::Arc::clone(self);
        let runtime = runtime()?;
        let wait = move || {
            let signal = runtime.block_on(live::interrupted());
            stop.stop();
            thread::sleep(PATIENCE);
            out::warn(&said);
            if let Some(litter) = stop.litter.lock().unwrap_or_else(PoisonError::into_inner).take()
            {
                let _ = std::fs::remove_dir_all(litter);
            }
            let _ended = signal_hook::low_level::emulate_default_handler(signal);
        };
        thread::Builder::new().name("signals".to_owned()).spawn(wait).map_err(Trouble::failed)?;
        Ok(())
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
