//! `toolyard compare`: the numbers are those of plain sessions, and an interruption changes none of them.

use std::time::{Duration, Instant};
use std::{fs, process::Stdio, thread::sleep};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::program::{Home, Ran, unpacked};

fn compared(home: &Home, arguments: &[&str]) -> Value {
    let ran = home.run(&[&["compare", "--json"], arguments].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    serde_json::from_str(&ran.out).unwrap()
}

fn cell<'v>(all: &'v Value, name: &str) -> &'v Value {
    let cells = all["cells"].as_array().unwrap();
    let found = cells.iter().find(|cell| cell["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {all:#}"))
}

fn number(cell: &Value, name: &str) -> f64 {
    cell["all"][name].as_f64().unwrap_or_else(|| panic!("{name} of {cell:#}"))
}

#[test]
fn a_combination_has_the_numbers_of_a_session() {
    let home = Home::new();
    let limit = ["--tasks-limit", "12", "--costs", "1..10"];
    let grid = ["--strategies", "react,react+btp", "--budgets", "8,20", "--seeds", "3..4"];
    let all = compared(&home, &[&grid[..], &limit].concat());
    assert_eq!(all["simulated"], true);
    assert_eq!(all["cells"].as_array().unwrap().len(), 4);
    for (strategy, budget) in [("react", "20"), ("react+btp", "8")] {
        let cell = cell(&all, &format!("{strategy} budget={budget}"));
        let mut costs = Vec::new();
        for (i, seed) in ["3", "4"].into_iter().enumerate() {
            let run = ["run", "--fresh", "--leak-guard", "--no-journal", "--report", "r.json"];
            let with = ["--strategy", strategy, "--budget", budget, "--seed", seed];
            home.run(&[&run[..], &with, &limit].concat());
            let (report, of_seed) = (home.json("r.json"), &cell["seeds"][i]);
            for (name, value) in report["measures"].as_object().unwrap() {
                assert_eq!(of_seed[name], *value, "{name} of {strategy}, {budget}, {seed}");
            }
            let totals = &report["totals"];
            assert_eq!(of_seed["answered"], totals["answered"]);
            let right = totals["correct"].as_f64().unwrap() / totals["with_gold"].as_f64().unwrap();
            assert!((of_seed["accuracy"].as_f64().unwrap() - right).abs() < 1e-12);
            costs.push(report["measures"]["ac"].as_f64().unwrap());
        }
        assert!((number(cell, "ac") - (costs[0] + costs[1]) / 2.0).abs() < 1e-9, "{cell:#}");
        assert_eq!(cell["all"]["tasks"], 24);
        let range = (cell["ac_range"][0].as_f64().unwrap(), cell["ac_range"][1].as_f64().unwrap());
        assert_eq!(range, (costs[0].min(costs[1]), costs[0].max(costs[1])));
    }
}

/// A comparison in which sessions depend on everything that goes on within them: scores, past uses, and
/// what noisy tools did before.
const DEPENDENT: [&str; 8] = [
    "--strategies",
    "toolnet,toolnet+btp",
    "--warm-up",
    "react",
    "--costs",
    "1..10",
    "--tasks-limit",
    "30",
];

#[test]
fn what_was_cut_short_goes_on_as_if_it_had_not_been() {
    let home = Home::new();
    let with_out = [&DEPENDENT[..], &["--out", "kept"]].concat();
    let whole = compared(&home, &with_out);
    for journal in [
        "kept/toolnet/seed-0.jsonl.zst",
        "kept/toolnet+btp/seed-0.jsonl.zst",
        "kept/warm-up/1-react/seed-1000000.jsonl.zst",
    ] {
        let bytes = fs::read(home.path(journal)).unwrap();
        // In the middle of a block, and of a task.
        home.write(journal, &bytes[..bytes.len() / 2]);
        assert_eq!(compared(&home, &with_out), whole, "{journal} was cut");
        let part = journal.replace(".jsonl.zst", ".2.jsonl.zst");
        let (old, new) = (home.read(journal), home.read(&part));
        let kept = old.lines().filter(|line| line.contains("TaskFinished")).count();
        assert!(kept > 5, "{kept}");
        let same = old.lines().zip(new.lines()).skip(1).take_while(|(old, new)| old == new);
        let same = same.filter(|(line, _)| line.contains("TaskFinished")).count();
        assert_eq!(same, kept, "finished tasks were run again");
        // The new part is a session like any other.
        let report = ["replay", &part, "--report", "r.json"];
        home.succeed(&report);
        assert_eq!(home.json("r.json")["totals"]["tasks"], 30);
    }
    // Nothing is left to do.
    let before = fs::read_dir(home.path("kept/toolnet")).unwrap().count();
    assert_eq!(compared(&home, &with_out), whole);
    assert_eq!(fs::read_dir(home.path("kept/toolnet")).unwrap().count(), before);
}

#[test]
fn parts_of_a_comparison_share_a_folder() {
    let home = Home::new();
    let whole = compared(&home, &DEPENDENT);
    let parts: Vec<_> = ["1/3", "2/3", "3/3"]
        .map(|shard| {
            let part = [&["compare"], &DEPENDENT[..], &["--out", "parts", "--shard", shard]];
            home.command(&part.concat()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
        })
        .into();
    for part in parts {
        let ran = Ran::of(part.unwrap().wait_with_output().unwrap());
        assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{ran:?}");
    }
    let with_out = [&DEPENDENT[..], &["--out", "parts"]].concat();
    assert_eq!(compared(&home, &with_out), whole, "each ran once, and nothing twice");
}

#[test]
fn a_broken_beginning_of_a_journal_is_begun_again() {
    let home = Home::new();
    let arguments = ["--strategies", "direct", "--tasks-limit", "3", "--out", "kept"];
    let whole = compared(&home, &arguments);
    home.write("kept/direct/seed-0.jsonl.zst", "{\"toolya");
    assert_eq!(compared(&home, &arguments), whole);
}

#[test]
fn an_interrupt_ends_it_cleanly_and_says_how_to_go_on() {
    let home = Home::new();
    let slow = ["--tasks-limit", "12", "--knob", "speed=8", "--strategies", "react,react+btp"];
    let arguments = [&["compare", "--json"][..], &slow, &["--out", "kept"]].concat();
    let mut command = home.command(&arguments);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let journal = home.path("kept/react/seed-0.jsonl.zst");
    let has = |kind: &[u8]| {
        unpacked(&journal).is_ok_and(|text| text.windows(kind.len()).any(|part| part == kind))
    };
    let begun = Instant::now();
    while !has(b"TaskFinished") {
        assert!(begun.elapsed() < Duration::from_secs(60), "nothing happens");
        sleep(Duration::from_millis(5));
    }
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    let ran = Ran::of(child.wait_with_output().unwrap());
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(
        ran.out.contains("interrupted; run the same command again to continue from kept"),
        "{ran:?}"
    );
    assert!(has(b"SessionEnded"));
    let resumed = compared(&home, &[&slow[..], &["--out", "kept"]].concat());
    assert_eq!(resumed, compared(&home, &slow), "the cached tokens are the same, too");
}

#[test]
fn other_settings_do_not_get_into_a_folder() {
    let home = Home::new();
    let first = ["--strategies", "direct", "--tasks-limit", "3", "--out", "kept"];
    compared(&home, &first);
    for (other, says) in [
        (["--budget", "7"], "knob budget was 20, now it is 7"),
        (["--costs", "1..3"], "costs was declared, now it is 1..3"),
        (["--warm-up", "react"], "warm-up was none, now it is react"),
        (["--fault", "search_web:error"], "fault 0 was none, now it is search_web:error"),
        (["--tasks-limit", "4"], "tasks was 3, "),
    ] {
        let mut arguments = [&["compare"][..], &first].concat();
        if other[0] == "--tasks-limit" {
            arguments.drain(3..5);
        }
        let ran = home.run(&[&arguments[..], &other].concat());
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.err.contains(says) && ran.err.contains("choose another --out"), "{ran:?}");
        assert!(ran.err.contains("kept/direct") && ran.out.is_empty(), "{ran:?}");
    }
    // More of the same kind may come to it.
    let all = compared(&home, &[&first[2..], &["--strategies", "direct,react"]].concat());
    assert_eq!(all["cells"].as_array().unwrap().len(), 2);
}

#[test]
fn what_cannot_be_compared_is_said_before_anything_runs() {
    let home = Home::new();
    for (arguments, says) in [
        (&["compare"][..], "nothing to compare"),
        (&["compare", "--strategies", "react,magic"], "there is no strategy `magic`"),
        (&["compare", "--strategies", "react", "--budgets", "-1"], "budget takes"),
        (&["compare", "--strategies", "react", "--seeds", "4..1"], "expected seeds such as"),
        (
            &["compare", "--strategies", "react", "--vary", "blacklst=off"],
            "did you mean `blacklist`?",
        ),
        (&["compare", "--strategies", "react", "--journal", "j.jsonl"], "--out keeps the journals"),
        (&["compare", "--strategies", "react", "--knob", "tau=9"], "from 0 to 1"),
        (&["compare", "--strategies", "react", "--experience", "none.sqlite"], "no such file"),
        (&["compare", "everything"], "everything"),
        (&["compare", "btp"], "toolyard-lab compare btp"),
    ] {
        let ran = home.run(arguments);
        assert_eq!(ran.code, 2, "{arguments:?}: {ran:?}");
        assert!(ran.err.contains(says) && ran.out.is_empty(), "{arguments:?}: {ran:?}");
    }
}
