//! Killed at any moment, a session has lost nothing that it showed.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use toolyard::domain::{Event, Record, SessionEvent, State, TaskEvent};
use toolyard::store::journal;

use crate::program::{Home, Ran};
use crate::sitting::Sitting;

/// Starts a slow session, kills it once it has shown so many events, and gives the events it showed.
fn killed_after(home: &Home, events: usize, signal: Signal) -> (Vec<Record>, i32) {
    let mut command =
        home.command(&["run", "--json", "--journal", "j.jsonl", "--knob", "speed=16"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    let mut seen = Vec::new();
    for line in BufReader::new(child.stdout.take().unwrap()).split(b'\n') {
        // The last line may be cut off, and was not seen as an event then.
        let Ok(record) = Record::read(&line.unwrap()) else { break };
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
        let records = journal::read(&home.path("j.jsonl")).unwrap().records;
        assert!(records.len() >= seen.len(), "{} events of {}", records.len(), seen.len());
        assert_eq!(records[..seen.len()], seen, "what was seen is what was kept");
        let state = serde_json::to_string_pretty(&State::fold(&seen)).unwrap() + "\n";
        let at = seen.len().to_string();
        assert_eq!(home.succeed(&["replay", "j.jsonl", "--at", &at, "--json"]), state);
        home.succeed(&["replay", "j.jsonl", "--json", "--report", "r.json"]);
        let done =
            |record: &&Record| matches!(record.event, Event::Task(TaskEvent::TaskFinished { .. }));
        let report = home.json("r.json");
        let ended = report["tasks"].as_array().unwrap().iter();
        let ended = ended.filter(|task| !task["outcome"].is_null()).count();
        assert!(ended >= seen.iter().filter(done).count());
    }
}

#[test]
fn a_journal_without_events_does_not_stand_in_the_way() {
    let home = Home::new();
    let (seen, _) = killed_after(&home, 60, Signal::KILL);
    let journals = "toolyard/journals";
    home.write(&format!("{journals}/a.jsonl"), home.read("j.jsonl"));
    let header = home.read("j.jsonl").lines().next().unwrap().to_owned() + "\n";
    for (name, text) in [("a.2", ""), ("a.3", "{\"toolyard_jour"), ("a.4", header.as_str())] {
        home.write(&format!("{journals}/{name}.jsonl"), text);
    }
    let report = home.succeed(&["report"]);
    assert!(report.contains("\"tasks\""), "{report}");
    let state: serde_json::Value =
        serde_json::from_str(&home.succeed(&["replay", "--json"])).unwrap();
    assert!(state["n"].as_u64().unwrap() >= seen.len() as u64, "{}", state["n"]);
    let ran = home.run(&["resume", "--headless"]);
    assert!(ran.out.contains("\nall tasks are done"), "{ran:?}");
}

#[test]
fn a_journal_can_be_read_while_it_is_written() {
    let home = Home::new();
    let mut command = home.command(&["run", "--journal", "j.jsonl", "--knob", "speed=16"]);
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

/// A disk that is full after so many blocks of 512 bytes.
fn full_disk(arguments: &str) -> Vec<String> {
    let program = env!("CARGO_BIN_EXE_toolyard");
    let script = format!("trap '' XFSZ; ulimit -f 24; exec {program} {arguments}");
    ["sh", "-c", &script].map(str::to_owned).into()
}

const FULL: &str =
    "j.jsonl: File too large (os error 27); the session ended because the journal cannot";

#[test]
fn a_full_disk_ends_a_session_and_loses_nothing_that_was_shown() {
    let home = Home::new();
    let words = full_disk("run --json --journal j.jsonl");
    let mut command = std::process::Command::new(&words[0]);
    command.args(&words[1..]).current_dir(home.path("")).env_clear().envs(home.environment());
    let ran = Ran::of(command.output().unwrap());
    assert_eq!((ran.code, ran.err.as_str()), (1, ""));
    let mut lines = ran.lines();
    let error = lines.pop().unwrap();
    assert!(error["error"]["text"].as_str().unwrap().starts_with(FULL), "{error}");
    let read = journal::read(&home.path("j.jsonl")).unwrap();
    let (records, torn) = (read.records, read.torn);
    assert!(torn > 0, "the last line was cut off");
    assert_eq!(records.len(), lines.len(), "what was kept was shown, and nothing else");
}

#[test]
fn a_full_disk_is_told_on_the_screen_and_after_it() {
    let home = Home::new();
    let words = full_disk("--journal j.jsonl --knob speed=off");
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    let mut sitting = Sitting::of(&home, 120, 40, &words, &[]);
    sitting.wait_header("PAUSED");
    sitting.press(" ");
    sitting.wait("session interrupted");
    sitting.wait_header("INTERRUPTED");
    sitting.press("q");
    let (status, bytes) = sitting.end();
    assert_eq!(status.exit_code(), 1);
    assert!(bytes.rsplit_once("\x1b[?1049l").unwrap().1.contains(FULL), "{bytes}");
}

#[test]
fn a_polite_end_is_an_end_of_the_session_too() {
    for (signal, number) in [(Signal::TERM, 15), (Signal::INT, 2), (Signal::HUP, 1)] {
        let home = Home::new();
        let (seen, code) = killed_after(&home, 40, signal);
        assert_eq!(code, 128 + number, "{signal:?}: as shells report it");
        let Event::Session(SessionEvent::SessionEnded { why, .. }) = &seen.last().unwrap().event
        else {
            panic!("{signal:?}: {:?}", seen.last())
        };
        assert_eq!(why, "stopped by the user");
        let records = journal::read(&home.path("j.jsonl")).unwrap().records;
        assert_eq!(records, seen);
    }
}
