//! The agent's actions so far: content of its next prompt, and input of an evaluator.

use std::sync::Arc;

use super::CallResult;
use crate::domain::{Reply, ReplySource, ToolCall};

/// The agent's actions so far in one attempt.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trajectory {
    pub turns: Vec<Turn>,
}

/// One (thought, action, observation) triple; several actions if the model requests several at
/// once.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    pub thought: String,
    pub calls: Vec<ToolCall>,
    /// One for each call, in the same order.
    pub called: Vec<CallResult>,
    /// Who wrote it: an endpoint may want more back than the thought and the calls.
    pub source: Option<Arc<ReplySource>>,
}

impl Turn {
    /// The turn of a reply, with those of its calls that were made.
    pub fn of(reply: &Reply, calls: Vec<ToolCall>, called: Vec<CallResult>) -> Self {
        Self { thought: reply.text.clone(), calls, called, source: reply.source.clone() }
    }
}

impl Trajectory {
    /// Every call that ran, in order.
    pub fn calls(&self) -> impl Iterator<Item = &CallResult> {
        let all = self.turns.iter().flat_map(|turn| &turn.called);
        all.filter(|called| called.observation.ran())
    }

    /// The agent's last thought, if it gave one.
    pub fn last_thought(&self) -> Option<&str> {
        let thought = self.turns.last()?.thought.trim();
        (!thought.is_empty()).then_some(thought)
    }
}
