//! Forks at every event of sessions of each strategy, and forks of a session that writes, which are killed.

use std::process::Stdio;
use std::time::Duration;
use std::{fs, thread};

use crate::forking;
use crate::mutations::Numbers;
use crate::program::Home;
use crate::runs::kills::noted::{notes, workspace};

#[test]
fn forks_without_an_edit_equal_their_originals_at_every_event() {
    let tried = forking::tried(crate::PART);
    println!(
        "forks: {} at the events of {} sessions: {} differ, {} of several runs are in another order",
        tried.forks,
        tried.sessions,
        tried.differing.len(),
        tried.reordered
    );
    let first: Vec<_> = tried.differing.iter().take(20).collect();
    assert!(first.is_empty(), "{first:#?}");
}

/// A home with the journal of a session that has written nine lines.
fn written() -> (Home, usize) {
    let home = Home::new();
    workspace(&home);
    home.succeed(&words(
        "run --workspace w --strategy react --fresh --allow note --journal j.jsonl",
    ));
    let events = home.succeed(&["journal", "cat", "j.jsonl"]).lines().count() - 1;
    assert_eq!(notes(&home).values().sum::<usize>(), 9);
    (home, events)
}

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

#[test]
fn forks_and_forks_of_forks_write_nothing_without_a_yes() {
    let (home, events) = written();
    let (before, mut numbers) = (notes(&home), Numbers(1));
    let (mut forks, mut refused) = (0, 0);
    for at in (6..=events).step_by(crate::PART) {
        let fork = |of: &str, at: usize, to: &str| {
            let line = format!("fork {of} --at {at} --headless --journal {to}");
            let ran = home.run(&words(&line));
            assert!(matches!(ran.code, 0 | 1), "{line}: {ran:?}");
            assert_eq!(notes(&home), before, "{line}");
            home.succeed(&["journal", "cat", to])
        };
        let first = fork("j.jsonl", at, "f.jsonl");
        refused += first.matches("\"ToolCallRefused\"").count();
        let places = first.lines().count() - 1 - 6;
        fork("f.jsonl", 6 + numbers.below(places), "g.jsonl");
        forks += 2;
        for name in ["f.jsonl", "g.jsonl"] {
            fs::remove_file(home.path(name)).unwrap();
        }
    }
    println!("forks: {forks} of a session that writes, {refused} writes refused, no line twice");
    assert!(refused > events / crate::PART, "{refused}");
}

#[test]
fn a_fork_that_is_killed_and_resumed_writes_each_line_once() {
    let (home, events) = written();
    let (mut numbers, mut lines, mut resumed) = (Numbers(7), 0, 0);
    let kills = 100 / crate::PART;
    for _ in 0..kills {
        fs::remove_file(home.path("w/tools/notes.txt")).ok();
        let at = 6 + numbers.below(events - 16);
        let line =
            format!("fork j.jsonl --at {at} --calls write=live --headless --journal k.jsonl");
        let mut fork = home.command(&words(&line));
        let mut fork = fork.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_millis(30 + numbers.below(900) as u64));
        fork.kill().ok();
        fork.wait().unwrap();
        // A tool that runs writes its line.
        thread::sleep(Duration::from_millis(100));
        if home.path("k.jsonl").exists() {
            let ran = home.run(&words("resume k.jsonl --headless --trust-journal"));
            let is_said = ["has ended", "where it was to go its own way", "no first event"];
            let goes_on = matches!(ran.code, 0 | 1);
            assert!(goes_on || is_said.iter().any(|why| ran.err.contains(why)), "{ran:?}");
            resumed += usize::from(goes_on);
        }
        let written = notes(&home);
        assert!(written.values().all(|times| *times == 1), "at {at}: {written:?}");
        lines += written.len();
        for name in ["k.jsonl", "k.2.jsonl"] {
            fs::remove_file(home.path(name)).ok();
        }
    }
    println!("forks: {kills} killed, {resumed} resumed, {lines} lines written, none twice");
    assert!(lines > kills, "{lines}");
}
