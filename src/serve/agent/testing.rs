//! The reaper of these tests, which is this test program again, and processes that have ended.

use std::os::unix::fs::PermissionsExt;
use std::sync::Once;
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use rustix::process::{Pid, test_kill_process};

use crate::process::{reaper::serve, set_reaper};

/// Long enough for a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// The arguments that make this test program run one of its ignored tests.
pub const AGAIN: [&str; 3] = ["--ignored", "--nocapture", "--exact"];

/// Lets programs be started in this process.
pub(super) fn with_reaper() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let script = tempfile::tempdir().unwrap().keep().join("reaper");
        let (me, again) = (env::current_exe().unwrap(), AGAIN.join(" "));
        // The reaper removes its folder, since it is started once.
        let text = format!(
            "#!/bin/sh\nrm -r \"${{0%/*}}\"\nexec '{}' {again} agent::testing::be_the_reaper\n",
            me.display()
        );
        fs::write(&script, text).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o700)).unwrap();
        set_reaper(script);
    });
}

#[test]
#[ignore = "is started by the other tests as their reaper"]
fn be_the_reaper() {
    // If nobody started this test as a reaper, its input is not a socket.
    let _not_asked = serve();
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
