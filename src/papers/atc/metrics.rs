//! How well the tools that a program called agree with a gold path: ATC's Path and Prec.
//!
//! ```text
//! Path = |set G ∩ set P| / |set G|        Prec = |set G ∩ set P| / |set P|
//! ```
//!
//! G are the tools of the gold path, P those that the last program of a task called. The paper has no code for these
//! measures; sets fit its words. AutoTools' gold has counts, so the same shares over calls are here too.

use std::collections::BTreeMap;

use serde::Serialize;

/// The tools that a task needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gold {
    /// The calls in their order.
    Path(Vec<String>),
    /// How often each tool is called; the order is not known.
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

/// The mean over tasks, in percent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PathMean {
    pub path: f64,
    pub prec: f64,
    pub path_calls: f64,
    pub prec_calls: f64,
    /// Over the tasks whose gold has an order; `None` without any.
    pub in_order: Option<f64>,
}

impl Gold {
    /// How often each tool is called.
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

/// The mean over all tasks; `None` without any. A task without a call or a program has shares of 0 and stays in the
/// mean.
pub fn mean(scores: &[PathScore]) -> Option<PathMean> {
    let percent = |of: fn(&PathScore) -> f64| {
        100.0 * scores.iter().map(of).sum::<f64>() / scores.len() as f64
    };
    let orders: Vec<bool> = scores.iter().filter_map(|score| score.in_order).collect();
    let right = orders.iter().filter(|right| **right).count();
    (!scores.is_empty()).then(|| PathMean {
        path: percent(|score| score.path),
        prec: percent(|score| score.prec),
        path_calls: percent(|score| score.path_calls),
        prec_calls: percent(|score| score.prec_calls),
        in_order: (!orders.is_empty()).then(|| 100.0 * share(right, orders.len())),
    })
}

/// A tool of no calls is left out.
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
        assert_eq!(mean(&[]), None);
        let made = score(&Gold::Path(names("ab")), &["a", "b"]);
        let none = score(&Gold::Counts(vec![("a".to_owned(), 2)]), &[]);
        let mean = mean(&[made, none]).unwrap();
        assert_eq!((mean.path, mean.prec, mean.in_order), (50.0, 50.0, Some(100.0)));
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
