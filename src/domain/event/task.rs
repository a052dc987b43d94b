//! Tasks, from the queue to their end.

use std::sync::Arc;

use super::{By, MenuItem, Outcome, family::family};
use crate::domain::id::{TaskId, ToolName};
use crate::domain::spec::Task;

family! {
    /// Tasks, from the queue to their end.
    pub enum TaskEvent {
        TasksQueued {
            first: TaskId,
            tasks: Vec<Task>,
            by: By,
        },
        TaskStarted {
            task: TaskId,
        },
        /// A further try at the same task, with what was learned from the ones before.
        TryStarted {
            task: TaskId,
            number: u32,
            reflections: Vec<String>,
        },
        /// A decision of the agent begins: where it is, and what it may choose from.
        StepStarted {
            task: TaskId,
            step: u32,
            from: ToolName,
            menu: Arc<[MenuItem]>,
        },
        TaskFinished {
            task: TaskId,
            outcome: Outcome,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            answer: Option<String>,
            /// Against the gold answer, where there is one.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            correct: Option<bool>,
        },
    }
}
