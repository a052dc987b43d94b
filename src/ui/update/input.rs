//! Handles keys and the mouse. Keys are looked up in the layers that are open, the topmost first; a click goes to the
//! owner of the cell, the wheel to the pane below the pointer, and a border between panes follows the mouse.

use ratatui::crossterm::event::{KeyCode, MouseButton, MouseEvent, MouseEventKind};

use super::{act, arrange, past};
use crate::action::{Action, KeyLayer};
use crate::hits::{Hits, Target};
use crate::layout::Border;
use crate::popups::{Popup, Pressed, Reply};
use crate::request::{Requests, ScreenRequest, World};
use crate::{key::Key, keymap::Meaning, view::Tone, view::View};

/// Rows per notch of the wheel.
const NOTCH: isize = 3;

/// Handles a key, alone or after pending ones.
pub fn press(world: &World<'_>, view: &mut View, key: Key) -> Requests {
    view.told = false;
    let mut typed = std::mem::take(&mut view.pending);
    let hinted = std::mem::take(&mut view.hinted);
    let layers = layers(view);
    let is_pending = !typed.is_empty();
    typed.push(key);
    let action = match world.keymap.meaning(&layers, &typed) {
        Meaning::Action(layer, action) if !layer.is_popup() => return act(world, view, action),
        Meaning::Action(_, action) => Some(action),
        Meaning::Prefix => {
            (view.pending, view.hinted) = (typed, hinted);
            return Vec::new();
        }
        Meaning::Nothing if is_pending => {
            typed.pop();
            amend(world, view, key, typed);
            return Vec::new();
        }
        Meaning::Nothing if view.popups.is_empty() => {
            let help = world.keymap.fill("<key:help> lists the keys");
            view.tell(world.live.at, Tone::Plain, format!("{key} does nothing here · {help}"));
            return Vec::new();
        }
        Meaning::Nothing => None,
    };
    let pressed = Pressed { key, action };
    answer(world, view, |popup, view| popup.key(pressed, world, view))
}

/// Handles a key that cannot follow the pending ones: it shows those that can, removes the last one, or drops all.
fn amend(world: &World<'_>, view: &mut View, key: Key, mut pending: Vec<Key>) {
    let global = world.keymap.meaning(&[KeyLayer::Global], &[key]);
    if global == Meaning::Action(KeyLayer::Global, Action::Help) {
        view.hinted = true;
    } else if key.code == KeyCode::Backspace {
        pending.pop();
    } else {
        pending.clear();
    }
    view.pending = pending;
}

/// The layers that are open, the topmost first.
pub fn layers(view: &View) -> Vec<KeyLayer> {
    if let Some(popup) = view.popups.last() {
        return vec![KeyLayer::Everywhere, popup.keys().0];
    }
    // In a filtered list the arrows go from match to match anyway.
    let found = view.found(view.focus).filter(|found| found.filters.is_none());
    let found = found.map(|_| KeyLayer::Found);
    let panes = [KeyLayer::Everywhere, KeyLayer::Pane(view.focus), KeyLayer::Global];
    found.into_iter().chain(panes).collect()
}

/// Handles a mouse event.
pub fn mouse(world: &World<'_>, view: &mut View, hits: &Hits, event: MouseEvent) -> Requests {
    let (x, y) = (event.column, event.row);
    match event.kind {
        MouseEventKind::Down(MouseButton::Left) => {
            view.border = held(view, hits, (x, y));
            match view.border {
                Some(_) => Vec::new(),
                None => click(world, view, hits, (x, y)),
            }
        }
        MouseEventKind::Drag(MouseButton::Left) => {
            arrange::drag(view, (x, y));
            Vec::new()
        }
        MouseEventKind::Up(MouseButton::Left) => match view.border.take() {
            // A release of an unmoved border is a click.
            Some(border) if !border.is_moved => click(world, view, hits, (x, y)),
            _ => Vec::new(),
        },
        MouseEventKind::ScrollUp => wheel(view, hits, (x, y), -NOTCH),
        MouseEventKind::ScrollDown => wheel(view, hits, (x, y), NOTCH),
        _ => Vec::new(),
    }
}

/// The border between panes in this cell. Tabs and buttons on a border do not belong to it.
fn held(view: &View, hits: &Hits, (x, y): (u16, u16)) -> Option<Border> {
    let is_frame = matches!(hits.at(x, y), Some(Target::Pane(_)));
    let is_free = is_frame && view.popups.is_empty() && view.zoom.is_none();
    is_free.then(|| Border::of(&hits.placed, (x, y))).flatten()
}

fn click(world: &World<'_>, view: &mut View, hits: &Hits, (x, y): (u16, u16)) -> Requests {
    view.told = false;
    view.arrived = None;
    view.pending.clear();
    view.hinted = false;
    let Some(target) = hits.at(x, y) else { return Vec::new() };
    if let Target::Action(action) = target {
        // The effect of an action may depend on the pane.
        if let Some(pane) = hits.pane_at(x, y) {
            view.go_to(pane);
        }
        return act(world, view, *action);
    }
    if let Target::Moment(n) = target {
        past::jump(world, view, Some(*n));
        return Vec::new();
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

/// Lets the topmost popup handle a key or a click, and carries out its reply.
pub fn answer(
    world: &World<'_>,
    view: &mut View,
    ask: impl FnOnce(&mut dyn Popup, &mut View) -> Reply,
) -> Requests {
    // The popup is removed while it uses the view, and put back if it stays.
    let Some(mut popup) = view.popups.pop() else { return Vec::new() };
    let reply = ask(&mut *popup, view);
    if matches!(reply, Reply::Stay | Reply::Keep(_) | Reply::KeepAnd(_) | Reply::Open(_)) {
        view.popups.push(popup);
    }
    match reply {
        Reply::Stay | Reply::Close => Vec::new(),
        Reply::Done(requests) | Reply::KeepAnd(requests) => requests,
        Reply::Keep(command) => vec![ScreenRequest::Send(command)],
        Reply::Act(action) => act(world, view, action),
        Reply::Open(other) | Reply::Replace(other) => {
            view.popups.push(other);
            Vec::new()
        }
    }
}
