//! A session beside the one from which it came, on the screen and as a picture.

use std::fs;
use std::path::{Path, PathBuf};

use crate::program::{Home, text};
use crate::sitting::Sitting;

/// Size of the pictures in the guide.
const SIZE: &str = "120x34";

fn of_agent(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/twin").join(name)
}

/// Compares a picture of the guide with what the program draws now.
fn expect_picture(home: &Home, journal: &Path, page: &str) {
    let shot = ["shot", text(journal), "--pane", "twin", "--size", SIZE, "--out", "twin.svg"];
    home.succeed(&shot);
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(page);
    if std::env::var_os("UPDATE_PICTURES").is_some() {
        fs::write(&kept, home.read("twin.svg")).unwrap();
    }
    let is_same = home.read("twin.svg") == fs::read_to_string(&kept).unwrap();
    assert!(is_same, "run this test with UPDATE_PICTURES=1, and look at docs/{page}");
}

#[test]
fn the_picture_of_a_watched_agent_beside_its_origin_is_up_to_date() {
    expect_picture(&Home::new(), &of_agent("fork.jsonl"), "twin-agent.svg");
}

/// The demo of resilience without its screen: a broken tool, and a fork at the first event in which nothing broke.
#[test]
fn the_picture_of_a_fault_beside_none_is_up_to_date() {
    let home = Home::new();
    let run = ["run", "--strategy", "toolnet", "--tasks-limit", "10", "--fresh"];
    let fault = ["--fault", "search_backup:error:from-task=3", "--journal", "j.jsonl.zst"];
    home.run(&[&run[..], &fault].concat());
    let events = home.read("j.jsonl.zst");
    let begun = events.lines().find(|line| line.contains("\"TaskStarted\"")).unwrap();
    let event: serde_json::Value = serde_json::from_str(begun).unwrap();
    let at = event["n"].to_string();
    let fork = ["fork", "j.jsonl.zst", "--at", &at, "--set", "fault:1=off", "--calls", "live"];
    home.run(&[&fork[..], &["--headless", "--journal", "f.jsonl.zst"]].concat());
    expect_picture(&home, &home.path("f.jsonl.zst"), "twin.svg");
}

#[test]
fn one_key_sets_a_fork_beside_its_origin() {
    let home = Home::new();
    for name in ["trip.jsonl", "fork.jsonl"] {
        fs::copy(of_agent(name), home.path(name)).unwrap();
    }
    let mut sitting = Sitting::start(&home, 120, 34, &["replay", "fork.jsonl"]);
    sitting.wait_header("REPLAY");
    sitting.press("T");
    sitting.wait("first difference: task 2, call 2: weather returned something else");
    sitting.wait("twin: weather {\"city\":\"Evora\"}");
    sitting.wait("price of the difference: +2 calls, +222 tokens");
    for by in ["call", "time", "task"] {
        sitting.press("V");
        sitting.wait(&format!("in step by {by}"));
    }
    // A play goes through both: the row of the moment is selected, up to the last one.
    sitting.press("c.");
    sitting.wait("both: model 08:10 to Faro");
    sitting.press("q");
    let (status, _) = sitting.end();
    assert_eq!(status.exit_code(), 0);
    // Without the journal of its origin there is nothing beside it.
    fs::remove_file(home.path("trip.jsonl")).unwrap();
    let mut sitting = Sitting::start(&home, 120, 34, &["replay", "fork.jsonl"]);
    sitting.wait_header("REPLAY");
    sitting.press("T");
    sitting.wait("twin: a replay is read-only");
    sitting.press("q");
    let _ = sitting.end();
    let shot = ["shot", "fork.jsonl", "--pane", "twin", "--out", "t.svg"];
    let ran = home.run(&shot);
    let why = "fork.jsonl: its session came from no other one, or the journal of that is gone";
    assert!(ran.code == 2 && ran.err.contains(why), "{ran:?}");
}
