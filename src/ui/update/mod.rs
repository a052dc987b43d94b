//! Performs actions: an action changes the view and returns requests. No code here has an effect outside of the screen,
//! so every key is tested without a terminal or an engine.

pub mod arrange;
pub mod control;
pub mod copying;
pub mod debug;
pub mod edits;
mod input;
pub mod jump;
pub mod moments;
pub mod own;
pub mod past;
pub mod play;
pub mod queue;

use super::action::{Action, ActionHandler, Group};
use super::panes::{spec::Opened, tool_order};
use super::popups::{Inspect, Subject};
use super::request::{Requests, World, send};
use super::view::{Round, Tone, View};
use super::{change, pane::PaneId, panes, window};
use crate::domain::State;

pub use input::{layers, mouse, press};

/// Performs the action, or tells why it cannot be done.
pub fn act(world: &World<'_>, view: &mut View, action: Action) -> Requests {
    // The mark follows the calls of an own agent, so that a fault would hit the tool of any of them.
    let is_fault = matches!(action, Action::Fail | Action::AddFault);
    if action.spec().group == Group::Change && (!is_fault || world.live.watched.is_some()) {
        view.choose_marked(world.shown);
    }
    if let Some(why) = action.spec().why_not(world.live, view) {
        let text = format!("{}: {}", action.spec().name, world.keymap.fill(&why));
        view.tell(world.live.at, Tone::Bad, text);
        return Vec::new();
    }
    if action != Action::Open {
        view.arrived = None;
    }
    if let Action::Own(at) = action {
        return own::run(world, view, usize::from(at));
    }
    match action.spec().does {
        ActionHandler::Run(run) => return run(world, view),
        ActionHandler::Turn(up) => return (panes::spec(view.focus).turn)(world, view, up),
        ActionHandler::Show(show) => show(world, view),
        ActionHandler::Walk(to) => panes::go(view.focus, world.shown, view, to),
        ActionHandler::Visit(pane) => visit(view, pane),
        ActionHandler::Look(way) => past::to(world, view, way),
        ActionHandler::Match(how) => find_next(world.shown, view, how),
        ActionHandler::Resize(side, by) => arrange::resize(world, view, side, by),
    }
    Vec::new()
}

/// Opens the selected thing in full.
pub fn open(world: &World<'_>, view: &mut View) -> Requests {
    if let Some(task) = view.arrived.take() {
        return view.open(Inspect::new(Subject::Task(task)));
    }
    match (panes::spec(view.focus).open)(world.shown, view) {
        Opened::Nothing => Vec::new(),
        Opened::Subject(subject) => view.open(Inspect::new(subject)),
        Opened::Act(Action::Edit) if edits::edited(world.live, view).is_some() => {
            edit_row(world, view)
        }
        Opened::Act(action) => act(world, view, action),
    }
}

/// Opens an entry for the selected row, even while the key for that means the held call.
fn edit_row(world: &World<'_>, view: &mut View) -> Requests {
    let spec = panes::spec(view.focus);
    let over = change::over(world.live, view);
    match over.or_else(|| (spec.why_not_adjust)(world.live, view)) {
        Some(why) => {
            view.tell(world.live.at, Tone::Bad, world.keymap.fill(why));
            Vec::new()
        }
        None => (spec.edit)(world, view),
    }
}

/// Opens an entry for the selected thing.
pub fn edit(world: &World<'_>, view: &mut View) -> Requests {
    if edits::edited(world.live, view).is_some() {
        return edits::edit(world, view);
    }
    (panes::spec(view.focus).edit)(world, view)
}

/// Removes the selected thing.
pub fn remove(world: &World<'_>, view: &mut View) -> Requests {
    if let Some(cancel) = edits::cancels_held(world.live, view) {
        return send(cancel);
    }
    (panes::spec(view.focus).remove)(world.live, view)
}

/// Changes to the next order of the pane's list.
pub fn sort(state: &State, view: &mut View) {
    if view.focus == PaneId::Models {
        view.pair_sort = view.pair_sort.next();
    } else {
        view.follow(PaneId::Tools);
        // A watched agent's tools are listed in fewer orders.
        let now = tool_order::of(state, view.sort);
        view.sort = view.sort.next();
        while tool_order::of(state, view.sort) == now {
            view.sort = view.sort.next();
        }
    }
}

/// Changes to the next view of the pane.
pub fn next_view(state: &State, view: &mut View) {
    match view.focus {
        PaneId::Calls => view.lanes = Some(view.lanes_of(state).next()),
        PaneId::Resilience => view.resilience = view.resilience.next(),
        PaneId::Twin => {
            if let Some(twin) = &mut view.twin {
                twin.step_by(twin.in_step.next());
            }
        }
        PaneId::Knobs if view.sweep.is_some() => view.measure = view.measure.next(),
        PaneId::Knobs => view.all_knobs = !view.all_knobs,
        _ => view.graph = view.graph.next(),
    }
}

pub fn zoom(view: &mut View) {
    view.zoom = if view.zoom.is_some() { None } else { Some(view.focus) };
}

pub fn inspect_tool(_: &World<'_>, view: &mut View) -> Requests {
    let tool = view.tool.clone().map(Subject::Tool);
    tool.map_or_else(Vec::new, |tool| view.open(Inspect::new(tool)))
}

pub fn inspect_prompt(world: &World<'_>, view: &mut View) -> Requests {
    let prompt = view.model_call(world.shown).map(Subject::Prompt);
    prompt.map_or_else(Vec::new, |prompt| view.open(Inspect::new(prompt)))
}

/// Selects the next or previous match of the last search.
fn find_next(shown: &State, view: &mut View, how: window::Find) {
    let found = view.find.as_ref().map(|found| (found.pane, found.needle.clone()));
    if let Some((pane, needle)) = found {
        view.follow(pane);
        panes::find(pane, shown, view, &needle, how);
    }
}

/// Goes to the next or previous visible pane; if there is only one slot, through the panes in it.
pub fn next_pane(world: &World<'_>, view: &mut View, is_forward: bool) {
    let has = |pane: PaneId| pane == view.focus || (panes::spec(pane).when)(world.shown, view);
    let mut seen: Vec<PaneId> = match view.zoom {
        Some(_) => view.layouts.now.seen(has),
        None => view.placed.iter().map(|placed| placed.pane).collect(),
    };
    if seen.len() < 2 {
        seen = view.layouts.now.panes().filter(|pane| has(*pane)).collect();
    }
    let at = seen.iter().position(|pane| *pane == view.focus).unwrap_or(0);
    let by = if is_forward { 1 } else { seen.len().saturating_sub(1) };
    if let Some(next) = seen.get((at + by) % seen.len().max(1)) {
        view.go_to(*next);
    }
}

/// Handles a pane's own key: goes to the pane, or zooms it if it has the keyboard already.
fn visit(view: &mut View, pane: PaneId) {
    if view.focus == pane {
        zoom(view);
    }
    view.go_to(pane);
}

/// Leaves one thing: the search, the past, the zoom, or the selection that keeps a list still.
pub fn leave(view: &mut View) {
    if let Some(found) = view.find.take() {
        // All rows are shown again, with the selected one in view.
        view.follow(found.pane);
    } else if let Some(moment) = view.moment.take() {
        past::remember(view, Some(moment));
    } else if view.zoom.take().is_none() {
        (panes::spec(view.focus).leave)(view);
    }
}
