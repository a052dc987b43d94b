//! The list of sessions, and what is deleted from it.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::program::Home;

/// A folder of journals: two that ended, one that was killed and is old, and what is none.
fn home() -> Home {
    let home = Home::new();
    home.write("c.toml", "[session]\njournals = \"kept\"\n");
    for (name, strategy, tasks) in [("a", "react", "2"), ("b", "toolnet+btp", "3")] {
        let journal = format!("kept/{name}.jsonl");
        let run = ["run", "--fresh", "--strategy", strategy, "--tasks-limit", tasks];
        home.run(&[&run[..], &["--journal", &journal]].concat());
        age(&home, &journal, 50 * 3600);
    }
    let whole = home.read("kept/b.jsonl");
    let cut: Vec<&str> = whole.lines().collect();
    home.write("kept/killed.jsonl", cut[..cut.len() - 4].join("\n") + "\n{\"n\":");
    age(&home, "kept/killed.jsonl", 100 * 3600);
    home.write("kept/notes.txt", "mine");
    // It began last.
    let (header, rest) = home
        .read("kept/a.jsonl")
        .split_once('\n')
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .unwrap();
    let mut header: Value = serde_json::from_str(&header).unwrap();
    header["opened"] = "2031-01-01T00:00:00Z".into();
    home.write("kept/a.jsonl", format!("{header}\n{rest}"));
    age(&home, "kept/a.jsonl", 3600);
    home
}

fn age(home: &Home, name: &str, seconds: u64) {
    let file = File::options().append(true).open(home.path(name)).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
}

fn names(home: &Home) -> Vec<String> {
    let entries = fs::read_dir(home.path("kept")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

#[test]
fn sessions_are_listed_with_what_their_journals_tell() {
    let home = home();
    let listed = home.succeed(&["sessions", "--config", "c.toml", "--json"]);
    let listed: Vec<Value> = serde_json::from_str(&listed).unwrap();
    let of = |field: &str| listed.iter().map(|session| session[field].clone()).collect::<Vec<_>>();
    assert_eq!(of("strategy"), ["react", "toolnet+btp", "toolnet+btp"]);
    assert_eq!(of("tasks"), [2, 3, 2], "{listed:?}");
    assert_eq!(of("ended")[..2], ["all tasks are done", "all tasks are done"]);
    assert!(listed[2]["ended"].is_null());
    let events = home.read("kept/a.jsonl").lines().count() - 1;
    assert_eq!(listed[0]["events"], events);
    assert_eq!(listed[0]["workspace"], "embedded demo");
    let table = home.succeed(&["sessions", "--config", "c.toml"]);
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].starts_with("3 sessions · "), "{table}");
    assert!(lines[2].contains("react") && lines[2].ends_with("done       a.jsonl"), "{table}");
    assert!(lines[4].ends_with("killed     killed.jsonl"), "{table}");
}

#[test]
fn a_fork_stands_below_its_parent_and_outlives_it() {
    let home = Home::new();
    home.write("c.toml", "[session]\njournals = \"kept\"\n");
    let run = ["run", "--fresh", "--tasks-limit", "2", "--config", "c.toml", "--journal"];
    home.run(&[&run[..], &["kept/first.jsonl"]].concat());
    for (of, at, name) in [("first", "30", "fork"), ("fork", "40", "again")] {
        let (of, name) = (format!("kept/{of}.jsonl"), format!("kept/{name}.jsonl"));
        home.run(&[&run[..], &[&name, "--recorded", &of, "--fork-at", at]].concat());
    }
    let listed = |option: &str| home.succeed(&["sessions", "--config", "c.toml", option]);
    let places = |table: &str| {
        let marks = ["  └ at 40: ", " └ at 30: ", " first.jsonl"];
        marks.map(|mark| table.lines().position(|line| line.contains(mark)))
    };
    let tree = listed("--tree");
    assert_eq!(places(&tree), [Some(4), Some(3), Some(2)], "{tree}");
    let all: Vec<Value> = serde_json::from_str(&listed("--json")).unwrap();
    assert_eq!(all[0]["parent"], serde_json::json!({"journal": "fork.jsonl", "event": 40}));
    let whole = ["replay", "kept/fork.jsonl", "--json"];
    let before = home.succeed(&whole);
    fs::remove_file(home.path("kept/first.jsonl")).unwrap();
    assert_eq!(home.succeed(&whole), before);
    let tree = listed("--tree");
    assert!(!tree.contains("└ at 30") && tree.contains("└ at 40"), "{tree}");
}

#[test]
fn the_newest_session_is_replayed_where_none_is_named() {
    let home = home();
    let newest = home.succeed(&["replay", "--config", "c.toml", "--json"]);
    assert_eq!(newest, home.succeed(&["replay", "kept/a.jsonl", "--json"]));
    let none = Home::new();
    none.write("c.toml", "[session]\njournals = \"kept\"\n");
    assert!(none.succeed(&["sessions", "--config", "c.toml"]).starts_with("no journals in "));
    let ran = none.run(&["replay", "--config", "c.toml"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("no journals in ") && ran.err.contains("toolyard run"), "{ran:?}");
}

#[test]
fn old_sessions_are_deleted_with_their_indexes_and_nothing_else_is() {
    let home = home();
    home.write("kept/b.jsonl.index", "{\"toolyard_index\":1}\n");
    let prune = |more: &[&str]| {
        let prune = ["sessions", "prune", "--config", "c.toml"];
        home.succeed(&[&prune[..], more].concat())
    };
    let said = prune(&["--older", "2d", "--dry-run"]);
    assert!(said.starts_with("2 journals would be deleted, "), "{said}");
    assert_eq!(names(&home).len(), 5);
    assert!(prune(&["--older", "2d", "--keep", "2"]).starts_with("1 journal deleted, "));
    assert_eq!(names(&home), ["a.jsonl", "b.jsonl", "b.jsonl.index", "notes.txt"]);
    assert!(prune(&["--keep", "1"]).starts_with("1 journal deleted, "));
    assert_eq!(names(&home), ["a.jsonl", "notes.txt"]);
    let ran = home.run(&["sessions", "prune", "--config", "c.toml"]);
    assert!(ran.code == 2 && ran.err.contains("--older"), "nothing is deleted by default: {ran:?}");
}
