//! What a key or a click does in the topmost popup.

use super::act;
use crate::ui::popups::{Popup, Reply};
use crate::ui::request::{Requests, ScreenRequest, World};
use crate::ui::view::View;

/// Lets the topmost popup answer a key or a click, and does what it says.
pub fn answer(
    world: &World<'_>,
    view: &mut View,
    ask: impl FnOnce(&mut dyn Popup, &mut View) -> Reply,
) -> Requests {
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
