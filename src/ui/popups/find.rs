//! The search line: the pane shows matches as the user types. A list shows only the matching rows; a text marks its
//! matches.

use ratatui::{crossterm::event::KeyCode, style::Style};

use super::{Popup, PopupKeys, Pressed, Reply, entry::TextEntry};
use crate::action::{Action, KeyLayer};
use crate::symbols::THUMB;
use crate::{cx::Cx, needle::Needle, pane_search::PaneSearch};
use crate::{keymap::Hint, pane::PaneId, panes, request::World, view::View, window};

/// A search in one pane.
#[derive(Debug)]
pub struct Find {
    pane: PaneId,
    entry: TextEntry,
}

impl Find {
    pub fn in_pane(pane: PaneId) -> Self {
        Self { pane, entry: TextEntry::default() }
    }

    fn find(&mut self, world: &World<'_>, view: &mut View, how: window::Find) {
        let needle = Needle::new(&self.entry.text());
        view.follow(self.pane);
        if !needle.is_empty() {
            panes::find(self.pane, world.shown, view, &needle, how);
        }
        view.find = Some(PaneSearch::new(self.pane, needle));
        panes::look_up(world.shown, view);
    }
}

fn leave(view: &mut View) -> Reply {
    if let Some(found) = view.find.take() {
        view.follow(found.pane);
    }
    Reply::Close
}

/// The popup has no box: its line is the footer, so that the whole pane stays visible.
impl Popup for Find {
    fn keys(&self) -> PopupKeys {
        const HINTS: &[Hint] = &[
            (&[Action::Accept], "keeps it"),
            (&[Action::Up, Action::Down], "move"),
            (&[Action::Leave], "ends"),
        ];
        (KeyLayer::Search, HINTS)
    }

    fn key(&mut self, pressed: Pressed, world: &World<'_>, view: &mut View) -> Reply {
        match pressed.action {
            Some(Action::Leave) => return leave(view),
            // Backspace in an empty line leaves, as in other programs.
            _ if pressed.key.code == KeyCode::Backspace && self.entry.text().is_empty() => {
                return leave(view);
            }
            Some(Action::Accept) if self.entry.text().trim().is_empty() => {
                return leave(view);
            }
            Some(Action::Accept) => return Reply::Close,
            Some(Action::Down) => self.find(world, view, window::Find::Next),
            Some(Action::Up) => self.find(world, view, window::Find::Previous),
            _ => {
                self.entry.key(pressed.key);
                self.find(world, view, window::Find::Here);
            }
        }
        Reply::Stay
    }

    fn paste(&mut self, text: &str) {
        self.entry.paste(text);
    }

    fn footer(&self, cx: &Cx<'_>) -> Option<(String, Style)> {
        let found = cx.view.found(self.pane);
        let style = match found.is_some_and(|found| found.rows.is_empty()) {
            true => cx.theme.warn,
            false => cx.theme.input,
        };
        let count = found.map_or_else(String::new, |found| match found.needle.expression() {
            Some(Err(error)) => format!("  {}", error.why()),
            _ => format!("  {}", found.count()),
        });
        let (text, keys) = (self.entry.text(), self.legend(cx));
        Some((format!("/{text}{THUMB}{count}  {keys}"), style))
    }
}
