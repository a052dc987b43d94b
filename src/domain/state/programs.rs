//! The programs of a task (ATC).

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::domain::event::{BlamedBy, ProgramSource, ProgramVerdict};
use crate::domain::id::{EffectId, ToolName};
use crate::domain::program::{LineStop, ProgramEnd, Raised};

/// A program of a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramState {
    /// From 1.
    pub number: u32,
    /// Empty if there was none in the reply.
    pub text: Arc<str>,
    pub from: ProgramSource,
    /// Its calls, in order; those that were answered from an earlier program, too.
    pub calls: Vec<EffectId>,
    /// Why it could not run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<Raised>,
    /// Where it is held, or was held last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<Arc<LineStop>>,
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
            end: None,
            how: None,
            blamed: None,
        }
    }

    /// What made it fail.
    pub fn error(&self) -> Option<&Raised> {
        self.refused.first().or_else(|| self.end.as_ref()?.error.as_ref())
    }
}
