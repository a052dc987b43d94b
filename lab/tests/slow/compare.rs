//! `toolyard-lab compare`: tables are those of the papers, and BTP keeps what it promises.

use serde_json::Value;

use crate::program::Home;

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
