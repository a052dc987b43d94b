//! The programs of a task (ATC).

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::event::{BlamedBy, ProgramSource, ProgramVerdict};
use crate::id::{EffectId, ToolName};
use crate::program::{Back, Extra, LineStop, ProgramEnd, Raised, Set};

/// Values that are kept of a program.
const VALUES: usize = 500;
/// Times of day that are kept of a program. The part of a program after them cannot be run again.
const CLOCKS: usize = 10_000;

/// A program of a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramState {
    /// From 1.
    pub number: u32,
    /// Empty if there was none in the reply.
    pub text: Arc<str>,
    pub from: ProgramSource,
    /// Calls of the program, in order, including those that were answered from an earlier program.
    pub calls: Vec<EffectId>,
    /// Why it could not run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<Raised>,
    /// Where it is held, or was held last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<Arc<LineStop>>,
    /// The last value of each variable at each line that sets it, as far as the program reported them; newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Set>,
    /// Expressions that a person has evaluated in the program, some of them to set a variable.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extras: Vec<Extra>,
    /// Number of times that a person has taken it back, and how far the last time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub back: Option<(u32, Back)>,
    /// Calls that no longer belong to its path, since it was taken back and then made a different call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<EffectId>,
    /// The times of day that it received.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clocks: Vec<i64>,
    /// The program that a person wrote to go on with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<Arc<ProgramEnd>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub how: Option<ProgramVerdict>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blamed: Option<Blamed>,
}

/// The tool that is to blame for a program's failure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Blamed {
    pub tool: Option<ToolName>,
    pub by: BlamedBy,
    /// From the failing expression back to the call: each variable, and the line that set it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<(String, u32)>,
}

impl ProgramState {
    pub(super) fn new(number: u32) -> Self {
        Self {
            number,
            text: Arc::from(""),
            from: ProgramSource::Reply,
            calls: Vec::new(),
            refused: Vec::new(),
            held: None,
            values: Vec::new(),
            extras: Vec::new(),
            back: None,
            left: Vec::new(),
            clocks: Vec::new(),
            edited: None,
            end: None,
            how: None,
            blamed: None,
        }
    }

    /// The last value that this line gave to each variable.
    pub fn values_of(&self, line: u32) -> impl Iterator<Item = &Set> {
        self.values.iter().filter(move |set| set.line == line)
    }

    pub(super) fn note(&mut self, at: &Arc<LineStop>) {
        if let Some(values) = &at.values {
            self.values.clone_from(values);
        }
        self.set(&at.set);
        self.held = Some(Arc::clone(at));
    }

    pub(super) fn set(&mut self, values: &[Set]) {
        for set in values {
            self.values.retain(|known| known.line != set.line || known.name != set.name);
            self.values.push(set.clone());
        }
        let too_many = self.values.len().saturating_sub(VALUES);
        self.values.drain(..too_many);
    }

    pub(super) fn take_back(&mut self, to: Back) {
        let times = self.backs().saturating_add(1);
        self.back = Some((times, to));
        (self.end, self.how, self.blamed) = (None, None, None);
    }

    /// Notes a time of day that the program received.
    pub(super) fn tell_time(&mut self, millis: i64) {
        if self.clocks.len() < CLOCKS {
            self.clocks.push(millis);
        }
    }

    /// How often a person has taken it back.
    pub fn backs(&self) -> u32 {
        self.back.map_or(0, |(times, _)| times)
    }

    /// Returns the error that made the program fail.
    pub fn error(&self) -> Option<&Raised> {
        self.refused.first().or_else(|| self.end.as_ref()?.error.as_ref())
    }
}
