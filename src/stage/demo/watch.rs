//! A watched agent: it calls its model through toolyard, which shows, holds and breaks its requests and answers.

use crate::domain::words::counted;
use crate::domain::{RunId, State};
use crate::guest::QUESTIONS;
use crate::tour::Beat;

pub fn beats() -> Vec<Beat> {
    vec![
        Beat {
            keys: "space",
            says: |_, _| {
                "The model calls of this agent go through toolyard. Start it: space".to_owned()
            },
            until: |state, _| sub_agent(state).is_some(),
        },
        Beat {
            // The focus goes to another pane first, since the key zooms a pane that already has it.
            keys: "space 2 g t",
            says: |state, _| match sub_agent(state) {
                Some(run) if !state.control.held.is_empty() => {
                    let held = counted(state.control.held.len(), "call");
                    format!("{held} held. Conversation {} is a sub-agent of the first", run.0)
                }
                _ => "Pause it: space. The agent does not notice: its calls take longer".to_owned(),
            },
            until: |state, _| !state.control.held.is_empty() || has_ended(state),
        },
        Beat {
            keys: "3 / s e a r c h _ w e b enter f esc space",
            says: |state, _| match fired(state) {
                0 => {
                    "Break search_web for the model: f. The agent's own tool still runs".to_owned()
                }
                times => {
                    let times = counted(times as usize, "time");
                    format!("search_web failed {times} for the model, not for the agent")
                }
            },
            until: |state, _| fired(state) > 0 || has_ended(state),
        },
        Beat {
            keys: "6",
            says: |state, _| {
                let (done, all) = (state.tasks_done, questions());
                format!("{done} of {all} questions answered")
            },
            until: |state, _| has_ended(state),
        },
        Beat { keys: "", says: |state, _| verdict(state), until: |_, _| true },
    ]
}

fn has_ended(state: &State) -> bool {
    state.watched.as_ref().is_some_and(|agent| agent.ended.is_some())
}

fn sub_agent(state: &State) -> Option<RunId> {
    let runs = state.runs.iter();
    let mut subs = runs.filter(|(_, run)| run.guest.as_ref().is_some_and(|it| it.parent.is_some()));
    subs.next().map(|(run, _)| *run)
}

fn fired(state: &State) -> u32 {
    state.faults.values().map(|fault| fault.fired).sum()
}

/// The number of questions of its users, and that of the sub-agent.
fn questions() -> usize {
    QUESTIONS.iter().map(|of| of.len()).sum::<usize>() + 1
}

fn verdict(state: &State) -> String {
    let answered = format!("{} of {} questions answered", state.tasks_done, questions());
    match fired(state) {
        0 => answered,
        _ => format!("{answered}, although search_web failed for the model"),
    }
}
