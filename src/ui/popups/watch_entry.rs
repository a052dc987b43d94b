//! The entry for an expression: to watch it, or to run until it changes. Its value is shown immediately.

use ratatui::{buffer::Buffer, layout::Rect};

use super::{Inspect, Popup, PopupKeys, Pressed, Reply, Subject, entry::TextEntry, frame};
use crate::action::{Action, KeyLayer};
use crate::domain::breakpoint::{BreakpointPlace, BreakpointSpec};
use crate::domain::expression::{Expression, ExpressionError, Scope};
use crate::domain::{Command, State};
use crate::hits::Hits;
use crate::panes::row;
use crate::request::ScreenRequest;
use crate::watch::{self, Watch};
use crate::{cx::Cx, keymap::Hint, request::World, text, view::View};

/// Columns and rows of the box.
const SIZE: (usize, usize) = (76, 7);

/// The use of the expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum For {
    Watch,
    /// Replaces the watch at this index.
    Change(usize),
    /// Runs until the value changes, or becomes true.
    Run,
}

/// The entry for an expression.
#[derive(Debug)]
pub struct WatchEntry {
    what: For,
    entry: TextEntry,
    /// Whether the user has submitted the expression; errors are shown only then.
    tried: bool,
}

impl WatchEntry {
    pub fn add() -> Self {
        Self::new(For::Watch, "")
    }

    pub fn change(at: usize, watch: &Watch) -> Self {
        Self::new(For::Change(at), watch.expression.text())
    }

    pub fn run() -> Self {
        Self::new(For::Run, "")
    }

    fn new(what: For, text: &str) -> Self {
        Self { what, entry: TextEntry::line(text), tried: false }
    }

    fn read(&self) -> Result<Expression, ExpressionError> {
        Expression::read(&self.entry.text(), Scope::Session)
    }

    fn accept(&mut self, live: &State, view: &mut View) -> Reply {
        self.tried = true;
        let Ok(expression) = self.read() else { return Reply::Stay };
        match self.what {
            For::Watch => {
                view.watch = Some(view.watches.len());
                view.watches.push(Watch::new(expression, live));
            }
            For::Change(at) => {
                if let Some(watch) = view.watches.get_mut(at) {
                    *watch = Watch::new(expression, live);
                }
            }
            For::Run => {
                let spec =
                    BreakpointSpec::at(BreakpointPlace::Value { of: expression, crosses: None });
                return Reply::send(Command::RunTo { spec: Box::new(spec) });
            }
        }
        Reply::Done(vec![ScreenRequest::SaveWatches])
    }

    /// The value, or the error.
    fn said(&self, state: &State) -> (String, bool) {
        let text = self.entry.text();
        if text.trim().is_empty() {
            return (
                "such as spent / budget or score.search_web; <key:form.fields> lists the fields"
                    .to_owned(),
                true,
            );
        }
        match self.read() {
            Ok(expression) => match watch::value(&expression, state) {
                Ok(answer) => (format!("now: {}", answer.shown()), true),
                Err(why) => (format!("now: {why}"), true),
            },
            // While it is typed, an expression is mostly incomplete.
            Err(error) if self.tried => (error.to_string(), false),
            Err(error) => (error.why().to_owned(), true),
        }
    }
}

impl Popup for WatchEntry {
    fn keys(&self) -> PopupKeys {
        const RUN: &[Hint] = &[(&[Action::Accept], "run"), (&[Action::Leave], "leave")];
        const WATCH: &[Hint] = &[(&[Action::Accept], "watch"), (&[Action::Leave], "leave")];
        (KeyLayer::Form, if self.what == For::Run { RUN } else { WATCH })
    }

    fn key(&mut self, pressed: Pressed, world: &World<'_>, view: &mut View) -> Reply {
        match pressed.action {
            Some(Action::Leave) => return Reply::Close,
            Some(Action::Fields) => return Reply::Open(Box::new(Inspect::new(Subject::Fields))),
            Some(Action::Accept) => return self.accept(world.live, view),
            _ => {
                self.tried = false;
                self.entry.key(pressed.key);
            }
        }
        Reply::Stay
    }

    fn paste(&mut self, text: &str) {
        self.entry.paste(text);
    }

    fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let title = match self.what {
            For::Watch => "Watch an expression",
            For::Change(_) => "Change a watch",
            For::Run => "Run until this changes, or becomes true",
        };
        let inside = frame::open(cx, (area, buf, hits), title, &self.legend(cx), SIZE);
        let (field, below) = row::split(row::split(inside, 1).1, 1);
        self.entry.draw(cx, field, buf);
        let (said, is_fine) = self.said(cx.state);
        let style = if is_fine { cx.theme.dim } else { cx.theme.warn };
        let width = usize::from(inside.width);
        let said = cx.keymap.fill(&said);
        let lines = said.lines().flat_map(|line| match line.starts_with("  ") {
            // The expression and its caret stay below each other.
            true => vec![line.to_owned()],
            false => text::wrap(line, width).collect(),
        });
        row::lines(row::split(below, 1).1, lines.collect::<Vec<_>>(), style, buf);
    }
}
