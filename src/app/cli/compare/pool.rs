//! Runs several sessions in parallel: each belongs to one thread, and none knows of another.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::{num::NonZeroUsize, thread};

use tokio::sync::mpsc::UnboundedSender;

use crate::app::cli::{live, runtime, trouble::Trouble};
use crate::domain::Command;

/// Two for each processor: sessions wait for models and tools most of the time.
pub fn usual() -> usize {
    2 * thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// Applies the function to every item, `at_once` in parallel; returns the results in order.
pub fn each<T: Sync, R: Send>(
    items: &[T],
    at_once: usize,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let threads = at_once.min(items.len());
    let next = AtomicUsize::new(0);
    let take = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return done };
            done.push((at, work(item)));
        }
    };
    let mut done: Vec<(usize, R)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(take)).collect();
        let results = workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        results.flatten().collect()
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Ends all running sessions properly, and starts no more.
#[derive(Debug, Default)]
pub struct Stop {
    stopped: AtomicBool,
    sessions: Mutex<Vec<UnboundedSender<Command>>>,
}

impl Stop {
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

    /// Stops on Ctrl-C or SIGTERM, from now on.
    pub fn on_interrupt(self: &std::sync::Arc<Self>) -> Result<(), Trouble> {
        let stop = std::sync::Arc::clone(self);
        let runtime = runtime()?;
        let wait = move || {
            runtime.block_on(live::interrupted());
            stop.stop();
        };
        thread::Builder::new().name("signals".to_owned()).spawn(wait).map_err(Trouble::failed)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..50).collect();
        let squares = each(&items, 4, |n| {
            thread::sleep(std::time::Duration::from_micros(50 - n));
            n * n
        });
        assert_eq!(squares, items.iter().map(|n| n * n).collect::<Vec<_>>());
        assert!(each(&items[..0], 4, |n| *n).is_empty());
    }

    #[test]
    fn a_stop_reaches_sessions_that_run_and_those_that_begin_later() {
        let stop = Stop::default();
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
