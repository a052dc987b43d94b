//! Why an action cannot be done just now, in words for the person who pressed its key.

use super::Action;
use crate::domain::{Knob, Matter, Speed, State};
use crate::papers::sweep::Scope;
use crate::update::edits;
use crate::{change, pane::PaneId, panes, view::View};

pub(super) fn never(_: &State, _: &View) -> Option<&'static str> {
    None
}

/// Returns the matter that an action changes, since not every agent allows that.
pub(super) fn matter(action: Action) -> Option<Matter> {
    Some(match action {
        Action::Strategy => Matter::Strategy,
        Action::Model | Action::CheckModels => Matter::Models,
        Action::Learning => Matter::Knob(Knob::Learn),
        Action::Pin | Action::SetClass => Matter::Menus,
        Action::CallTool | Action::ReloadTools | Action::Probe | Action::ProbeAll => Matter::Tools,
        Action::NewTask
        | Action::RunNext
        | Action::MoveDown
        | Action::MoveUp
        | Action::FollowUp => Matter::Tasks,
        Action::Sweep => Matter::Copies,
        _ => return None,
    })
}

pub(super) fn nothing_runs(state: &State, _: &View) -> Option<&'static str> {
    state.effects_in_flight().next().is_none().then_some("nothing is running")
}

pub(super) fn no_task_done(state: &State, _: &View) -> Option<&'static str> {
    (state.tasks_done == 0).then_some("no task has ended yet")
}

pub(super) fn no_lane(state: &State, view: &View) -> Option<&'static str> {
    view.lane(state).err()
}

/// Says why nothing can be broken. The pane of models breaks a role or a model, and always has one selected.
pub(super) fn nothing_to_break(state: &State, view: &View) -> Option<&'static str> {
    if view.focus != PaneId::Models {
        let target = change::fault_target(state, view);
        return target.is_none().then_some("no tool is known yet");
    }
    state.models.known.is_empty().then_some("no model is configured")
}

/// Says why nothing can be removed; the focused pane decides.
pub(super) fn nothing_to_remove(state: &State, view: &View) -> Option<&'static str> {
    if edits::cancels_held(state, view).is_some() {
        return None;
    }
    (panes::spec(view.focus).why_not_remove)(state, view)
}

pub(super) fn nothing_to_edit(state: &State, view: &View) -> Option<&'static str> {
    if edits::edited(state, view).is_some() { None } else { nothing_to_adjust(state, view) }
}

/// Says why nothing can be adjusted; the focused pane decides.
pub(super) fn nothing_to_adjust(state: &State, view: &View) -> Option<&'static str> {
    (panes::spec(view.focus).why_not_adjust)(state, view)
}

pub(super) fn one_view(state: &State, view: &View) -> Option<&'static str> {
    match view.focus {
        PaneId::Graph | PaneId::Resilience if state.watched.is_some() => {
            Some("one view of a watched agent: what it did, counted")
        }
        PaneId::Knobs if state.watched.is_some() => Some("all settings that act are listed"),
        PaneId::Graph | PaneId::Resilience | PaneId::Calls | PaneId::Knobs | PaneId::Twin => None,
        _ => Some(
            "this pane has only one view; graph (<key:graph>), calls (<key:calls>) and resilience (<key:resilience>) have more",
        ),
    }
}

pub(super) fn no_credits(state: &State, _: &View) -> Option<&'static str> {
    let is_watched = state.watched.is_some();
    is_watched.then_some("a watched agent has no credits; <key:models> shows what it costs")
}

const OWN_SPEED: &str = "the knob speed is off: calls take their own time";

pub(super) fn is_slowest(state: &State, _: &View) -> Option<&'static str> {
    match state.knobs.choice::<Speed>() {
        Speed::Off => Some(OWN_SPEED),
        Speed::Quarter => Some("this is the lowest speed"),
        _ => None,
    }
}

pub(super) fn is_fastest(state: &State, _: &View) -> Option<&'static str> {
    match state.knobs.choice::<Speed>() {
        Speed::Off => Some(OWN_SPEED),
        Speed::Sixteen => Some("this is the highest speed"),
        _ => None,
    }
}

pub(super) fn not_shared(_: &State, view: &View) -> Option<&'static str> {
    view.seat.is_none().then_some("no other screen can attach to this session")
}

/// Says why there is no twin to start or end. A running twin can always be ended.
pub(super) fn no_twin(state: &State, view: &View) -> Option<&'static str> {
    let runs = view.twin.as_ref().is_some_and(|twin| !twin.over);
    if runs || view.has_origin { None } else { no_copy(state, view) }
}

/// Says why no copy of this session can run beside it.
pub fn no_copy(state: &State, view: &View) -> Option<&'static str> {
    let none = state.tasks.is_empty().then_some("no task to run again");
    change::over(state, view).or_else(|| state.cannot(Matter::Copies)).or(none)
}

pub(super) fn no_sweep(state: &State, view: &View) -> Option<&'static str> {
    if view.focus != PaneId::Knobs {
        return Some("select a knob first (<key:knobs>)");
    }
    if view.sweep.as_ref().is_some_and(|sweep| !sweep.over) {
        return Some("a sweep is running already");
    }
    Scope::why_not(state, view.knob())
}

pub(super) fn no_best(state: &State, view: &View) -> Option<&'static str> {
    let none = change::best(state, view).is_none();
    none.then_some("no sweep found a better value for the selected knob")
}

pub(super) fn no_order(state: &State, view: &View) -> Option<&'static str> {
    if view.focus == PaneId::Models {
        return no_pairs(state, view);
    }
    (view.focus != PaneId::Tools)
        .then_some("this list has only one order; the tools (<key:tools>) have four")
}

pub(super) fn nothing_found(_: &State, view: &View) -> Option<&'static str> {
    let none = view.found(view.focus).is_none();
    none.then_some("no search in this pane yet: press <key:find>")
}

pub(super) fn only_in_popups(_: &State, _: &View) -> Option<&'static str> {
    Some("only in popups")
}

pub(super) fn no_edge(state: &State, view: &View) -> Option<&'static str> {
    let Some((from, to)) = view.edge_to_pin(state) else {
        return Some("no edge is selected: select one in the graph (<key:graph>)");
    };
    let known = state.learning.graph.has_edge(from.as_str(), to.as_str());
    (!known).then_some("no edge from here to the selected tool")
}

pub(super) fn nothing_to_undo(state: &State, _: &View) -> Option<&'static str> {
    state.control.changes.undo.is_empty().then_some("nothing to undo")
}

pub(super) fn nothing_to_redo(state: &State, _: &View) -> Option<&'static str> {
    state.control.changes.redo.is_empty().then_some("nothing to redo")
}

pub(super) fn no_models(state: &State, _: &View) -> Option<&'static str> {
    state.models.known.is_empty().then_some("no model is configured")
}

pub(super) fn no_pairs(state: &State, _: &View) -> Option<&'static str> {
    state.pairs.all().is_empty().then_some("no task is done yet")
}

pub(super) fn no_model_calls(state: &State, _: &View) -> Option<&'static str> {
    state.model_calls.is_empty().then_some("no model call yet")
}

pub(super) fn nothing_yet(state: &State, _: &View) -> Option<&'static str> {
    (state.n == 0).then_some("no events yet")
}

pub(super) fn no_fork(state: &State, view: &View) -> Option<&'static str> {
    let is_elsewhere = state.watched.as_ref().is_some_and(|watched| watched.command.is_none());
    let why = "the agent was started elsewhere: toolyard fork JOURNAL --at EVENT -- COMMAND";
    nothing_yet(state, view).or(is_elsewhere.then_some(why))
}

pub(super) fn at_the_start(state: &State, view: &View) -> Option<&'static str> {
    let first = (view.moment == Some(1)).then_some("this is the first event");
    nothing_yet(state, view).or(first)
}

pub(super) fn is_live(_: &State, view: &View) -> Option<&'static str> {
    view.moment.is_none().then_some("already at the present")
}
