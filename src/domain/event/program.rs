//! Programs over tools (ATC). Statements have no events: where a person wants to see more, a program is run again over
//! the record of its calls.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::family::family;
use super::parts::By;
use crate::id::{EffectId, TaskId, ToolName};
use crate::program::{Back, Extra, LineStop, ProgramEnd, Raised};

family! {
    /// Programs over tools (ATC).
    pub enum ProgramEvent {
        /// A program was found in a reply, or is part of the task. The programs of a task count from 1.
        ProgramWritten {
            task: TaskId,
            number: u32,
            text: Arc<str>,
            #[serde(default)]
            from: ProgramSource,
        },
        /// A reply had no program, or its program cannot run. Nothing was called.
        ProgramRefused {
            task: TaskId,
            number: u32,
            error: Raised,
            /// Further errors of the program.
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            more: Vec<Raised>,
        },
        /// A program stops before a statement, as a person requested.
        ProgramHeld {
            task: TaskId,
            number: u32,
            at: Arc<LineStop>,
        },
        /// A person evaluates a Python expression where the program is held, or assigns its value to a variable. The
        /// program is run again up to there.
        ProgramAsked {
            task: TaskId,
            number: u32,
            extra: Extra,
            by: By,
        },
        /// A person has written a program to continue with: it runs over the record of this one.
        ProgramEdited {
            task: TaskId,
            number: u32,
            text: Arc<str>,
            by: By,
        },
        /// A person takes a program back: it is run again over its record up to an earlier statement, and held there.
        /// Effects of its calls are not undone.
        ProgramTakenBack {
            task: TaskId,
            number: u32,
            to: Back,
            by: By,
        },
        /// A program that was taken back makes a different call than before. These calls no longer belong to its path,
        /// although they were made.
        ProgramParted {
            task: TaskId,
            number: u32,
            calls: Vec<EffectId>,
        },
        ProgramEnded {
            task: TaskId,
            number: u32,
            end: Arc<ProgramEnd>,
            how: ProgramVerdict,
        },
        /// A program asked for the time of day: milliseconds since 1970, UTC.
        ClockRead {
            task: TaskId,
            millis: i64,
        },
        /// The tool whose call led to the failure of a program; `None` if nobody found one.
        ToolBlamed {
            task: TaskId,
            number: u32,
            tool: Option<ToolName>,
            by: BlamedBy,
            /// From the failing expression back to the call: each variable, and the line that set it.
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            path: Vec<(String, u32)>,
        },
    }
}

/// Where a program is from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgramSource {
    /// The programmer's reply.
    #[default]
    Reply,
    /// The task has it.
    Task,
    Person,
}

/// Verdict on a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgramVerdict {
    Fine,
    /// The program ran and printed, but its calls returned nothing except errors, empty results and null.
    Doubtful,
    Failed,
}

impl ProgramVerdict {
    pub fn name(self) -> &'static str {
        match self {
            ProgramVerdict::Fine => "fine",
            ProgramVerdict::Doubtful => "doubtful",
            ProgramVerdict::Failed => "failed",
        }
    }
}

/// Author of the verdict which tool is to blame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlamedBy {
    /// The flow of data in the program.
    Flow,
    /// A model.
    Model,
    Person,
    Nobody,
}

impl BlamedBy {
    pub fn name(self) -> &'static str {
        match self {
            BlamedBy::Flow => "by flow",
            BlamedBy::Model => "by the model",
            BlamedBy::Person => "by a person",
            BlamedBy::Nobody => "nobody",
        }
    }
}
