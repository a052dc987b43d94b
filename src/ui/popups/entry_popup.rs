//! A popup with a text field of one line, and below it a note or what is wrong with the text.

use std::borrow::Cow;
use std::fmt;

use ratatui::{buffer::Buffer, layout::Rect};

use super::{Popup, PopupKeys, Pressed, Reply, entry::TextEntry, frame};
use crate::{action::Action, cx::Cx, hits::Hits, panes::row};
use crate::{request::World, text, view::View};

/// The part of a popup that depends on the use of its text.
pub trait EntryKind: fmt::Debug {
    fn keys(&self) -> PopupKeys;

    /// Handles the key that accepts the text.
    ///
    /// # Errors
    /// What is wrong with the text.
    fn accept(&mut self, entry: &TextEntry, world: &World<'_>, view: &mut View) -> Accepted;

    /// Handles a key that neither accepts nor leaves.
    fn other_key(&mut self, entry: &mut TextEntry, pressed: Pressed) -> Reply {
        entry.key(pressed.key);
        Reply::Stay
    }

    /// The box around this text.
    fn look(&self, typed: &str, cx: &Cx<'_>) -> EntryLook<'_>;
}

/// The reply to an accepted text, or what is wrong with it.
pub type Accepted = Result<Reply, String>;

/// The parts of the box that differ.
pub struct EntryLook<'a> {
    pub title: Cow<'a, str>,
    /// Columns and rows.
    pub size: (usize, usize),
    /// The text below the field unless something is wrong.
    pub note: Cow<'a, str>,
}

/// A popup with a text of this kind.
#[derive(Debug)]
pub struct EntryPopup<K> {
    pub(super) kind: K,
    pub(super) entry: TextEntry,
}

impl<K: EntryKind> EntryPopup<K> {
    pub fn accept(&mut self, world: &World<'_>, view: &mut View) -> Reply {
        self.kind.accept(&self.entry, world, view).unwrap_or_else(|error| {
            self.entry.error = Some(error);
            Reply::Stay
        })
    }
}

impl<K: EntryKind> Popup for EntryPopup<K> {
    fn keys(&self) -> PopupKeys {
        self.kind.keys()
    }

    fn key(&mut self, pressed: Pressed, world: &World<'_>, view: &mut View) -> Reply {
        match pressed.action {
            Some(Action::Leave) => Reply::Close,
            Some(Action::Accept) => self.accept(world, view),
            _ => self.kind.other_key(&mut self.entry, pressed),
        }
    }

    fn paste(&mut self, text: &str) {
        self.entry.paste(text);
    }

    fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let EntryLook { title, size, note } = self.kind.look(&self.entry.text(), cx);
        let inside = frame::open(cx, (area, buf, hits), &title, &self.legend(cx), size);
        let (field, below) = row::split(row::split(inside, 1).1, 1);
        self.entry.draw(cx, field, buf);
        let (said, style) = match &self.entry.error {
            Some(error) => (error.as_str(), cx.theme.warn),
            None => (&*note, cx.theme.dim),
        };
        let lines = text::wrap_message(said, usize::from(inside.width));
        row::lines(row::split(below, 1).1, lines, style, buf);
    }
}
