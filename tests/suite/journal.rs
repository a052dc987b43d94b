//! Journals as they are found on disks: whole, cut off, damaged, newer, foreign.

use std::{fs, path::Path};

use serde_json::Value;
use toolyard::domain::{By, Event, Record, SessionEvent, State, state::What};
use toolyard::domain::{Task, TaskEvent, TaskId};
use toolyard::report::Report;
use toolyard::store::journal::{self, Header, Journal, JournalError};
use toolyard::ui::wording;

const HEADER: &str =
    r#"{"toolyard_journal":1,"program":"0.1.0","opened":"2026-01-01T00:00:00.000Z"}"#;

fn noticed(n: u64) -> String {
    format!(r#"{{"n":{n},"at":{},"kind":"Noticed","data":{{"text":"note {n}"}}}}"#, n * 10)
}

fn written(text: &str) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    fs::write(&path, text).unwrap();
    (folder, path)
}

fn error(text: &str) -> String {
    let (_folder, path) = written(text);
    journal::read(&path).unwrap_err().to_string().replace(&path.display().to_string(), "FILE")
}

#[test]
fn what_is_appended_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/er/a.jsonl");
    let header = Header::at(jiff::Timestamp::UNIX_EPOCH);
    let mut journal = Journal::create(&path, &header).unwrap();
    let record = |n| Record::new(n, n, SessionEvent::Noticed { text: format!("é\n{n}") });
    for n in 1..=3 {
        journal.append(&record(n)).unwrap();
        // Each line is there at once: a kill after this loses nothing.
        assert_eq!(journal::read(&path).unwrap().records.len() as u64, n);
    }
    journal.sync().unwrap();
    let loaded = journal::read(&path).unwrap();
    assert_eq!((loaded.header, loaded.torn), (header.clone(), 0));
    assert_eq!(loaded.records, (1..=3).map(record).collect::<Vec<_>>());
    // A journal is never overwritten.
    assert!(matches!(Journal::create(&path, &header), Err(JournalError::Taken { .. })));
}

#[test]
fn a_journal_has_its_name_from_its_first_event_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    let header = Header::at(jiff::Timestamp::UNIX_EPOCH);
    let names = || -> Vec<_> {
        let entries = fs::read_dir(folder.path()).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    drop(Journal::create(&path, &header).unwrap());
    assert!(names().is_empty(), "nothing is left of a session without events: {:?}", names());
    let mut journal = Journal::create(&path, &header).unwrap();
    assert_eq!(names(), [".a.jsonl.new"]);
    assert!(matches!(Journal::create(&path, &header), Err(JournalError::Taken { .. })));
    let record = Record::new(1, 1, SessionEvent::Noticed { text: "first".into() });
    journal.append(&record).unwrap();
    assert_eq!(names(), ["a.jsonl"]);
    assert_eq!(journal::read(&path).unwrap().records, std::slice::from_ref(&record));
    // Another program has made a file of this name.
    let mut late = Journal::create(&folder.path().join("b.jsonl"), &header).unwrap();
    fs::write(folder.path().join("b.jsonl"), "mine").unwrap();
    assert!(matches!(late.append(&record), Err(JournalError::Taken { .. })));
    assert_eq!(fs::read_to_string(folder.path().join("b.jsonl")).unwrap(), "mine");
}

/// A journal in which most of a line is in earlier lines, with many frames.
fn repetitive(path: &Path, events: u64) -> Vec<Record> {
    let mut journal = Journal::create(path, &Header::at(jiff::Timestamp::UNIX_EPOCH)).unwrap();
    let task =
        |n: u64| Task::from_text(format!("a question that is asked again and again, {}", n % 7));
    let record = |n: u64| {
        let (first, tasks, by) = (TaskId(n as u32), vec![task(n), task(n + 1)], By::User);
        Record::new(n, n, TaskEvent::TasksQueued { first, tasks, by })
    };
    let records: Vec<_> = (1..=events).map(record).collect();
    records.iter().for_each(|record| journal.append(record).unwrap());
    records
}

#[test]
fn reading_begins_behind_any_event_as_if_all_before_were_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    let records = repetitive(&path, 33_000);
    for n in [0, 1, 2, 2_047, 2_048, 2_049, 16_383, 16_384, 16_385, 32_767, 32_768, 33_000] {
        let mut reader = journal::JournalReader::open(&path).unwrap();
        assert_eq!(reader.go_behind(n).unwrap(), n);
        assert_eq!(reader.next().map(Result::unwrap), records.get(n as usize).cloned(), "{n}");
    }
    let mut reader = journal::JournalReader::open(&path).unwrap();
    assert_eq!(reader.go_behind(33_001).unwrap(), 33_000);
    // What is written later follows, also in a journal that was whole.
    reader.look_again();
    assert!(reader.next().is_none());
}

#[test]
fn every_cut_of_the_last_line_is_tolerated() {
    let whole = format!("{HEADER}\n{}\n{}\n", noticed(1), noticed(2));
    let last = noticed(2).len();
    for cut in 1..=last {
        let (_folder, path) = written(&whole[..whole.len() - cut]);
        let loaded = journal::read(&path).unwrap();
        assert_eq!(loaded.records.len(), 1, "cut by {cut}");
        assert_eq!(loaded.torn, last + 1 - cut);
    }
}

#[test]
fn an_unknown_kind_is_kept_and_shown() {
    let newer = r#"{"n":2,"at":20,"kind":"BrainUploaded","data":{"size":[1,2]}}"#;
    let (_folder, path) = written(&format!("{HEADER}\n{}\n{newer}\n{}\n", noticed(1), noticed(3)));
    let loaded = journal::read(&path).unwrap();
    let Event::Unknown { kind, data } = &loaded.records[1].event else { panic!() };
    assert_eq!((kind.as_str(), data["size"][1].as_u64()), ("BrainUploaded", Some(2)));
    let state = State::fold(&loaded.records);
    assert_eq!((state.n, state.unknown_events), (3, 1));
    assert!(told(&state).contains("BrainUploaded"));
}

#[test]
fn unknown_fields_are_kept_and_shown() {
    let newer = r#"{"n":2,"at":20,"kind":"Noticed","data":{"text":"x","mood":{"good":true}}}"#;
    let (_folder, path) = written(&format!("{HEADER}\n{}\n{newer}\n", noticed(1)));
    let loaded = journal::read(&path).unwrap();
    assert_eq!(loaded.records[1].newer.as_ref().unwrap().fields, ["mood"]);
    assert_eq!(serde_json::to_string(&loaded.records[1]).unwrap(), newer, "nothing is lost");
    let state = State::fold(&loaded.records);
    assert_eq!(state.unknown_fields, 1);
    assert!(told(&state).contains("unknown fields mood"), "{}", told(&state));
}

/// What the transcript says besides calls.
fn told(state: &State) -> String {
    let lines = state.transcript.iter().filter_map(|line| match &line.what {
        What::Told { event } => Some(wording::told(event)),
        What::Newer { fields } => Some(wording::newer(fields)),
        _ => None,
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    for (text, phrases) in [
        ("\n".into(), &["FILE:1", "no journal header"][..]),
        ("hello".into(), &["FILE:1", "expected"]),
        ("hello\n".into(), &["FILE:1", "expected"]),
        ("{\"a\":1}\n".into(), &["FILE:1", "toolyard_journal"]),
        (
            "{\"toolyard_journal\":9,\"program\":\"7.0\"}\n".into(),
            &["format 9", "up to 4", "toolyard 7.0"],
        ),
        (format!("{HEADER}\nnonsense\n"), &["FILE:2", "expected an event"]),
        (
            format!(
                "{HEADER}\n{{\"n\":1,\"at\":1,\"kind\":\"StrategyChosen\",\"data\":{{\"strategy\":\
                 \"magic\",\"was\":\"react\",\"by\":\"user\"}}}}\n"
            ),
            &["FILE:2", "data.strategy: there is no strategy `magic`"],
        ),
        (format!("{HEADER}\n{}\n", noticed(2)), &["FILE:2", "found event 2, expected event 1"]),
        (
            format!(
                "{HEADER}\n{}\n{}\n",
                noticed(1),
                r#"{"n":2,"at":3,"kind":"Noticed","data":{}}"#
            ),
            &["FILE:3", "text"],
        ),
        (format!("{HEADER}\n{}\n", r#"{"n":1,"at":-3,"kind":"Paused"}"#), &["FILE:2", "-3"]),
    ] {
        let error = error(&text);
        for phrase in phrases {
            assert!(error.contains(phrase), "{phrase:?} is not in {error:?}");
        }
    }
    assert!(
        journal::read(Path::new("/nowhere/a.jsonl")).unwrap_err().to_string().contains("/nowhere")
    );
}

#[test]
fn a_journal_that_was_killed_before_its_header_is_empty() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("j.jsonl");
    for begun in [0, 1, 20, HEADER.len()] {
        std::fs::write(&path, &HEADER[..begun]).unwrap();
        let loaded = journal::read(&path).unwrap();
        assert!(loaded.records.is_empty(), "{begun}");
        assert!(loaded.remark().unwrap().contains("the journal is empty"), "{begun}");
    }
}

const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/journals");

fn kept(name: &str) -> Vec<u8> {
    fs::read(Path::new(KEPT).join(name)).unwrap()
}

/// Whether all that was known then is the same now; what was added since does not count.
fn assert_has(now: &Value, then: &Value, at: &str) {
    match (now, then) {
        (Value::Object(now), Value::Object(then)) => {
            // The knob `speed` took the place of `pace`.
            let kept = then.iter().filter(|(key, _)| *key != "pace");
            // Reports have choices and switches by their names now; numbers are as they were.
            let kept = kept.filter(|(key, _)| at != ".knobs" || now[*key].is_number());
            kept.for_each(|(key, then)| assert_has(&now[key], then, &format!("{at}.{key}")));
        }
        (Value::Array(now), Value::Array(then)) => {
            assert_eq!(now.len(), then.len(), "{at}");
            let both = now.iter().zip(then).enumerate();
            both.for_each(|(i, (now, then))| assert_has(now, then, &format!("{at}.{i}")));
        }
        _ => assert_eq!(now, then, "{at}"),
    }
}

/// The files were written by earlier versions, and are never changed: every later version must open them.
#[test]
fn journals_of_all_formats_are_read_for_ever() {
    let then: Value = serde_json::from_slice(&kept("report.json")).unwrap();
    let formats = [1, 2, 3].map(|format| {
        let loaded =
            journal::read(&Path::new(KEPT).join(format!("format-{format}.jsonl"))).unwrap();
        assert_eq!(loaded.header.toolyard_journal, format);
        assert_eq!((loaded.records.len(), loaded.torn), (77, 0));
        let state = State::fold(&loaded.records);
        assert_eq!((state.unknown_events, state.unknown_fields), (0, 0));
        assert_has(&serde_json::to_value(Report::of(&state)).unwrap(), &then, "");
        loaded.records
    });
    assert!(formats.iter().all(|records| *records == formats[0]));
    let sizes = [3, 2, 1].map(|format| kept(&format!("format-{format}.jsonl")).len());
    assert!(sizes.is_sorted(), "{sizes:?}");
}

/// A process may be killed at any byte, and `tail -f` shows lines as they come.
#[test]
fn every_beginning_of_a_journal_is_a_journal() {
    let whole = kept("format-3.jsonl");
    let records = journal::read(&Path::new(KEPT).join("format-3.jsonl")).unwrap().records;
    let header = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    let ends: Vec<usize> = (header..=whole.len()).filter(|end| whole[end - 1] == b'\n').collect();
    for (lines, end) in ends.iter().enumerate() {
        let next = ends.get(lines + 1).unwrap_or(end);
        for cut in [*end, (end + next) / 2, next.saturating_sub(1).max(*end)] {
            fs::write(&path, &whole[..cut]).unwrap();
            let loaded = journal::read(&path).unwrap();
            assert_eq!(loaded.records, records[..lines], "cut at {cut}");
            assert_eq!(loaded.torn, cut - end, "cut at {cut}");
        }
    }
}

/// In a request of format 1 nothing stands for anything else, and since format 2 nothing that a tool returned does.
#[test]
fn what_looks_like_a_part_is_data() {
    let hostile = r#"{"=":0}"#;
    let line = format!(
        r#"{{"n":1,"at":1,"kind":"ToolCallRequested","data":{{"effect":{{"id":1,"class":"read"}},"task":1,"step":1,"tool":"t","arguments":{hostile}}}}}"#
    );
    let (_folder, path) = written(&format!("{HEADER}\n{line}\n"));
    let records = journal::read(&path).unwrap().records;
    assert_eq!(serde_json::to_string(&records[0]).unwrap(), line);
    let again = path.with_extension("2");
    let header = Header::at(jiff::Timestamp::UNIX_EPOCH);
    Journal::create(&again, &header).unwrap().append(&records[0]).unwrap();
    assert_eq!(journal::read(&again).unwrap().records, records);

    let (_folder, path) = written(&format!("{}\n{line}\n", HEADER.replace(":1,", ":2,")));
    let error = journal::read(&path).unwrap_err().to_string();
    assert!(error.contains(":2: no line before this one has part 0; expected an event"), "{error}");
}

/// Earlier versions wrote an infinite sum as `null`: the journal opens, and the sum is unknown.
#[test]
fn a_number_that_was_too_large_to_write_is_unknown() {
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/journals/format-2.jsonl");
    let whole = fs::read_to_string(kept).unwrap();
    let pair = r#"{"strategy":"react","solver":{"model":"m","source":"s","simulated":false},"tasks":2,"with_gold":0,"correct":0,"tokens_in":1,"tokens_out":1,"steps":1,"dollars":null,"unpriced":0}"#;
    let pairs = format!(
        "{HEADER}\n{{\"n\":1,\"at\":1,\"kind\":\"PairsLoaded\",\"data\":{{\"pairs\":[{pair}]}}}}\n"
    );
    let (_folder, path) = written(&pairs);
    let state = State::fold(&journal::read(&path).unwrap().records);
    assert_eq!(state.pairs.all()[0].dollars, None);
    // Any float of a journal may be one.
    let mut nulls = 0;
    for (at, line) in whole.lines().enumerate().skip(1) {
        let floats = line.match_indices(".").filter(|(dot, _)| {
            let digit = |at: usize| line.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
            digit(dot - 1) && digit(dot + 1)
        });
        for (dot, _) in floats {
            let is_part = |c: char| !(c.is_ascii_digit() || ".-+eE".contains(c));
            let from = line[..dot].rfind(is_part).map_or(0, |at| at + 1);
            let to = line[dot..].find(is_part).map_or(line.len(), |end| dot + end);
            // A number, not a text.
            if !line[..from].ends_with([':', ',', '[']) || !line[to..].starts_with([',', '}', ']'])
            {
                continue;
            }
            let null = format!("{}null{}", &line[..from], &line[to..]);
            let lines: Vec<&str> = whole.lines().collect();
            let text = [&lines[..at], &[null.as_str()], &lines[at + 1..]].concat().join("\n");
            let (_folder, path) = written(&(text + "\n"));
            let loaded =
                journal::read(&path).unwrap_or_else(|error| panic!("{error}: {null:.300}"));
            let _ = Report::of(&State::fold(&loaded.records));
            nulls += 1;
        }
    }
    assert!(nulls > 3, "{nulls} floats");
}

#[test]
fn a_map_of_tools_in_an_older_journal_is_named_and_read_past() {
    let map = r#"{"n":1,"at":10,"kind":"ToolsMapped","data":{"map":{"explained":[0.4,0.1],"tools":[["a",[0.5,0.5]]]}}}"#;
    let (_folder, path) = written(&format!("{HEADER}\n{map}\n{}\n", noticed(2)));
    let read = journal::read(&path).unwrap();
    assert_eq!(read.records.len(), 2);
    let Event::Reader(event) = &read.records[0].event else { panic!("{:?}", read.records[0]) };
    assert_eq!(wording::reader(event), "a map of the tools, which is no longer shown");
}
