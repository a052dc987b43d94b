//! Loops of an agent: equal calls with equal results, one after the other or in turn.

use serde_json::Value;

use crate::id::{EffectId, ToolName};
use crate::state::{State, TaskState, ToolCallPhase, ToolCallState};

/// Equal rounds that make a loop.
const ROUNDS: usize = 3;
/// The most calls in a round.
const LONGEST: usize = 4;

/// The parts of a call that loops compare.
type Made<'a> = (&'a ToolName, &'a Value, &'a str);

impl State {
    /// The number of loops that the agent of a task has begun.
    pub fn loops(&self, task: &TaskState) -> usize {
        let attempts = self.attempts(task);
        let loops = attempts
            .iter()
            .map(|made| (1..=made.len()).filter(|end| round(&made[..*end]).is_some()).count());
        loops.sum()
    }

    /// The tools of a round, if this call, which has ended, makes a loop of its attempt.
    pub fn loop_at(&self, call: EffectId) -> Option<Vec<&ToolName>> {
        let task = self.task(self.tool_call(call)?.task).filter(|task| goes_straight(task))?;
        // A call that ends after later calls does not make a loop.
        task.tool_calls.last().filter(|last| **last == call)?;
        let calls = task.tool_calls.iter().rev().filter_map(|id| self.tool_call(*id));
        let mut step = u32::MAX;
        let attempt = calls.filter(|call| !call.is_by_hand()).take_while(|before| {
            let is_same = before.step <= step;
            step = before.step;
            is_same
        });
        let made = attempt.filter_map(|call| Some((&call.tool, &call.arguments, ended(call)?)));
        // A task may have any number of calls. Of those before, only so many decide.
        let mut made: Vec<Made<'_>> = made.take(ROUNDS * LONGEST + 1).collect();
        made.reverse();
        let length = round(&made)?;
        Some(made[made.len() - length..].iter().map(|made| made.0).collect())
    }

    /// Whether an earlier call of the same attempt was the same and had this result.
    pub fn is_repeat(&self, call: EffectId, result: &str) -> bool {
        let Some(own) = self.tool_call(call) else { return false };
        let Some(task) = self.task(own.task).filter(|task| goes_straight(task)) else {
            return false;
        };
        let before = task.tool_calls.iter().rev().skip_while(|id| **id >= call);
        let mut step = own.step;
        let attempt = before.filter_map(|id| self.tool_call(*id)).take_while(|before| {
            let is_same = before.step <= step;
            step = before.step;
            is_same
        });
        let mut same = attempt.filter(|it| it.tool == own.tool && it.arguments == own.arguments);
        same.any(|it| ended(it) == Some(result))
    }

    /// The ended calls of each attempt, in order. Searches have none, since they may visit a place twice, and programs
    /// have none, since they may wait for something.
    fn attempts<'a>(&'a self, task: &'a TaskState) -> Vec<Vec<Made<'a>>> {
        let mut attempts = vec![Vec::new()];
        let mut step = 0;
        let calls = task.tool_calls.iter().filter(|_| goes_straight(task));
        for call in calls.filter_map(|id| self.tool_call(*id)).filter(|call| !call.is_by_hand()) {
            if call.step < step {
                attempts.push(Vec::new());
            }
            step = call.step;
            if let (Some(end), Some(made)) = (ended(call), attempts.last_mut()) {
                made.push((&call.tool, &call.arguments, end));
            }
        }
        attempts
    }
}

/// Whether an agent of this task decides step by step.
fn goes_straight(task: &TaskState) -> bool {
    task.search.nodes.is_empty() && task.programs.is_empty()
}

fn ended(call: &ToolCallState) -> Option<&str> {
    match &call.phase {
        ToolCallPhase::Requested | ToolCallPhase::Running => None,
        ToolCallPhase::Refused { why, .. } => Some(why),
        ToolCallPhase::Done { output } => Some(&output.text),
        ToolCallPhase::Failed { error } => Some(&error.text),
    }
}

/// The length of the last round, if it has just been repeated often enough.
fn round<T: PartialEq>(made: &[T]) -> Option<usize> {
    let repeated = |length: usize| {
        let pairs = made.iter().rev().zip(made.iter().rev().skip(length));
        pairs.take((ROUNDS - 1) * length + 1).take_while(|(last, before)| last == before).count()
    };
    let length = (1..=LONGEST).find(|length| repeated(*length) >= (ROUNDS - 1) * length)?;
    (repeated(length) == (ROUNDS - 1) * length).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loops(made: &str) -> Vec<(usize, usize)> {
        let made: Vec<char> = made.chars().collect();
        (1..=made.len()).filter_map(|end| Some((end, round(&made[..end])?))).collect()
    }

    #[test]
    fn three_equal_rounds_are_one_loop() {
        assert_eq!(loops("aa"), []);
        assert_eq!(loops("aaa"), [(3, 1)]);
        assert_eq!(loops("aaaaaaaa"), [(3, 1)]);
        assert_eq!(loops("xaaabbb"), [(4, 1), (7, 1)]);
        assert_eq!(loops("ababa"), []);
        assert_eq!(loops("xabababab"), [(7, 2)]);
        assert_eq!(loops("abcabcabc"), [(9, 3)]);
        assert_eq!(loops("abcdabcdabcd"), [(12, 4)]);
        assert_eq!(loops("aabaabaab"), [(9, 3)]);
        assert_eq!(loops("abcdeabcdeabcde"), []);
        assert_eq!(loops("aaabaaa"), [(3, 1), (7, 1)]);
    }
}
