//! The agent's favourite tool breaks, its scores move the agent to another one, and a twin shows what would have
//! happened without learning.

use crate::app::session::SessionSpec;
use crate::domain::{Base, State, TriedEnd, words::counted};
use crate::papers::resilience::{Broken, Resilience, Verdict};
use crate::ui::tour::Beat;
use crate::ui::twin::Twin;

/// The tasks before the fault.
const BEFORE: usize = 6;
const TASKS: usize = 60;

pub fn session(spec: &mut SessionSpec) {
    spec.strategy = Some(Base::ToolNet.into());
    spec.tasks_limit = Some(TASKS);
}

pub fn beats() -> Vec<Beat> {
    vec![
        Beat {
            keys: "space",
            says: |_, _| "An agent does tasks with 21 tools. I let it run: space".to_owned(),
            until: |state, _| state.tasks_done >= 2,
        },
        Beat {
            keys: "0 0",
            says: |_, _| "Which tool does it choose first, task by task? 0".to_owned(),
            until: |state, _| state.tasks_done >= BEFORE,
        },
        Beat {
            keys: "f",
            says: |state, _| match broken(state) {
                None => format!("{} Now I break it: f", favourite(state)),
                Some(_) => trouble(state),
            },
            until: |state, _| fired(state) >= 2,
        },
        Beat { keys: "", says: |state, _| trouble(state), until: |state, _| is_decided(state) },
        Beat {
            keys: "space T end enter",
            says: |state, view| match &view.twin {
                None => format!("{}. And without learning? A twin: T", verdict(state)),
                Some(twin) => {
                    format!("The twin does the same tasks without learning: {}", twin.laps.len())
                }
            },
            until: |_, view| view.twin.as_ref().is_some_and(|twin| twin.over),
        },
        Beat {
            keys: "",
            says: |state, view| {
                let twin = view.twin.as_ref().map(|twin| of_twin(state, twin));
                format!("learning: {}; without: {}", verdict(state), twin.unwrap_or_default())
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

/// How often the tool failed, its score, and who answered instead.
fn trouble(state: &State) -> String {
    let Some(broken) = broken(state) else { return String::new() };
    let Some(tool) = broken.tools.first() else { return String::new() };
    let instead = state.laps.iter().flat_map(|lap| &lap.tried).rev();
    let instead = instead.filter(|tried| tried.instead_of.as_ref() == Some(tool));
    let instead = instead.filter(|tried| tried.end == TriedEnd::Ok).map(|tried| &tried.tool).next();
    let instead = instead.map(|tool| format!("; {tool} answers in its stead")).unwrap_or_default();
    let score = state.learning.score(tool);
    let times = counted(fired(state) as usize, "time");
    format!("{tool} has failed {times}, its score is {score:+}{instead}").replace('-', "−")
}

/// Whether the agent has recovered, or cannot any more.
fn is_decided(state: &State) -> bool {
    let recovered =
        taken(state).is_some_and(|taken| matches!(taken.verdict, Verdict::Recovered { .. }));
    recovered || !state.has_work()
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
