//! Contents of a finding for a programmer: the marked lines, the blamed tool, and words about keys, arguments and
//! results. A fault is corrected if these suffice to see the right version.

use super::fault::{FaultKind, ProgramFault};
use super::sketch::{Sketch, SketchStep};
use crate::domain::TakePart;

pub struct Finding<'t> {
    /// Lines of the program with a mark below them.
    marked: Vec<&'t str>,
    /// The blamed function.
    blamed: Option<&'t str>,
    /// Text of the finding without the program.
    said: String,
}

impl<'t> Finding<'t> {
    pub fn read(text: &'t str) -> Self {
        let mut marked = Vec::new();
        let mut said = String::new();
        let mut before = None;
        for line in text.lines() {
            match (program_line(line), before) {
                (Some(code), _) => before = Some(code),
                (None, Some(code)) if is_mark(line) => marked.push(code),
                (None, _) => {
                    before = None;
                    said += line;
                    said.push('\n');
                }
            }
        }
        let blamed = text.lines().find_map(|line| {
            let (_, rest) = line.split_once(" comes from ")?;
            rest.strip_suffix(". Its document:")
        });
        Self { marked, blamed, said }
    }

    /// Whether the finding has enough information to correct this fault.
    pub fn tells(&self, fault: &ProgramFault, right: &Sketch) -> bool {
        let Some(step) = right.steps.get(fault.step) else { return false };
        let (result, function) = (format!("r{}", fault.step + 1), step.function.as_str());
        let is_marked = self.marked.iter().any(|line| has_word(line, &result));
        let is_blamed = |function: &str| self.blamed == Some(function);
        let argument = step.arguments.first().map_or("", |(name, _)| name.as_str());
        match fault.kind {
            FaultKind::WrongTool => is_blamed(&fault.wrong),
            FaultKind::MissingArgument | FaultKind::WrongArgumentName => {
                is_marked && self.says(argument)
            }
            FaultKind::WrongType => is_marked && self.says("integer") && self.says(argument),
            FaultKind::InventedId => is_blamed(function),
            FaultKind::EmptyList => is_blamed(function) && self.said.contains("[]"),
            FaultKind::WrongKey | FaultKind::WrongLevel | FaultKind::NoneUsed => {
                (is_marked || is_blamed(function)) && keys(step).all(|key| self.says(key))
            }
        }
    }

    fn says(&self, word: &str) -> bool {
        has_word(&self.said, word)
    }
}

fn keys(step: &SketchStep) -> impl Iterator<Item = &str> {
    step.takes.iter().filter_map(|part| match part {
        TakePart::Key(key) => Some(key.as_str()),
        TakePart::Place(_) | TakePart::Where { .. } => None,
    })
}

/// The code of a numbered line.
fn program_line(line: &str) -> Option<&str> {
    let (number, code) = line.trim_start().split_once("  ")?;
    number.parse::<u32>().is_ok().then_some(code)
}

fn is_mark(line: &str) -> bool {
    let mark = line.trim();
    !mark.is_empty() && mark.chars().all(|c| c == '~')
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|each| each == word)
}
