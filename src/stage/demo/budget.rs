//! Figure 5 of BTP: one question and five tools with prices, without a budget plan, with one, and with less budget.

use crate::domain::{Knob, State, TaskId, words};
use crate::tour::Beat;

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        [$((concat!("figure-5/", $name), include_str!(concat!("../../../examples/figure-5/", $name)))),*]
    };
}

/// The workspace, which is also an example in the sources.
pub const FILES: [(&str, &str); 12] = files![
    "experience.jsonl",
    "keyword_search.jsonl",
    "regions_of_trends.jsonl",
    "tasks.toml",
    "trend_by_region.jsonl",
    "trend_map.jsonl",
    "trends_today.jsonl",
    "tools/keyword_search.toml",
    "tools/regions_of_trends.toml",
    "tools/trend_by_region.toml",
    "tools/trend_map.toml",
    "tools/trends_today.toml",
];

/// The credits of the third task.
const LESS: f64 = 8.0;

pub fn beats() -> Vec<Beat> {
    vec![
        Beat {
            keys: "8",
            says: |_, _| {
                "One task chosen for this tour, five tools with prices, 20 credits. Budget: 8"
                    .to_owned()
            },
            until: |_, _| true,
        },
        Beat {
            keys: "o",
            says: |state, _| match state.tasks_done {
                0 => "First without a budget plan. Run one task: o".to_owned(),
                _ => format!("Without a plan: {} credits.", outcome(state, 1)),
            },
            until: |state, _| state.tasks_done >= 1,
        },
        Beat {
            keys: "A b t p space enter",
            says: |state, _| {
                format!("Without a plan: {} credits. Switch +btp on: A", outcome(state, 1))
            },
            until: |state, _| state.strategy.btp,
        },
        Beat {
            keys: "o",
            says: |state, _| match plan(state, 2) {
                Some(plan) => format!("{plan}; tools that failed before are left out"),
                None => "Past uses make a budget plan. The same task again: o".to_owned(),
            },
            until: |state, _| state.tasks_done >= 2,
        },
        Beat {
            keys: "- - - - - - - - - - - -",
            says: |state, _| {
                let budget = state.knobs.get(Knob::Budget);
                format!(
                    "With a plan: {} credits. Lower the budget from {budget:.0} to {LESS:.0}: -",
                    outcome(state, 2)
                )
            },
            until: |state, _| state.knobs.get(Knob::Budget) <= LESS,
        },
        Beat {
            keys: "o",
            says: |state, _| match plan(state, 3) {
                Some(plan) => format!("{plan}: the plan keeps what the task needs"),
                None => "The same task again: o".to_owned(),
            },
            until: |state, _| state.tasks_done >= 3,
        },
        Beat {
            keys: "",
            says: |state, _| {
                format!(
                    "Without a plan: {} credits. With one: {}. With a budget of {LESS:.0}: {}.",
                    outcome(state, 1),
                    outcome(state, 2),
                    outcome(state, 3)
                )
            },
            until: |_, _| true,
        },
    ]
}

/// Describes the planned and the spent credits of a task; `None` without a plan.
fn plan(state: &State, task: u32) -> Option<String> {
    let task = state.task(TaskId(task))?;
    let plan = task.budget.plan.as_ref()?;
    let spent = task.credits();
    let budget = words::credits(*plan.budget);
    Some(format!("planned {} of {budget}, spent {spent}", words::credits(plan.needed().1)))
}

/// How a task ended, and for how many credits.
fn outcome(state: &State, task: u32) -> String {
    let Some(task) = state.task(TaskId(task)) else { return String::new() };
    let right = match task.correct {
        Some(true) => "right",
        Some(false) => "not solved",
        None => "open",
    };
    format!("{right} for {}", task.credits())
}
