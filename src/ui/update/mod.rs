//! What an action does: it changes the view and returns requests. Nothing here has an effect outside of the
//! screen, so every key is tested without a terminal or an engine.

pub mod arrange;
pub mod control;
pub mod mouse;
pub mod past;
mod popup;
mod press;

use super::panes::spec::Opened;
use super::popups::{Inspect, Subject};
use super::request::{ScreenRequest, World};
use super::view::{Round, Tone, View};
use super::window::{self, Move};
use super::{action::Action, pane::PaneId, panes};
use crate::domain::State;

pub use press::{layers, press};

/// Does what the action says, or says why not.
pub fn act(world: &World<'_>, view: &mut View, action: Action) -> Vec<ScreenRequest> {
    if let Some(why) = action.spec().why_not(world.live, view) {
        let text = format!("{}: {why}", action.spec().name);
        view.tell(world.live.at, Tone::Bad, text);
        return Vec::new();
    }
    (action.spec().run)(world, view)
}

/// A closer look at what is selected.
pub fn open(world: &World<'_>, view: &mut View) -> Vec<ScreenRequest> {
    match (panes::spec(view.focus).open)(world.shown, view) {
        Opened::Nothing => Vec::new(),
        Opened::Subject(subject) => inspect(view, Some(subject)),
        Opened::Act(action) => act(world, view, action),
    }
}

/// The next order of the pane's list.
pub fn sort(view: &mut View) -> Vec<ScreenRequest> {
    if view.focus == PaneId::Models {
        return to_next(&mut view.pair_sort);
    }
    view.follow(PaneId::Tools);
    to_next(&mut view.sort)
}

pub fn zoom(view: &mut View) -> Vec<ScreenRequest> {
    view.zoom = if view.zoom.is_some() { None } else { Some(view.focus) };
    Vec::new()
}

pub fn to_next<T: Round>(value: &mut T) -> Vec<ScreenRequest> {
    *value = value.next();
    Vec::new()
}

pub fn inspect(view: &mut View, subject: Option<Subject>) -> Vec<ScreenRequest> {
    subject.map_or_else(Vec::new, |subject| view.open(Inspect::new(subject)))
}

/// Selects the next or previous thing that holds what was searched for last.
pub fn find_next(shown: &State, view: &mut View, how: window::Find) -> Vec<ScreenRequest> {
    let found = view.find.as_ref().map(|found| (found.pane, found.needle.clone()));
    if let Some((pane, needle)) = found {
        view.follow(pane);
        panes::find(pane, shown, view, &needle, how);
    }
    Vec::new()
}

pub fn walk(world: &World<'_>, view: &mut View, to: Move) -> Vec<ScreenRequest> {
    panes::go(view.focus, world.shown, view, to);
    Vec::new()
}

/// The next pane that is seen, or the one before; where there is one slot only, the next of those in it.
pub fn to_next_pane(shown: &State, view: &mut View, is_forward: bool) -> Vec<ScreenRequest> {
    let has = |pane: PaneId| pane == view.focus || (panes::spec(pane).when)(shown, view);
    let mut seen = view.layouts.now().seen(has);
    if seen.len() < 2 {
        seen = view.layouts.now().panes().filter(|pane| has(*pane)).collect();
    }
    let at = seen.iter().position(|pane| *pane == view.focus).unwrap_or(0);
    let by = if is_forward { 1 } else { seen.len().saturating_sub(1) };
    if let Some(next) = seen.get((at + by) % seen.len().max(1)) {
        view.go_to(*next);
    }
    Vec::new()
}

/// A pane's own key: goes there, and zooms the pane that has the keyboard already.
pub fn visit(view: &mut View, pane: PaneId) -> Vec<ScreenRequest> {
    if view.focus == pane {
        view.zoom = if view.zoom.is_some() { None } else { Some(pane) };
    }
    view.go_to(pane);
    Vec::new()
}

/// Leaves one thing: the search, the past, the zoom, or the selection that holds a list still.
pub fn leave(view: &mut View) -> Vec<ScreenRequest> {
    if let Some(found) = view.find.take() {
        // All rows are shown again, and the selected one among them.
        view.follow(found.pane);
        return Vec::new();
    }
    if view.moment.take().is_some() || view.zoom.take().is_some() {
        return Vec::new();
    }
    (panes::spec(view.focus).leave)(view);
    Vec::new()
}
