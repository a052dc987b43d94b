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
mod task_entry;
mod value;

use ratatui::{buffer::Buffer, layout::Rect};

use super::action::{Action, Group};
use super::update::{self, ScreenRequest, World};
use super::{hits::Hits, key::Key, pane::Cx, view::View};

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
#[derive(Debug)]
pub enum Popup {
    /// Help and palette: every action.
    Actions(Actions),
    /// One of a few: strategy, class, a knob's named values.
    Choose(Choose),
    Confirm(Confirm),
    Faults(Faults),
    FaultForm(FaultForm),
    /// The search line in the footer.
    Find(Find),
    /// A thing from all sides, to read.
    Inspect(Inspect),
    /// A model for a role.
    Models(ModelChoice),
    Pairs(PairTable),
    Task(TaskEntry),
    /// A number or a name to type.
    Value(Value),
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
    /// Stays open, and these happen.
    Keep(Vec<ScreenRequest>),
    /// Closes, and the action is done.
    Act(Action),
    /// Another layer on top.
    Open(Popup),
    /// Another layer in its place.
    Replace(Popup),
}

/// Gives a key to the topmost popup; `None` where there is none or it wants none of it.
pub fn key(world: &World<'_>, view: &mut View, key: Key) -> Option<Vec<ScreenRequest>> {
    // Taken off while it looks at the view, and put back if it stays.
    let mut popup = view.popups.pop()?;
    let reply = match &mut popup {
        Popup::Actions(popup) => popup.key(key),
        Popup::Choose(popup) => popup.key(key),
        Popup::Confirm(popup) => popup.key(key),
        Popup::Faults(popup) => popup.key(key, world.live),
        Popup::FaultForm(popup) => popup.key(key, world.live),
        Popup::Find(popup) => popup.key(key, world.shown, view),
        Popup::Inspect(popup) => popup.key(key, world.shown),
        Popup::Models(popup) => popup.key(key, world.live),
        Popup::Pairs(popup) => popup.key(key, world.shown),
        Popup::Task(popup) => popup.key(key),
        Popup::Value(popup) => popup.key(key),
    };
    settle(world, view, popup, reply, key)
}

fn settle(
    world: &World<'_>,
    view: &mut View,
    popup: Popup,
    reply: Reply,
    key: Key,
) -> Option<Vec<ScreenRequest>> {
    match reply {
        Reply::Close => Some(Vec::new()),
        Reply::Done(effects) => Some(effects),
        Reply::Act(action) => Some(update::act(world, view, action)),
        Reply::Stay => keep(view, popup, Vec::new()),
        Reply::Keep(effects) => keep(view, popup, effects),
        Reply::Open(other) => {
            view.popups.push(popup);
            keep(view, other, Vec::new())
        }
        Reply::Replace(other) => keep(view, other, Vec::new()),
        Reply::Pass => pass(world, view, popup, key),
    }
}

fn keep(view: &mut View, popup: Popup, effects: Vec<ScreenRequest>) -> Option<Vec<ScreenRequest>> {
    view.popups.push(popup);
    Some(effects)
}

/// A key that the popup does not know: Esc and q close it, and what moves in the panes below would go
/// unseen; everything else works as ever.
fn pass(world: &World<'_>, view: &mut View, popup: Popup, key: Key) -> Option<Vec<ScreenRequest>> {
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

/// A click on a row of the topmost popup.
pub fn click(world: &World<'_>, view: &mut View, row: usize) -> Vec<ScreenRequest> {
    let Some(mut popup) = view.popups.pop() else { return Vec::new() };
    let reply = match &mut popup {
        Popup::Actions(popup) => popup.click(row),
        Popup::Choose(popup) => popup.click(row),
        Popup::Faults(popup) => popup.click(row, world.live),
        Popup::FaultForm(popup) => popup.click(row, world.live),
        Popup::Confirm(popup) => popup.click(row),
        Popup::Models(popup) => popup.click(row, world.live),
        Popup::Pairs(popup) => popup.click(row),
        Popup::Find(_) | Popup::Inspect(_) | Popup::Task(_) | Popup::Value(_) => Reply::Stay,
    };
    // A click is no key: there is none to pass on.
    let no_key = Key::plain(ratatui::crossterm::event::KeyCode::Null);
    settle(world, view, popup, reply, no_key).unwrap_or_default()
}

impl Popup {
    /// Text pasted into the terminal.
    pub fn paste(&mut self, text: &str) {
        match self {
            Popup::Actions(popup) => popup.paste(text),
            Popup::Task(popup) => popup.paste(text),
            Popup::Value(popup) => popup.paste(text),
            Popup::FaultForm(popup) => popup.paste(text),
            Popup::Find(popup) => popup.paste(text),
            Popup::Choose(_)
            | Popup::Confirm(_)
            | Popup::Faults(_)
            | Popup::Inspect(_)
            | Popup::Models(_)
            | Popup::Pairs(_) => {}
        }
    }

    pub fn wheel(&mut self, by: isize) {
        match self {
            Popup::Inspect(popup) => popup.wheel(by),
            Popup::Actions(popup) => popup.wheel(by),
            Popup::Choose(_)
            | Popup::Confirm(_)
            | Popup::Faults(_)
            | Popup::FaultForm(_)
            | Popup::Find(_)
            | Popup::Models(_)
            | Popup::Pairs(_)
            | Popup::Task(_)
            | Popup::Value(_) => {}
        }
    }

    /// Makes ready what drawing needs and cannot change.
    pub fn prepare(&mut self, cx: &Prepare<'_>, area: Rect) {
        match self {
            Popup::Inspect(popup) => popup.prepare(cx, area),
            Popup::Actions(popup) => popup.prepare(area),
            Popup::Choose(_)
            | Popup::Confirm(_)
            | Popup::Faults(_)
            | Popup::FaultForm(_)
            | Popup::Find(_)
            | Popup::Models(_)
            | Popup::Pairs(_)
            | Popup::Task(_)
            | Popup::Value(_) => {}
        }
    }

    /// The keys that it knows, for the footer.
    pub fn keys(&self) -> &'static str {
        match self {
            Popup::Actions(_) => actions::KEYS,
            Popup::Choose(_) => choose::KEYS,
            Popup::Confirm(_) => confirm::KEYS,
            Popup::Faults(_) => faults::KEYS,
            Popup::FaultForm(_) => fault_form::KEYS,
            Popup::Find(_) => find::KEYS,
            Popup::Inspect(popup) => popup.keys(),
            Popup::Models(_) => models::KEYS,
            Popup::Pairs(_) => pairs::KEYS,
            Popup::Task(_) => task_entry::KEYS,
            Popup::Value(_) => value::KEYS,
        }
    }

    /// Draws it over everything in `area`.
    pub fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        match self {
            Popup::Actions(popup) => popup.draw(cx, area, buf, hits),
            Popup::Choose(popup) => popup.draw(cx, area, buf, hits),
            Popup::Confirm(popup) => popup.draw(cx, area, buf, hits),
            Popup::Faults(popup) => popup.draw(cx, area, buf, hits),
            Popup::FaultForm(popup) => popup.draw(cx, area, buf, hits),
            // Its line is the footer's, which has room for it only there.
            Popup::Find(_) => {}
            Popup::Inspect(popup) => popup.draw(cx, area, buf, hits),
            Popup::Models(popup) => popup.draw(cx, area, buf, hits),
            Popup::Pairs(popup) => popup.draw(cx, area, buf, hits),
            Popup::Task(popup) => popup.draw(cx, area, buf, hits),
            Popup::Value(popup) => popup.draw(cx, area, buf, hits),
        }
    }
}

/// What a popup is made ready from.
#[derive(Clone, Copy)]
pub struct Prepare<'a> {
    pub state: &'a crate::domain::state::State,
    pub theme: &'a super::theme::Theme,
    pub messages: &'a [super::view::Message],
}
