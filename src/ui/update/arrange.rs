//! Arranging the panes.

use crate::ui::layout::Side;
use crate::ui::popups::Choose;
use crate::ui::request::{ScreenRequest, World};
use crate::ui::view::{Tone, View};
use crate::ui::{action::Action, pane::PaneId, panes};

/// Makes the focused pane larger by so many rows or columns, or smaller.
pub fn resize(world: &World<'_>, view: &mut View, side: Side, by: i16) -> Vec<ScreenRequest> {
    let placed = std::mem::take(&mut view.placed);
    if view.zoom.is_some() {
        refuse(world, view, "this pane has the whole screen: z gives it back");
    } else if !view.layouts.change().resize(view.focus, side, by, &placed) {
        refuse(world, view, "there is no room for that");
    }
    view.placed = placed;
    Vec::new()
}

pub fn equal(view: &mut View) -> Vec<ScreenRequest> {
    view.layouts.change().equal();
    Vec::new()
}

/// Hides the focused pane, and goes to the one that takes its place.
pub fn hide(world: &World<'_>, view: &mut View) -> Vec<ScreenRequest> {
    let pane = view.focus;
    let slot = view.layouts.now().slot_of(pane);
    if !view.layouts.change().hide(pane) {
        refuse(world, view, "the last pane stays");
        return Vec::new();
    }
    view.zoom = None;
    let has = |pane: PaneId| (panes::spec(pane).when)(world.shown, view);
    let seen = view.layouts.now().seen(has);
    let near = seen.iter().copied().find(|pane| view.layouts.now().slot_of(*pane) == slot);
    let next = near.or(seen.first().copied()).or_else(|| view.layouts.now().panes().next());
    if let Some(next) = next {
        view.go_to(next);
    }
    let key = world.keymap.key(Action::Pane(pane)).unwrap_or("ctrl-w a");
    let text = format!("{} is hidden · {key} shows it", pane.name());
    view.tell(world.live.at, Tone::Good, text);
    Vec::new()
}

/// Chooses the pane that comes into the place of the focused one.
pub fn add(view: &mut View) -> Vec<ScreenRequest> {
    let choice = Choose::pane(view);
    view.open(choice)
}

pub fn only(view: &mut View) -> Vec<ScreenRequest> {
    view.layouts.change().only(view.focus);
    Vec::new()
}

pub fn reset(view: &mut View) -> Vec<ScreenRequest> {
    view.layouts.reset();
    view.go_to(view.focus);
    Vec::new()
}

fn refuse(world: &World<'_>, view: &mut View, why: &str) {
    view.tell(world.live.at, Tone::Bad, why);
}
