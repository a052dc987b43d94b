//! The entry for a Python expression. The held program evaluates it, or a variable of that program gets its value.

use ratatui::{buffer::Buffer, layout::Rect};
use serde_json::Value;

use super::{Popup, PopupKeys, Pressed, Reply, entry::TextEntry, frame};
use crate::action::{Action, KeyLayer};
use crate::domain::Command;
use crate::domain::program::ProgramQuestion;
use crate::panes::row;
use crate::papers::atc::extra::check_expression;
use crate::papers::atc::identifiers::Identifiers;
use crate::papers::atc::literal::literal;
use crate::update::moments;
use crate::view::{Tone, View};
use crate::{cx::Cx, hits::Hits, keymap::Hint, request::World, text};

/// Columns and rows of the box.
const SIZE: (usize, usize) = (76, 7);

/// The entry for an expression.
#[derive(Debug)]
pub struct AskProgram {
    /// The variable that gets the value.
    sets: Option<String>,
    /// Whether the expression is evaluated at the displayed moment, not where the program is held now.
    looks: bool,
    entry: TextEntry,
    error: Option<String>,
}

impl AskProgram {
    /// An entry to evaluate an expression.
    pub fn ask(text: &str) -> Self {
        Self { sets: None, looks: false, entry: TextEntry::line(text), error: None }
    }

    /// Evaluates at the moment looked at, if the program is not held there.
    pub fn looking(self, looks: bool) -> Self {
        Self { looks, ..self }
    }

    /// An entry for a new value of a variable with this present value.
    pub fn set(name: &str, now: Option<&Value>) -> Self {
        let now = now.map(literal).unwrap_or_default();
        let (sets, entry) = (Some(name.to_owned()), TextEntry::line(&now));
        Self { sets, looks: false, entry, error: None }
    }

    /// Evaluates the expression.
    pub fn accept(&mut self, world: &World<'_>, view: &mut View) -> Reply {
        let live = world.live;
        let expression = self.entry.text().trim().to_owned();
        let names = Identifiers::of(live.tools.keys());
        let names: Vec<&str> = live.tools.keys().filter_map(|tool| names.name(tool)).collect();
        let tools = if self.looks { &names[..] } else { &[] };
        if let Err(why) = check_expression(&expression, tools) {
            self.error = Some(why);
            return Reply::Stay;
        }
        if self.looks {
            moments::ask(world.shown, view, expression);
            return Reply::Close;
        }
        let Some((task, _)) = live.held_program().filter(|_| live.is_held_at_line()) else {
            view.tell(live.at, Tone::Bad, "the program is no longer held at a line");
            return Reply::Close;
        };
        let shown = self.sets.clone().unwrap_or_else(|| expression.clone());
        view.variable = Some(shown);
        let asked = ProgramQuestion { expression, sets: self.sets.clone() };
        Reply::send(Command::AskProgram { task: task.id, asked })
    }
}

impl Popup for AskProgram {
    fn keys(&self) -> PopupKeys {
        const ASK: &[Hint] = &[(&[Action::Accept], "evaluate"), (&[Action::Leave], "leave")];
        const SET: &[Hint] = &[(&[Action::Accept], "set"), (&[Action::Leave], "leave")];
        (KeyLayer::Form, if self.sets.is_some() { SET } else { ASK })
    }

    fn key(&mut self, pressed: Pressed, world: &World<'_>, view: &mut View) -> Reply {
        match pressed.action {
            Some(Action::Leave) => return Reply::Close,
            Some(Action::Accept) => return self.accept(world, view),
            _ => {
                self.error = None;
                self.entry.key(pressed.key);
            }
        }
        Reply::Stay
    }

    fn paste(&mut self, text: &str) {
        self.error = None;
        self.entry.paste(text);
    }

    fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let title = match &self.sets {
            Some(name) => format!("Set {name} where the program is held"),
            None if self.looks => "Evaluate at the displayed moment".to_owned(),
            None => "Evaluate where the program is held".to_owned(),
        };
        let inside = frame::open(cx, (area, buf, hits), &title, &self.legend(cx), SIZE);
        let (field, below) = row::split(row::split(inside, 1).1, 1);
        self.entry.draw(cx, field, buf);
        let about = "A Python expression over the variables there, such as len(results); it calls no tool. \
                     The program is replayed to this place from its record.";
        let (said, style) = match &self.error {
            Some(error) => (error.as_str(), cx.theme.warn),
            None => (about, cx.theme.dim),
        };
        let lines: Vec<String> = text::wrap(said, usize::from(inside.width)).collect();
        row::lines(row::split(below, 1).1, lines, style, buf);
    }
}
