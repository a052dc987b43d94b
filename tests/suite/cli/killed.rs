//! Killed at any moment, a session has lost nothing that it showed.

use std::{
    io::{BufRead, BufReader},
    process::Stdio,
};

use rustix::process::{Pid, Signal, kill_process};
use toolyard::{
    event::{Event, Record},
    journal::{self, Loaded},
    state::State,
};

use crate::program::Home;

/// Starts a slow session, kills it once it has shown so many events, and gives the events it showed.
fn killed_after(home: &Home, events: usize, signal: Signal) -> (Vec<Record>, i32) {
    let mut command = home.command(&["run", "--json", "--journal", "j.jsonl", "--knob", "pace=1"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    let mut seen = Vec::new();
    for line in BufReader::new(child.stdout.take().unwrap()).split(b'\n') {
        // The last line may be cut off, and was not seen as an event then.
        let Ok(record) = serde_json::from_slice(&line.unwrap()) else { break };
        seen.push(record);
        if seen.len() == events {
            kill_process(pid, signal).unwrap();
        }
    }
    let status = child.wait().unwrap();
    assert!(seen.len() >= events, "it ended by itself after {} events", seen.len());
    (seen, status.code().unwrap_or(-1))
}

#[test]
fn what_was_shown_before_the_kill_is_in_the_journal() {
    for events in [1, 5, 23, 60, 111, 190] {
        let home = Home::new();
        let (seen, _) = killed_after(&home, events, Signal::KILL);
        let Loaded { records, .. } = journal::read(&home.path("j.jsonl")).unwrap();
        assert!(records.len() >= seen.len(), "{} events of {}", records.len(), seen.len());
        assert_eq!(records[..seen.len()], seen, "what was seen is what was kept");
        let state = serde_json::to_string_pretty(&State::fold(&seen)).unwrap() + "\n";
        let at = seen.len().to_string();
        assert_eq!(home.succeed(&["replay", "j.jsonl", "--at", &at, "--json"]), state);
        home.succeed(&["replay", "j.jsonl", "--json", "--report", "r.json"]);
        let done = |record: &&Record| matches!(record.event, Event::TaskFinished { .. });
        let report = home.json("r.json");
        let ended = report["tasks"].as_array().unwrap().iter();
        let ended = ended.filter(|task| !task["outcome"].is_null()).count();
        assert!(ended >= seen.iter().filter(done).count());
    }
}

#[test]
fn a_journal_can_be_read_while_it_is_written() {
    let home = Home::new();
    let mut command = home.command(&["run", "--journal", "j.jsonl", "--knob", "pace=1"]);
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    let (mut last, mut looks) = (0, 0);
    while looks < 5 {
        if !home.path("j.jsonl").exists() {
            continue;
        }
        // The header may not be there yet; what is there is whole.
        let Ok(loaded) = journal::read(&home.path("j.jsonl")) else { continue };
        assert!(loaded.records.len() >= last, "an event went away");
        if loaded.records.len() > last {
            (last, looks) = (loaded.records.len(), looks + 1);
            home.succeed(&["replay", "j.jsonl", "--json"]);
        }
        let running = child.try_wait().unwrap().is_none();
        assert!(running || looks >= 5, "it ended after {last} events");
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_polite_end_is_an_end_of_the_session_too() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let home = Home::new();
        let (seen, code) = killed_after(&home, 40, signal);
        assert_eq!(code, 1, "{signal:?}: not all tasks were done");
        let Event::SessionEnded { why } = &seen.last().unwrap().event else {
            panic!("{signal:?}: {:?}", seen.last())
        };
        assert_eq!(why, "stopped by the user");
        let records = journal::read(&home.path("j.jsonl")).unwrap().records;
        assert_eq!(records, seen);
    }
}
