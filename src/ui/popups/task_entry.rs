//! Writing a task for the agent.

use ratatui::crossterm::event::{KeyCode, KeyModifiers};
use ratatui::{buffer::Buffer, layout::Rect};

use super::{Around, Popup, Reply, entry::Entry, frame};
use crate::domain::Command;
use crate::ui::{hits::Hits, key::Key, pane::Cx};

/// A task being written.
#[derive(Debug)]
pub struct TaskEntry {
    entry: Entry,
}

impl Default for TaskEntry {
    fn default() -> Self {
        Self::new()
    }
}

impl TaskEntry {
    pub fn new() -> Self {
        Self { entry: Entry::lines() }
    }

    fn send(&self) -> Reply {
        let text = self.entry.text().trim().to_owned();
        if text.is_empty() {
            return Reply::Stay;
        }
        Reply::send(Command::QueueTask { text })
    }
}

impl Popup for TaskEntry {
    /// Most tasks are one line, so Enter sends; terminals cannot be relied on to tell ctrl-enter from
    /// enter.
    fn keys(&self) -> &'static str {
        "enter: queue it · alt-enter or ctrl-j: new line · esc: leave"
    }

    fn key(&mut self, key: Key, _: &mut Around<'_>) -> Reply {
        let ctrl = key.mods.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Esc => return Reply::Close,
            KeyCode::Char('c') if ctrl => return Reply::Close,
            KeyCode::Char('j') if ctrl => self.entry.newline(),
            KeyCode::Enter if key.mods.is_empty() || ctrl => return self.send(),
            KeyCode::Enter => self.entry.newline(),
            KeyCode::F(2) => return self.send(),
            _ => self.entry.key(key),
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
        let inside = frame::open(cx, (area, buf, hits), title, self.keys(), size);
        self.entry.draw(cx, inside, buf);
    }
}
