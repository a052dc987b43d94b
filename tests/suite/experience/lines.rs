//! Uses as lines of JSON, in and out.

use super::*;

fn import(text: &str) -> Result<(Experience, u64), ExperienceError> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("uses.jsonl");
    fs::write(&path, text).unwrap();
    let mut store = Experience::in_memory().unwrap();
    let now = Timestamp::from_second(5).unwrap();
    match store.import(&path, "uses.jsonl", now) {
        Ok(imported) => Ok((store, imported)),
        Err(error) => {
            assert_eq!(store.summary().unwrap().uses, 0, "a bad file leaves nothing behind");
            Err(error)
        }
    }
}

#[test]
fn what_is_exported_can_be_imported_and_is_the_same() {
    let first = store(&[
        past("weather in Paris", "forecast", true),
        later(past("weather in \u{1b}[31m Lyon\n\"", "forecast", false), 7),
        past("x", "t", true),
    ]);
    let lines = exported(&first);
    let (second, imported) = import(&lines).unwrap();
    assert_eq!(imported, 3);
    assert_eq!(exported(&second), lines);
    assert_eq!(second.summary().unwrap(), first.summary().unwrap());
}

#[test]
fn a_line_may_leave_out_when_and_where_from_and_say_its_score_as_a_number() {
    let text = r#"
{"query": "q", "tool": "t", "parameters": {"a": 1}, "result": "r", "helpful": 1}

{"query": "q", "tool": "t", "parameters": null, "result": {"k": [1]}, "helpful": 0, "more": 1,
"#;
    let text = text.trim_end().trim_end_matches(',').to_owned()
        + ", \"at\": \"2024-01-02T03:04:05+01:00\", \"source\": \"s\"}";
    let (store, imported) = import(&text).unwrap();
    assert_eq!(imported, 2);
    assert_eq!(
        exported(&store),
        "{\"query\":\"q\",\"tool\":\"t\",\"parameters\":{\"a\":1},\"result\":\"r\",\
         \"helpful\":true,\"at\":\"1970-01-01T00:00:05Z\",\"source\":\"uses.jsonl\"}\n\
         {\"query\":\"q\",\"tool\":\"t\",\"parameters\":null,\"result\":\"{\\\"k\\\":[1]}\",\
         \"helpful\":false,\"at\":\"2024-01-02T02:04:05Z\",\"source\":\"s\"}\n"
    );
}

#[test]
fn a_bad_line_is_named_with_its_field_and_nothing_is_imported() {
    let good = r#"{"query":"q","tool":"t","parameters":{},"result":"r","helpful":true}"#;
    for (bad, says) in [
        ("nonsense", "uses.jsonl:3: expected ident"),
        (r#"{"query":"q""#, "uses.jsonl:3: EOF while parsing"),
        ("[]", "uses.jsonl:3: "),
        (&good.replace("\"q\"", "7"), "uses.jsonl:3: query: invalid type: integer `7`"),
        (&good.replace("\"q\"", "\"  \""), "uses.jsonl:3: query: expected a text, found an empty"),
        (&good.replace("\"t\"", "\"end\""), "uses.jsonl:3: tool: expected a tool's name"),
        (&good.replace("true", "2"), "uses.jsonl:3: helpful: expected true or false, found 2"),
        (&good.replace("true", "\"yes\""), "uses.jsonl:3: helpful: expected true or false"),
        (&good.replace("helpful", "helpfull"), "uses.jsonl:3: missing field `helpful`"),
        (
            r#"{"query":"q","tool":"t","parameters":{},"result":"","helpful":true,"at":"noon"}"#,
            "uses.jsonl:3: at: expected a time such as",
        ),
    ] {
        let error = import(&format!("{good}\n\n{bad}\n{good}\n")).err();
        let text = error.unwrap_or_else(|| panic!("{bad} was taken")).to_string();
        assert!(text.contains(says), "{bad}\n{text}\nnot {says}");
    }
}

#[test]
fn other_bytes_and_endless_lines_are_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("uses.jsonl");
    let mut store = Experience::in_memory().unwrap();
    let mut fails = |bytes: &[u8], says: &str| {
        fs::write(&path, bytes).unwrap();
        let text = store.import(&path, "f", Timestamp::UNIX_EPOCH).unwrap_err().to_string();
        assert!(text.contains(says), "{text}");
    };
    fails(b"\xff\xfe\n", "uses.jsonl:1: expected UTF-8");
    fails(&vec![b'x'; 17 * 1024 * 1024], "uses.jsonl:1: longer than 16 MiB");
    let missing = store.import(&folder.path().join("none"), "f", Timestamp::UNIX_EPOCH);
    assert!(matches!(missing, Err(ExperienceError::Io { .. })));
    let is_folder = store.import(folder.path(), "f", Timestamp::UNIX_EPOCH);
    assert!(is_folder.unwrap_err().to_string().contains("not a file"));
}

#[test]
fn a_long_file_is_imported_a_piece_at_a_time() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("many.jsonl");
    let mut file = std::io::BufWriter::new(fs::File::create(&path).unwrap());
    let result = "x".repeat(2_000);
    for n in 0..50_000 {
        writeln!(
            file,
            "{{\"query\":\"query number{}\",\"tool\":\"tool{}\",\"parameters\":{{}},\
             \"result\":\"{result}\",\"helpful\":{}}}",
            n % 5_000,
            n % 100,
            n % 3 == 0,
        )
        .unwrap();
    }
    drop(file);
    let length = fs::metadata(&path).unwrap().len();
    let before = peak();
    let mut store = Experience::open(&folder.path().join("e.sqlite")).unwrap();
    assert_eq!(store.import(&path, "many", Timestamp::UNIX_EPOCH).unwrap(), 50_000);
    assert_eq!(store.summary().unwrap().uses, 50_000);
    if let (Some(before), Some(after)) = (before, peak()) {
        // The system counts roughly, and may say less than before.
        let grown = after.saturating_sub(before);
        assert!(grown < length / 2, "{grown} bytes of memory for a file of {length}");
    }
}

/// The most memory that this process has had, in bytes, where the system says it.
fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? * 1024)
}
