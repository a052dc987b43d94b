//! `kill -9` at a hundred moments of sessions that write to a file: after `toolyard resume` no write was made twice, and
//! those whose outcome nobody knows were asked for.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Child;
use std::time::{Duration, Instant};
use std::{fs, thread};

use serde_json::Value;

use crate::program::Home;

const KILLS: usize = 100;

const NOTE: &str = r#"
name = "note"
description = "Appends a line to a file."
effect = "write"
timeout = "5s"
[parameters]
required = ["text"]
[parameters.properties.text]
type = "string"
[source]
command = ["sh", "-c", "t=$(sed 's/.*\"text\": *\"\\([^\"]*\\)\".*/\\1/'); sleep 0.02; echo \"$t\" >> notes.txt; sleep 0.02; echo \"noted $t\""]
"#;

fn workspace(home: &Home) {
    home.write("w/tools/note.toml", NOTE);
    let mut tasks = "[capabilities]\nnote = [\"note\"]\n".to_owned();
    for task in ["a", "b", "c"] {
        let steps = (1..=3).map(|n| {
            format!(
                "  {{ do = \"note\", arguments = {{ text = \"{task}{n}\" }}, finds = \"noted {task}{n}\" }},\n"
            )
        });
        let steps: String = steps.collect();
        tasks.push_str(&format!(
            "[[task]]\ntext = \"Note {task}1, then {task}2, then {task}3.\"\ngold = \"noted {task}3\"\nchain = [\n{steps}]\n"
        ));
    }
    home.write("w/tasks.toml", tasks);
}

/// How often each line was written.
fn notes(home: &Home) -> BTreeMap<String, usize> {
    let mut notes = BTreeMap::new();
    let text = fs::read_to_string(home.path("w/tools/notes.txt")).unwrap_or_default();
    text.lines().for_each(|line| *notes.entry(line.to_owned()).or_default() += 1);
    notes
}

fn journals(home: &Home) -> Vec<PathBuf> {
    let Ok(folder) = fs::read_dir(home.path("toolyard/journals")) else { return Vec::new() };
    let paths = folder.map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect();
    // Each continues the one before: `j.jsonl`, `j.2.jsonl`, `j.10.jsonl`.
    let number = |path: &PathBuf| {
        path.file_stem()?.to_str()?.rsplit_once('.').and_then(|(_, number)| number.parse().ok())
    };
    paths.sort_by_key(|path| number(path).unwrap_or(1_u32));
    paths
}

/// What the journals say of the writes: those that have ended, and those that ran when a session was killed.
#[derive(Default, Debug)]
struct Told {
    ended: BTreeSet<String>,
    unknown: BTreeSet<String>,
    notices: usize,
}

fn told(home: &Home) -> Told {
    let mut told = Told::default();
    for path in journals(home) {
        let (mut texts, mut running) = (BTreeMap::new(), BTreeSet::new());
        for line in fs::read_to_string(path).unwrap().lines() {
            let Ok(record) = serde_json::from_str::<Value>(line) else { continue };
            let (kind, data) = (record["kind"].as_str().unwrap_or_default(), &record["data"]);
            let effect = &data["effect"];
            let id = effect["id"].as_u64().unwrap_or_default();
            match kind {
                "ToolCallRequested" => {
                    texts.insert(id, data["arguments"]["text"].as_str().unwrap().to_owned());
                }
                "ToolCallStarted" if effect["origin"] != "recorded" => {
                    running.insert(id);
                }
                "ToolCallFinished" | "ToolCallFailed" => {
                    running.remove(&id);
                    if kind == "ToolCallFinished" {
                        told.ended.insert(texts[&id].clone());
                    }
                }
                "OutcomeUnknown" => told.notices += 1,
                _ => {}
            }
        }
        // One that was killed while it copied the past has the starts of calls whose ends stand in the journal before.
        let texts = running.iter().map(|id| texts[id].clone());
        let unknown: Vec<String> = texts.filter(|text| !told.ended.contains(text)).collect();
        told.unknown.extend(unknown);
    }
    told
}

/// Waits for the end, but no longer than this; true if it had to be killed.
fn killed(mut child: Child, after: Duration) -> bool {
    let start = Instant::now();
    while start.elapsed() < after {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // What it had started ends with it, a moment later.
    thread::sleep(Duration::from_millis(60));
    true
}

#[test]
fn a_session_that_is_killed_anywhere_goes_on_without_writing_anything_twice() {
    let run = ["run", "--workspace", "w", "--strategy", "react", "--fresh"];
    let resume = ["resume", "--headless"];
    let home = Home::new();
    workspace(&home);
    let start = Instant::now();
    home.succeed(&run);
    let whole = start.elapsed();
    assert_eq!(notes(&home).len(), 9, "{:?}", notes(&home));

    let (mut kills, mut unknown, mut seed) = (0, 0, 1_u64);
    while kills < KILLS {
        let home = Home::new();
        workspace(&home);
        let mut arguments: &[&str] = &run;
        loop {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let after = whole.mul_f64((seed >> 33) as f64 / f64::from(1_u32 << 31));
            let mut command = home.command(arguments);
            command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
            if !killed(command.spawn().unwrap(), after) {
                break;
            }
            kills += 1;
            let twice: Vec<_> = notes(&home).into_iter().filter(|(_, times)| *times > 1).collect();
            assert_eq!(twice, [], "after kill {kills}");
            arguments = if journals(&home).is_empty() { &run } else { &resume };
        }
        let (notes, told) = (notes(&home), told(&home));
        for text in &told.ended {
            assert_eq!(notes.get(text), Some(&1), "{text}: {notes:?} {told:?}");
        }
        for (text, times) in &notes {
            assert_eq!(*times, 1, "{text}: {told:?}");
            assert!(told.ended.contains(text) || told.unknown.contains(text), "{text}: {told:?}");
        }
        assert!(told.notices >= told.unknown.len(), "each unknown one is told: {told:?}");
        unknown += told.unknown.len();
    }
    assert!(unknown > 5, "some writes were hit: {unknown}");
}
