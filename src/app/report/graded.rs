//! What a grader says of the answers, beside the measures that compare words, and how far they agree.

use serde::Serialize;

use super::{budget::mean, task::TaskReport};
use crate::papers::metrics;

/// Over the tasks with a grader's verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Graded {
    /// Tasks with a verdict.
    pub tasks: usize,
    /// Tasks for which the grader was asked and gave no verdict.
    pub without_verdict: usize,
    /// Tasks whose answer it calls right, and their share.
    pub right: usize,
    pub share: f64,
    /// The share of verdicts that are the same as the lexical one
    /// (see [`crate::papers::grading::is_correct`]), and as exact match.
    pub agrees_with_lexical: f64,
    pub agrees_with_exact_match: f64,
    /// Average token F1 of the answers that it calls right, and of those that it calls wrong.
    pub f1_of_right: Option<f64>,
    pub f1_of_wrong: Option<f64>,
    /// What grading cost; no other measure contains it.
    pub tokens_in: u64,
    pub tokens_out: u64,
    /// `None` if a price is unknown.
    pub dollars: Option<f64>,
}

impl Graded {
    /// `None` if no answer was graded.
    pub fn of(tasks: &[&TaskReport]) -> Option<Self> {
        let asked: Vec<_> =
            tasks.iter().filter_map(|task| Some((*task, task.grading.as_ref()?))).collect();
        if asked.is_empty() {
            return None;
        }
        let verdicts: Vec<_> =
            asked.iter().filter_map(|(task, grading)| Some((*task, grading.right?))).collect();
        let share = |holds: &dyn Fn(&TaskReport, bool) -> bool| {
            mean(verdicts.iter().map(|(task, right)| f64::from(u8::from(holds(task, *right)))))
                .unwrap_or(0.0)
        };
        let f1 = |of: bool| {
            let chosen = verdicts.iter().filter(|(_, right)| *right == of);
            mean(chosen.map(|(task, _)| task.against_golds(&metrics::token_f1).unwrap_or(0.0)))
        };
        let dollars: f64 = asked.iter().map(|(_, grading)| grading.dollars).sum();
        let unpriced = asked.iter().any(|(_, grading)| grading.unpriced > 0);
        Some(Self {
            tasks: verdicts.len(),
            without_verdict: asked.len() - verdicts.len(),
            right: verdicts.iter().filter(|(_, right)| *right).count(),
            share: share(&|_, right| right),
            agrees_with_lexical: share(&|task, right| (task.correct == Some(true)) == right),
            agrees_with_exact_match: share(&|task, right| {
                let exact = |given: &str, gold: &str| {
                    f64::from(u8::from(metrics::exact_match(given, gold)))
                };
                (task.against_golds(&exact) == Some(1.0)) == right
            }),
            f1_of_right: f1(true),
            f1_of_wrong: f1(false),
            tokens_in: asked.iter().map(|(_, grading)| grading.tokens_in).sum(),
            tokens_out: asked.iter().map(|(_, grading)| grading.tokens_out).sum(),
            dollars: (!unpriced).then_some(dollars),
        })
    }
}
