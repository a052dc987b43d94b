//! The entry for a new task, or for a further question after an answer.

use ratatui::{buffer::Buffer, layout::Rect};

use super::{Popup, PopupKeys, Pressed, Reply, entry::TextEntry, frame};
use crate::action::{Action, KeyLayer};
use crate::domain::{Command, TaskId, TaskState};
use crate::{cx::Cx, hits::Hits, keymap::Hint};
use crate::{request::World, text, view::Tone, view::View};

/// Columns of an answer in the title.
const ANSWER: usize = 30;

/// The entry for a task.
#[derive(Debug)]
pub struct TaskEntry {
    entry: TextEntry,
    /// The task that this one follows up, and the title for that.
    after: Option<(TaskId, String)>,
}

impl Default for TaskEntry {
    fn default() -> Self {
        Self { entry: TextEntry::lines(), after: None }
    }
}

impl TaskEntry {
    /// An entry for a further question after the answer of a task.
    pub fn after(task: &TaskState) -> Self {
        let answer = text::clean(task.answer.as_deref().unwrap_or_default());
        let answer = text::cut(&answer, ANSWER);
        let title = format!("Follow-up question to task {}: {answer}", task.id);
        Self { after: Some((task.id, title)), ..Self::default() }
    }

    fn send(&self, is_next: bool, world: &World<'_>, view: &mut View) -> Reply {
        let text = self.entry.text().trim().to_owned();
        if text.is_empty() {
            view.tell(world.live.at, Tone::Bad, "the task is empty: type a question");
            return Reply::Stay;
        }
        Reply::send(match self.after {
            Some((task, _)) => Command::FollowUp { task, text },
            None if is_next => Command::QueueNext { text },
            None => Command::QueueTask { text },
        })
    }
}

impl Popup for TaskEntry {
    /// Most tasks are one line, so enter sends. Some terminals do not tell ctrl-enter from enter.
    fn keys(&self) -> PopupKeys {
        const NEW_LINE: Hint = (&[Action::NewLine], "new line");
        const LEAVE: Hint = (&[Action::Leave], "leave");
        const TASK: &[Hint] =
            &[(&[Action::Accept], "queue"), (&[Action::RunNext], "run next"), NEW_LINE, LEAVE];
        const FURTHER: &[Hint] = &[(&[Action::Accept], "ask next"), NEW_LINE, LEAVE];
        (KeyLayer::Form, if self.after.is_some() { FURTHER } else { TASK })
    }

    fn key(&mut self, pressed: Pressed, world: &World<'_>, view: &mut View) -> Reply {
        match pressed.action {
            Some(Action::Leave) => return Reply::Close,
            Some(Action::Accept) => return self.send(false, world, view),
            Some(Action::RunNext) => return self.send(true, world, view),
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
        let title = self.after.as_ref().map_or("A task for the agent", |(_, title)| title);
        let inside = frame::open(cx, (area, buf, hits), title, &self.legend(cx), size);
        self.entry.draw(cx, inside, buf);
    }
}
