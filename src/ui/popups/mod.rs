//! The popups above the panes. The topmost popup has the keyboard and the mouse: keys that it does not know do nothing.
//! Only the keys that work everywhere still do, so that the user can pause the agent while reading its prompt.

mod actions;
mod ask_entry;
mod ask_program;
mod breakpoint_form;
mod choice;
mod choose;
mod chooser;
mod confirm;
mod difference;
mod edit_form;
mod edit_program;
mod edit_text;
mod entry;
mod entry_popup;
mod fault_form;
mod faults;
mod fields;
mod find;
mod first_start;
mod frame;
pub mod inspect;
mod legend;
mod lines;
mod models;
mod narrow;
mod pairs;
mod pick;
mod sessions;
mod spec_form;
mod strategy;
mod task_entry;
mod tool_form;
mod value;
mod watch_entry;
mod why;

use std::fmt;

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::action::{Action, KeyLayer};
use super::request::{Requests, ScreenRequest, World};
use super::window::Window;
use super::{cx::Cx, hits::Hits, key::Key, keymap::Hint, listing::Listing, view::View};
use crate::domain::Command;

pub use actions::Actions;
pub use ask_entry::AskEntry;
pub use ask_program::AskProgram;
pub use breakpoint_form::BreakpointForm;
pub use choose::Choose;
pub use confirm::Confirm;
pub use edit_form::EditForm;
pub use edit_program::EditProgram;
pub use fault_form::FaultForm;
pub use faults::FaultList;
pub use find::Find;
pub use first_start::FirstStart;
pub use inspect::{CopyForm, Inspect, Subject, copy};
pub use models::ModelChoice;
pub use pairs::PairTable;
pub use sessions::Sessions;
pub use strategy::StrategyChoice;
pub use task_entry::TaskEntry;
pub use tool_form::ToolForm;
pub use value::ValueEntry;
pub use watch_entry::WatchEntry;
pub use why::Why;

/// The layer of a popup's keys, and what they do.
pub type PopupKeys = (KeyLayer, &'static [Hint]);

/// A layer above the panes.
pub trait Popup: fmt::Debug {
    /// The popup's keys, for its frame and the footer.
    fn keys(&self) -> PopupKeys;

    fn key(&mut self, pressed: Pressed, world: &World<'_>, view: &mut View) -> Reply;

    /// The popup's keys with their descriptions, as the user has bound them.
    fn legend(&self, cx: &Cx<'_>) -> String {
        let (layer, hints) = self.keys();
        cx.keymap.legend(layer, hints)
    }

    /// Handles a click on the area that the popup noted as this row.
    fn click(&mut self, _row: usize, _world: &World<'_>, _view: &mut View) -> Reply {
        Reply::Stay
    }

    /// The window that the wheel scrolls.
    fn window(&mut self) -> Option<&mut Window> {
        None
    }

    /// Takes text pasted into the terminal.
    fn paste(&mut self, _text: &str) {}

    /// Takes the popup's text back from the user's editor.
    fn rewrite(&mut self, _text: &str) {}

    /// Takes a new list of the sessions; gives it back if the popup shows none.
    fn relist(&mut self, listing: Listing) -> Option<Listing> {
        Some(listing)
    }

    /// Prepares state that drawing needs but cannot change.
    fn prepare(&mut self, _cx: &Cx<'_>, _area: Rect) {}

    /// Draws the popup over everything in `area`.
    fn draw(&self, _cx: &Cx<'_>, _area: Rect, _buf: &mut Buffer, _hits: &mut Hits) {}

    /// The footer's line, if the popup takes it, even from messages.
    fn footer(&self, _cx: &Cx<'_>) -> Option<(String, Style)> {
        None
    }
}

/// A key, and what it does in the layer of the popup.
#[derive(Clone, Copy, Debug)]
pub struct Pressed {
    pub key: Key,
    pub action: Option<Action>,
}

/// The effect of a key in a popup.
#[derive(Debug)]
pub enum Reply {
    Stay,
    Close,
    /// Closes and makes these requests.
    Done(Requests),
    /// Stays open and sends this command.
    Keep(Command),
    /// Stays open and makes these requests.
    KeepAnd(Requests),
    /// Closes and runs the action.
    Act(Action),
    /// Opens another layer on top.
    Open(Box<dyn Popup>),
    /// Opens another layer in place of this one.
    Replace(Box<dyn Popup>),
}

impl Reply {
    /// Closes and sends this command.
    fn send(command: Command) -> Self {
        Reply::Done(vec![ScreenRequest::Send(command)])
    }
}
