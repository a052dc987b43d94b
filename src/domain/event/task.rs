//! Tasks, from the queue to their end.

use std::sync::Arc;

use super::{By, CacheBreak, Caveat, MenuItem, Outcome, family::family};
use crate::id::{TaskId, ToolName};
use crate::spec::Task;

family! {
    /// Tasks, from the queue to their end.
    ///
    /// A task's number is its place in the order of work: where the queue changes, the tasks that wait get
    /// other numbers.
    pub enum TaskEvent {
        /// Tasks were put into the queue, mostly at its end; those behind them move back.
        TasksQueued {
            first: TaskId,
            tasks: Vec<Task>,
            by: By,
        },
        /// Tasks that waited were taken off the queue; those behind them move up.
        TasksRemoved {
            first: TaskId,
            tasks: Vec<Task>,
            by: By,
        },
        /// A task that waits went to another place of the queue; those between move by one.
        TaskMoved {
            task: TaskId,
            to: TaskId,
            by: By,
        },
        /// The current task was ended before it had an answer.
        TaskSkipped {
            task: TaskId,
            by: By,
        },
        TaskStarted {
            task: TaskId,
        },
        /// A further attempt at the same task, with the lessons of the earlier ones.
        TryStarted {
            task: TaskId,
            number: u32,
            reflections: Vec<String>,
        },
        /// A decision of the agent begins: its position, and its choices.
        StepStarted {
            task: TaskId,
            step: u32,
            from: ToolName,
            menu: Arc<[MenuItem]>,
        },
        /// A model, the grader, said whether the task's answer is right.
        AnswerGraded {
            task: TaskId,
            /// `None` if it gave no verdict.
            right: Option<bool>,
            why: String,
        },
        /// The tools that the agent's requests define from now on, in this order. Endpoints cache a prompt from its
        /// beginning, where the tools are; so they change only if another tool is needed.
        ToolArraySet {
            task: TaskId,
            tools: Arc<[ToolName]>,
            /// Whether the requests begin with the definitions of earlier tasks. That is cheaper if an endpoint has them
            /// in its cache. In earlier journals `all` says that they began with those of all tools.
            #[serde(default, alias = "all", skip_serializing_if = "std::ops::Not::not")]
            kept: bool,
            /// Cost of the change; `None` for the first array of a task.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            lost: Option<CacheBreak>,
        },
        TaskFinished {
            task: TaskId,
            outcome: Outcome,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            answer: Option<String>,
            /// Compared to the gold answer, if there is one.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            correct: Option<bool>,
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            caveats: Vec<Caveat>,
        },
    }
}
