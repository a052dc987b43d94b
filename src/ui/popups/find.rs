//! The search line: what is typed is found in the pane at once.

use ratatui::crossterm::event::KeyCode;

use super::{Reply, entry::Entry};
use crate::domain::State;
use crate::ui::{key::Key, pane::PaneId, panes, view::View, vlist};

pub(super) const KEYS: &str = "enter or down: next · up: previous · esc: leave";

/// A search in one pane.
#[derive(Debug)]
pub struct Find {
    pane: PaneId,
    entry: Entry,
    /// Something matches what was typed.
    found: bool,
}

impl Find {
    pub fn in_pane(pane: PaneId) -> Self {
        Self { pane, entry: Entry::line(""), found: true }
    }

    pub fn pane(&self) -> PaneId {
        self.pane
    }

    pub fn text(&self) -> String {
        self.entry.text()
    }

    pub fn found(&self) -> bool {
        self.found
    }

    pub(super) fn key(&mut self, key: Key, state: &State, view: &mut View) -> Reply {
        match key.code {
            KeyCode::Esc => return self.leave(view),
            KeyCode::Char('c') if key.types().is_none() => return self.leave(view),
            KeyCode::Enter | KeyCode::Down => self.find(state, view, vlist::Find::Next),
            KeyCode::Up => self.find(state, view, vlist::Find::Previous),
            // A slip: Backspace in an empty line leaves, as in other programs.
            KeyCode::Backspace if self.text().is_empty() => return self.leave(view),
            _ => {
                self.entry.key(key);
                self.find(state, view, vlist::Find::Here);
            }
        }
        Reply::Stay
    }

    fn find(&mut self, state: &State, view: &mut View, how: vlist::Find) {
        let needle = self.text().to_lowercase();
        view.follow(self.pane);
        self.found = needle.is_empty() || panes::find(self.pane, state, view, &needle, how);
        view.find = Some((self.pane, needle));
    }

    fn leave(&self, view: &mut View) -> Reply {
        view.find = None;
        Reply::Close
    }

    pub(super) fn paste(&mut self, text: &str) {
        self.entry.paste(text);
    }
}
