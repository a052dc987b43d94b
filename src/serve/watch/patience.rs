//! How long a client waits, and when it must get a sign of life.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// Patience of clients that do not say how long they wait; no client is assumed to wait longer.
const LONGEST: Duration = Duration::from_secs(60);
/// How long before its time-out a client gets something.
const BEFORE: Duration = Duration::from_secs(5);
/// The longest time between two heartbeats.
const BEAT: Duration = Duration::from_secs(5);
/// When a held answer to a client that tells no limit begins, and the time between its heartbeats. Many such clients wait
/// five seconds. A stream can say an error at any time; a whole answer begins so early only if it is there, and none.
const UNTOLD: Duration = Duration::from_millis(1500);
/// How long a held answer may wait if it came after a client should have got something.
const MOMENT: Duration = Duration::from_secs(1);

/// The patience of one client.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// The time of its request.
    since: Instant,
    all: Duration,
    is_untold: bool,
    streams: bool,
}

impl Patience {
    /// Starts now, for a client that says how long it waits for the next bytes. `seen`: how long it waited before, if it
    /// gave up.
    pub fn of(said: Option<Duration>, seen: Option<Duration>, streams: bool) -> Self {
        let all = said.or(seen).unwrap_or(LONGEST).min(LONGEST);
        Self { since: Instant::now(), all, is_untold: said.is_none(), streams }
    }

    /// The time when the head of an answer that is held from now on must be sent. `is_success`: whether it is known to be
    /// no error.
    fn due(&self, is_success: bool) -> Instant {
        let first = self.all.saturating_sub(BEFORE).max(self.all / 2);
        let now = Instant::now();
        let left = (self.since + self.all).saturating_duration_since(now);
        // An answer that is not held on purpose is released at once.
        let soon = now + MOMENT.min(left / 2);
        let due = (self.since + first).max(soon);
        let is_early = self.is_untold && (self.streams || is_success);
        if is_early { due.min((self.since + UNTOLD).max(soon)) } else { due }
    }

    /// The time between two heartbeats.
    pub fn beat(&self) -> Duration {
        let most = if self.is_untold { UNTOLD } else { BEAT };
        most.min(self.all / 2)
    }
}

/// Signals when a held answer must begin.
pub struct Waiting {
    patience: Patience,
    due: watch::Sender<Option<Instant>>,
}

impl Waiting {
    pub fn new(patience: Patience) -> (Self, watch::Receiver<Option<Instant>>) {
        let (due, told) = watch::channel(None);
        (Self { patience, due }, told)
    }

    /// Runs a future that holds the answer meanwhile.
    pub async fn during<T>(&self, held: impl Future<Output = T>) -> T {
        self.until(self.patience.due(false), held).await
    }

    /// Runs a future that holds an answer that is known to be no error.
    pub async fn behind_success<T>(&self, held: impl Future<Output = T>) -> T {
        self.until(self.patience.due(true), held).await
    }

    async fn until<T>(&self, due: Instant, held: impl Future<Output = T>) -> T {
        self.due.send_replace(Some(due));
        let done = held.await;
        self.due.send_replace(None);
        done
    }
}

/// Returns when a held answer must begin; never for a client that must wait in vain.
pub async fn due(mut told: watch::Receiver<Option<Instant>>, is_silent: Arc<AtomicBool>) {
    loop {
        let due = *told.borrow_and_update();
        let passed = async {
            match due {
                Some(due) => sleep_until(due).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            changed = told.changed() => match changed {
                Ok(()) => {}
                Err(_) => std::future::pending().await,
            },
            () = passed => {
                if !is_silent.load(Ordering::Relaxed) {
                    return;
                }
                std::future::pending::<()>().await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn clients_hear_something_before_their_time_is_over() {
        for (said, seen, streams, first, behind_success, beat) in [
            (Some(3000), None, true, 1500, 1500, 1500),
            (Some(10_000), None, true, 5000, 5000, 5000),
            (Some(600_000), None, true, 55_000, 55_000, 5000),
            (Some(600_000), Some(3000), false, 55_000, 55_000, 5000),
            (None, None, false, 55_000, 1500, 1500),
            (None, Some(3000), false, 1500, 1500, 1500),
            (None, None, true, 1500, 1500, 1500),
            (None, Some(2000), true, 1000, 1000, 1000),
        ] {
            let millis = |time: Option<u64>| time.map(Duration::from_millis);
            let patience = Patience::of(millis(said), millis(seen), streams);
            let due = [false, true].map(|it| (patience.due(it) - patience.since).as_millis());
            assert_eq!(due, [first, behind_success], "{said:?}");
            assert_eq!(patience.beat().as_millis(), beat, "{said:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn only_what_is_held_is_due() {
        let (waiting, told) = Waiting::new(Patience::of(Some(Duration::from_secs(4)), None, true));
        let mut due = Box::pin(due(told, Arc::default()));
        let long = Duration::from_secs(100);
        assert!(tokio::time::timeout(long, &mut due).await.is_err(), "nothing is held");
        waiting.during(async {}).await;
        assert!(tokio::time::timeout(long, &mut due).await.is_err(), "it was released at once");
        let since = Instant::now();
        tokio::join!(due, waiting.during(tokio::time::sleep(long)));
        assert_eq!(since.elapsed(), long);
        let (waiting, told) = Waiting::new(Patience::of(None, None, true));
        let silent = super::due(told, Arc::new(true.into()));
        let held = waiting.during(std::future::pending::<()>());
        let both = async { tokio::join!(silent, held) };
        assert!(tokio::time::timeout(long, both).await.is_err(), "nobody may hear anything");
    }
}
