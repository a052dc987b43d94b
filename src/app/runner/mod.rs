//! Many sessions at once: jobs in, results out in the order of the jobs, whatever the number of workers. Nothing here knows
//! a command line or a screen.
//!
//! ```text
//! Job { spec, folder, seed } ── prepare ──► follow ──► State ──► a result in a ResultFolder
//!   └── several at once (Runner), with one stopper and one purse
//! ```

mod follow;
mod job;
mod job_lock;
mod results;
mod shard;
mod stopper;

use std::ops::ControlFlow;
use std::sync::Arc;

pub use self::follow::{Followed, follow};
pub use self::job::{Job, JobEnd};
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
}

impl Runner {
    /// Does the work of each job, and hands the results over in the order of the jobs. After the first error no further
    /// job begins.
    ///
    /// # Errors
    /// The first error, in the order of the jobs.
    pub fn each<R: Send, E: Send>(
        &self,
        jobs: usize,
        work: impl Fn(usize) -> Result<R, E> + Sync,
        mut take: impl FnMut(R),
    ) -> Result<(), E> {
        let mut failed = None;
        let guarded = |at| {
            let result = work(at);
            if result.is_err() {
                self.stop.stop();
            }
            result
        };
        parallel::in_order(jobs, self.at_once, guarded, |result| match result {
            Ok(result) => {
                take(result);
                ControlFlow::Continue(())
            }
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        });
        failed.map_or(Ok(()), Err)
    }
}
