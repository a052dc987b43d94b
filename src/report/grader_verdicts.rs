//! Verdicts of a grader on the answers, and how far they agree with the measures that compare words.

use serde::Serialize;

use super::{budget::Mean, quality::exact_match, task::TaskReport};
use crate::papers::metrics;

/// Measures over the tasks with a grader's verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Graded {
    /// Tasks with a verdict.
    pub tasks: usize,
    /// Tasks for which the grader was asked and gave no verdict.
    pub without_verdict: usize,
    /// Tasks whose answer the grader calls right, and their share.
    pub right: usize,
    pub share: f64,
    /// The share of verdicts that are the same as the lexical one
    /// (see [`crate::papers::grading::is_correct`]), and as exact match.
    pub agrees_with_lexical: f64,
    pub agrees_with_exact_match: f64,
    /// Average token F1 of the answers that the grader calls right, and of those that it calls wrong.
    pub f1_of_right: Option<f64>,
    pub f1_of_wrong: Option<f64>,
    /// Tokens and dollars of grading; no other measure includes them.
    pub tokens_in: u64,
    pub tokens_out: u64,
    /// `None` if a price is unknown.
    pub dollars: Option<f64>,
}

/// The sums behind [`Graded`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GradedSums {
    asked: usize,
    right: Mean,
    agrees_with_lexical: Mean,
    agrees_with_exact_match: Mean,
    f1_of_right: Mean,
    f1_of_wrong: Mean,
    verdicts: usize,
    verdicts_right: usize,
    tokens_in: u64,
    tokens_out: u64,
    dollars: f64,
    is_unpriced: bool,
}

impl GradedSums {
    /// Adds a task if its answer was graded.
    pub fn add(&mut self, task: &TaskReport) {
        let Some(grading) = &task.grading else { return };
        self.asked += 1;
        self.tokens_in = self.tokens_in.saturating_add(grading.tokens_in);
        self.tokens_out = self.tokens_out.saturating_add(grading.tokens_out);
        self.dollars += grading.dollars;
        self.is_unpriced |= grading.unpriced > 0;
        let Some(right) = grading.right else { return };
        self.verdicts += 1;
        self.verdicts_right += usize::from(right);
        self.right.count(right);
        self.agrees_with_lexical.count((task.correct == Some(true)) == right);
        let exact = task.against_golds(&exact_match) == Some(1.0);
        self.agrees_with_exact_match.count(exact == right);
        let f1 = task.against_golds(&metrics::token_f1).unwrap_or(0.0);
        if right { &mut self.f1_of_right } else { &mut self.f1_of_wrong }.add(f1);
    }

    /// `None` if no answer was graded.
    pub fn graded(&self) -> Option<Graded> {
        (self.asked > 0).then(|| Graded {
            tasks: self.verdicts,
            without_verdict: self.asked - self.verdicts,
            right: self.verdicts_right,
            share: self.right.or_zero(),
            agrees_with_lexical: self.agrees_with_lexical.or_zero(),
            agrees_with_exact_match: self.agrees_with_exact_match.or_zero(),
            f1_of_right: self.f1_of_right.value(),
            f1_of_wrong: self.f1_of_wrong.value(),
            tokens_in: self.tokens_in,
            tokens_out: self.tokens_out,
            dollars: (!self.is_unpriced).then_some(self.dollars),
        })
    }
}
