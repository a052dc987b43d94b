//! The doors of a watched agent hold: whatever endpoints, agents, servers and clients send passes as it came or is refused,
//! and it costs little. `cargo test --test long doors` prints the figures in one table.

pub mod bodies;
mod costs;
mod lines;
pub mod proxy;
mod raw;
mod relays;

use std::time::Duration;

/// How long one exchange may take.
const LIMIT: Duration = Duration::from_secs(60);
/// Kilobytes of memory that toolyard may take at its peak.
const MOST_KB: u64 = 150_000;
/// Only a release is judged by its CPU, and by all pages of its file.
const IS_RELEASE: bool = !cfg!(debug_assertions);
/// What `/proc` counts CPU in, on every Linux.
const TICKS_A_SECOND: f64 = 100.0;

const ANSWERS: usize = 100_000;
const REQUESTS: usize = 100_000;
const LINES: usize = 10_000;

/// A line of the table.
#[derive(Debug, Default)]
pub struct Figures {
    what: &'static str,
    count: usize,
    /// Refused, or answered in place of the other end.
    refused: usize,
    /// Passed without being understood.
    unread: usize,
    damaged: usize,
    peak_kb: u64,
    cpu: f64,
    more: String,
    /// What did not pass as it came.
    wrong: Vec<String>,
}

impl Figures {
    /// Notes what a process has taken so far.
    fn took(&mut self, process: u32) {
        self.peak_kb = kilobytes(process, "VmHWM");
        if !IS_RELEASE {
            // Pages of the program's file, which are many where nothing is optimised.
            self.peak_kb -= kilobytes(process, "RssFile").min(self.peak_kb);
        }
        self.cpu = cpu(process);
    }

    /// Adds what one session gave.
    fn add(&mut self, session: Self) {
        self.refused += session.refused;
        self.unread += session.unread;
        self.damaged += session.damaged;
        self.peak_kb = self.peak_kb.max(session.peak_kb);
        self.cpu += session.cpu;
        self.wrong.extend(session.wrong);
    }

    fn told(&self) -> String {
        let Self { what, count, refused, unread, cpu, more, .. } = self;
        let (peak, count) = (self.peak_kb / 1000, grouped(*count));
        format!(
            "doors: {count:>9} {what:<26} {refused:>7} refused {unread:>7} unread {peak:>5} MB at most {cpu:>8.2} s CPU  {more}"
        )
    }
}

/// A number with commas between its thousands.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let from_end = |at: usize| digits.len() - at;
    let comma = |at| if at > 0 && from_end(at).is_multiple_of(3) { "," } else { "" };
    digits.char_indices().map(|(at, digit)| format!("{}{digit}", comma(at))).collect()
}

/// Kilobytes of a line of a process's status.
fn kilobytes(process: u32, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Seconds of CPU that a process has taken, of its own and of the system.
fn cpu(process: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks = [11, 12].map(|at: usize| fields[at].parse::<f64>().unwrap());
    ticks.iter().sum::<f64>() / TICKS_A_SECOND
}

/// Bytes for people, of which the beginning is enough.
fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(600)]).into_owned();
    format!("{} bytes: {text:?}", bytes.len())
}

#[test]
fn the_doors_of_a_watched_agent_hold() {
    let parts: [fn() -> Figures; 5] = [
        proxy::answers,
        proxy::requests,
        relays::over_stdio,
        relays::over_http,
        costs::changing_keys,
    ];
    let mut all: Vec<Figures> = Vec::new();
    for part in parts {
        let figures = part();
        eprintln!("{}", figures.told());
        all.push(figures);
    }
    all.push(costs::one_long_line());
    println!("{}", all.iter().map(|it| it.told() + "\n").collect::<String>());
    for Figures { what, wrong, peak_kb, .. } in &all {
        let first = wrong.iter().take(5).cloned().collect::<Vec<_>>().join("\n\n");
        assert!(wrong.is_empty(), "{what}: {} wrong\n{first}", wrong.len());
        assert!(*peak_kb <= MOST_KB, "{what}: {peak_kb} kB at most");
    }
}
