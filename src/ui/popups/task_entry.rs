//! Writing a task for the agent.

use ratatui::{buffer::Buffer, layout::Rect};

use super::{Keys, Popup, Pressed, Reply, entry::Entry, frame};
use crate::domain::Command;
use crate::ui::action::{Action, Layer};
use crate::ui::{cx::Cx, hits::Hits, keymap::Hint, request::World, view::View};

/// A task being written.
#[derive(Debug)]
pub struct TaskEntry {
    entry: Entry,
}

impl Default for TaskEntry {
    fn default() -> Self {
        Self { entry: Entry::lines() }
    }
}

impl TaskEntry {
    fn send(&self) -> Reply {
        let text = self.entry.text().trim().to_owned();
        if text.is_empty() {
            return Reply::Stay;
        }
        Reply::send(Command::QueueTask { text })
    }
}

impl Popup for TaskEntry {
    /// Most tasks are one line, so enter sends. Not every terminal tells ctrl-enter from enter.
    fn keys(&self) -> Keys {
        const HINTS: &[Hint] = &[
            (&[Action::Accept], "queue it"),
            (&[Action::NewLine], "new line"),
            (&[Action::Leave], "leave"),
        ];
        (Layer::Form, HINTS)
    }

    fn key(&mut self, pressed: Pressed, _: &World<'_>, _: &mut View) -> Reply {
        match pressed.action {
            Some(Action::Leave) => return Reply::Close,
            Some(Action::Accept) => return self.send(),
            Some(Action::NewLine) => self.entry.newline(),
            _ => self.entry.key(pressed.key),
        }
        Reply::Stay
    }

    fn paste(&mut self, text: &str) {
        self.entry.paste(text);
    }

    fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let (width, height) = (usize::from(area.width), usize::from(area.height));
        let rows = (self.entry.rows() + 2).clamp(6, (height * 2 / 3).max(6));
        let size = ((width * 3 / 5).max(60), rows);
        let title = "A task for the agent";
        let inside = frame::open(cx, (area, buf, hits), title, &self.legend(cx), size);
        self.entry.draw(cx, inside, buf);
    }
}
