//! The session as a person reads it: one line for each event worth a line, in order. Lines point at
//! tasks and calls instead of copying them, so that a line shows the *current* state of a call.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::event::{BudgetPlan, Event};
use crate::id::{EffectId, TaskId};
use crate::plan::Plan;

/// A line of the transcript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TranscriptLine {
    /// The event that made it.
    pub n: u64,
    /// Microseconds since the session was opened.
    pub at: u64,
    /// The current task at that moment.
    pub task: Option<TaskId>,
    pub what: What,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    TaskStarted,
    TryStarted {
        number: u32,
    },
    /// The index of the step in its task's list.
    Step {
        index: u32,
    },
    #[serde(rename = "ask")]
    ModelCall {
        #[serde(rename = "ask")]
        call: EffectId,
    },
    #[serde(rename = "call")]
    ToolCall {
        call: EffectId,
    },
    /// The verdicts are in the task.
    Evaluated {
        learned: bool,
    },
    TaskFinished,
    /// The calls that the planner requested.
    Plan {
        plan: Arc<Plan>,
    },
    /// How often each tool may be used from here on, and the previous plan.
    BudgetPlanned {
        why: String,
        plan: Arc<BudgetPlan>,
        before: Option<Arc<BudgetPlan>>,
    },
    /// An intervention or a notice. The screen finds the words.
    Told {
        event: Box<Event>,
    },
    /// The paths of an event's fields that this version does not know.
    Newer {
        fields: Vec<String>,
    },
}

impl What {
    /// A line with only the event itself.
    pub(crate) fn told(event: impl Into<Event>) -> Option<(Option<TaskId>, What)> {
        Some((None, What::Told { event: Box::new(event.into()) }))
    }
}
