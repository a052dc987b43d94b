//! Journals as zstd streams: plain lines for other programs, cut off at any byte, damaged, hostile, mixed with files of
//! earlier formats.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use toolyard::domain::{By, Record, SessionEvent, Task, TaskEvent, TaskId};
use toolyard::files::sha256;
use toolyard::store::journal::{self, FORMAT, Header, Journal, JournalReader, Summary, folder};

use crate::program::{Home, text_of, unpacked};

const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/journals");
/// Events of a frame.
const FRAME: u64 = 2048;

fn header() -> Header {
    Header::at(jiff::Timestamp::UNIX_EPOCH)
}

fn noticed(n: u64) -> Record {
    Record::new(
        n,
        n,
        SessionEvent::Noticed { text: format!("é {n} {}", "word ".repeat(n as usize % 9)) },
    )
}

/// A journal of this many events, each of which is a block.
fn made(path: &Path, events: u64) -> Vec<Record> {
    let records: Vec<_> = (1..=events).map(noticed).collect();
    let mut journal = Journal::create(path, &header()).unwrap();
    records.iter().for_each(|record| journal.append(record).unwrap());
    records
}

fn packed(text: &[u8]) -> Vec<u8> {
    zstd::encode_all(text, 3).unwrap()
}

fn error(path: &Path) -> String {
    journal::read(path).unwrap_err().to_string().replace(&path.display().to_string(), "FILE")
}

#[test]
fn a_journal_is_plain_lines_for_any_reader_of_zstd() {
    let home = Home::new();
    let path = home.path("a.jsonl.zst");
    let records = made(&path, 5000);
    let text = String::from_utf8(unpacked(&path).unwrap()).unwrap();
    let mut lines = text.lines();
    let header = JournalReader::open(&path).unwrap().header;
    assert_eq!(lines.next().unwrap(), serde_json::to_string(&header).unwrap());
    let expected: Vec<_> = records.iter().map(|it| serde_json::to_string(it).unwrap()).collect();
    assert_eq!(lines.collect::<Vec<_>>(), expected);
    let size = path.metadata().unwrap().len();
    assert!(size * 3 < text.len() as u64, "{size} bytes for {}", text.len());
    // `journal cat` prints the same.
    assert_eq!(home.succeed(&["journal", "cat", "a.jsonl.zst"]), text);
}

#[test]
fn a_journal_that_is_cut_at_any_byte_has_the_blocks_before() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, path) = (folder.path().join("whole"), folder.path().join("cut"));
    let mut journal = Journal::create(&whole, &header()).unwrap();
    let (mut ends, mut records) = (Vec::new(), Vec::new());
    // The second frame begins in the middle.
    for n in FRAME - 6..FRAME + 6 {
        let n = n + 7 - FRAME;
        let record = Record::new(n, n, noticed(n).event);
        journal.append(&record).unwrap();
        records.push(record);
        ends.push(whole.metadata().unwrap().len());
    }
    drop(journal);
    let bytes = fs::read(&whole).unwrap();
    for cut in 0..=bytes.len() {
        fs::write(&path, &bytes[..cut]).unwrap();
        let count = ends.iter().filter(|end| **end <= cut as u64).count();
        let loaded = journal::read(&path).unwrap_or_else(|error| panic!("cut at {cut}: {error}"));
        assert_eq!(loaded.records, records[..count], "cut at {cut}");
        let is_end = ends.contains(&(cut as u64));
        assert!(loaded.torn > 0 || is_end || count == 0 || cut < 9, "cut at {cut}");
        if count > 0 {
            let named = loaded.remark().is_none_or(|it| it.starts_with("ignored an incomplete"));
            assert!(named, "{:?}", loaded.remark());
        }
        let mut reader = JournalReader::open(&path).unwrap();
        assert_eq!(reader.go_behind(u64::MAX).unwrap(), count as u64, "cut at {cut}");
        assert_eq!(Summary::of(&path).unwrap().events, count as u64, "cut at {cut}");
    }
}

#[test]
fn a_reader_follows_a_journal_that_grows_by_any_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, path) = (folder.path().join("whole"), folder.path().join("grows"));
    let records = made(&whole, 2 * FRAME + 100);
    let bytes = fs::read(&whole).unwrap();
    for step in [1, 7, 1000, 70_000] {
        let begin = if step == 1 { bytes.len() - 3000 } else { 2000 };
        fs::write(&path, &bytes[..begin]).unwrap();
        let mut grows = fs::OpenOptions::new().append(true).open(&path).unwrap();
        let mut reader = JournalReader::open(&path).unwrap();
        let mut read: Vec<Record> = reader.by_ref().map(Result::unwrap).collect();
        for piece in bytes[begin..].chunks(step) {
            grows.write_all(piece).unwrap();
            reader.look_again();
            read.extend(reader.by_ref().map(Result::unwrap));
            reader.expect_same().unwrap();
        }
        assert_eq!(read, records, "{step}");
        assert_eq!(reader.remark(), None);
    }
}

#[test]
fn a_place_is_reached_from_the_frame_that_it_is_in() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let records = made(&path, 3 * FRAME + 5);
    let mut reader = JournalReader::open(&path).unwrap();
    let mut places = vec![reader.place()];
    while let Some(record) = reader.next() {
        record.unwrap();
        places.push(reader.place());
    }
    let mut other = JournalReader::open(&path).unwrap();
    for n in [0, 1, 2, FRAME - 1, FRAME, FRAME + 1, 2 * FRAME, 3 * FRAME + 4, 3 * FRAME + 5] {
        other.go_to(places[n as usize]).unwrap();
        let next = other.next().map(Result::unwrap);
        assert_eq!(next.as_ref(), records.get(n as usize), "{n}");
    }
    // A place where a frame begins is that of the frame: nothing before it is unpacked.
    let place = serde_json::to_value(places[FRAME as usize]).unwrap();
    assert_eq!(place["next"]["skip"], 0, "{place}");
    assert!(place["next"]["from"].as_u64().unwrap() > 1000, "{place}");
}

#[test]
fn the_content_tells_what_a_file_is_and_not_its_name() {
    let home = Home::new();
    let told = |name: &str| {
        let printed = home.succeed(&["replay", name, "--json", "--full"]);
        hash(&printed)
    };
    for format in ["format-1", "format-2", "format-3", "workers"] {
        let plain = fs::read(Path::new(KEPT).join(format!("{format}.jsonl"))).unwrap();
        let expected = hashes().into_iter().find(|(name, _)| name.starts_with(format)).unwrap().1;
        // In one stream, in many frames, behind one that is skipped, and as text with the name of a stream.
        let half = plain.len() / 2;
        let skipped = [0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
        for (name, bytes) in [
            ("one.jsonl", packed(&plain)),
            ("many.txt", [packed(&plain[..half]), packed(b""), packed(&plain[half..])].concat()),
            ("skipped", [&skipped[..], &packed(&plain)].concat()),
            ("text.jsonl.zst", plain.clone()),
        ] {
            home.write(name, bytes);
            assert_eq!(told(name), expected, "{format} as {name}");
        }
    }
    // The newest format as text.
    home.write("new", home.succeed(&["journal", "cat", "one.jsonl"]));
    assert_eq!(told("new"), told("one.jsonl"));
    let moment = ["replay", "one.jsonl", "--at", "30", "--json"];
    assert_eq!(home.succeed(&moment), home.succeed(&["replay", "new", "--at", "30", "--json"]));
}

#[test]
fn damage_is_named_and_what_is_before_it_is_printed() {
    let home = Home::new();
    let path = home.path("a.jsonl.zst");
    made(&path, 300);
    let bytes = fs::read(&path).unwrap();
    let mut bad = bytes.clone();
    // A block of a type that there is not.
    let at = bytes.len() / 2;
    bad[at..at + 200].fill(0xff);
    fs::write(&path, &bad).unwrap();
    let said = error(&path);
    assert!(
        said.starts_with("FILE: damaged behind event ") && said.contains("journal cat"),
        "{said}"
    );
    let ran = home.run(&["journal", "cat", "a.jsonl.zst"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    let printed = ran.out.lines().count();
    assert!((50..290).contains(&printed), "{printed}");
    assert!(said.contains(&format!("behind event {}:", printed - 1)), "{said}: {printed}");
    // Text behind the stream, and another journal behind it.
    fs::write(&path, [&bytes[..], b"more"].concat()).unwrap();
    assert!(error(&path).starts_with("FILE: damaged behind event 300: "), "{}", error(&path));
    let text = text_of(bytes);
    fs::write(&path, [packed(&text), packed(&text)].concat()).unwrap();
    assert!(error(&path).starts_with("FILE:302: "), "{}", error(&path));
}

#[test]
fn what_is_no_journal_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl.zst");
    let newer = br#"{"toolyard_journal":99,"program":"9.0"}"#;
    for (bytes, why) in [
        (packed(b"hello\n"), "FILE:1: no journal header"),
        (packed(&[newer, &b"\n"[..]].concat()), "FILE: written in format 99"),
        // One that needs a dictionary, which nobody has.
        (needs_dictionary(), "FILE:1: no journal header: "),
    ] {
        fs::write(&path, bytes).unwrap();
        assert!(error(&path).starts_with(why), "{}", error(&path));
        assert!(Summary::of(&path).is_err());
    }
}

fn needs_dictionary() -> Vec<u8> {
    let mut bytes = packed(format!("{}\n", serde_json::to_string(&header()).unwrap()).as_bytes());
    // The flag of a dictionary with a number of one byte, behind the window's size or the length.
    bytes[4] |= 1;
    let at = if bytes[4] & 0x20 == 0 { 6 } else { 5 };
    bytes.insert(at, 7);
    bytes
}

/// A line of 100 GB would be 100 GB in memory.
#[test]
fn a_stream_that_unpacks_to_far_more_is_refused_after_the_longest_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl.zst");
    let head = serde_json::to_string(&header()).unwrap();
    let begin = packed(format!("{head}\n").as_bytes());
    // Each frame is 100 MB of one letter: 1,000 of them take some MB.
    let frame = packed(&vec![b'x'; 100 << 20]);
    let bomb = [begin, frame.repeat(1000)].concat();
    fs::write(&path, bomb).unwrap();
    let said = error(&path);
    assert!(said.contains("a line of more than 268435456 bytes"), "{said}");
    let said = Summary::of(&path).unwrap_err().to_string();
    assert!(said.contains("a line of more than"), "{said}");
}

/// The hash of what `replay --json --full` printed of each journal before format 4, with what states have since then: the
/// problems of a session; of watched sessions, what came after what, and what their agents did about faults.
fn hashes() -> Vec<(String, String)> {
    let text = fs::read_to_string(Path::new(KEPT).join("replayed.sha256")).unwrap();
    let two = text.lines().map(|line| line.split_once("  ").unwrap());
    two.map(|(hash, name)| (name.to_owned(), hash.to_owned())).collect()
}

fn hash(text: &str) -> String {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    sha256::of_file(file.path()).unwrap()
}

#[test]
fn journals_of_all_strategies_show_the_same_in_their_format_and_in_the_newest() {
    let home = Home::new();
    let hashes = hashes();
    assert!(hashes.len() > 15);
    let replayed = |name: &str| hash(&home.succeed(&["replay", name, "--json", "--full"]));
    for (name, expected) in &hashes {
        fs::copy(Path::new(KEPT).join(name), home.path(name)).unwrap();
        assert_eq!(&replayed(name), expected, "{name}");
    }
    let names = hashes.iter().map(|(name, _)| name.as_str());
    let said = home.succeed(&[&["journal", "upgrade"][..], &names.collect::<Vec<_>>()].concat());
    assert_eq!(said.matches("→ format 4").count(), hashes.len(), "{said}");
    for (name, expected) in &hashes {
        let path = home.path(name);
        assert_eq!(&replayed(name), expected, "{name}");
        assert_eq!(JournalReader::open(&path).unwrap().header.toolyard_journal, FORMAT);
        let old = Path::new(KEPT).join(name);
        assert_eq!(journal::read(&path).unwrap().records, journal::read(&old).unwrap().records);
        assert!(path.metadata().unwrap().len() < old.metadata().unwrap().len(), "{name}");
        assert_eq!(journal::upgrade(&path).unwrap(), None, "it is not written again");
    }
}

#[test]
fn only_a_journal_that_nobody_writes_is_upgraded_and_a_link_stays_one() {
    let home = Home::new();
    let path = home.path("a.jsonl");
    let whole = fs::read(Path::new(KEPT).join("format-3.jsonl")).unwrap();
    fs::write(&path, &whole[..whole.len() - 5]).unwrap();
    let writer = File::open(&path).unwrap();
    writer.lock().unwrap();
    let ran = home.run(&["journal", "upgrade", "a.jsonl"]);
    assert!(ran.code == 2 && ran.err.contains("a running session writes this journal"), "{ran:?}");
    drop(writer);
    std::os::unix::fs::symlink("a.jsonl", home.path("link")).unwrap();
    let ran = home.run(&["journal", "upgrade", "link"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("ignored an incomplete last line"), "{ran:?}");
    assert!(home.path("link").is_symlink());
    assert_eq!(journal::read(&path).unwrap().records.len(), 76);
    let ran = home.run(&["journal", "upgrade", "none.jsonl"]);
    assert!(ran.code == 2 && ran.err.contains("none.jsonl"), "{ran:?}");
    let left: Vec<PathBuf> =
        fs::read_dir(home.path("")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let is_known =
        |path: &PathBuf| ["a.jsonl", "link", "toolyard"].iter().any(|it| path.ends_with(it));
    assert!(left.iter().all(is_known), "{left:?}");
}

/// Each would cost a look at the bytes before it.
#[test]
fn a_file_that_is_full_of_beginnings_of_frames_costs_no_more_than_its_length() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl.zst");
    made(&path, 20);
    let mut bytes = fs::read(&path).unwrap();
    bytes.extend([0x50, 0x2a, 0x4d, 0x18]);
    // A frame that readers skip, with ten million beginnings.
    bytes.extend((40_u32 << 20).to_le_bytes());
    bytes.extend([0x28, 0xb5, 0x2f, 0xfd].repeat(10 << 20));
    fs::write(&path, bytes).unwrap();
    let _ = Summary::of(&path);
    let mut reader = JournalReader::open(&path).unwrap();
    let _ = reader.go_behind(10);
    assert_eq!(reader.place().n, 10);
}

#[test]
fn a_short_session_has_its_first_task_and_its_end_in_its_summary() {
    let folder = tempfile::tempdir().unwrap();
    for events in [2, 3, 16, 17, 18, 40] {
        let path = folder.path().join(format!("{events}.jsonl.zst"));
        let mut journal = Journal::create(&path, &header()).unwrap();
        let tasks = vec![Task::from_text("Why?"), Task::from_text("How?")];
        let queued = TaskEvent::TasksQueued { first: TaskId(1), tasks, by: By::Engine };
        journal.append(&Record::new(1, 1, queued)).unwrap();
        (2..=events).for_each(|n| journal.append(&noticed(n)).unwrap());
        drop(journal);
        let summary = Summary::of(&path).unwrap();
        assert_eq!((summary.events, summary.question.as_str()), (events, "Why?"));
    }
}

#[test]
fn the_end_of_a_long_session_is_found_without_its_events() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl.zst");
    let mut journal = Journal::create(&path, &header()).unwrap();
    for n in 1..2000 {
        journal.append(&noticed(n)).unwrap();
    }
    let before = path.metadata().unwrap().len();
    let end = SessionEvent::SessionEnded { why: "over".into(), totals: None };
    journal.append(&Record::new(2000, 2000, end)).unwrap();
    drop(journal);
    assert!(zstd::decode_all(File::open(&path).unwrap()).is_ok(), "its last frame has ended");
    let mut bytes = fs::read(&path).unwrap();
    // What is before the last frame cannot be read, but for its beginning.
    bytes[1000..before as usize - 20].fill(0xff);
    fs::write(&path, bytes).unwrap();
    let summary = Summary::of(&path).unwrap();
    assert_eq!((summary.events, summary.ended.as_deref()), (2000, Some("over")));
    assert_eq!(folder::stem(&path), "a");
}
