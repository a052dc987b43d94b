//! The mouse: a click goes to the owner of the cell, the wheel to the pane below the pointer.

use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};

use super::{act, popup::answer};
use crate::ui::hits::{Hits, Target};
use crate::ui::request::{Requests, World};
use crate::ui::{action::Action, view::View};

/// Rows per notch of the wheel.
const NOTCH: isize = 3;

/// What a mouse event does.
pub fn mouse(world: &World<'_>, view: &mut View, hits: &Hits, event: MouseEvent) -> Requests {
    let (x, y) = (event.column, event.row);
    match event.kind {
        MouseEventKind::Down(MouseButton::Left) => click(world, view, hits, (x, y)),
        MouseEventKind::ScrollUp => wheel(view, hits, (x, y), -NOTCH),
        MouseEventKind::ScrollDown => wheel(view, hits, (x, y), NOTCH),
        _ => Vec::new(),
    }
}

fn click(world: &World<'_>, view: &mut View, hits: &Hits, (x, y): (u16, u16)) -> Requests {
    view.told = false;
    view.pending.clear();
    view.hinted = false;
    let Some(target) = hits.at(x, y) else { return Vec::new() };
    if let Target::Action(action) = target {
        // What an action does may depend on the pane.
        if let Some(pane) = hits.pane_at(x, y) {
            view.go_to(pane);
        }
        return act(world, view, *action);
    }
    if let Target::PopupRow(row) = target {
        return answer(world, view, |popup, view| popup.click(*row, world, view));
    }
    if let Some(pane) = hits.pane_at(x, y) {
        view.go_to(pane);
        view.follow(pane);
    }
    if view.select(world.shown, target) {
        return act(world, view, Action::Open);
    }
    Vec::new()
}

fn wheel(view: &mut View, hits: &Hits, (x, y): (u16, u16), by: isize) -> Requests {
    if let Some(popup) = view.popups.last_mut() {
        popup.window().into_iter().for_each(|window| *window = window.wheeled(by));
    } else if let Some(pane) = hits.pane_at(x, y) {
        let window = &mut view.windows[pane as usize];
        *window = window.wheeled(by);
    }
    Vec::new()
}
