//! `toolyard follow`: a journal that somebody writes, in pieces of any size.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Stdio};

use serde_json::Value;

use crate::program::{Home, Ran, text_of, unpacked};
use crate::sitting::Sitting;

/// A journal of a whole session, and its events as `run --json` printed them.
fn recorded(home: &Home) -> (Vec<u8>, Vec<Value>) {
    let arguments = ["run", "--tasks-limit", "3", "--json", "--journal", "whole.jsonl"];
    let ran = home.run(&arguments);
    assert_eq!(ran.code, 0, "{}", ran.err);
    (fs::read(home.path("whole.jsonl")).unwrap(), ran.lines())
}

/// The first bytes of a journal, with this many events and a part of the next block.
fn beginning(journal: &[u8], events: usize) -> usize {
    let has = |len: &usize| text_of(journal[..*len].to_vec()).lines().count() > events;
    (0..journal.len()).step_by(8).find(has).unwrap()
}

fn append(home: &Home, bytes: &[u8]) {
    let file = OpenOptions::new().append(true).create(true).open(home.path("f.jsonl"));
    file.unwrap().write_all(bytes).unwrap();
}

fn follow(home: &Home) -> (Child, BufReader<ChildStdout>) {
    let mut command = home.command(&["follow", "f.jsonl", "--json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap());
    (child, lines)
}

fn next(lines: &mut impl BufRead) -> Value {
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line}: {error}"))
}

#[test]
fn every_event_is_printed_once_it_is_whole() {
    let home = Home::new();
    let (journal, events) = recorded(&home);
    append(&home, &journal[..10]);
    let (child, mut lines) = follow(&home);
    // The header is torn, then many lines are, and one is torn within a character.
    let mut printed = Vec::new();
    for piece in journal[10..].chunks(journal.len() / 7 + 1) {
        append(&home, piece);
        let whole = unpacked(&home.path("f.jsonl")).unwrap();
        let count = whole.iter().filter(|byte| **byte == b'\n').count().saturating_sub(1);
        while printed.len() < count {
            printed.push(next(&mut lines));
        }
    }
    assert_eq!(printed, events);
    let ran = Ran::of(child.wait_with_output().unwrap());
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
}

#[test]
fn a_file_that_is_cut_or_replaced_is_said() {
    let home = Home::new();
    let (journal, events) = recorded(&home);
    let part = beginning(&journal, 20);
    let torn = |change: &dyn Fn()| {
        let _ = fs::remove_file(home.path("f.jsonl"));
        append(&home, &journal[..part]);
        let (child, mut lines) = follow(&home);
        assert_eq!(next(&mut lines), events[0]);
        change();
        let mut rest = String::new();
        lines.read_to_string(&mut rest).unwrap();
        let ran = Ran::of(child.wait_with_output().unwrap());
        assert_eq!(ran.code, 2);
        rest.lines().last().unwrap().to_owned()
    };
    let cut = torn(&|| {
        // Writing it anew would empty it first.
        let file = fs::File::options().write(true).open(home.path("f.jsonl")).unwrap();
        file.set_len(300).unwrap();
    });
    assert!(cut.contains("f.jsonl: the file was cut to 300 bytes, and "), "{cut}");
    let replaced = torn(&|| {
        fs::write(home.path("new"), &journal).unwrap();
        fs::rename(home.path("new"), home.path("f.jsonl")).unwrap();
    });
    assert!(replaced.contains("another file has this name now; start again"), "{replaced}");
    let deleted = torn(&|| fs::remove_file(home.path("f.jsonl")).unwrap());
    assert!(deleted.contains("the file was deleted or renamed"), "{deleted}");
}

#[test]
fn the_screen_follows_to_the_end_of_the_session() {
    let home = Home::new();
    let (journal, events) = recorded(&home);
    let (some, more) = (beginning(&journal, 19), beginning(&journal, 29));
    append(&home, &journal[..some]);
    let mut screen = Sitting::start(&home, 120, 40, &["follow", "f.jsonl"]);
    screen.wait_header("FOLLOWING");
    let last = |len: usize| text_of(journal[..len].to_vec()).lines().count() - 1;
    screen.wait(&format!(" event {} ", last(some)));
    screen.press("f");
    screen.wait("a followed journal is read-only");
    append(&home, &journal[some..more]);
    screen.wait(&format!(" event {} ", last(more)));
    append(&home, &journal[more..]);
    screen.wait(&format!(" event {} ", events.len()));
    screen.wait("the session has ended");
    screen.press("q");
    assert_eq!(screen.end().0.exit_code(), 0);

    let mut screen = Sitting::start(&home, 120, 40, &["follow", "f.jsonl"]);
    screen.wait_header("FOLLOWING");
    screen.press("q");
    assert_eq!(screen.end().0.exit_code(), 0);
}

#[test]
fn a_screen_says_that_the_file_was_cut() {
    let home = Home::new();
    let (journal, _) = recorded(&home);
    append(&home, &journal[..beginning(&journal, 20)]);
    let mut screen = Sitting::start(&home, 120, 40, &["follow", "f.jsonl"]);
    screen.wait_header("FOLLOWING");
    screen.wait("LIVE");
    fs::write(home.path("f.jsonl"), &journal[..300]).unwrap();
    screen.wait("the file was cut to 300 bytes");
    screen.press("q");
    assert_eq!(screen.end().0.exit_code(), 2);
}
