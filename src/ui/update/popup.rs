//! What a key or a click does in the topmost popup.

use super::act;
use crate::ui::popups::{Popup, Pressed, Reply};
use crate::ui::request::{ScreenRequest, World};
use crate::ui::view::View;

/// Gives a key to the topmost popup.
pub fn key(world: &World<'_>, view: &mut View, pressed: Pressed) -> Vec<ScreenRequest> {
    answer(world, view, |popup, view| popup.key(pressed, world, view))
}

/// A click on a row of the topmost popup.
pub fn click(world: &World<'_>, view: &mut View, row: usize) -> Vec<ScreenRequest> {
    answer(world, view, |popup, view| popup.click(row, world, view))
}

/// Lets the topmost popup answer, and does what it says.
fn answer(
    world: &World<'_>,
    view: &mut View,
    ask: impl FnOnce(&mut dyn Popup, &mut View) -> Reply,
) -> Vec<ScreenRequest> {
    // Taken off while it looks at the view, and put back if it stays.
    let Some(mut popup) = view.popups.pop() else { return Vec::new() };
    let reply = ask(&mut *popup, view);
    if matches!(reply, Reply::Stay | Reply::Keep(_) | Reply::Open(_)) {
        view.popups.push(popup);
    }
    match reply {
        Reply::Stay | Reply::Close => Vec::new(),
        Reply::Done(requests) => requests,
        Reply::Keep(command) => vec![ScreenRequest::Send(command)],
        Reply::Act(action) => act(world, view, action),
        Reply::Open(other) | Reply::Replace(other) => {
            view.popups.push(other);
            Vec::new()
        }
    }
}
