//! `toolyard-lab bench` ends when it is asked to.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::program::Home;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_benchmark_ends_within_a_second_wherever_it_is() {
    for wait in [100, 700, 2_500] {
        let home = Home::new();
        let mut command = home.command(&["bench", "papers", "--tasks-limit", "40"]);
        let mut child = command.stdout(std::process::Stdio::null()).spawn().unwrap();
        sleep(Duration::from_millis(wait));
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        kill_process(pid, Signal::TERM).unwrap();
        let start = Instant::now();
        let status = child.wait().unwrap();
        assert!(start.elapsed() < SECOND, "after {wait} ms: {:?}", start.elapsed());
        assert!(!status.success());
        let left = fs::read_dir(home.path("")).unwrap().filter(|entry| {
            entry.as_ref().unwrap().file_name().to_string_lossy().starts_with("toolyard-")
        });
        assert_eq!(left.count(), 0, "its temporary folder is gone");
    }
}
