//! The entry for a Python expression. The held program evaluates it, or a variable of that program gets its value.

use serde_json::Value;

use super::entry_popup::{Accepted, EntryKind, EntryLook, EntryPopup};
use super::{PopupKeys, Reply, entry::TextEntry};
use crate::action::{Action, KeyLayer};
use crate::domain::Command;
use crate::domain::program::ProgramQuestion;
use crate::papers::atc::extra::check_expression;
use crate::papers::atc::identifiers::Identifiers;
use crate::papers::atc::literal::literal;
use crate::update::moments;
use crate::view::{Tone, View};
use crate::{cx::Cx, keymap::Hint, request::World};

/// Columns and rows of the box.
const SIZE: (usize, usize) = (76, 7);
const NOTE: &str = "A Python expression over the variables there, such as len(results); it calls no tool. The program \
    is replayed to this place from its record.";

/// The entry for an expression.
pub type AskProgram = EntryPopup<ProgramExpression>;

#[derive(Debug)]
pub struct ProgramExpression {
    /// The variable that gets the value.
    sets: Option<String>,
    /// Whether the expression is evaluated at the displayed moment, not where the program is held now.
    looks: bool,
}

impl AskProgram {
    /// An entry to evaluate an expression; `looks`: at the moment looked at, if the program is not held there.
    pub fn ask(text: &str, looks: bool) -> Self {
        Self { kind: ProgramExpression { sets: None, looks }, entry: TextEntry::line(text) }
    }

    /// An entry for a new value of a variable with this present value.
    pub fn set(name: &str, now: Option<&Value>) -> Self {
        let now = now.map(literal).unwrap_or_default();
        let kind = ProgramExpression { sets: Some(name.to_owned()), looks: false };
        Self { kind, entry: TextEntry::line(&now) }
    }
}

impl EntryKind for ProgramExpression {
    fn keys(&self) -> PopupKeys {
        const ASK: &[Hint] = &[(&[Action::Accept], "evaluate"), (&[Action::Leave], "leave")];
        const SET: &[Hint] = &[(&[Action::Accept], "set"), (&[Action::Leave], "leave")];
        (KeyLayer::Form, if self.sets.is_some() { SET } else { ASK })
    }

    /// Evaluates the expression.
    fn accept(&mut self, entry: &TextEntry, world: &World<'_>, view: &mut View) -> Accepted {
        let live = world.live;
        let expression = entry.text().trim().to_owned();
        let names = Identifiers::of(live.tools.keys());
        let names: Vec<&str> = live.tools.keys().filter_map(|tool| names.name(tool)).collect();
        check_expression(&expression, if self.looks { &names } else { &[] })?;
        if self.looks {
            moments::ask(world.shown, view, expression);
            return Ok(Reply::Close);
        }
        let Some((task, _)) = live.held_program().filter(|_| live.is_held_at_line()) else {
            view.tell(live.at, Tone::Bad, "the program is no longer held at a line");
            return Ok(Reply::Close);
        };
        let shown = self.sets.clone().unwrap_or_else(|| expression.clone());
        view.variable = Some(shown);
        let asked = ProgramQuestion { expression, sets: self.sets.clone() };
        Ok(Reply::send(Command::AskProgram { task: task.id, asked }))
    }

    fn look(&self, _: &str, _: &Cx<'_>) -> EntryLook<'_> {
        let title = match &self.sets {
            Some(name) => format!("Set {name} where the program is held").into(),
            None if self.looks => "Evaluate at the displayed moment".into(),
            None => "Evaluate where the program is held".into(),
        };
        EntryLook { title, size: SIZE, note: NOTE.into() }
    }
}
