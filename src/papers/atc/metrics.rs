//! How well the tools that a program called agree with a gold path: ATC's Path and Prec.
//!
//! ```text
//! Path = |set G ∩ set P| / |set G|        Prec = |set G ∩ set P| / |set P|
//! ```
//!
//! G are the tools of the gold path, P those that the last program of a task called. The paper has no code for these
//! measures; sets fit its description. AutoTools' gold has counts, so the same shares over calls are computed too.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::domain::{State, TaskState, ToolName};

/// The tools that a task needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gold {
    /// The calls in their order.
    Path(Vec<String>),
    /// The number of calls of each tool; the order is not known.
    Counts(Vec<(String, usize)>),
}

/// The score of one task. Shares are from 0 to 1; a share of nothing is 0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PathScore {
    /// The share of the gold tools that were called.
    pub path: f64,
    /// The share of the called tools that are gold.
    pub prec: f64,
    /// As `path`, over calls: every call of a tool counts.
    pub path_calls: f64,
    /// As `prec`, over calls.
    pub prec_calls: f64,
    /// Whether the gold path is a subsequence of the calls, RestGPT's correct path. `None`: gold has no order.
    pub in_order: Option<bool>,
}

/// The mean over tasks, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PathMean {
    pub path: f64,
    pub prec: f64,
    pub path_calls: f64,
    pub prec_calls: f64,
    /// Over the tasks whose gold has an order; `None` without any.
    pub in_order: Option<f64>,
}

/// The sums behind [`PathMean`].
#[derive(Clone, Copy, Debug, Default)]
pub struct PathSums {
    tasks: usize,
    /// Path, Prec, and both over calls.
    shares: [f64; 4],
    ordered: usize,
    in_order: usize,
}

impl Gold {
    /// The number of calls of each tool.
    fn counts(&self) -> BTreeMap<&str, usize> {
        match self {
            Self::Path(path) => counted(path.iter().map(|tool| (tool.as_str(), 1))),
            Self::Counts(counts) => counted(counts.iter().map(|(tool, n)| (tool.as_str(), *n))),
        }
    }
}

/// The score of a task by the tools that its last program called, in order. Failed and refused calls count as called.
pub fn score(gold: &Gold, called: &[&str]) -> PathScore {
    let gold_calls = gold.counts();
    let made = counted(called.iter().map(|tool| (*tool, 1)));
    let both = gold_calls.keys().filter(|tool| made.contains_key(*tool)).count();
    let of_gold = |(tool, n): (&&str, &usize)| made.get(tool).map_or(0, |made| *n.min(made));
    let both_calls: usize = gold_calls.iter().map(of_gold).sum();
    PathScore {
        path: share(both, gold_calls.len()),
        prec: share(both, made.len()),
        path_calls: share(both_calls, gold_calls.values().fold(0, |sum, n| sum.saturating_add(*n))),
        prec_calls: share(both_calls, called.len()),
        in_order: match gold {
            Gold::Path(path) => Some(is_subsequence(path, called)),
            Gold::Counts(_) => None,
        },
    }
}

/// The score of a task with a reference chain, by the calls of its last program; without a program, by all its calls.
/// A tool that does the same step as the usual one counts as the usual one.
pub fn of_task(state: &State, task: &TaskState) -> Option<PathScore> {
    let chain = &task.task.chain;
    let usual = |tools: &[ToolName]| tools.first().map(ToolName::to_string);
    let path: Vec<String> = chain.iter().filter_map(|step| usual(&step.tools)).collect();
    if path.is_empty() {
        return None;
    }
    let last = task.programs.iter().rev().find(|program| !program.calls.is_empty());
    let calls = match last {
        Some(program) => &program.calls,
        None => &task.tool_calls,
    };
    let calls = calls.iter().filter_map(|call| state.tool_call(*call));
    let calls = calls.filter(|call| !state.reads_on(&call.tool));
    let called = calls.map(|call| {
        let step = chain.iter().find(|step| step.tools.contains(&call.tool));
        step.and_then(|step| step.tools.first()).unwrap_or(&call.tool).as_str()
    });
    Some(score(&Gold::Path(path), &called.collect::<Vec<_>>()))
}

impl PathSums {
    /// Adds a task. A task without a call or a program has shares of 0 and stays in the mean.
    pub fn add(&mut self, score: &PathScore) {
        let PathScore { path, prec, path_calls, prec_calls, in_order } = *score;
        self.tasks += 1;
        for (sum, share) in self.shares.iter_mut().zip([path, prec, path_calls, prec_calls]) {
            *sum += share;
        }
        self.ordered += usize::from(in_order.is_some());
        self.in_order += usize::from(in_order == Some(true));
    }

    /// `None` without a task.
    pub fn mean(&self) -> Option<PathMean> {
        let [path, prec, path_calls, prec_calls] = self.shares.map(|sum| sum / self.tasks as f64);
        let in_order = (self.ordered > 0).then(|| share(self.in_order, self.ordered));
        (self.tasks > 0).then_some(PathMean { path, prec, path_calls, prec_calls, in_order })
    }
}

/// A tool without calls is left out.
fn counted<'t>(calls: impl Iterator<Item = (&'t str, usize)>) -> BTreeMap<&'t str, usize> {
    let mut counts = BTreeMap::new();
    for (tool, n) in calls.filter(|(_, n)| *n > 0) {
        let count: &mut usize = counts.entry(tool).or_default();
        *count = count.saturating_add(n);
    }
    counts
}

fn share(part: usize, all: usize) -> f64 {
    if all == 0 { 0.0 } else { part as f64 / all as f64 }
}

fn is_subsequence(path: &[String], called: &[&str]) -> bool {
    let mut called = called.iter();
    path.iter().all(|tool| called.any(|made| made == tool))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names(text: &str) -> Vec<String> {
        text.chars().map(String::from).collect()
    }

    #[test]
    fn the_mean_keeps_tasks_without_calls_and_orders_that_are_known() {
        assert_eq!(PathSums::default().mean(), None);
        let made = score(&Gold::Path(names("ab")), &["a", "b"]);
        let none = score(&Gold::Counts(vec![("a".to_owned(), 2)]), &[]);
        let mut sums = PathSums::default();
        [made, none].iter().for_each(|score| sums.add(score));
        let mean = sums.mean().unwrap();
        assert_eq!((mean.path, mean.prec, mean.in_order), (0.5, 0.5, Some(1.0)));
        let empty = score(&Gold::Path(vec![]), &[]);
        assert_eq!((empty.path, empty.prec, empty.in_order), (0.0, 0.0, Some(true)));
    }

    proptest! {
        #[test]
        fn shares_are_from_0_to_1_and_all_of_them_are_1_for_the_gold_path(
            gold in "[a-d]{1,6}", called in "[a-d]{0,8}",
        ) {
            let (gold, called) = (names(&gold), names(&called));
            let calls: Vec<&str> = called.iter().map(String::as_str).collect();
            let some = score(&Gold::Path(gold.clone()), &calls);
            for share in [some.path, some.prec, some.path_calls, some.prec_calls] {
                prop_assert!((0.0..=1.0).contains(&share));
            }
            prop_assert!(some.in_order != Some(true) || some.path_calls == 1.0);
            let own: Vec<&str> = gold.iter().map(String::as_str).collect();
            let own = score(&Gold::Path(gold.clone()), &own);
            let one = PathScore {
                path: 1.0, prec: 1.0, path_calls: 1.0, prec_calls: 1.0, in_order: Some(true),
            };
            prop_assert_eq!(own, one);
        }
    }
}
