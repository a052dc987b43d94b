//! The words for a program that several panes and pages share: its variables, its status, and the tool to blame.

use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use super::inline_json;
use crate::domain::program::{ExtraOutcome, Raised, Set};
use crate::domain::state::{Blamed, ProgramState};
use crate::domain::{ProgramSource, ProgramVerdict};
use crate::text::clean;

/// A row of the variables: a variable or an evaluated expression.
#[derive(Clone, Copy, Debug)]
pub enum Variable<'a> {
    Set(&'a Set),
    /// An expression that the user evaluated.
    Told(&'a ExtraOutcome),
}

impl Variable<'_> {
    pub fn name(&self) -> &str {
        match self {
            Variable::Set(set) => &set.name,
            Variable::Told(told) => &told.expression,
        }
    }
}

/// The variables of a program with their newest values, and the expressions evaluated where it is held.
pub fn variables(program: &ProgramState) -> Vec<Variable<'_>> {
    let mut all: Vec<Variable<'_>> = Vec::new();
    let held = program.held.as_deref();
    all.extend(held.into_iter().flat_map(|at| &at.told).map(Variable::Told));
    for set in program.values.iter().rev() {
        let is_known =
            |known: &Variable<'_>| matches!(known, Variable::Set(known) if known.name == set.name);
        if !all.iter().any(is_known) {
            all.push(Variable::Set(set));
        }
    }
    all
}

/// A value on one line; the description of a large value is shown unchanged.
pub fn shown(value: &Value, room: usize) -> String {
    let text = match value {
        Value::String(text) if text.starts_with(['{', '[']) || text.starts_with("list ") => {
            text.clone()
        }
        Value::Null => "None".to_owned(),
        Value::Object(_) => format!("{{{}}}", inline_json::arguments(value, room)),
        value => inline_json::arguments(value, room),
    };
    clean(&text).into_owned()
}

/// The lines that a program removes from the one before, and those that it adds.
pub fn changes(before: &ProgramState, program: &ProgramState) -> Vec<(&'static str, String)> {
    let diff = TextDiff::from_lines(&*before.text, &*program.text);
    let changed = diff.iter_all_changes().filter_map(|change| match change.tag() {
        ChangeTag::Delete => Some(("-", change.value().trim_end().to_owned())),
        ChangeTag::Insert => Some(("+", change.value().trim_end().to_owned())),
        ChangeTag::Equal => None,
    });
    changed.collect()
}

/// The status of a program, in words.
pub fn standing(program: &ProgramState) -> String {
    let by = if program.from == ProgramSource::Person { "yours: " } else { "" };
    let held = program.held.as_ref();
    let what = match (program.error(), program.how) {
        (Some(error), _) => said(error),
        (None, Some(ProgramVerdict::Failed)) => {
            let remark = program.end.as_ref().and_then(|end| end.remark());
            let remark = remark.as_deref().unwrap_or("the program printed nothing");
            remark.trim_start_matches("the program ").to_owned()
        }
        (None, Some(how)) => how.name().to_owned(),
        (None, None) if program.edited.is_some() => "replaced by yours".to_owned(),
        (None, None) => held.map_or("runs".to_owned(), |at| format!("at line {}", at.line)),
    };
    format!("{by}{what}")
}

/// An error, with the hint for it.
pub fn said(error: &Raised) -> String {
    let hint = error.hint.as_ref().map_or_else(String::new, |hint| format!(" ({hint})"));
    format!("{}{hint}", error.summary())
}

/// The tool that is to blame, and the path to it.
pub fn way(blamed: &Blamed) -> String {
    let Some(tool) = &blamed.tool else { return "no tool blamed".to_owned() };
    let path = blamed.path.iter().map(|(name, line)| format!("{name} ({line})"));
    let path = path.collect::<Vec<_>>().join(", from ");
    let path = if path.is_empty() { path } else { format!(": {path}") };
    format!("blamed {tool}, {}{path}", blamed.by.name())
}
