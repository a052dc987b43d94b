//! The data of the pane, from the state and the twin.

use std::collections::BTreeMap;

use crate::domain::{FaultState, Lap, State, ToolName};
use crate::papers::resilience::{self, Broken, Resilience};
use crate::twin::{Twin, TwinKind};
use crate::view::View;

/// Tools that are shown before any fault: the most called ones.
const FAVOURITES: usize = 4;
/// Last tasks in which the calls of tools are counted.
const RECENT: usize = 10;

/// A fault of tools, and how the agent took it.
pub struct Taken<'a> {
    pub fault: &'a FaultState,
    pub broken: Broken,
    pub found: Resilience,
}

/// All data of the pane.
pub struct Facts<'a> {
    pub laps: Vec<Lap>,
    /// The expected number of laps.
    pub tasks: usize,
    /// The rows of the strip.
    pub tools: Vec<ToolName>,
    /// The newest fault, and the reaction to it; `None` if no tool was broken.
    pub taken: Option<Taken<'a>>,
    /// The twin, and how it took the fault.
    pub twin: Option<(&'a Twin, Resilience)>,
}

impl<'a> Facts<'a> {
    pub fn of(state: &'a State, view: &'a View) -> Self {
        let laps = state.laps_with_current();
        let at = view.task.filter(|task| laps.iter().any(|lap| lap.task == *task));
        let taken = Broken::newest(state, at).map(|(fault, broken)| {
            let found = Resilience::of(&laps, &broken, state.has_work());
            Taken { fault, broken, found }
        });
        let tools = match &taken {
            Some(taken) => taken.found.strip.clone(),
            None => favourites(called(&laps)),
        };
        let broken = taken.as_ref().map(|taken| taken.broken.clone()).unwrap_or_default();
        // The session from which a fork came is no measure of a fault.
        let twin = view.twin.as_ref().filter(|twin| twin.kind != TwinKind::Origin);
        let twin = twin.map(|twin| {
            let found = match (&taken, twin.kind) {
                (Some(taken), TwinKind::Unbroken) => taken.found.beside(&laps, &twin.laps, &broken),
                _ => Resilience::of(&twin.laps, &broken, !twin.over),
            };
            (twin, found)
        });
        let tasks = if state.has_work() { state.tasks.len() } else { laps.len() };
        Self { laps, tasks, tools, taken, twin }
    }

    /// The verdict in one line.
    pub fn sentence(&self) -> Option<String> {
        let taken = self.taken.as_ref()?;
        let without = self.twin.as_ref().filter(|(twin, _)| twin.kind == TwinKind::Unbroken);
        let hit = taken.found.hit.unwrap_or(taken.broken.from);
        // The twin can be compared once it has done the same tasks.
        let is_known = |twin: &&Twin| twin.laps.len() >= self.laps.len();
        let without = without.map(|(twin, _)| *twin).filter(is_known);
        let lost = without.map(|twin| resilience::lost(&self.laps, &twin.laps, hit));
        Some(resilience::sentence(&taken.found, lost))
    }
}

/// The tool that a fault would hit from here: the selected one if it is on the strip, else the first.
pub fn target(state: &State, view: &View) -> Option<ToolName> {
    let tools = match state.faults.is_empty() {
        // Each frame asks, and a session may have hundreds of tasks at work, each a lap that would be made for this.
        true => {
            let at_work = state.at_work.tasks().filter(|task| !state.is_probe(*task));
            let calls = at_work.filter_map(|task| state.task(task)).flat_map(|it| &it.tool_calls);
            let calls = calls.filter_map(|call| state.tool_call(*call)).map(|call| &call.tool);
            favourites(called(&state.laps).chain(calls))
        }
        false => Facts::of(state, view).tools,
    };
    let selected = view.strip.as_ref().filter(|tool| tools.contains(tool));
    selected.or(tools.first()).cloned()
}

/// The tool that a fault shows most with: the most called one in the last tasks. Before enough tasks have ended it is the
/// usual one of the most steps of the queued tasks, if that is known. `None`: neither is known.
pub fn most_used(state: &State) -> Option<ToolName> {
    let queued = state.tasks.iter().filter(|task| task.ended.is_none());
    let usual = queued.flat_map(|it| &it.task.chain).filter_map(|step| step.tools.first());
    let usual = usual.filter(|tool| state.tools.contains_key(*tool));
    let usual = favourites(usual).into_iter().next();
    let usual = usual.filter(|_| state.tasks_done < RECENT / 2);
    let recent = state.laps.iter().rev().take(RECENT);
    let now = state.tool_calls_in_flight().map(|call| &call.tool);
    usual.or_else(|| favourites(called(recent).chain(now)).into_iter().next())
}

fn called<'a>(laps: impl IntoIterator<Item = &'a Lap>) -> impl Iterator<Item = &'a ToolName> {
    laps.into_iter().flat_map(|lap| &lap.tried).map(|tried| &tried.tool)
}

/// The most called of these.
fn favourites<'a>(called: impl Iterator<Item = &'a ToolName>) -> Vec<ToolName> {
    let mut calls: BTreeMap<&ToolName, usize> = BTreeMap::new();
    called.for_each(|tool| *calls.entry(tool).or_default() += 1);
    let mut calls: Vec<_> = calls.into_iter().collect();
    calls.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    calls.into_iter().map(|(tool, _)| tool.clone()).take(FAVOURITES).collect()
}
