//! The sessions of this machine on the screen.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use toolyard::store::journal::{FORMAT, Header, Journal};
use toolyard::ui::listing::Listing;
use toolyard::ui::popups::Sessions;
use toolyard::ui::request::ScreenRequest;

use crate::program::Home;
use crate::sitting::Sitting;
use crate::stage::Stage;
use crate::story;

/// A folder with a journal that ended, one that is torn, one of a newer version, and one that is none.
fn folder() -> (Home, PathBuf) {
    let home = Home::new();
    let run = ["run", "--fresh", "--tasks-limit", "3", "--fault", "search_web:error"];
    home.run(&[&run[..], &["--journal", "kept/a.jsonl"]].concat());
    let whole = home.read("kept/a.jsonl");
    let cut: Vec<&str> = whole.lines().collect();
    home.write("kept/torn.jsonl", cut[..cut.len() / 2].join("\n") + "\n{\"n\":");
    home.write("kept/begun.jsonl", "{\"toolyard_jour");
    home.write(
        "kept/newer.jsonl",
        "{\"toolyard_journal\":99,\"program\":\"9.0.0\",\"opened\":\"x\"}\n",
    );
    home.write("kept/none.jsonl", "{\"other\":\u{1b}[2J");
    let folder = home.path("kept");
    (home, folder)
}

fn listed(folder: &Path, live: Option<&str>) -> Stage {
    let mut stage = Stage::of(&story::demo());
    assert_eq!(stage.press("g o"), [ScreenRequest::Sessions]);
    let live = live.map(|name| folder.join(name));
    let list = Sessions::new(Listing::read(folder.to_owned()), live.as_deref(), live.as_deref());
    stage.screen.view.open(list);
    stage.draw();
    stage
}

#[test]
fn every_journal_of_the_folder_is_listed_whatever_is_wrong_with_it() {
    let (_home, folder) = folder();
    let stage = listed(&folder, None).sized(200, 40);
    let text = stage.text();
    let row = |words: &str| {
        text.lines().find(|line| line.contains(words)).unwrap_or_else(|| panic!("{words}\n{text}"))
    };
    assert!(stage.shows("Sessions · 5"), "{text}");
    let ended = row("3/3");
    for words in ["✓", "↯ search_web", "embedded demo", "$0"] {
        assert!(ended.contains(words), "{words}: {text}");
    }
    assert!(
        text.lines().any(|line| line.contains("⊘") && line.contains(" – ")),
        "the torn one: {text}"
    );
    assert!(row("newer.jsonl").contains("✗") && row("newer.jsonl").contains("cannot be read"));
    assert!(row("none.jsonl").contains("cannot be read"));
}

#[test]
fn enter_opens_a_session_and_says_why_one_cannot_be_opened() {
    let (_home, folder) = folder();
    let open = |name: &str, live: Option<&str>| {
        let mut stage = listed(&folder, live);
        stage.write(name);
        let requests = stage.press("enter");
        (stage, requests)
    };
    let (stage, requests) = open("torn", None);
    assert_eq!(requests, [ScreenRequest::Replay(folder.join("torn.jsonl"))]);
    assert!(stage.screen.view.popups.is_empty());
    let (stage, requests) = open("newer", None);
    assert!(requests.is_empty() && stage.shows("written in format 99"), "{}", stage.text());
    let (stage, requests) = open("none", None);
    assert!(requests.is_empty() && stage.shows("no journal header"), "{}", stage.text());
    let (stage, requests) = open("a.jsonl", Some("a.jsonl"));
    assert!(requests.is_empty() && stage.shows("already on the screen"), "{}", stage.text());
}

#[test]
fn marked_sessions_are_deleted_after_a_question_and_the_filter_stays() {
    let (_home, folder) = folder();
    let mut stage = listed(&folder, Some("a.jsonl"));
    // The session on the screen and a running one stay.
    stage.write("a.jsonl");
    assert_eq!(stage.press("delete"), []);
    assert!(stage.shows("this session is on the screen"), "{}", stage.text());
    stage.press("ctrl-u");
    stage.write("jsonl");
    let marks = |stage: &Stage| {
        stage.text().lines().filter(|line| line.chars().take(6).any(|c| c == '*')).count()
    };
    for name in ["torn", "none"] {
        stage.press("ctrl-u");
        stage.write(name);
        stage.press("ctrl-t");
    }
    stage.press("ctrl-u");
    assert_eq!(marks(&stage), 2, "{}", stage.text());
    assert_eq!(stage.press("delete n"), []);
    stage.press("delete");
    assert!(
        stage.shows("Delete 2 sessions?") && stage.shows("cannot be undone"),
        "{}",
        stage.text()
    );
    let mut journals = match stage.press("y").remove(0) {
        ScreenRequest::DeleteSessions(journals) => journals,
        other => panic!("{other:?}"),
    };
    journals.sort();
    assert_eq!(journals, ["none.jsonl", "torn.jsonl"].map(|name| folder.join(name)));
    let listing = Listing::without(folder.clone(), &journals);
    let said = listing.deleted.clone().unwrap().unwrap();
    assert!(said.starts_with("deleted 2 sessions, "), "{said}");
    stage.write("a.js");
    let list = stage.screen.view.popups.last_mut().unwrap();
    assert!(list.relist(listing).is_none());
    stage.draw();
    assert!(stage.shows("Sessions · 3") && stage.shows("> a.js"), "{}", stage.text());
    assert!(journals.iter().all(|journal| !journal.exists()));
}

#[test]
fn a_session_says_what_it_came_to() {
    let (home, _) = folder();
    home.write("c.toml", "[session]\njournals = \"kept\"\n");
    let ran = home.run(&["sessions", "--config", "c.toml", "--json"]);
    let listed: Vec<Value> = serde_json::from_str(&ran.out).unwrap();
    let a = listed.iter().find(|session| session["path"].as_str().unwrap().ends_with("a.jsonl"));
    let totals = &a.unwrap()["totals"];
    assert_eq!((&totals["tasks"], &totals["done"]), (&Value::from(3), &Value::from(3)));
    assert_eq!(totals["faults"], Value::from(vec!["search_web"]));
    let state: Value =
        serde_json::from_str(&home.succeed(&["replay", "kept/a.jsonl", "--json"])).unwrap();
    let tasks = state["tasks"].as_array().unwrap();
    let right = tasks.iter().filter(|task| task["correct"] == Value::Bool(true)).count();
    assert_eq!(totals["right"], Value::from(right));
    assert_eq!(state["tasks_right"], Value::from(right));
    assert!(ran.err.contains("newer.jsonl") && ran.err.contains("none.jsonl"), "{ran:?}");
    let table = home.run(&["sessions", "--config", "c.toml"]).out;
    assert!(table.contains(&format!("3/3 {right:>6}")), "{table}");
}

/// A list of many sessions has each of them.
#[test]
fn a_thousand_sessions_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let story = story::demo();
    for i in 0..1_000 {
        let path = folder.path().join(format!("{i:04}.jsonl"));
        let (program, opened) = ("0".to_owned(), format!("2026-01-01T00:{:02}:00.000Z", i % 60));
        let header = Header {
            toolyard_journal: FORMAT,
            program,
            opened,
            id: None,
            parent: None,
            parent_event: None,
            continues: None,
            continues_id: None,
            spec: None,
        };
        let mut journal = Journal::create(&path, &header).unwrap();
        story.records.iter().take(1 + i % 9).for_each(|record| journal.append(record).unwrap());
    }
    let listing = Listing::read(folder.path().to_owned());
    assert_eq!(listing.sessions.len(), 1_000);
    for (path, summary) in &listing.sessions {
        let i: u64 = path.file_stem().unwrap().to_str().unwrap().parse().unwrap();
        let summary = summary.as_ref().unwrap();
        assert_eq!((&summary.path, summary.events), (path, 1 + i % 9));
    }
    let mut stage = Stage::of(&story);
    stage.screen.view.open(Sessions::new(listing, None, None));
    stage.draw();
    stage.write("0777");
    assert!(stage.shows("0777.jsonl"), "{}", stage.text());
}

/// A live session goes on behind a replay that is opened from it.
#[test]
fn a_live_session_is_not_lost_behind_a_replay() {
    let (home, folder) = folder();
    fs::remove_file(folder.join("none.jsonl")).unwrap();
    home.write("c.toml", "[session]\njournals = \"kept\"\n");
    let mut sitting = Sitting::start(&home, 120, 40, &["--config", "c.toml", "--fresh"]);
    sitting.wait_header("PAUSED");
    sitting.press("go");
    sitting.wait("Sessions · 5");
    sitting.press("torn\r");
    sitting.wait("REPLAY  torn.jsonl");
    sitting.wait("q: return to the live session");
    // What is said of its end comes last.
    sitting.wait("ignored an incomplete last line");
    sitting.press("f");
    sitting.wait("a replay is read-only");
    sitting.press("q");
    sitting.wait("back in the live session");
    sitting.wait_header("PAUSED");
    sitting.press(" ");
    sitting.wait("task 2/");
    sitting.press("Sy");
    sitting.wait("the session has ended");
    sitting.press("q");
    assert_eq!(sitting.end().0.exit_code(), 0);
}
