//! Arranging the panes.

use crate::layout::{Border, ResizeAxis};
use crate::request::World;
use crate::view::{Tone, View};
use crate::{action::Action, pane::PaneId, panes};

/// Makes the focused pane larger by this many rows or columns, or smaller if negative.
pub fn resize(world: &World<'_>, view: &mut View, side: ResizeAxis, by: i16) {
    let placed = std::mem::take(&mut view.placed);
    if view.zoom.is_some() {
        refuse(world, view, "this pane has the whole screen: z gives it back");
    } else if !view.layouts.now.resize(view.focus, side, by, &placed) {
        refuse(world, view, "not enough room");
    }
    view.placed = placed;
}

/// Moves the border that the mouse holds to the pointer, as far as there is room.
pub fn drag(view: &mut View, pointer: (u16, u16)) {
    let Some(border) = view.border else { return };
    let is_covered = view.zoom.is_some() || !view.popups.is_empty();
    let by = border.distance(&view.placed, pointer).filter(|_| !is_covered);
    // The screen has changed below the pointer, so no border is held any more.
    let Some(by) = by else {
        view.border = None;
        return;
    };
    if by != 0 || border.is_moved {
        view.border = Some(Border { is_moved: true, ..border });
        // Starts from the sizes of the last frame, so that all movements since then count once.
        view.layouts.now.stretch(border.pane, border.side, by, &view.placed);
    }
}

/// Hides the focused pane, and goes to the one that takes its place.
pub fn hide(world: &World<'_>, view: &mut View) {
    let pane = view.focus;
    let slot = view.layouts.now.slot_of(pane);
    if !view.layouts.now.hide(pane) {
        return refuse(world, view, "the last pane cannot be hidden");
    }
    view.zoom = None;
    let has = |pane: PaneId| (panes::spec(pane).when)(world.shown, view);
    let seen = view.layouts.now.seen(has);
    let near = seen.iter().copied().find(|pane| view.layouts.now.slot_of(*pane) == slot);
    let next = near.or(seen.first().copied()).or_else(|| view.layouts.now.panes().next());
    if let Some(next) = next {
        view.go_to(next);
    }
    let shows = Action::Pane(pane).spec().name;
    let text = format!("{} is hidden · <key:{shows}> shows it", pane.name());
    view.tell(world.live.at, Tone::Good, world.keymap.fill(&text));
}

pub fn reset(view: &mut View) {
    view.layouts.reset();
    view.go_to(view.focus);
}

fn refuse(world: &World<'_>, view: &mut View, why: &str) {
    view.tell(world.live.at, Tone::Bad, why);
}
