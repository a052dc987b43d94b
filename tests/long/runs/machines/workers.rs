//! Workers of a test, which are killed with all their processes.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::program::Home;

/// A worker. It is killed with its value.
pub struct TestWorker {
    running: Child,
}

impl TestWorker {
    /// A worker of this server; what it says goes into a file of the home.
    pub fn start(home: &Home, nats: &str, more: &[&str]) -> Self {
        let log = fs::File::options().create(true).append(true).open(home.path("workers.log"));
        let mut command = home.command(&[&["worker", "--nats", nats][..], more].concat());
        command.env("RUST_BACKTRACE", "1").stdout(Stdio::null()).stderr(log.unwrap());
        Self { running: command.spawn().unwrap() }
    }

    /// Sends a signal to the worker and to all processes below it, as where a machine dies.
    pub fn signal_all(&self, signal: Signal) {
        // The worker first, so that it starts no other.
        for id in [vec![self.running.id()], below(self.running.id())].concat() {
            let id = Pid::from_raw(i32::try_from(id).unwrap()).unwrap();
            // It may have ended.
            let _ = kill_process(id, signal);
        }
    }

    /// Sends a signal to the worker alone.
    pub fn signal(&self, signal: Signal) {
        let id = Pid::from_raw(i32::try_from(self.running.id()).unwrap()).unwrap();
        kill_process(id, signal).unwrap();
    }

    pub fn wait(&mut self) -> i32 {
        self.running.wait().unwrap().code().unwrap_or(-1)
    }
}

impl Drop for TestWorker {
    fn drop(&mut self) {
        self.signal_all(Signal::KILL);
        let _ = self.running.wait();
    }
}

/// All processes below this one.
fn below(id: u32) -> Vec<u32> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Ok(id) = entry.file_name().to_string_lossy().parse() else { continue };
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let parent = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1));
        if let Some(parent) = parent.and_then(|parent| parent.parse().ok()) {
            children.entry(parent).or_default().push(id);
        }
    }
    let (mut found, mut next) = (Vec::new(), vec![id]);
    while let Some(id) = next.pop() {
        let own = children.remove(&id).unwrap_or_default();
        found.extend(&own);
        next.extend(own);
    }
    found
}
