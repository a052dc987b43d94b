//! The agent's favourite tool breaks, its scores move the agent to another one, and a twin shows what would have
//! happened without learning.

use crate::domain::{State, TriedEnd, words::counted};
use crate::papers::resilience::{Broken, Resilience};
use crate::tour::Beat;
use crate::ui::twin::Twin;

/// The tasks before the fault, and those before the twin begins. The agent stops there by itself, so that the tour is
/// always the same.
const BEFORE: usize = 6;
const LAST: usize = 26;

pub fn beats() -> Vec<Beat> {
    vec![
        Beat {
            keys: "c x d o n e space > = space 6 enter",
            says: |_, _| "Tasks chosen for this tour, 21 tools. Run six of them: c x".to_owned(),
            until: |state, _| state.tasks_done >= 2,
        },
        Beat {
            // The focus comes from another pane, since the key zooms a pane that already has it.
            keys: "2 0",
            says: |_, _| "Pane 0 shows the first choice of each task: 0".to_owned(),
            until: |state, _| state.tasks_done >= BEFORE && !state.control.held.is_empty(),
        },
        Beat {
            keys: "f c x d o n e space > = space 2 6 enter",
            says: |state, _| match broken(state) {
                None => format!("{} Break it, and run on: f", favourite(state)),
                Some(_) => trouble(state),
            },
            until: |state, _| fired(state) >= 2,
        },
        Beat {
            keys: "",
            says: |state, _| trouble(state),
            until: |state, _| state.tasks_done >= LAST && !state.control.held.is_empty(),
        },
        Beat {
            keys: "T end enter",
            says: |state, view| match &view.twin {
                None => format!("{}. A twin without learning: T", verdict(state)),
                Some(twin) => {
                    format!("The twin runs the same tasks without learning: {}", twin.laps.len())
                }
            },
            until: |_, view| view.twin.as_ref().is_some_and(|twin| twin.over),
        },
        Beat {
            keys: "",
            says: |state, view| {
                let twin = view.twin.as_ref().map(|twin| of_twin(state, twin));
                let tool = broken(state).and_then(|broken| broken.tools.into_iter().next());
                let tool = tool.map(|tool| format!("{tool} broke. ")).unwrap_or_default();
                let twin = twin.unwrap_or_default();
                format!("{tool}With learning: {}; without: {twin}", verdict(state))
            },
            until: |_, _| true,
        },
    ]
}

fn broken(state: &State) -> Option<Broken> {
    Broken::newest(state, None).map(|(_, broken)| broken)
}

fn taken(state: &State) -> Option<Resilience> {
    Some(Resilience::of(&state.laps_with_current(), &broken(state)?, state.has_work()))
}

/// The tool that was called most.
fn favourite(state: &State) -> String {
    let calls = |tool: &str| state.laps.iter().map(|lap| lap.calls_of(tool)).sum::<usize>();
    let tools = state.tools.keys().map(|tool| (calls(tool.as_str()), tool));
    let (count, tool) = tools.max_by_key(|(count, _)| *count).unzip();
    let (count, tool) = (count.unwrap_or(0), tool.map_or("", |tool| tool.as_str()));
    format!("{tool} is its favourite, with {count} calls.")
}

fn fired(state: &State) -> u32 {
    state.faults.values().map(|fault| fault.fired).sum()
}

/// How often the tool failed, its score, and which tool answered instead.
fn trouble(state: &State) -> String {
    let Some(broken) = broken(state) else { return String::new() };
    let Some(tool) = broken.tools.first() else { return String::new() };
    let instead = state.laps.iter().flat_map(|lap| &lap.tried).rev();
    let instead = instead.filter(|tried| tried.instead_of.as_ref() == Some(tool));
    let instead = instead.filter(|tried| tried.end == TriedEnd::Ok).map(|tried| &tried.tool).next();
    let instead = instead.map(|tool| format!("; {tool} answers instead")).unwrap_or_default();
    let score = state.learning.score(tool);
    let times = counted(fired(state) as usize, "time");
    format!("{tool} has failed {times}, its score is {score:+}{instead}").replace('-', "−")
}

fn verdict(state: &State) -> String {
    taken(state).map(|taken| taken.verdict.to_string()).unwrap_or_default()
}

fn of_twin(state: &State, twin: &Twin) -> String {
    let Some(broken) = broken(state) else { return String::new() };
    let last = state.laps.last().map(|lap| lap.task);
    let until = twin.laps.partition_point(|lap| Some(lap.task) <= last);
    Resilience::of(&twin.laps[..until], &broken, false).verdict.to_string()
}
