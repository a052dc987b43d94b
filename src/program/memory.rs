//! Tells the interpreter how much memory the process has, so that its limit holds. Counting in the allocator would make
//! every allocation of toolyard slower.

use std::sync::Once;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use monty_types::{BASELINE_MEMORY, LIVE_MEMORY};

/// The interval between checks: a program allocates some megabytes in this time.
const OFTEN: Duration = Duration::from_millis(1);

/// Starts counting: the current memory of the process belongs to no program.
pub fn begin() {
    static WATCH: Once = Once::new();
    if let Some(now) = resident() {
        LIVE_MEMORY.store(now, Ordering::Relaxed);
        BASELINE_MEMORY.store(now, Ordering::Relaxed);
    }
    WATCH.call_once(|| {
        let watch = || {
            while let Some(now) = resident() {
                LIVE_MEMORY.store(now, Ordering::Relaxed);
                thread::sleep(OFTEN);
            }
        };
        // Without it the system's limit remains.
        let _unwatched = thread::Builder::new().name("memory".into()).spawn(watch);
    });
}

/// The bytes of memory of the process; `None` if the system does not tell.
fn resident() -> Option<usize> {
    memory_stats::memory_stats().map(|stats| stats.physical_mem)
}
