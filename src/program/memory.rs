//! Tells the interpreter how much memory the process has, so that its limit holds. It would count in the allocator,
//! which would make every allocation of toolyard slower.

use std::sync::Once;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use monty_types::{BASELINE_MEMORY, LIVE_MEMORY};

/// How often it is looked at: a program allocates some megabytes in this time.
const OFTEN: Duration = Duration::from_millis(1);

/// Begins to count: what the process has now belongs to no program.
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

/// The bytes of memory that the process has; `None` where the system does not say.
fn resident() -> Option<usize> {
    memory_stats::memory_stats().map(|stats| stats.physical_mem)
}
