//! Summaries of all tasks that have ended: a few numbers, and the calls in short.

use serde::{Deserialize, Serialize};

use crate::event::Outcome;
use crate::finite::Finite;
use crate::id::{FaultId, TaskId, ToolName};

/// A task that has ended, in short. It is kept when the task's details are gone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lap {
    pub task: TaskId,
    /// `None` while it runs.
    pub outcome: Option<Outcome>,
    /// Whether its answer is right, where that is known.
    pub correct: Option<bool>,
    /// Tool calls of the task, in the order in which they were requested.
    pub tried: Vec<Tried>,
    /// The calls that a fault hit, and what the agent did about each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hits: Vec<TakenHit>,
    /// Tokens of all its model calls, in and out.
    pub tokens: u64,
    pub credits: Finite,
    pub dollars: Finite,
    /// Microseconds from its start to its end; 0 while it runs.
    #[serde(default)]
    pub micros: u64,
}

/// A call that a fault hit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakenHit {
    pub fault: FaultId,
    pub reaction: Reaction,
    /// The reaction of a watched agent in detail, to be shown as an example.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<Box<ReactionExample>>,
}

/// Details of a reaction to a call that a fault hit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReactionExample {
    /// The tool or the model of the call that replaced it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Microseconds until that call.
    #[serde(default)]
    pub after: u64,
    /// The beginning of the task's last answer; empty if there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub answer: String,
    /// Whether that answer seems to say that the call failed, by [`crate::admits::failure`].
    #[serde(default)]
    pub admits: bool,
}

/// Reaction of an agent to a call that a fault hit, in the same task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reaction {
    /// The agent called the same tool again, or sent the same request to the same model of the same role.
    Retried,
    /// The agent called another tool with one of the same arguments, or sent the same request to another model.
    Switched,
    /// The agent had a new plan written.
    Replanned,
    /// The agent ended the task without an answer.
    GaveUp,
    /// The agent obeyed an injected instruction.
    Obeyed,
    /// The agent went on as if nothing had happened.
    Ignored,
    /// The agent got its answer: the fault only made the call late or expensive.
    Answered,
}

/// A tool call in short.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    pub tool: ToolName,
    pub end: TriedEnd,
    /// The tool whose call failed in the same task with one of the same arguments, so that this one replaces it.
    /// It may have run after that call or beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead_of: Option<ToolName>,
}

/// How a tool call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TriedEnd {
    /// The call has not ended.
    Open,
    Ok,
    Empty,
    Failed,
    /// A fault removed or replaced the outcome.
    Injected,
    /// The call did not run.
    Refused,
}

impl TriedEnd {
    /// Whether the agent did not get the result that it requested.
    pub fn is_bad(self) -> bool {
        matches!(self, TriedEnd::Empty | TriedEnd::Failed | TriedEnd::Injected)
    }
}

impl Lap {
    /// The number of calls that ran, or would have run without a fault.
    pub fn calls(&self) -> usize {
        self.tried.iter().filter(|tried| tried.end != TriedEnd::Refused).count()
    }

    /// The number of calls of a tool that ran.
    pub fn calls_of(&self, tool: &str) -> usize {
        let ran = |tried: &&Tried| tried.tool.as_str() == tool && tried.end != TriedEnd::Refused;
        self.tried.iter().filter(ran).count()
    }

    /// Whether its answer is known to be right.
    pub fn is_right(&self) -> bool {
        self.correct == Some(true)
    }
}
