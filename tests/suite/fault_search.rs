//! `toolyard search-faults`: the smallest set of faults under which a scenario fails.

use std::process::Stdio;
use std::time::Duration;

use crate::program::{Home, Ran};

/// A scenario of the sample's agent with this strategy and this expectation.
fn scenario(strategy: &str, expected: &str) -> String {
    format!(
        "strategy = \"{strategy}\"\nseed = 3\ntasks_limit = 4\nfresh = true\n\n[expect]\n{expected}\n"
    )
}

fn search(home: &Home, file: &str, more: &[&str]) -> Ran {
    home.run(&[&["search-faults", "--scenario", file], more].concat())
}

#[test]
fn a_pair_is_found_whatever_the_number_of_workers_and_neither_fault_is_enough() {
    let home = Home::new();
    home.write("s.toml", scenario("react", "right = 3"));
    let kinds = ["--kinds", "truncated,empty,error"];
    let found = |jobs: &str, file: &str| {
        let ran = search(&home, "s.toml", &[&kinds[..], &["--jobs", jobs, "--out", file]].concat());
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.out.contains("it fails with 2 faults"), "{ran:?}");
        ran.out.replace(file, "FILE")
    };
    assert_eq!(found("1", "one.toml"), found("3", "three.toml"));
    let text = home.read("one.toml");
    assert_eq!(text, home.read("three.toml"));
    assert_eq!(home.run(&["run", "--scenario", "one.toml"]).code, 1);
    let faults = text.lines().find(|line| line.starts_with("faults = ")).unwrap();
    let inner = faults.trim_start_matches("faults = [").trim_end_matches(']');
    for one in inner.split(", ") {
        home.write("less.toml", text.replace(faults, &format!("faults = [{one}]")));
        assert_eq!(home.run(&["run", "--scenario", "less.toml"]).code, 0, "{one}");
    }
}

#[test]
fn what_cannot_be_searched_is_said() {
    let home = Home::new();
    home.write("alone.toml", scenario("react", "right = 9"));
    let ran = search(&home, "alone.toml", &[]);
    assert!(ran.code == 1 && ran.out.contains("it fails without faults"), "{ran:?}");
    assert!(ran.out.contains("FAILED: at least 9 tasks right: 4 of 4"), "{ran:?}");
    home.write("idle.toml", scenario("direct", "answered = 4"));
    let ran = search(&home, "idle.toml", &[]);
    assert!(ran.code == 0 && ran.out.contains("it calls no tool"), "{ran:?}");
    home.write("easy.toml", scenario("react", "done = 4"));
    assert_eq!(search(&home, "easy.toml", &[]).code, 2, "a field that does not exist");
    home.write("easy.toml", scenario("react", "holds = [\"done == 4\"]"));
    let ran = search(&home, "easy.toml", &["--kinds", "empty", "--most", "2"]);
    assert!(ran.code == 0 && ran.out.contains("nothing found: all sets were covered"), "{ran:?}");
    let ran = search(&home, "easy.toml", &["--kinds", "empty", "--runs", "2"]);
    assert!(ran.code == 0 && ran.out.contains("--runs N searches longer"), "{ran:?}");
    for wrong in ["no-such-kind", "error:p=0.5"] {
        let ran = search(&home, "easy.toml", &["--kinds", wrong]);
        assert!(ran.code == 2 && ran.err.contains("--kinds"), "{ran:?}");
    }
    assert!(search(&home, "nowhere.toml", &[]).err.contains("nowhere.toml: no such file"));
}

#[test]
fn an_interrupted_search_ends_by_its_signal_and_leaves_nothing() {
    let home = Home::new();
    home.write("s.toml", scenario("toolnet", "holds = [\"done == 4\"]"));
    let mut command = home.command(&["search-faults", "--scenario", "s.toml", "--runs", "100000"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let ended = child.wait().unwrap();
    assert!(!ended.success(), "{ended:?}");
    let left: Vec<_> =
        std::fs::read_dir(home.path("")).unwrap().map(|it| it.unwrap().path()).collect();
    assert!(left.iter().all(|path| !path.to_string_lossy().contains("out")), "{left:?}");
}
