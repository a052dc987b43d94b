//! The search line: what is typed is found in the pane at once.

use ratatui::{crossterm::event::KeyCode, style::Style};

use super::{Around, Popup, Pressed, Reply, entry::Entry};
use crate::ui::action::{Action, Layer};
use crate::ui::{cx::Cx, keymap::Hint, pane::PaneId, panes, view::View, window};

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

    fn find(&mut self, around: &mut Around<'_>, how: window::Find) {
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
    fn layer(&self) -> Layer {
        Layer::Search
    }

    fn hints(&self) -> &'static [Hint] {
        &[
            (&[Action::Accept], "keep"),
            (&[Action::Down, Action::Up], "next, previous"),
            (&[Action::Leave], "leave"),
        ]
    }

    fn key(&mut self, pressed: Pressed, around: &mut Around<'_>) -> Reply {
        match pressed.action {
            Some(Action::Leave) => return leave(around.view),
            // A slip: Backspace in an empty line leaves, as in other programs.
            _ if pressed.key.code == KeyCode::Backspace && self.entry.text().is_empty() => {
                return leave(around.view);
            }
            Some(Action::Accept) if self.entry.text().is_empty() => return leave(around.view),
            Some(Action::Accept) => return Reply::Close,
            Some(Action::Down) => self.find(around, window::Find::Next),
            Some(Action::Up) => self.find(around, window::Find::Previous),
            _ => {
                self.entry.key(pressed.key);
                self.find(around, window::Find::Here);
            }
        }
        Reply::Stay
    }

    fn paste(&mut self, text: &str) {
        self.entry.paste(text);
    }

    fn footer(&self, cx: &Cx<'_>) -> Option<(String, Style)> {
        let (none, style) = match self.found {
            true => ("", cx.theme.input),
            false => ("  nothing found", cx.theme.warn),
        };
        let (text, pane, keys) = (self.entry.text(), self.pane.name(), self.legend(cx));
        Some((format!("/{text}▏{none}   in {pane} · {keys}"), style))
    }
}
