//! Whether a person is there to release what is held. Screens come and go, so this is asked at each stop.

use std::future::pending;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{sleep, timeout};

/// The seats from which a person controls a session.
#[derive(Debug, Default)]
pub struct Seats {
    /// Whether the session has a screen of its own, which ends with it.
    pub own: bool,
    /// Whether an attached screen controls the session; `None`: no screen can attach.
    pub attached: Option<watch::Receiver<bool>>,
    /// The time for which a breakpoint holds without a person; `None`: it only counts.
    pub hold: Option<Duration>,
}

impl Seats {
    /// Whether a person controls the session now.
    pub fn is_taken(&self) -> bool {
        self.own || self.attached.as_ref().is_some_and(|attached| *attached.borrow())
    }

    /// Whether a breakpoint holds what it stops now.
    pub fn holds(&self) -> bool {
        self.is_taken() || self.hold.is_some()
    }

    /// Waits until the session has had no person in control for the time that a breakpoint holds without one. Returns
    /// whether a person was in control before.
    pub fn left(&self) -> impl Future<Output = bool> + use<> {
        let (own, attached, hold) = (self.own, self.attached.clone(), self.hold);
        let hold = hold.unwrap_or_default();
        async move {
            if own {
                return pending().await;
            }
            let Some(mut attached) = attached else {
                sleep(hold).await;
                return false;
            };
            let mut was_taken = *attached.borrow();
            loop {
                // Both waits fail if no screen can attach any more.
                let _ = attached.wait_for(|is_taken| !is_taken).await;
                match timeout(hold, attached.wait_for(|is_taken| *is_taken)).await {
                    Ok(Ok(_)) => was_taken = true,
                    Ok(Err(_)) | Err(_) => return was_taken,
                }
            }
        }
    }
}
