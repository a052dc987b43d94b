//! Uses as lines of JSON, in and out.

use super::*;
use crate::processes::peak_memory;
use crate::program::Home;

fn import(text: &str) -> Result<(Experience, u64), ExperienceError> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("uses.jsonl");
    fs::write(&path, text).unwrap();
    let mut store = Experience::private().unwrap();
    let now = Timestamp::from_second(5).unwrap();
    match store.import(&path, "uses.jsonl", now) {
        Ok(imported) => Ok((store, imported.added)),
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
    let mut store = Experience::private().unwrap();
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
fn an_import_counts_like_single_uses() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("uses.jsonl");
    let uses: Vec<_> = (0..60)
        .map(|n| past(&format!("query {}", n % 7), ["map", "clock"][n % 2], n % 3 == 0))
        .collect();
    let histories = |store: &Experience| {
        let query = store.query("query 3");
        format!(
            "{:?}",
            store.history(&query, &["map".into(), "clock".into()], Same::Counts).unwrap()
        )
    };
    let mut single = Experience::private().unwrap();
    let mut imported = Experience::private().unwrap();
    for part in uses.chunks(25) {
        part.iter().for_each(|past| single.add(past).unwrap());
        single.export(&mut fs::File::create(&path).unwrap()).unwrap();
        imported.import(&path, "f", Timestamp::UNIX_EPOCH).unwrap();
        assert_eq!(histories(&imported), histories(&single));
    }
    // Single uses are counted again afterwards.
    single.add(&uses[0]).unwrap();
    imported.add(&uses[0]).unwrap();
    assert_eq!(histories(&imported), histories(&single));
}

#[test]
fn an_import_can_be_interrupted_and_repeated() {
    let home = Home::new();
    let line = |n: usize| {
        let query = n % 1_000;
        let result = if n.is_multiple_of(7) { 0 } else { n };
        format!(
            "{{\"query\":\"query {query}\",\"tool\":\"t\",\"parameters\":{{}},\
             \"result\":\"{result}\",\"helpful\":true}}\n"
        )
    };
    let import = ["experience", "import", "many.jsonl", "--file", "e.sqlite"];
    let count = || Experience::open(&home.path("e.sqlite")).unwrap().summary().unwrap().uses;
    home.write("many.jsonl", (0..6_000).map(line).collect::<String>());
    for times in 1..=8 {
        let mut program = home.command(&import).spawn().unwrap();
        thread::sleep(std::time::Duration::from_millis(40 * times));
        let _ = program.kill();
        program.wait().unwrap();
    }
    let before = count();
    let said = home.succeed(&import);
    assert!(said.starts_with(&format!("{} uses → e.sqlite", 6_000 - before)), "{said}");
    assert_eq!(count(), 6_000);
    let said = home.succeed(&import);
    assert_eq!(said, "0 uses → e.sqlite (6000 of 6000 uses were imported before)\n");
    assert_eq!(count(), 6_000);

    home.write("many.jsonl", (0..6_001).map(line).collect::<String>());
    let said = home.succeed(&import);
    assert_eq!(said, "1 use → e.sqlite (6000 of 6001 uses were imported before)\n");
    // What was removed can be imported again.
    home.succeed(&["experience", "prune", "--source", "many.jsonl", "--file", "e.sqlite"]);
    assert_eq!(home.succeed(&import), "6001 uses → e.sqlite\n");
}

/// A process of its own, since other tests of this one need memory at the same time.
#[test]
fn a_long_file_is_imported_a_piece_at_a_time() {
    let home = Home::new();
    // The store keeps only its beginning, so most of the work is to read it.
    let result = "x".repeat(200_000);
    let most = |name: &str, uses: usize| {
        let mut lines = std::io::BufWriter::new(fs::File::create(home.path(name)).unwrap());
        for n in 0..uses {
            writeln!(
                lines,
                "{{\"query\":\"query number{}\",\"tool\":\"tool{}\",\"parameters\":{{}},\
                 \"result\":\"{result}\",\"helpful\":{}}}",
                n % 50,
                n % 10,
                n % 3 == 0,
            )
            .unwrap();
        }
        drop(lines);
        let store = format!("{name}.sqlite");
        let most = most_memory(home.command(&["experience", "import", name, "--file", &store]));
        let store = Experience::open_existing(&home.path(&store)).unwrap();
        assert_eq!(store.summary().unwrap().uses, uses as u64);
        (most, fs::metadata(home.path(name)).unwrap().len())
    };
    let ((short, _), (long, length)) = (most("short.jsonl", 1), most("long.jsonl", 300));
    let (Some(short), Some(long)) = (short, long) else { return };
    let more = long.saturating_sub(short);
    assert!(more < length / 2, "{more} bytes of memory for a file of {length}");
}

/// The most memory that a program has had when it was last looked at, in bytes; `None`, loudly, where the system
/// does not say it.
fn most_memory(mut command: std::process::Command) -> Option<u64> {
    let mut program = command.stdout(std::process::Stdio::null()).spawn().unwrap();
    let mut most = None;
    let ended = loop {
        most = peak_memory(program.id()).or(most);
        if let Some(ended) = program.try_wait().unwrap() {
            break ended;
        }
        thread::sleep(std::time::Duration::from_millis(1));
    };
    assert!(ended.success(), "{ended}");
    if most.is_none() {
        eprintln!("SKIPPED: this test needs /proc/PID/status");
    }
    most
}
