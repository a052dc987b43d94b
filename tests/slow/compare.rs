//! `toolyard compare`: the numbers are those of plain sessions, an interruption changes none of them, and
//! BTP keeps what it promises.

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
fn a_budget_that_was_given_as_a_knob_counts_in_a_comparison_with_a_name() {
    let home = Home::new();
    let few = ["btp", "--strategies", "react", "--warm-up", "none", "--seeds", "0"];
    for (given, budget) in [(&["--knob", "budget=7"][..], 7.0), (&[], 10.0)] {
        let all = compared(&home, &[&few[..], &["--tasks-limit", "1"], given].concat());
        assert_eq!(cell(&all, "react")["knobs"]["budget"], budget);
    }
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
        (&["compare", "btp", "--budgets", "-1"], "budget takes"),
        (&["compare", "btp", "--seeds", "4..1"], "expected seeds such as"),
        (&["compare", "btp", "--vary", "blacklst=off"], "did you mean `blacklist`?"),
        (&["compare", "btp", "--journal", "j.jsonl"], "--out keeps the journals"),
        (&["compare", "btp", "--knob", "tau=9"], "from 0 to 1"),
        (&["compare", "btp", "--experience", "none.sqlite"], "no such file"),
        (&["compare", "everything"], "everything"),
    ] {
        let ran = home.run(arguments);
        assert_eq!(ran.code, 2, "{arguments:?}: {ran:?}");
        assert!(ran.err.contains(says) && ran.out.is_empty(), "{arguments:?}: {ran:?}");
    }
}

#[test]
fn tables_are_those_of_the_paper_and_say_who_played() {
    let home = Home::new();
    let few = ["--tasks-limit", "5", "--seeds", "0", "--warm-up", "none"];
    let out =
        home.succeed(&[&["compare", "btp", "--strategies", "react,react+btp"][..], &few].concat());
    assert!(out.lines().next().unwrap().contains("SIMULATED model"), "{out}");
    for table in ["Table 2", "Table 3", "Table 4", "Table 5"] {
        assert!(out.contains(table), "{table} is missing: {out}");
    }
    assert!(out.contains("protected") && out.contains("react+btp  off"), "{out}");
    for (preset, values) in [("budgets", ["5.00", "30.00"]), ("taus", ["0.00", "0.50"])] {
        let out =
            home.succeed(&[&["compare", preset, "--strategies", "react+btp"][..], &few].concat());
        assert!(values.iter().all(|value| out.contains(value)) && out.contains('█'), "{out}");
    }
}

/// Two simulated models of which one is better and dearer.
const MODELS: &str = r#"
[models.low]
kind = "simulated"
skill = 0.6
price_in = 0.5
price_out = 1.5

[models.high]
kind = "simulated"
skill = 0.98
price_in = 5
price_out = 15

[roles]
default = "low"
"#;

#[test]
fn pairs_of_models_are_as_good_and_as_dear_as_their_models() {
    let home = Home::new();
    home.write("c.toml", MODELS);
    let all = compared(&home, &["pairs", "--config", "c.toml"]);
    assert_eq!(all["cells"].as_array().unwrap().len(), 8);
    let pair = |planner, solver| cell(&all, &format!("workers planner={planner} solver={solver}"));
    let (low, high) = (pair("low", "low"), pair("high", "high"));
    for mixed in [pair("low", "high"), pair("high", "low")] {
        for name in ["accuracy", "dollars_per_1000"] {
            let (least, most) = (number(low, name), number(high, name));
            let between = number(mixed, name);
            assert!(least < between && between < most, "{name}: {least} {between} {most}");
        }
    }
    for (cell, price_in, price_out) in [
        (low, 0.5, 1.5),
        (high, 5.0, 15.0),
        (cell(&all, "rewoo model=high"), 5.0, 15.0),
        (cell(&all, "direct model=low"), 0.5, 1.5),
    ] {
        let tokens = number(cell, "tokens_in") * price_in + number(cell, "tokens_out") * price_out;
        assert!((number(cell, "dollars_per_1000") - tokens / 1000.0).abs() < 1e-9, "{cell:#}");
    }
    assert_eq!(number(cell(&all, "direct model=high"), "steps"), 1.0);
    assert_eq!(pair("low", "high")["models"]["planner"], "low");
    assert_eq!(pair("low", "high")["models"]["solver"], "high");
    let few =
        ["--config", "c.toml", "--tasks-limit", "4", "--planner", "low", "--solver", "low,high"];
    let out = home.succeed(&[&["compare", "pairs"][..], &few].concat());
    assert!(out.contains("Table 3") && out.contains("Table 4"), "{out}");
    let rows = out.lines().filter(|line| line.starts_with("workers  low"));
    // One of table 3, two of table 4.
    assert_eq!(rows.count(), 3, "{out}");
    let ran = home.run(&["compare", "pairs", "--config", "c.toml", "--planner", "hgih"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("did you mean `high`?"), "{ran:?}");
}

/// The promise of BTP's tables on the sample tasks, with random costs from 1 to 10 and a budget of 10.
#[test]
fn with_a_plan_no_task_fails_by_its_budget_and_tasks_cost_less() {
    let home = Home::new();
    let all = compared(&home, &["btp", "--seeds", "0,1"]);
    for base in ["react", "toolnet", "dfsdt", "tot-dfs"] {
        let bare = cell(&all, &format!("{base} given"));
        for planned in [format!("{base}+btp paper"), format!("{base}+btp given")] {
            let planned = cell(&all, &planned);
            for seed in planned["seeds"].as_array().unwrap() {
                let over = (&seed["rfbc"], &seed["rfbc_authors"]);
                assert_eq!(over, (&0.0.into(), &0.0.into()), "{base}");
            }
            assert!(number(planned, "ac") < number(bare, "ac"), "{base}: {all:#}");
            assert!(number(planned, "ac") <= number(planned, "planned_cost"), "{base}: {all:#}");
            assert!(number(planned, "uses") <= number(planned, "planned_uses"), "{base}: {all:#}");
        }
        // What the paper promises holds for the plan as it is here, not for the published one; for
        // ToolNet, which keeps to the budget by itself, a plan solves about as many.
        let planned = cell(&all, &format!("{base}+btp given"));
        assert!(number(planned, "pbc") > number(bare, "pbc") - 0.02, "{base}: {all:#}");
    }
}
