//! Concurrent workers: a large model plans all calls, independent calls run at once, a small model answers. Then a tool
//! fails, and the tools that were called beside it answer.

use crate::domain::words::counted;
use crate::domain::{State, TaskId};
use crate::tour::Beat;

pub fn beats() -> Vec<Beat> {
    vec![
        Beat {
            // The focus comes from another pane, since the key zooms a pane that already has it.
            keys: "2 6",
            says: |_, _| {
                "Four tasks chosen for this tour: one model plans, another solves. Calls: 6"
                    .to_owned()
            },
            until: |_, _| true,
        },
        Beat {
            // Only one task runs, so that the fault hits the same tasks every time.
            keys: "o",
            says: |state, _| match running(state) {
                0 => "The planner (large) writes the whole plan first. One task: o".to_owned(),
                n => format!("{n} calls run at once; the others wait for their inputs"),
            },
            until: |state, _| state.tasks_done >= 1,
        },
        Beat {
            // The first call of the finished task is one of the broken tool.
            keys: "0 6 home f space",
            says: |state, _| match broken(state) {
                None => format!("{} Break a tool: f", took(state, 1)),
                Some(tool) => {
                    format!("{tool} fails; the same question goes to other tools beside it")
                }
            },
            until: |state, _| fired(state) > 0,
        },
        Beat {
            keys: "",
            says: |state, _| {
                let times = counted(fired(state) as usize, "time");
                format!("{} failed {times}", broken(state).unwrap_or_default())
            },
            until: |state, _| !state.has_work(),
        },
        Beat { keys: "", says: |state, _| verdict(state), until: |_, _| true },
    ]
}

fn running(state: &State) -> usize {
    state.tool_calls_in_flight().filter(|call| call.started.is_some()).count()
}

fn broken(state: &State) -> Option<String> {
    state.faults.values().next().map(|fault| fault.spec.target.to_string())
}

fn fired(state: &State) -> u32 {
    state.faults.values().map(|fault| fault.fired).sum()
}

/// The calls of a task, how long they took together, and how long they would take one after the other.
fn took(state: &State, task: u32) -> String {
    let task = TaskId(task);
    let Some(calls) = state.task(task).map(|task| task.tool_calls.clone()) else {
        return String::new();
    };
    let calls: Vec<_> = calls.iter().filter_map(|call| state.tool_call(*call)).collect();
    let begun = calls.iter().filter_map(|call| call.started).min().unwrap_or(0);
    let ended = calls.iter().filter_map(|call| call.ended).max().unwrap_or(0);
    let alone: u64 = calls.iter().map(|call| call.elapsed(ended)).sum();
    let seconds = |micros: u64| micros as f64 / 1e6;
    let wall = seconds(ended.saturating_sub(begun));
    format!("{} calls took {wall:.1} s, one by one {:.1} s.", calls.len(), seconds(alone))
}

fn verdict(state: &State) -> String {
    let ended = state.tasks.iter().filter(|task| task.outcome().is_some());
    let right = ended.clone().filter(|task| task.correct == Some(true)).count();
    let tool = broken(state).unwrap_or_default();
    format!(
        "{right} of {} right although {tool} failed {}: parallel calls answered",
        ended.count(),
        counted(fired(state) as usize, "time")
    )
}
