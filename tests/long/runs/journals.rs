//! Journals with damage: a reader gives an error or a record, and never panics. A million cases, on lines, on parts of
//! earlier formats, on zstd streams and on the index beside them.

use std::fs;
use std::ops::Range;

use toolyard::domain::{Record, SessionEvent, State};
use toolyard::store::journal::{self, Header, Journal, Marker, index_of, parts};

use super::cases;
use crate::mutations::Numbers;
use crate::program::{Home, text, unpacked};

const LINES: usize = 450_000;
const PARTS: usize = 450_000;
const FILES: usize = 100_000;
const INDEXES: usize = 10_000;
const EVENTS: usize = 200_000;
const ENDS: usize = 200;

/// A journal with parts.
const KEPT: &[u8] = include_bytes!("../../data/journals/format-3.jsonl");

/// The lines of a journal with faults, plans and a budget.
fn journal(home: &Home, tasks: &str) -> Vec<Vec<u8>> {
    let run = ["run", "--strategy", "workers+btp", "--fault", "search_web:error", "--fresh"];
    // Some of its tasks have no answer, which is exit code 1.
    let ran = home.run(&[&run[..], &["--tasks-limit", tasks, "--journal", "j.jsonl"]].concat());
    assert!(ran.code < 2, "{ran:?}");
    let bytes = unpacked(&home.path("j.jsonl")).unwrap();
    bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
}

/// A part of the lines, as one text.
fn some(numbers: &mut Numbers, lines: &[Vec<u8>], most: usize) -> Vec<u8> {
    let from = numbers.below(lines.len());
    let to = lines.len().min(from + 1 + numbers.below(most));
    lines[Range { start: from, end: to }].concat()
}

#[test]
fn damaged_lines_give_an_error_or_a_record() {
    let lines = journal(&Home::new(), "2");
    let whole: Vec<Vec<u8>> = lines.into_iter().skip(1).filter(|line| line.len() < 4000).collect();
    let (mut numbers, mut records) = (Numbers(0), 0);
    for _ in 0..cases(LINES) {
        let Ok(record) = Record::read(&numbers.mutated(&whole)) else { continue };
        records += 1;
        let mut state = State::default();
        state.apply(&record);
        state.apply(&record);
        let written = serde_json::to_vec(&record).unwrap();
        assert_eq!(Record::read(&written).as_ref(), Ok(&record));
        let marked = serde_json::to_vec(&state).unwrap();
        assert_eq!(serde_json::from_slice::<State>(&marked).ok(), Some(state), "{record:?}");
    }
    println!("{records} of {} damaged lines are records", cases(LINES));
}

#[test]
fn damaged_parts_give_an_error_or_a_line() {
    let lines: Vec<Vec<u8>> =
        KEPT.split_inclusive(|byte| *byte == b'\n').skip(1).map(<[u8]>::to_vec).collect();
    let nested = [
        r#"{"a":{"=0":{"=1":"a text that is longer than a reference"}},"b":{"=":1}}"#,
        r#"{"a":{"=2":[{"==":{"=":0}},{"=":0}]},"c":{"=3":{"x":{"=":2}}}}"#,
        r#"{"a":{"=":3,"x":{"=+":["a ",{"=":[0,2,9]}]}},"b":{"=+":[{"=":2},[7]]}}"#,
    ];
    let nested: Vec<Vec<u8>> = nested.map(|line| format!("{line}\n").into_bytes()).into();
    let mut numbers = Numbers(0);
    let mut read_whole = 0;
    for case in 0..cases(PARTS) {
        let lines = if case % 4 == 0 { &nested } else { &lines };
        let text = some(&mut numbers, lines, 6);
        let text = numbers.mutated(&[text]);
        let mut read = parts::PartsReader::default();
        for line in text.split(|byte| *byte == b'\n') {
            read_whole += usize::from(read.whole(line).is_ok());
        }
    }
    println!("{read_whole} lines of {} damaged pieces could be put together", cases(PARTS));
    assert!(read_whole > cases(PARTS) / 2);
}

#[test]
fn damaged_files_are_read_or_refused_by_name() {
    let home = Home::new();
    journal(&home, "1");
    let (bytes, path) = (fs::read(home.path("j.jsonl")).unwrap(), home.path("d.jsonl"));
    let (mut numbers, mut read) = (Numbers(0), 0);
    for case in 0..cases(FILES) {
        fs::write(&path, numbers.mutated(std::slice::from_ref(&bytes))).unwrap();
        match journal::read(&path) {
            Ok(_) => read += 1,
            Err(error) => {
                let error = error.to_string();
                assert!(error.starts_with(text(&path)), "case {case}: {error}");
            }
        }
    }
    println!("{read} of {} damaged journals could be read", cases(FILES));
}

/// A process may be killed at any byte.
#[test]
fn a_long_journal_that_ends_anywhere_has_all_whole_blocks() {
    let home = Home::new();
    let (path, cut) = (home.path("a.jsonl.zst"), home.path("cut"));
    let mut written = Journal::create(&path, &Header::at(jiff::Timestamp::UNIX_EPOCH)).unwrap();
    let mut ends = Vec::new();
    for n in 1..=cases(EVENTS) as u64 {
        let text = format!("note {n}, {}", "as before, ".repeat(n as usize % 40));
        written.append(&Record::new(n, n, SessionEvent::Noticed { text })).unwrap();
        ends.push(path.metadata().unwrap().len());
    }
    drop(written);
    let bytes = fs::read(&path).unwrap();
    let mut numbers = Numbers(0);
    for _ in 0..cases(ENDS) {
        let len = numbers.below(bytes.len());
        fs::write(&cut, &bytes[..len]).unwrap();
        let whole = ends.partition_point(|end| *end <= len as u64) as u64;
        let mut reader = journal::JournalReader::open(&cut).unwrap();
        let last = reader.by_ref().map(Result::unwrap).last().map_or(0, |record| record.n);
        assert_eq!(last, whole, "cut at {len}");
        let mut reader = journal::JournalReader::open(&cut).unwrap();
        assert_eq!(reader.go_behind(u64::MAX).unwrap(), whole, "cut at {len}");
    }
    println!("{} ends of a journal of {} events in {} bytes", cases(ENDS), ends.len(), bytes.len());
}

/// A damaged index costs time, never a moment of its journal.
#[test]
fn a_damaged_index_changes_nothing_that_is_seen() {
    let home = Home::new();
    journal(&home, "200");
    let path = home.path("j.jsonl");
    let end = |path| {
        let mut marker = Marker::open(path, u64::MAX).unwrap();
        while marker.read().unwrap().is_some() {}
        (marker.state().n, marker.state().tasks_done, marker.state().tools.clone())
    };
    let whole = end(&path);
    let index = fs::read(index_of(&path)).unwrap();
    let mut numbers = Numbers(0);
    for case in 0..cases(INDEXES) {
        fs::write(index_of(&path), numbers.mutated(std::slice::from_ref(&index))).unwrap();
        assert_eq!(end(&path), whole, "case {case}");
    }
}
