//! Why an action cannot be done just now, in words for the person who pressed its key.

use crate::domain::{Mode, State};
use crate::ui::{pane::PaneId, view::View};

pub(super) fn never(_: &State, _: &View) -> Option<&'static str> {
    None
}

/// Nothing of a recorded or ended session can be changed.
pub(super) fn over(state: &State, view: &View) -> Option<&'static str> {
    if let Some(read_only) = view.read_only {
        return Some(read_only.why());
    }
    (state.control.mode == Mode::Ended).then_some("the session has ended")
}

pub(super) fn nothing_runs(state: &State, view: &View) -> Option<&'static str> {
    over(state, view).or_else(|| view.cancels(state).err())
}

pub(super) fn no_lane(state: &State, view: &View) -> Option<&'static str> {
    over(state, view).or_else(|| view.lane(state).err())
}

pub(super) fn no_tool(state: &State, view: &View) -> Option<&'static str> {
    let known = view.tool.as_ref().is_some_and(|tool| state.tools.contains_key(tool));
    (!known).then_some("no tool is selected")
}

pub(super) fn no_tool_to_change(state: &State, view: &View) -> Option<&'static str> {
    over(state, view).or_else(|| no_tool(state, view))
}

/// In the pane of models it is a role or a model that is broken, and one of them always is selected.
pub(super) fn nothing_to_break(state: &State, view: &View) -> Option<&'static str> {
    if view.focus != PaneId::Models {
        return no_tool_to_change(state, view);
    }
    over(state, view).or(state.models.roles.is_empty().then_some("no model is configured"))
}

/// `end` has a score too, though it is no tool.
pub(super) fn nothing_scored(state: &State, view: &View) -> Option<&'static str> {
    let scored = view.tool.as_ref().is_some_and(|tool| {
        state.learning.scores.get(tool.as_str()).is_some_and(|score| score != 0.0)
    });
    over(state, view).or((!scored).then_some("the selected tool has no score"))
}

pub(super) fn no_edge(state: &State, view: &View) -> Option<&'static str> {
    let known = view
        .edge
        .as_ref()
        .is_some_and(|(from, to)| state.learning.graph.has_edge(from.as_str(), to.as_str()));
    over(state, view)
        .or((!known).then_some("no edge is selected: go to one in the graph (1) with the arrows"))
}

pub(super) fn nothing_to_undo(state: &State, view: &View) -> Option<&'static str> {
    over(state, view).or(state.control.undo.is_empty().then_some("there is nothing to undo"))
}

/// Uses are those of a plan, and what is banned has none.
pub(super) fn no_uses_to_set(state: &State, view: &View) -> Option<&'static str> {
    let why = || {
        let Some(task) = state.current_task().filter(|task| task.budget.plan.is_some()) else {
            return Some("no task at work has a plan: choose a strategy with +btp (A)");
        };
        let banned =
            view.tool.as_ref().is_some_and(|tool| task.budget.blacklist.contains_key(tool));
        banned.then_some("the selected tool is blacklisted for this task")
    };
    no_tool_to_change(state, view).or_else(why)
}

pub(super) fn no_plan(state: &State, view: &View) -> Option<&'static str> {
    let planned = view.task_of(state).is_some_and(|task| task.budget.plan.is_some());
    (!planned).then_some("nothing was planned for this task: strategies with +btp plan")
}

pub(super) fn no_models(state: &State, view: &View) -> Option<&'static str> {
    over(state, view).or(state.models.known.is_empty().then_some("no model is configured"))
}

pub(super) fn no_pairs(state: &State, _: &View) -> Option<&'static str> {
    state.pairs.all().is_empty().then_some("no task has been done here yet")
}

pub(super) fn no_model_calls(state: &State, _: &View) -> Option<&'static str> {
    state.model_calls.is_empty().then_some("no model has been asked yet")
}

pub(super) fn no_calls(state: &State, view: &View) -> Option<&'static str> {
    let none = state.tool_calls.is_empty() && view.evidence(state).is_none();
    none.then_some("no tool has been called yet")
}

pub(super) fn at_the_start(state: &State, view: &View) -> Option<&'static str> {
    if state.n == 0 {
        return Some("nothing has happened yet");
    }
    (view.moment == Some(1)).then_some("this is the first event")
}

pub(super) fn is_live(_: &State, view: &View) -> Option<&'static str> {
    view.moment.is_none().then_some("this is the present already")
}
