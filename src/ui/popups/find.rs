//! The search line: what is typed is found in the pane at once.

use ratatui::{crossterm::event::KeyCode, style::Style};

use super::entry::{self, Entry};
use super::{Around, Popup, Reply};
use crate::ui::{key::Key, pane::PaneId, panes, theme::Theme, view::View, vlist};

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

    fn find(&mut self, around: &mut Around<'_>, how: vlist::Find) {
        let needle = self.entry.text().to_lowercase();
        let view = &mut *around.view;
        view.follow(self.pane);
        self.found = needle.is_empty() || panes::find(self.pane, around.shown, view, &needle, how);
        view.find = Some((self.pane, needle));
    }
}

fn leave(view: &mut View) -> Reply {
    view.find = None;
    Reply::Close
}

/// It has no box: its line is the footer's, so that all of the pane can be seen.
impl Popup for Find {
    fn keys(&self) -> &'static str {
        "enter or down: next · up: previous · esc: leave"
    }

    fn key(&mut self, key: Key, around: &mut Around<'_>) -> Reply {
        match key.code {
            _ if entry::leaves(key) => return leave(around.view),
            // A slip: Backspace in an empty line leaves, as in other programs.
            KeyCode::Backspace if self.entry.text().is_empty() => return leave(around.view),
            KeyCode::Enter | KeyCode::Down => self.find(around, vlist::Find::Next),
            KeyCode::Up => self.find(around, vlist::Find::Previous),
            _ => {
                self.entry.key(key);
                self.find(around, vlist::Find::Here);
            }
        }
        Reply::Stay
    }

    fn paste(&mut self, text: &str) {
        self.entry.paste(text);
    }

    fn footer(&self, theme: &Theme) -> Option<(String, Style)> {
        let (none, style) =
            if self.found { ("", theme.input) } else { ("  nothing found", theme.bad) };
        Some((format!("/{}▏{none}   in {}", self.entry.text(), self.pane.name()), style))
    }
}
