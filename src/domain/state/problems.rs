//! Problems: what went wrong in a session, and what the model did next. They outlive the details of their tasks, so their
//! texts are short, and only the last are kept.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use crate::id::{EffectId, TaskId};
use crate::words::clipped;

/// Number of problems that are kept.
const KEPT: usize = 256;
/// The most characters of a name, and of the text that says more.
const NAME: usize = 60;
const SAID: usize = 120;

/// Kind of problem of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[derive(IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ProblemKind {
    /// A tool call failed.
    ToolFailed,
    /// A model call failed.
    ModelFailed,
    /// A task ended without an answer, or with a wrong one.
    TaskFailed,
    /// A fault replaced a result or an answer by another.
    Spoilt,
    /// A tool call succeeded, and its text says that it failed.
    SaysError,
    /// The arguments of a tool call do not fit its schema.
    Arguments,
    /// The agent never sent the result of a tool call.
    NoResult,
    /// The same round of calls had the same results three times.
    Loop,
    /// An answer ended too early.
    CutAnswer,
    /// The endpoint left out part of a request.
    DroppedInput,
    /// A request does not begin with the one before it, so a cache is useless.
    LostPrefix,
    /// The agent dropped part of its past.
    Rewritten,
    /// A request differs from the record over which the agent runs again.
    Parted,
    /// A tool returned something else than in that record.
    Drifted,
}

impl ProblemKind {
    /// The name in reports: `tool failed`.
    pub fn name(self) -> String {
        let name: &str = self.into();
        name.replace('_', " ")
    }

    /// Whether the next reply of the model says how it took the problem.
    fn has_next(self) -> bool {
        !matches!(
            self,
            Self::TaskFailed
                | Self::DroppedInput
                | Self::LostPrefix
                | Self::Rewritten
                | Self::Parted
                | Self::Drifted
        )
    }
}

/// Next move of the model after a problem, in the same task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NextMove {
    /// The same tool was called again.
    Again,
    /// Another tool was called.
    Called(Arc<str>),
    Answered,
    /// The task ended without an answer.
    Ended,
}

impl NextMove {
    pub(super) fn called(tool: &str) -> Self {
        Self::Called(short(tool).into())
    }
}

fn is_empty(text: &str) -> bool {
    text.is_empty()
}

/// A name of any length, shortened.
pub(super) fn short(name: &str) -> String {
    clipped(name.trim(), NAME)
}

/// A problem of an agent: something that went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentProblem {
    /// The number of the problem, from 1 in the session.
    pub number: u64,
    pub kind: ProblemKind,
    /// The event that shows it.
    pub n: u64,
    /// Microseconds since the task began; without a task, since the session was opened.
    pub at: u64,
    pub task: TaskId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<EffectId>,
    /// Name of the tool, the model or the field, shortened; for a task its outcome.
    pub about: Arc<str>,
    /// More about it, such as the beginning of an error; may be empty.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub said: Arc<str>,
    /// Whether a fault caused it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub injected: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<NextMove>,
}

impl AgentProblem {
    /// Whether a next move of the model has come, or is to come.
    pub fn has_next(&self) -> bool {
        self.kind.has_next()
    }

    pub(super) fn is_about(&self, name: &str) -> bool {
        short(name) == *self.about
    }
}

/// The problems of a session so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentProblems {
    /// The number of problems of each kind, kept or not.
    counts: BTreeMap<ProblemKind, u64>,
    last: VecDeque<Arc<AgentProblem>>,
}

impl AgentProblems {
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// The number of problems so far, kept or not.
    pub fn count(&self) -> u64 {
        self.counts.values().fold(0, |sum, count| sum.saturating_add(*count))
    }

    pub fn counts(&self) -> &BTreeMap<ProblemKind, u64> {
        &self.counts
    }

    /// The problems that are kept, in the order of their events.
    pub fn kept(&self) -> &VecDeque<Arc<AgentProblem>> {
        &self.last
    }

    /// Adds a problem, with its number and shortened texts.
    pub(super) fn add(&mut self, problem: AgentProblem, about: &str, said: &str) {
        let count = self.counts.entry(problem.kind).or_default();
        *count = count.saturating_add(1);
        let number = self.count();
        let (about, said) = (short(about).into(), clipped(said.trim(), SAID).into());
        self.last.push_back(Arc::new(AgentProblem { number, about, said, ..problem }));
        if self.last.len() > KEPT {
            self.last.pop_front();
        }
    }

    /// Notes the next move of the model in a task, for the problems that have none and came before this event.
    pub(super) fn moved(
        &mut self,
        (task, before): (TaskId, u64),
        next: impl Fn(&AgentProblem) -> NextMove,
    ) {
        let is_open = |it: &&mut Arc<AgentProblem>| {
            it.task == task && it.n < before && it.next.is_none() && it.has_next()
        };
        for problem in self.last.iter_mut().filter(is_open) {
            let next = next(problem);
            Arc::make_mut(problem).next = Some(next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(kind: ProblemKind, n: u64, task: u32) -> AgentProblem {
        let (about, said) = (Arc::default(), Arc::default());
        let (number, at, call, injected, next) = (0, 0, None, false, None);
        let task = TaskId(task);
        AgentProblem { number, kind, n, at, task, call, about, said, injected, next }
    }

    #[test]
    fn the_last_are_kept_and_all_are_counted() {
        let mut problems = AgentProblems::default();
        let long = "é".repeat(1 << 20);
        for n in 1..=1000 {
            let kind = if n % 2 == 0 { ProblemKind::Loop } else { ProblemKind::ToolFailed };
            problems.add(problem(kind, n, 1), &long, &long);
        }
        assert_eq!((problems.count(), problems.kept().len()), (1000, KEPT));
        assert_eq!(problems.counts()[&ProblemKind::Loop], 500);
        assert_eq!(problems.kept().back().unwrap().number, 1000);
        let json = serde_json::to_string(&problems).unwrap();
        assert!(json.len() < KEPT * 600, "{}", json.len());
        assert_eq!(serde_json::from_str::<AgentProblems>(&json).unwrap(), problems);
    }

    #[test]
    fn a_move_belongs_to_the_open_problems_before_it_in_its_task() {
        let mut problems = AgentProblems::default();
        for (kind, n, task) in [
            (ProblemKind::ToolFailed, 1, 1),
            (ProblemKind::ToolFailed, 2, 2),
            (ProblemKind::Rewritten, 3, 1),
            (ProblemKind::ToolFailed, 9, 1),
        ] {
            problems.add(problem(kind, n, task), "t", "");
        }
        problems.moved((TaskId(1), 5), |_| NextMove::Again);
        problems.moved((TaskId(1), 5), |_| NextMove::Ended);
        let next: Vec<_> = problems.kept().iter().map(|it| it.next.clone()).collect();
        assert_eq!(next, [Some(NextMove::Again), None, None, None]);
    }
}
