//! The result of reading a planner's answer, or the reason why it cannot be read. The messages are for people, and
//! models can act on them.

use std::collections::BTreeSet;

use crate::domain::{EvidenceId, Plan, plan};

/// Bytes of the longest text that is accepted. Plans have a few lines.
pub const LONGEST: usize = 131_072;
/// The most plans, and the most calls, of one plan.
pub const MOST: usize = 256;

/// Why a text contains no plan. The text is for people, and models can act on it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    #[error(
        "it contains no plan; write each plan as a line `Plan: what to do`, and each call for it on \
         a line of its own below, as `#E1 = Tool[input]`"
    )]
    NoPlan,
    #[error("it has {bytes} bytes, and {LONGEST} are allowed; write fewer and shorter plans")]
    TooLong { bytes: usize },
    /// `what` is `plans` or `calls`.
    #[error("it has more than {MOST} {what}; write fewer")]
    TooMany { what: &'static str },
    /// `call` is its evidence, or its tool.
    #[error("the bracket of {call} is never closed in {line:?}; write it as `#E1 = Tool[input]`")]
    Unclosed { call: String, line: String },
    /// The end of the answer is missing.
    #[error("it ends within the input {line:?}; write it whole, as `#E1 = Tool[input]`")]
    Cut { line: String },
    #[error("it is not a plan in JSON: {why}")]
    Json { why: String },
    /// Parts of the text could not be read as calls.
    #[error("{}", .0.iter().map(Doubt::to_string).collect::<Vec<_>>().join("\n"))]
    Incomplete(Vec<Doubt>),
}

/// Part of a planner's answer that was not read into the plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Doubt {
    #[error("no tool is called in {line:?}; write it as `#{id} = Tool[input]`")]
    NoCall { id: EvidenceId, line: String },
    #[error("{tool} has no input in {line:?}; write it as `#E1 = {tool}[input]`")]
    NoInput { tool: String, line: String },
    #[error("no tool takes the input in {line:?}; write it as `#E1 = Tool[input]`")]
    NoTool { line: String },
    #[error("no offered tool is called in {line:?}; write it as `#E1 = Tool[input]`")]
    NotOffered { line: String },
    #[error("{line:?} is left out, since its end is missing")]
    Cut { line: String },
    /// `named` is one name or several.
    #[error("it names {named}, but no call finds that; write each call as `#E1 = Tool[input]`")]
    Missing { named: String },
}

/// The result of reading a planner's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanReading {
    pub plan: Plan,
    /// Text that was written and not read; empty for most plans.
    pub doubts: Vec<Doubt>,
}

impl PlanReading {
    /// The plan, if the whole text was read into it.
    ///
    /// # Errors
    /// The parts that were not read.
    pub fn whole(self) -> Result<Plan, Unreadable> {
        if self.doubts.is_empty() {
            Ok(self.plan)
        } else {
            Err(Unreadable::Incomplete(self.doubts))
        }
    }
}

/// The plan with all references in one spelling.
pub(super) fn spelled(mut plan: Plan) -> Plan {
    let mut before = BTreeSet::new();
    let all: BTreeSet<EvidenceId> = plan.evidence().map(|evidence| evidence.id).collect();
    for evidence in plan.steps.iter_mut().flat_map(|step| &mut step.evidence) {
        evidence.input = plan::spelled(&evidence.input, &before, &all);
        before.insert(evidence.id);
    }
    plan
}
