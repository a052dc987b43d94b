//! What lies above the panes, in layers: the topmost has the keyboard and the mouse. A popup gets each
//! key first and says what comes of it; what it does not know goes on to the keymap, so that the agent
//! can be held while its prompt is read.

mod actions;
mod choose;
mod confirm;
mod entry;
mod fault_form;
mod faults;
mod find;
mod frame;
mod fuzzy;
pub mod inspect;
mod lines;
mod models;
mod pairs;
mod pick;
mod task_entry;
mod value;

use std::fmt;

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::action::{Action, Group};
use super::update::{self, ScreenRequest, World};
use super::{hits::Hits, key::Key, pane::Cx, theme::Theme, view::View};
use crate::domain::{Command, State};

pub use actions::Actions;
pub use choose::Choose;
pub use confirm::Confirm;
pub use fault_form::FaultForm;
pub use faults::Faults;
pub use find::Find;
pub use inspect::{Inspect, Subject};
pub use models::ModelChoice;
pub use pairs::PairTable;
pub use task_entry::TaskEntry;
pub use value::Value;

/// A layer above the panes.
pub trait Popup: fmt::Debug {
    /// The keys that it knows, for its frame and the footer.
    fn keys(&self) -> &'static str;

    fn key(&mut self, key: Key, around: &mut Around<'_>) -> Reply;

    /// A click on what it noted as this row.
    fn click(&mut self, _row: usize, _around: &mut Around<'_>) -> Reply {
        Reply::Stay
    }

    /// Text pasted into the terminal.
    fn paste(&mut self, _text: &str) {}

    fn wheel(&mut self, _by: isize) {}

    /// Makes ready what drawing needs and cannot change.
    fn prepare(&mut self, _cx: &Cx<'_>, _area: Rect) {}

    /// Draws it over everything in `area`.
    fn draw(&self, _cx: &Cx<'_>, _area: Rect, _buf: &mut Buffer, _hits: &mut Hits) {}

    /// The footer's line, where the popup wants it for itself, messages or not.
    fn footer(&self, _theme: &Theme) -> Option<(String, Style)> {
        None
    }
}

/// What a popup is given with a key or a click. The popup itself is not among those of the view then.
#[derive(Debug)]
pub struct Around<'a> {
    /// What is true now.
    pub live: &'a State,
    /// What is on the screen.
    pub shown: &'a State,
    pub view: &'a mut View,
}

/// What comes of a key in a popup.
#[derive(Debug)]
pub enum Reply {
    Stay,
    /// Not for this popup.
    Pass,
    Close,
    /// Closes, and these happen.
    Done(Vec<ScreenRequest>),
    /// Stays open, and this is sent.
    Keep(Command),
    /// Closes, and the action is done.
    Act(Action),
    /// Another layer on top.
    Open(Box<dyn Popup>),
    /// Another layer in its place.
    Replace(Box<dyn Popup>),
}

impl Reply {
    /// Closes, and this is sent.
    fn send(command: Command) -> Self {
        Reply::Done(vec![ScreenRequest::Send(command)])
    }
}

/// Gives a key to the topmost popup; `None` where there is none or it wants none of it.
pub fn key(world: &World<'_>, view: &mut View, key: Key) -> Option<Vec<ScreenRequest>> {
    // Taken off while it looks at the view, and put back if it stays.
    let mut popup = view.popups.pop()?;
    match popup.key(key, &mut Around { live: world.live, shown: world.shown, view }) {
        Reply::Pass => pass(world, view, popup, key),
        reply => Some(settle(world, view, popup, reply)),
    }
}

/// A click on a row of the topmost popup.
pub fn click(world: &World<'_>, view: &mut View, row: usize) -> Vec<ScreenRequest> {
    let Some(mut popup) = view.popups.pop() else { return Vec::new() };
    let reply = popup.click(row, &mut Around { live: world.live, shown: world.shown, view });
    settle(world, view, popup, reply)
}

fn settle(
    world: &World<'_>,
    view: &mut View,
    popup: Box<dyn Popup>,
    reply: Reply,
) -> Vec<ScreenRequest> {
    if matches!(reply, Reply::Stay | Reply::Pass | Reply::Keep(_) | Reply::Open(_)) {
        view.popups.push(popup);
    }
    match reply {
        Reply::Stay | Reply::Pass | Reply::Close => Vec::new(),
        Reply::Done(requests) => requests,
        Reply::Keep(command) => vec![ScreenRequest::Send(command)],
        Reply::Act(action) => update::act(world, view, action),
        Reply::Open(other) | Reply::Replace(other) => {
            view.popups.push(other);
            Vec::new()
        }
    }
}

/// A key that the popup does not know: Esc and q close it, and what moves in the panes below would go
/// unseen; everything else works as ever.
fn pass(
    world: &World<'_>,
    view: &mut View,
    popup: Box<dyn Popup>,
    key: Key,
) -> Option<Vec<ScreenRequest>> {
    let action = world.keymap.action(key);
    if matches!(action, Some(Action::Leave | Action::Quit)) {
        return Some(Vec::new());
    }
    view.popups.push(popup);
    match action {
        Some(action) if action.spec().group == Group::Move => Some(Vec::new()),
        Some(_) | None => None,
    }
}
