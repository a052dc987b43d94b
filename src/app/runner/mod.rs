//! Many sessions at once: jobs in, results out in the order of the jobs, whatever the number of workers. Nothing here knows
//! a command line or a screen.
//!
//! ```text
//! Job { spec, folder, seed } ── prepare ──► follow ──► State ──► a result in a ResultFolder
//!   └── several at once (Runner), with one stopper and one purse; or each in another process (Elsewhere)
//! ```

mod elsewhere;
mod follow;
mod job;
mod job_lock;
mod results;
mod shard;
mod stopper;

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

pub use self::elsewhere::{Elsewhere, SessionOrder};
pub use self::follow::{Followed, follow};
pub use self::job::{Job, JobEnd, is_done};
pub use self::results::ResultFolder;
pub use self::shard::Shard;
pub use self::stopper::SessionStopper;
use crate::engine::CommonPurse;
use crate::files::parallel;

/// Runs jobs, several at once.
#[derive(Clone)]
pub struct Runner {
    /// The most sessions at the same time.
    pub at_once: usize,
    pub stop: Arc<SessionStopper>,
    /// US dollars for all jobs together; `None`: each has its own limit only.
    pub purse: Option<Arc<CommonPurse>>,
    /// Where sessions run instead of in this process.
    pub elsewhere: Option<Arc<dyn Elsewhere>>,
}

impl Runner {
    /// Does the work of each job, and hands the results over in the order of the jobs. After the first error no further
    /// job begins, and those at work are stopped.
    ///
    /// # Errors
    /// The first error: later ones may only be its consequences.
    pub fn each<R: Send, E: Send>(
        &self,
        jobs: usize,
        work: impl Fn(usize) -> Result<R, E> + Sync,
        mut take: impl FnMut(R),
    ) -> Result<(), E> {
        let failed = Mutex::new(None);
        let guarded = |at| {
            let failure = match work(at) {
                Ok(result) => return Some(result),
                Err(error) => error,
            };
            failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
            self.stop.stop();
            None
        };
        parallel::in_order(jobs, self.at_once, guarded, |result| match result {
            Some(result) => {
                take(result);
                ControlFlow::Continue(())
            }
            None => ControlFlow::Break(()),
        });
        failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_cause_is_told_and_not_what_came_of_it() {
        let runner = Runner { at_once: 2, stop: Arc::default(), purse: None, elsewhere: None };
        let work = |at: usize| {
            if at == 1 {
                return Err("the cause");
            }
            while !runner.stop.is_stopped() {
                std::thread::sleep(Duration::from_millis(1));
            }
            Err("stopped")
        };
        assert_eq!(runner.each(9, work, |()| ()), Err("the cause"));
    }
}
