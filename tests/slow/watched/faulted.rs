//! The search for faults of a watched agent. It knows only what the agent calls.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::forked::{AGENT, Session};
use crate::program::text;

/// Adds three numbers up, and asks `peek` for what `look` does not read.
const QUESTION: &str = "Careful 1 2 3";
const SCENARIO: &str =
    "[expect]\n[[expect.conversation]]\nbegins = \"Careful\"\ncontains = \"6\"\n";

/// The words of a search with the agent.
fn search<'a>(options: &[&'a str], program: &'a str) -> Vec<&'a str> {
    let search = ["search-faults", "--scenario", "s.toml", "--kinds", "empty,error"];
    [&search, options, &["--", program], &AGENT].concat()
}

#[test]
fn the_two_tools_that_must_fail_together_are_found() {
    let session = Session::record(QUESTION, false, &[], |_| ());
    session.home.write("s.toml", SCENARIO);
    let program = std::env::current_exe().unwrap();
    session.asked.lock().unwrap().clear();
    let options = ["--recorded", "j.jsonl.zst", "--jobs", "2", "--out", "smallest.toml"];
    let ran = session.run(".", &search(&options, text(&program)), &[]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.out.contains("it fails with 2 faults"), "{ran:?}");
    assert!(ran.out.contains("look:empty") && ran.out.contains("peek:empty"), "{ran:?}");
    // With a record, its endpoint gets only what is not as recorded.
    let asked = || std::mem::take(&mut *session.asked.lock().unwrap()).len();
    let over_record = asked();
    let without = session.run(".", &search(&[], text(&program)), &[]);
    assert!(without.out.contains("it fails with 2 faults"), "{without:?}");
    let live = asked();
    assert!(over_record < live, "{over_record} requests over the record, {live} without it");
    // The scenario fails alone, and passes without any one of its faults.
    let smallest = session.home.read("smallest.toml");
    let watch = |scenario: &str| {
        session.home.write("again.toml", scenario);
        let watch = ["watch", "--headless", "--no-journal", "--scenario", "again.toml", "--"];
        session.run(".", &[&watch[..], &[text(&program)], &AGENT].concat(), &[])
    };
    let whole = watch(&smallest);
    assert!(whole.code == 1 && whole.err.contains("FAILED"), "{whole:?}");
    for tool in ["look", "peek"] {
        let mut less: toml::Table = smallest.parse().unwrap();
        let faults = less["faults"].as_array_mut().unwrap();
        faults.retain(|fault| !fault.as_str().unwrap().contains(tool));
        assert_eq!(faults.len(), 1);
        let less = watch(&less.to_string());
        assert_eq!(less.code, 0, "without {tool}: {less:?}");
    }
}

#[test]
fn nothing_is_left_of_a_search_that_was_killed() {
    let session = Session::record(QUESTION, false, &[], |_| ());
    session.home.write("s.toml", SCENARIO);
    let temporary = session.home.path("temporary");
    std::fs::create_dir(&temporary).unwrap();
    let program = std::env::current_exe().unwrap();
    // A mark in the command line by which the processes are known.
    let mark = format!("--skip=search-{}", std::process::id());
    let words = search(&["--runs", "500", "--jobs", "4"], text(&program));
    let words = [&words[..], &[&mark]].concat();
    let of_search = || {
        let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let lines = all.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
        lines.filter(|line| String::from_utf8_lossy(line).contains(&mark)).count()
    };
    let mut child = session.command(".", &words, &[("TMPDIR", text(&temporary))]).spawn().unwrap();
    let begun = Instant::now();
    while of_search() < 4 {
        assert!(begun.elapsed() < Duration::from_secs(30), "nothing runs");
        std::thread::sleep(Duration::from_millis(5));
    }
    kill_process(Pid::from_raw(child.id() as i32).unwrap(), Signal::KILL).unwrap();
    child.wait().unwrap();
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(of_search(), 0, "processes are left");
    let left: Vec<_> = std::fs::read_dir(&temporary).unwrap().flatten().collect();
    assert!(left.is_empty(), "{left:?}");
}
