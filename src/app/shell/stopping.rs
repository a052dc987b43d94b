//! Sessions on several threads, for commands that run many.

use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, PoisonError};
use std::{num::NonZeroUsize, thread, time::Duration};

use rustix::process::nice;

use super::runtime::{interrupted, runtime};
use super::{out, trouble::Trouble};
use crate::engine::CommonPurse;
use crate::runner::{Runner, SessionStopper, Shard};

/// The niceness of many sessions: they run when nothing else does.
const LAST: i32 = 19;

/// How long sessions may take to end.
const PATIENCE: Duration = Duration::from_millis(700);

/// Two sessions for each processor, since they mostly wait for models and tools.
pub fn usual() -> usize {
    2 * thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// Runs so many sessions at once, or the usual number, with so many dollars for all; a shard has its part of them.
pub fn runner(jobs: Option<usize>, max_dollars: Option<f64>, shard: Option<Shard>) -> Runner {
    // The sessions of a person at a screen come first. Where the system refuses, all are equal.
    let _ = nice(LAST);
    let parts = shard.map_or(1, |shard| shard.of) as f64;
    Runner {
        at_once: jobs.unwrap_or_else(usual),
        stop: Arc::default(),
        purse: max_dollars.map(|most| CommonPurse::new(most / parts)),
        elsewhere: None,
    }
}

/// Stops on the first Ctrl-C or SIGTERM, and tells its number, so that what is done can be reported; the second one ends the
/// program.
pub fn stop_on_first(stop: &Arc<SessionStopper>) -> Result<Arc<AtomicI32>, Trouble> {
    let (stop, came) = (Arc::clone(stop), Arc::<AtomicI32>::default());
    let (runtime, told) = (runtime()?, Arc::clone(&came));
    let wait = move || {
        told.store(runtime.block_on(interrupted()), Ordering::SeqCst);
        stop.stop();
        let signal = runtime.block_on(interrupted());
        let _ended = signal_hook::low_level::emulate_default_handler(signal);
    };
    thread::Builder::new().name("signals".to_owned()).spawn(wait).map_err(Trouble::failed)?;
    Ok(came)
}

/// Stops on Ctrl-C or SIGTERM from now on. Work that ignores the stop, such as training, ends with the program.
pub fn stop_on_interrupt(stop: &Arc<SessionStopper>, said: String) -> Result<(), Trouble> {
    let stop = Arc::clone(stop);
    let runtime = runtime()?;
    let wait = move || {
        let signal = runtime.block_on(interrupted());
        stop.stop();
        thread::sleep(PATIENCE);
        out::warn(&said);
        if let Some(litter) = stop.litter.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = std::fs::remove_dir_all(litter);
        }
        let _ended = signal_hook::low_level::emulate_default_handler(signal);
    };
    thread::Builder::new().name("signals".to_owned()).spawn(wait).map_err(Trouble::failed)?;
    Ok(())
}
