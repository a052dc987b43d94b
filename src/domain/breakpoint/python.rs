//! Conditions and texts of breakpoints within programs: Python over the variables of the program.

use serde::{Deserialize, Serialize};

use super::BreakpointSpec;
use crate::breakpoint::BreakpointPlace;
use crate::program::{Extra, ExtraOutcome, LineStop, Moment};

/// Condition and text of a breakpoint within a program, in Python.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Python {
    /// Must be true for a hit, in Python's sense: an empty list is false.
    #[serde(default, rename = "if", skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// A text with `{expressions}`, as in an f-string.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
}

impl Python {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the expressions of the condition and the text.
    pub fn expressions(&self) -> impl Iterator<Item = String> {
        self.condition.iter().cloned().chain(self.text())
    }

    /// The text as an f-string.
    fn text(&self) -> Option<String> {
        let log = self.log.as_ref()?;
        Some(format!(
            "f\"\"\"{}\"\"\"",
            log.replace('\\', "\\\\").replace("\"\"\"", "\\\"\\\"\\\"")
        ))
    }
}

impl BreakpointSpec {
    /// Returns the expressions that a program evaluates for this breakpoint.
    pub fn extras(&self) -> Vec<Extra> {
        let when = match &self.place {
            BreakpointPlace::Line(line) => Moment::Line(*line),
            _ => Moment::Always,
        };
        self.python.expressions().map(|expression| Extra { when, expression, sets: None }).collect()
    }

    /// Whether a program that stops here hits the breakpoint.
    pub fn is_hit(&self, at: &LineStop) -> bool {
        let holds = |condition: &String| told(at, condition).is_some_and(|told| told.holds);
        self.place.is_at_line(at) && self.python.condition.as_ref().is_none_or(holds)
    }

    /// The text that the breakpoint logs here.
    pub fn said(&self, at: &LineStop) -> String {
        let Some(text) = self.python.text() else { return String::new() };
        match told(at, &text).map(|told| &told.value) {
            Some(Ok(serde_json::Value::String(text))) => text.clone(),
            Some(Ok(value)) => value.to_string(),
            Some(Err(why)) => why.clone(),
            None => String::new(),
        }
    }
}

fn told<'a>(at: &'a LineStop, expression: &str) -> Option<&'a ExtraOutcome> {
    at.told.iter().find(|told| told.sets.is_none() && told.expression == expression)
}
