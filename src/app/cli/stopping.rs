//! Sessions on several threads, for commands that run many.

use std::sync::{Arc, PoisonError};
use std::{num::NonZeroUsize, thread, time::Duration};

use super::{live, out, runtime::runtime, trouble::Trouble};
use crate::stopper::SessionStopper;

/// How long sessions may take to end.
const PATIENCE: Duration = Duration::from_millis(700);

/// Two sessions for each processor, since they mostly wait for models and tools.
pub fn usual() -> usize {
    2 * thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// Stops on Ctrl-C or SIGTERM from now on. Work that ignores the stop, such as training, ends with the program.
pub fn stop_on_interrupt(stop: &Arc<SessionStopper>, said: String) -> Result<(), Trouble> {
    let stop = Arc::clone(stop);
    let runtime = runtime()?;
    let wait = move || {
        let signal = runtime.block_on(live::interrupted());
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
