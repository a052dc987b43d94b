//! The editor of the held program. The task goes on with the edited program over the record of its calls.

use ratatui::{buffer::Buffer, layout::Rect};

use super::{Popup, PopupKeys, Pressed, Reply, difference::Edited, entry::TextEntry};
use crate::action::{Action, KeyLayer};
use crate::domain::program::Raised;
use crate::domain::{Command, State, TaskId, words::counted};
use crate::own::Selection;
use crate::panes::row::Row;
use crate::papers::atc::source::ParsedProgram;
use crate::symbols::{DONE, FAILED};
use crate::{cx::Cx, hits::Hits, keymap::Hint, request::ScreenRequest, request::World, view::View};

/// A program being edited.
#[derive(Debug)]
pub struct EditProgram {
    task: TaskId,
    title: String,
    before: String,
    entry: TextEntry,
    /// Number of calls of the held program, which are its record.
    calls: usize,
}

impl EditProgram {
    /// The editor of the held program.
    pub fn of(state: &State) -> Option<Self> {
        let (task, program) = state.held_program()?;
        let title = format!("Edit program {} of task {}", program.number, task.id);
        let (before, entry) = (program.text.to_string(), TextEntry::text_of(&program.text));
        Some(Self { task: task.id, title, before, entry, calls: program.calls.len() })
    }

    fn check(&self) -> Result<(), Box<Raised>> {
        ParsedProgram::parse(&self.entry.text()).map(|_| ())
    }

    /// Goes on with the edited program; `goes_on` also lets the agent run.
    fn apply(&self, goes_on: bool) -> Reply {
        let text = self.entry.text();
        if self.check().is_err() {
            return Reply::Stay;
        }
        let (task, run) = (self.task, goes_on.then_some(Command::Run));
        let edit = (text != self.before).then_some(Command::EditProgram { task, text });
        Reply::Done(edit.into_iter().chain(run).map(ScreenRequest::Send).collect())
    }
}

impl Popup for EditProgram {
    fn keys(&self) -> PopupKeys {
        const HINTS: &[Hint] = &[
            (&[Action::Accept], "continue from here"),
            (&[Action::AcceptAndRun], "and run"),
            (&[Action::Editor], "$EDITOR"),
            (&[Action::Leave], "drop"),
        ];
        (KeyLayer::Editor, HINTS)
    }

    fn key(&mut self, pressed: Pressed, _: &World<'_>, _: &mut View) -> Reply {
        match pressed.action {
            Some(Action::Leave) => return Reply::Close,
            Some(Action::Accept) => return self.apply(false),
            Some(Action::AcceptAndRun) => return self.apply(true),
            Some(Action::Editor) => {
                let (text, json) = (self.entry.text(), "null".to_owned());
                let name = format!("program-{}", self.task);
                let selection = Selection { kind: "edit", name, text, json };
                return Reply::KeepAnd(vec![ScreenRequest::Rewrite(Box::new(selection))]);
            }
            _ => self.entry.key(pressed.key),
        }
        Reply::Stay
    }

    fn paste(&mut self, text: &str) {
        self.entry.paste(text);
    }

    fn rewrite(&mut self, text: &str) {
        self.entry.set(text.strip_suffix('\n').unwrap_or(text));
    }

    fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let legend = self.legend(cx);
        let (title, before) = (self.title.as_str(), Some(self.before.as_str()));
        let edited = Edited { title, facts: "", legend: &legend, entry: &self.entry, before };
        edited.draw(cx, (area, buf, hits), |line, buf| {
            let mut row = Row::new(line, buf);
            match self.check() {
                Err(error) => {
                    let line =
                        error.line().map_or_else(String::new, |line| format!("line {line}: "));
                    row.put(&format!("{FAILED} {line}{}", error.summary()), cx.theme.warn)
                }
                Ok(()) => {
                    let record = match self.calls {
                        0 => "no calls so far".to_owned(),
                        calls => {
                            format!("{} from the record are not repeated", counted(calls, "call"))
                        }
                    };
                    row.put(&format!("{DONE} ready to run; {record}"), cx.theme.good)
                }
            };
        });
    }
}
