//! A program before it is written: the calls of the reference chain, and the parts taken out of their results. A value
//! that an earlier step finds is a variable; the programmer has not seen any result.

use std::fmt::{self, Display, Formatter, Write as _};

use serde_json::Value;

use super::super::blank::plain;
use super::prompt_functions::FunctionMenu;
use crate::domain::{ChainStep, Take, TakePart, Task};
use crate::papers::atc::literal::literal;

#[derive(Clone, Debug, Default)]
pub struct Sketch {
    pub steps: Vec<SketchStep>,
}

/// A call, and the part taken out of its result.
#[derive(Clone, Debug)]
pub struct SketchStep {
    pub function: String,
    /// The names of the arguments, and their expressions.
    pub arguments: Vec<(String, Argument)>,
    /// The path to that part; empty for the whole result.
    pub takes: Vec<TakePart>,
    /// Whether the first key is read with `get`, which gives None for a missing key.
    pub with_get: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    Literal(Value),
    /// The value that the step at this index takes out of its result.
    Taken(usize),
    /// The same value as a text.
    TakenAsText(usize),
}

impl Sketch {
    /// The steps of a task's chain up to the first that cannot be written: no function is offered for it, or it needs a
    /// value from a sentence.
    pub fn of(task: &Task, offered: &FunctionMenu) -> Self {
        let steps = task.chain.iter().enumerate();
        Self {
            steps: steps
                .map_while(|(at, step)| written(&task.chain[..at], step, offered))
                .collect(),
        }
    }
}

fn written(before: &[ChainStep], step: &ChainStep, offered: &FunctionMenu) -> Option<SketchStep> {
    let function = step.tools.iter().find_map(|tool| offered.function(tool.as_str()))?;
    let arguments = step.arguments.as_object().into_iter().flatten();
    let arguments = arguments.map(|(name, value)| Some((name.clone(), argument(before, value)?)));
    Some(SketchStep {
        function: function.name.clone(),
        arguments: arguments.collect::<Option<_>>()?,
        takes: step.takes.as_ref().map_or_else(Vec::new, |take| Take::parts(take).to_vec()),
        with_get: false,
    })
}

/// The expression of an argument; `None` if it has a part that an earlier step finds in a sentence.
fn argument(before: &[ChainStep], value: &Value) -> Option<Argument> {
    let text = plain(value);
    let taken = |step: &ChainStep| step.takes.is_some() && step.finds.as_deref() == Some(&*text);
    if let Some(step) = before.iter().rposition(taken) {
        return Some(Argument::Taken(step));
    }
    let mut found = before.iter().filter_map(|step| step.finds.as_deref());
    let is_unknown = found.any(|found| value.to_string().contains(found));
    (!is_unknown).then(|| Argument::Literal(value.clone()))
}

impl Display for Sketch {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (at, step) in self.steps.iter().enumerate() {
            let number = at + 1;
            let arguments =
                step.arguments.iter().map(|(name, argument)| format!("{name}={argument}"));
            let arguments = arguments.collect::<Vec<_>>().join(", ");
            writeln!(f, "r{number} = {}({arguments})", step.function)?;
            if !step.takes.is_empty() {
                writeln!(f, "v{number} = {}", taken(&format!("r{number}"), step))?;
            }
        }
        match self.steps.last() {
            Some(step) if step.takes.is_empty() => write!(f, "print(r{})", self.steps.len()),
            Some(_) => write!(f, "print(v{})", self.steps.len()),
            None => f.write_str("print(\"unknown\")"),
        }
    }
}

/// The expression that takes the value out of a result.
fn taken(result: &str, step: &SketchStep) -> String {
    let mut text = result.to_owned();
    for (i, part) in step.takes.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = match part {
            TakePart::Key(key) if i == 0 && step.with_get => write!(text, ".get({key:?})"),
            TakePart::Key(key) => write!(text, "[{key:?}]"),
            TakePart::Place(place) => write!(text, "[{place}]"),
            TakePart::Where { key, text: is } => {
                text = format!("[each for each in {text} if each[{key:?}] == {is:?}][0]");
                Ok(())
            }
        };
    }
    text
}

impl Display for Argument {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Literal(value) => f.write_str(&literal(value)),
            Self::Taken(step) => write!(f, "v{}", step + 1),
            Self::TakenAsText(step) => write!(f, "str(v{})", step + 1),
        }
    }
}
