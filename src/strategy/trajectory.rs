//! What an agent has done so far: what its next prompt shows, and what an evaluator judges.

use super::CallResult;
use crate::domain::ToolCall;

/// What the agent has done so far in one try.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trajectory {
    pub turns: Vec<Turn>,
}

/// One (thought, action, observation) triple; several actions where the model wants several at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    pub thought: String,
    pub calls: Vec<ToolCall>,
    /// One for each call, in the same order.
    pub called: Vec<CallResult>,
}

impl Trajectory {
    /// Every call that ran, in order.
    pub fn calls(&self) -> impl Iterator<Item = &CallResult> {
        let all = self.turns.iter().flat_map(|turn| &turn.called);
        all.filter(|called| called.observation.ran())
    }

    /// What the agent thought last, if it has said so.
    pub fn last_thought(&self) -> Option<&str> {
        let thought = self.turns.last()?.thought.trim();
        (!thought.is_empty()).then_some(thought)
    }
}
