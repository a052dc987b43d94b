//! `toolyard search-faults`: the smallest set of faults under which a scenario fails.

use std::process::Stdio;
use std::time::Duration;

use toolyard::app::fault_search::{FaultSearch, SearchEnd, SearchPlan};

use crate::planted::{self, PlantedAgent};
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

#[test]
fn planted_sets_are_found_by_what_an_agent_calls() {
    let mut draws = planted::draws();
    let seed = draws.0;
    let (one, two) = (planted::found(1, 2, 500, &mut draws), planted::found(2, 2, 500, &mut draws));
    let three = planted::found(3, 4, 2000, &mut draws);
    let said = format!(
        "SEARCH_SEED={seed}: {one} of 2 single faults, {two} of 2 pairs, {three} of 4 sets of three"
    );
    assert_eq!((one, two), (2, 2), "{said}");
    assert!(three >= 1, "{said}");
}

#[test]
fn nothing_is_found_where_nothing_is_planted() {
    let mut draws = planted::draws();
    for _ in 0..3 {
        let agent = planted::agent(&mut draws, 0);
        let plan = SearchPlan { kinds: planted::kinds(), most: 2, runs: 400, seed: 1 };
        let mut search = FaultSearch::new(plan, &agent);
        assert!(matches!(search.run(), Ok(SearchEnd::Nothing { .. })));
        assert!(search.made <= 400, "{}", search.made);
    }
}

#[test]
fn an_agent_that_fails_alone_or_calls_nothing_is_not_searched() {
    let plan = || SearchPlan { kinds: planted::kinds(), most: 3, runs: 100, seed: 1 };
    let alone = PlantedAgent { classes: vec![Vec::new()], planted: None };
    let mut search = FaultSearch::new(plan(), &alone);
    assert!(matches!(search.run(), Ok(SearchEnd::FailsAlone(_))));
    let idle = PlantedAgent { classes: Vec::new(), planted: None };
    assert_eq!(FaultSearch::new(plan(), &idle).run(), Ok(SearchEnd::NoTool));
    // Two tools of a class, both broken: nobody planted that.
    let classes = vec![vec!["a".into(), "b".into()]];
    let both = PlantedAgent { classes, planted: None };
    let mut search = FaultSearch::new(plan(), &both);
    let Ok(SearchEnd::Found(found)) = search.run() else { panic!("nothing was found") };
    let texts: Vec<_> = found.faults.iter().map(ToString::to_string).collect();
    assert_eq!(texts, ["a:error:nth=1", "b:error:nth=1"]);
}
