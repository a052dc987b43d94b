//! Scores a task by its tool calls, as API-Bank does (Li et al. 2023): a call of the right tool with the right
//! arguments is right. The agent's final answer does not count.
//!
//! API-Bank shows a model the dialogue up to each call and asks for this one call. Here an agent works on
//! the whole request, so calls are compared with all of the reference, in any order; a reference
//! call that occurs twice must be made twice.

use serde::Serialize;

use crate::domain::{ChainStep, Scoring, State, TaskState, ToolName, chance::canonical};

/// The calls of a task against those of its reference chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CallScore {
    /// Calls of the reference chain.
    pub expected: usize,
    /// Calls of the reference chain that were made, with equal arguments.
    pub right: usize,
    /// All calls that ran.
    pub made: usize,
}

impl CallScore {
    /// Whether every call of the reference was made.
    pub fn is_right(self) -> bool {
        self.right == self.expected
    }

    /// Adds up the scores of several tasks.
    pub fn sum(all: impl Iterator<Item = CallScore>) -> Option<Self> {
        all.reduce(|sum, more| Self {
            expected: sum.expected + more.expected,
            right: sum.right + more.right,
            made: sum.made + more.made,
        })
    }

    /// The share of reference calls that were made, API-Bank's accuracy.
    pub fn accuracy(self) -> f64 {
        share(self.right, self.expected)
    }

    /// The share of made calls that the reference has.
    pub fn precision(self) -> f64 {
        share(self.right, self.made)
    }
}

fn share(part: usize, all: usize) -> f64 {
    if all == 0 { 0.0 } else { part as f64 / all as f64 }
}

/// The score of a task that is scored by its calls; `None` for any other.
pub fn of_task(state: &State, task: &TaskState) -> Option<CallScore> {
    if task.task.scoring != Scoring::Calls {
        return None;
    }
    let calls = task.tool_calls.iter().filter_map(|call| state.tool_call(*call));
    let ran = calls.filter(|call| call.started.is_some() && !state.reads_on(&call.tool));
    Some(score(&task.task.chain, ran.map(|call| (&call.tool, canonical(&call.arguments)))))
}

fn score<'c>(chain: &[ChainStep], ran: impl Iterator<Item = (&'c ToolName, String)>) -> CallScore {
    let mut left: Vec<_> = ran.collect();
    let made = left.len();
    let mut right = 0;
    for step in chain {
        let arguments = canonical(&step.arguments);
        let is_meant =
            |(tool, given): &(&ToolName, String)| step.tools.contains(tool) && *given == arguments;
        if let Some(at) = left.iter().position(is_meant) {
            left.swap_remove(at);
            right += 1;
        }
    }
    CallScore { expected: chain.len(), right, made }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn step(tool: &str, arguments: Value) -> ChainStep {
        ChainStep {
            tools: vec![tool.into()],
            arguments,
            finds: Some("success".to_owned()),
            takes: None,
        }
    }

    fn scored(chain: &[ChainStep], ran: &[(&str, Value)]) -> (usize, usize, usize) {
        let names: Vec<(ToolName, String)> =
            ran.iter().map(|(tool, arguments)| ((*tool).into(), canonical(arguments))).collect();
        let ran = names.iter().map(|(tool, arguments)| (tool, arguments.clone()));
        let CallScore { expected, right, made } = score(chain, ran);
        (expected, right, made)
    }

    #[test]
    fn a_call_is_right_with_its_arguments_only_whatever_its_result() {
        let chain =
            [step("token", json!({"user": "a"})), step("add", json!({"at": 3, "who": "b"}))];
        let token = || ("token", json!({"user": "a"}));
        for (ran, right) in [
            (vec![token(), ("add", json!({"who": "b", "at": 3}))], (2, 2, 2)),
            (vec![("add", json!({"at": 3, "who": "b"})), token()], (2, 2, 2)),
            (vec![token(), ("add", json!({"at": 4, "who": "b"}))], (2, 1, 2)),
            (vec![token(), token(), ("drop", json!({"at": 3, "who": "b"}))], (2, 1, 3)),
            (vec![], (2, 0, 0)),
        ] {
            assert_eq!(scored(&chain, &ran), right, "{ran:?}");
        }
        let twice = [step("token", json!({"user": "a"})), step("token", json!({"user": "a"}))];
        assert_eq!(scored(&twice, &[token()]), (2, 1, 1), "one call, as in the reference");
    }
}
