//! Real processes that tools start: which they are, and whether they have ended.

use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, thread};

use rustix::process::{Pid, test_kill_process};
use toolyard::process::set_reaper;

/// Long enough for a busy machine, short enough to notice what hangs.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// How often tests kill a program in the middle of a call. A race shows in one of many: `TOOLYARD_KILLS=50 cargo test
/// kill` takes minutes.
pub fn kills() -> usize {
    std::env::var("TOOLYARD_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(4)
}

/// A process that ignores requests to end, and adds its id to the file `$1`.
pub const STUBBORN: &str = "trap '' TERM; echo $$ >> \"$1\"; while :; do sleep 1; done";

/// The same as a daemon: in a session of its own, below a process that has ended.
pub const DAEMON: &str = "setsid sh -c 'sh -c \"$0\" sh \"$1\" &' \
    \"trap '' TERM; echo \\$\\$ >> \\\"\\$1\\\"; while :; do sleep 1; done\" \"$1\" > /dev/null 2>&1";

/// Programs can be started in this process as in toolyard.
pub fn with_reaper() {
    set_reaper(env!("CARGO_BIN_EXE_toolyard").into());
}

/// The most memory that a process, or `self`, has had, in bytes; `None` where the system does not say it.
pub fn peak_memory(process: impl std::fmt::Display) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(peak.trim().trim_end_matches(" kB").parse::<u64>().ok()? * 1024)
}

/// The ids in a file, one in a line.
pub fn read_pids(file: &Path) -> Vec<Pid> {
    let text = fs::read_to_string(file).unwrap_or_default();
    // A line that is still being written has no end yet.
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole.lines().filter_map(|line| Pid::from_raw(line.trim().parse().ok()?)).collect()
}

/// Gone, or dead and waiting for a parent that is not us to notice.
pub fn has_ended(pid: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    let is_zombie = stat.is_ok_and(|stat| stat.rsplit(')').next().unwrap_or("").starts_with(" Z"));
    is_zombie || test_kill_process(pid).is_err()
}

pub fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < PATIENCE, "never came true: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}
