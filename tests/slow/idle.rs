//! Screens on a journal to which nothing is written cost nothing.

use std::time::Duration;
use std::{fs, thread};

use crate::program::Home;
use crate::sitting::Sitting;

/// The processor time of a program so far, in ticks of which a second has a hundred.
fn ticks(sitting: &Sitting) -> u64 {
    let stat =
        fs::read_to_string(format!("/proc/{}/stat", sitting.pid().as_raw_nonzero())).unwrap();
    let (_, rest) = stat.rsplit_once(')').unwrap();
    let fields: Vec<_> = rest.split_whitespace().collect();
    [fields[11], fields[12]].iter().map(|field| field.parse::<u64>().unwrap()).sum()
}

#[test]
fn a_screen_that_follows_or_is_attached_is_idle_while_nothing_happens() {
    let home = Home::new();
    let own = Sitting::start(&home, 120, 40, &["--journal", "j.jsonl"]);
    own.wait_header("PAUSED · before a task");
    let attached = Sitting::start(&home, 120, 40, &["attach", "j.jsonl"]);
    attached.wait_header("WATCHING");
    let following = Sitting::start(&home, 120, 40, &["follow", "j.jsonl"]);
    following.wait_header("FOLLOWING");
    // What the start costs must be over: nothing is drawn any more.
    thread::sleep(Duration::from_secs(2));
    let before: Vec<_> = [&own, &attached, &following].map(ticks).to_vec();
    thread::sleep(Duration::from_secs(5));
    let after: Vec<_> = [&own, &attached, &following].map(ticks).to_vec();
    // A loop that never waits takes five hundred; each of these takes some five, for the seconds in the header.
    let spent: Vec<_> = after.iter().zip(&before).map(|(after, before)| after - before).collect();
    assert!(spent.iter().all(|ticks| *ticks < 100), "{spent:?} hundredths of five seconds");
}
