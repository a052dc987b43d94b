//! A purse for sessions that run at the same time: each call reserves its price in it before it starts.

use std::sync::{Arc, Mutex, PoisonError};

/// US dollars for several sessions together.
#[derive(Debug)]
pub struct CommonPurse {
    most: f64,
    /// For each session the dollars that it has spent or reserved.
    shares: Mutex<Vec<f64>>,
}

/// A session's part of a common purse.
#[derive(Clone, Debug)]
pub struct PurseShare {
    of: Arc<CommonPurse>,
    at: usize,
}

impl CommonPurse {
    pub fn new(most: f64) -> Arc<Self> {
        Arc::new(Self { most, shares: Mutex::default() })
    }

    pub fn most(&self) -> f64 {
        self.most
    }

    /// Dollars that all sessions have spent or reserved.
    pub fn taken(&self) -> f64 {
        self.shares.lock().unwrap_or_else(PoisonError::into_inner).iter().sum()
    }

    /// The part of a further session, which has spent this much already.
    pub fn share(self: &Arc<Self>, spent: f64) -> PurseShare {
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        shares.push(spent);
        PurseShare { of: Arc::clone(self), at: shares.len() - 1 }
    }
}

impl PurseShare {
    /// Reserves `next` dollars beside those that the session has spent or reserved; `None`: an unknown price, for which
    /// something must be left.
    ///
    /// # Errors
    /// All sessions together would have more than there is: the dollars that they have.
    pub(super) fn reserve(&self, taken: f64, next: Option<f64>) -> Result<(), f64> {
        let mut shares = self.of.shares.lock().unwrap_or_else(PoisonError::into_inner);
        shares[self.at] = taken;
        let all: f64 = shares.iter().sum();
        let fits = match next {
            Some(next) => all + next <= self.of.most,
            None => all < self.of.most || all == 0.0,
        };
        if !fits {
            return Err(all);
        }
        shares[self.at] += next.unwrap_or_default();
        Ok(())
    }

    /// Dollars that no session has spent or reserved.
    pub fn left(&self) -> f64 {
        (self.of.most - self.of.taken()).max(0.0)
    }

    pub(super) fn most(&self) -> f64 {
        self.of.most
    }

    /// Notes the dollars that the session has spent when it has ended.
    pub fn settle(&self, spent: f64) {
        self.of.shares.lock().unwrap_or_else(PoisonError::into_inner)[self.at] = spent;
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
