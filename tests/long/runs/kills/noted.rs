//! A workspace whose tool counts its writes, and what its journals say of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use toolyard::domain::Record;
use toolyard::store::journal::{self, folder};

use crate::program::Home;

/// The tool adds each text to a file, and takes a moment before and after that.
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

/// Tasks of the workspace, each of which makes three writes.
pub const TASKS: [&str; 3] = ["a", "b", "c"];

pub fn workspace(home: &Home) {
    home.write("w/tools/note.toml", NOTE);
    let mut tasks = "[capabilities]\nnote = [\"note\"]\n".to_owned();
    for task in TASKS {
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

/// How often each text was written.
pub fn notes(home: &Home) -> BTreeMap<String, usize> {
    let mut notes = BTreeMap::new();
    let text = fs::read_to_string(home.path("w/tools/notes.txt")).unwrap_or_default();
    text.lines().for_each(|line| *notes.entry(line.to_owned()).or_default() += 1);
    notes
}

/// The journals of the session, each of which continues the one before: `j.jsonl.zst`, `j.2.jsonl.zst`,
/// `j.10.jsonl.zst`.
pub fn journals(home: &Home) -> Vec<PathBuf> {
    let entries = fs::read_dir(home.path("toolyard/journals")).into_iter().flatten();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = paths.filter(|path| folder::is_named(path)).collect();
    let number = |path: &PathBuf| {
        folder::stem(path).rsplit_once('.').and_then(|(_, number)| number.parse().ok())
    };
    paths.sort_by_key(|path| number(path).unwrap_or(1_u32));
    paths
}

/// What the journals say of the writes.
#[derive(Default, Debug)]
pub struct Told {
    ended: BTreeSet<String>,
    /// They ran when a session was killed.
    pub unknown: BTreeSet<String>,
    notices: usize,
}

impl Told {
    pub fn by(journals: &[PathBuf]) -> Self {
        let mut told = Self::default();
        journals.iter().for_each(|path| told.read(&journal::read(path).unwrap().records));
        told
    }

    fn read(&mut self, records: &[Record]) {
        let (mut texts, mut running) = (BTreeMap::new(), BTreeSet::new());
        for record in records {
            let record: Value = serde_json::to_value(record).unwrap();
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
                        self.ended.insert(texts[&id].clone());
                    }
                }
                "OutcomeUnknown" => self.notices += 1,
                _ => {}
            }
        }
        // A session that was killed while it copied the past has starts of calls whose ends are in the journal before.
        let texts = running.iter().map(|id| texts[id].clone());
        self.unknown.extend(texts.filter(|text| !self.ended.contains(text)).collect::<Vec<_>>());
    }

    /// Each write that has ended is in the file, each one in the file is known, and none is there twice.
    pub fn expect(&self, notes: &BTreeMap<String, usize>) {
        for text in &self.ended {
            assert_eq!(notes.get(text), Some(&1), "{text}: {notes:?} {self:?}");
        }
        for (text, times) in notes {
            assert_eq!(*times, 1, "{text}: {self:?}");
            let is_known = self.ended.contains(text) || self.unknown.contains(text);
            assert!(is_known, "{text}: {self:?}");
        }
        assert!(self.notices >= self.unknown.len(), "each unknown one is told: {self:?}");
    }
}
