//! The agent's actions so far: content of its next prompt, and input of an evaluator.

use std::sync::Arc;

use super::{CallResult, finish::Finish};
use crate::domain::markers::FINISH;
use crate::domain::{Prompt, Reply, ReplySource, ToolCall};

/// The agent's actions so far in one attempt.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trajectory {
    pub turns: Vec<TrajectoryTurn>,
}

/// A (thought, action, observation) triple, with several actions if the model requests several at once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrajectoryTurn {
    pub thought: String,
    pub calls: Vec<ToolCall>,
    /// The results of the calls, in the same order.
    pub called: Vec<CallResult>,
    /// The origin of the reply: its endpoint may need more back than the thought and the calls.
    pub source: Option<Arc<ReplySource>>,
    /// The fault of the reply, if it called nothing.
    pub wrong: Wrong,
}

/// The fault of a reply that did not end its task and called nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wrong {
    #[default]
    Nothing,
    /// A call in the text of the reply cannot be read.
    Unread,
    /// The reply ended the task without an answer.
    NoAnswer,
    /// The agent gave up, and gets other choices.
    GaveUp,
}

impl TrajectoryTurn {
    /// The turn of a reply, with those of its calls that were made.
    pub fn of(reply: &Reply, calls: Vec<ToolCall>, called: Vec<CallResult>) -> Self {
        let (thought, source) = (reply.text.clone(), reply.source.clone());
        Self { thought, calls, called, source, wrong: Wrong::of(reply) }
    }
}

impl Wrong {
    fn of(reply: &Reply) -> Self {
        let finish = reply.calls.iter().find(|call| call.tool.as_str() == FINISH);
        match finish.map(|call| Finish::of(&call.arguments)) {
            _ if reply.is_unread() => Wrong::Unread,
            Some(None) => Wrong::NoAnswer,
            Some(Some(Finish::GivenUp)) => Wrong::GaveUp,
            Some(Some(Finish::Answer(_))) | None => Wrong::Nothing,
        }
    }

    /// The prompt for the agent after such a reply.
    pub fn prompt(self) -> Prompt {
        match self {
            Wrong::Nothing | Wrong::GaveUp => Prompt::ActorGoOn,
            Wrong::Unread => Prompt::ActorUnread,
            Wrong::NoAnswer => Prompt::ActorNoAnswer,
        }
    }
}

impl Trajectory {
    /// Every call that ran, in order.
    pub fn calls(&self) -> impl Iterator<Item = &CallResult> {
        let all = self.turns.iter().flat_map(|turn| &turn.called);
        all.filter(|called| called.observation.ran())
    }

    /// The trajectory without these calls.
    pub fn without(&self, is_out: impl Fn(&CallResult) -> bool) -> Self {
        let turn = |turn: &TrajectoryTurn| {
            let pairs = turn.calls.iter().cloned().zip(turn.called.iter().cloned());
            let (calls, called) = pairs.filter(|(_, called)| !is_out(called)).unzip();
            TrajectoryTurn { calls, called, ..turn.clone() }
        };
        Self { turns: self.turns.iter().map(turn).collect() }
    }

    /// Whether the agent gave up at its last decision, and may choose again.
    pub fn gave_up(&self) -> bool {
        let last = self.turns.last();
        last.is_some_and(|turn| turn.calls.is_empty() && turn.wrong == Wrong::GaveUp)
    }

    /// The agent's last thought, if it gave one.
    pub fn last_thought(&self) -> Option<&str> {
        let thought = self.turns.last()?.thought.trim();
        (!thought.is_empty()).then_some(thought)
    }
}
