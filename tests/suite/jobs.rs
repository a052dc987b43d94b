//! The jobs that people start the workbench for, with exactly the keys that they take, on a small and on a usual screen.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use crate::program::Home;
use crate::sitting::Sitting;

/// Columns and rows.
const SIZES: [(u16, u16); 2] = [(80, 24), (120, 40)];

/// A home where waiting takes little time; nothing else is set.
fn home() -> Home {
    let home = Home::new();
    home.write("toolyard/config.toml", "[knobs]\nspeed = \"16\"\n");
    home
}

fn sit(home: &Home, size: (u16, u16), arguments: &[&str]) -> Sitting {
    Sitting::start(home, size.0, size.1, arguments)
}

fn leave(sitting: Sitting) {
    sitting.kill(Signal::TERM);
    sitting.end();
}

/// A session with wrong tasks and some over their budget, where replays find it.
fn recorded(home: &Home) {
    let run = ["run", "--strategy", "react", "--budget", "3", "--tasks-limit", "16", "--fresh"];
    home.run(&[&run[..], &["--fault", "calculator:error"]].concat());
}

#[test]
fn why_a_task_went_wrong_takes_two_keys() {
    for size in SIZES {
        let home = home();
        recorded(&home);
        let mut sitting = sit(&home, size, &["replay"]);
        sitting.wait("the session has ended");
        // To the last wrong task, and what it did.
        sitting.press("[w\r");
        sitting.wait("expected");
        sitting.wait("wrong");
        leave(sitting);
    }
}

#[test]
fn why_the_budget_was_exceeded_takes_one_jump() {
    for size in SIZES {
        let home = home();
        recorded(&home);
        let mut sitting = sit(&home, size, &["replay"]);
        sitting.wait("the session has ended");
        sitting.press("[o");
        // The call, the sum and the budget.
        sitting.wait("exceeded the budget");
        sitting.wait("of 3 credits");
        leave(sitting);
    }
}

#[test]
fn a_tool_is_broken_and_judged_with_three_keys() {
    for size in SIZES {
        let home = home();
        let mut sitting = sit(&home, size, &[]);
        sitting.wait_header("PAUSED");
        sitting.press(" f0");
        let verdict = || {
            let text = sitting.text();
            // It is told from the first task on, and changes with each.
            text.contains("Recovering, ") || text.contains("Recovered after")
        };
        sitting.wait_for("the verdict", verdict);
        leave(sitting);
    }
}

#[test]
fn a_call_is_held_under_a_condition_edited_and_let_go() {
    for size in SIZES {
        let home = home();
        let mut sitting = sit(&home, size, &[]);
        sitting.wait_header("PAUSED");
        // The place is any tool; the condition is typed.
        sitting.press("B");
        sitting.wait("hits");
        sitting.press("tool == \"calculator\"\r");
        sitting.press(" ");
        sitting.wait("edit call");
        sitting.press("e");
        sitting.wait("expression");
        sitting.press("\x07");
        sitting.wait_header("RUNNING");
        leave(sitting);
    }
}

#[test]
fn the_best_alpha_is_found_with_two_keys() {
    // A sweep takes long; where its result fits on the smallest screen, it fits on all.
    for size in &SIZES[..1] {
        let home = home();
        let mut sitting = sit(&home, *size, &["--tasks-limit", "6"]);
        sitting.wait_header("PAUSED");
        sitting.press("4&");
        let said =
            || ["best: ", "no clear difference"].iter().any(|it| sitting.text().contains(it));
        // Six values with 6 tasks each, and five seeds.
        sitting.wait_within(Duration::from_secs(240), "what the sweep has found", said);
        leave(sitting);
    }
}

#[test]
fn tasks_are_filtered_by_their_state() {
    let home = home();
    let run = ["run", "--strategy", "react", "--budget", "3", "--tasks-limit", "16", "--fresh"];
    home.run(&[&run[..], &["--fault", "calculator:error", "--journal", "r.jsonl"]].concat());
    let state = home.succeed(&["replay", "r.jsonl", "--json"]);
    let state: Value = serde_json::from_str(&state).unwrap();
    let tasks = state["tasks"].as_array().unwrap();
    let over = tasks.iter().filter(|task| task["budget"]["overrun"].is_object()).count();
    let wrong = state["landmarks"]["wrong"]["count"].as_u64().unwrap();
    assert_eq!(state["landmarks"]["over"]["count"], over);
    assert!((1..16).contains(&over) && (1..16).contains(&wrong), "{over} over, {wrong} wrong");
    let mut sitting = sit(&home, SIZES[1], &["replay", "r.jsonl"]);
    sitting.wait("the session has ended");
    for (name, count) in [("over", over as u64), ("wrong", wrong), ("held", 0)] {
        sitting.press(&format!("7/{name}\r"));
        let said = match count {
            0 => format!("filter: {name} · nothing found"),
            _ => format!("filter: {name} · {count} of 16"),
        };
        sitting.wait(&said);
        sitting.press("\x1b");
        sitting.wait("7 Tasks 16/16 ·");
    }
    leave(sitting);
}
