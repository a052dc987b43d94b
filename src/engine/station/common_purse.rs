//! A purse for sessions that run at the same time: each call reserves its price in it before it starts.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// US dollars that several sessions have together, here or on several machines.
pub trait SharedPurse: fmt::Debug + Send + Sync {
    /// Reserves `next` dollars for a session that has spent or reserved `taken`; `None`: an unknown price, for which
    /// something must be left.
    ///
    /// # Errors
    /// All sessions together would have more than there is: the dollars that they have.
    fn reserve(&self, session: usize, taken: f64, next: Option<f64>) -> Result<(), f64>;

    /// Dollars that all sessions have spent or reserved.
    fn taken(&self) -> f64;

    /// Dollars that there are.
    fn most(&self) -> f64;

    /// Notes the dollars that a session has spent when it has ended.
    fn settle(&self, session: usize, spent: f64);
}

/// US dollars for several sessions of this process.
#[derive(Debug)]
pub struct CommonPurse {
    most: f64,
    /// For each session the dollars that it has spent or reserved.
    shares: Mutex<Vec<f64>>,
}

/// A session's part of a common purse.
#[derive(Clone, Debug)]
pub struct PurseShare {
    of: Arc<dyn SharedPurse>,
    session: usize,
}

impl CommonPurse {
    pub fn new(most: f64) -> Arc<Self> {
        Arc::new(Self { most, shares: Mutex::default() })
    }

    /// The part of a further session, which has spent this much already.
    pub fn share(self: &Arc<Self>, spent: f64) -> PurseShare {
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        shares.push(spent);
        let all: Arc<Self> = Arc::clone(self);
        PurseShare { of: all, session: shares.len() - 1 }
    }
}

impl SharedPurse for CommonPurse {
    fn reserve(&self, session: usize, taken: f64, next: Option<f64>) -> Result<(), f64> {
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        shares[session] = taken;
        let all: f64 = shares.iter().sum();
        let fits = match next {
            Some(next) => all + next <= self.most,
            None => all < self.most || all == 0.0,
        };
        if !fits {
            return Err(all);
        }
        shares[session] += next.unwrap_or_default();
        Ok(())
    }

    fn taken(&self) -> f64 {
        self.shares.lock().unwrap_or_else(PoisonError::into_inner).iter().sum()
    }

    fn most(&self) -> f64 {
        self.most
    }

    fn settle(&self, session: usize, spent: f64) {
        self.shares.lock().unwrap_or_else(PoisonError::into_inner)[session] = spent;
    }
}

impl PurseShare {
    /// The part of one session, by its number in the purse.
    pub fn of(of: Arc<dyn SharedPurse>, session: usize) -> Self {
        Self { of, session }
    }

    pub(super) fn reserve(&self, taken: f64, next: Option<f64>) -> Result<(), f64> {
        self.of.reserve(self.session, taken, next)
    }

    /// Dollars that no session has spent or reserved.
    pub fn left(&self) -> f64 {
        (self.most() - self.of.taken()).max(0.0)
    }

    /// Dollars for all sessions.
    pub fn most(&self) -> f64 {
        self.of.most()
    }

    /// Notes the dollars that the session has spent when it has ended.
    pub fn settle(&self, spent: f64) {
        self.of.settle(self.session, spent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_session_takes_what_another_has_reserved() {
        let purse = CommonPurse::new(1.0);
        let (one, two) = (purse.share(0.0), purse.share(0.25));
        assert_eq!(one.reserve(0.0, Some(0.5)), Ok(()));
        assert_eq!(two.reserve(0.25, Some(0.5)), Err(0.75));
        assert_eq!(two.reserve(0.25, None), Ok(()), "something is left");
        assert_eq!(two.reserve(0.25, Some(0.25)), Ok(()), "all may be spent");
        assert_eq!(one.reserve(0.5, None), Err(1.0));
        two.settle(0.25);
        assert_eq!((purse.taken(), purse.most()), (0.75, 1.0));
        assert_eq!(one.reserve(0.5, Some(0.25)), Ok(()), "the other one paid less than expected");
    }

    #[test]
    fn threads_never_spend_more_than_there_is() {
        let purse = CommonPurse::new(10.0);
        let spent: f64 = std::thread::scope(|scope| {
            let session = || {
                let (share, mut spent) = (purse.share(0.0), 0.0);
                while share.reserve(spent, Some(0.01)).is_ok() {
                    spent += 0.01;
                }
                share.settle(spent);
                spent
            };
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(session)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert!((9.9..10.0 + 1e-9).contains(&spent), "{spent}");
    }
}
