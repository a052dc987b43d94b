//! Verdict of a grader on an answer, and its cost. The cost is kept apart from the agent's own, so that measuring an
//! agent does not change its measures.

use serde::{Deserialize, Serialize};

use crate::chat::Usage;
use crate::finite::Finite;

/// The grading of one task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Grading {
    /// Whether the answer is right; `None` while there is no verdict, and if the grader gave none.
    pub right: Option<bool>,
    /// The grader's reason, or why there is no verdict.
    pub why: String,
    pub tokens_in: u64,
    pub tokens_out: u64,
    /// US dollars of the calls with a known price.
    pub dollars: Finite,
    /// Calls without a known price; if above 0, `dollars` is a lower bound.
    pub unpriced: u32,
}

impl Grading {
    /// Counts a call.
    pub(super) fn count(&mut self, usage: Usage, dollars: Option<Finite>) {
        self.tokens_in = self.tokens_in.saturating_add(usage.tokens_in);
        self.tokens_out = self.tokens_out.saturating_add(usage.tokens_out);
        self.dollars += dollars.unwrap_or_default();
        self.unpriced += u32::from(dollars.is_none());
    }
}
