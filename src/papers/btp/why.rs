//! Why a plan allows a candidate the uses that it does.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Candidate, Estimate, Plan};

/// Why a candidate has the uses that a plan gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// As often as its limit allows.
    InFull,
    /// As often as its limit allows, which is once because nobody has used it.
    NoExperience,
    /// Other uses of the credits are worth more than one use more of it.
    InPart,
    /// One use more would cost more than the whole budget.
    FillsBudget,
    /// Other uses of the credits are worth more than any use of it.
    CrowdedOut,
    /// One use costs more than the budget.
    TooDear,
    /// It costs something and is worth nothing.
    Worthless,
    /// Its limit is 0.
    NotAllowed,
    /// Its limit is 0 because its expected value is below tau.
    BelowTau,
}

impl Why {
    /// The same, knowing where value and limit come from.
    #[must_use]
    pub fn from_estimate(self, estimate: &Estimate) -> Self {
        match self {
            Why::NotAllowed => Why::BelowTau,
            Why::InFull if estimate.experience == 0 => Why::NoExperience,
            Why::InFull
            | Why::NoExperience
            | Why::InPart
            | Why::FillsBudget
            | Why::CrowdedOut
            | Why::TooDear
            | Why::Worthless
            | Why::BelowTau => self,
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Why::InFull => "in full: as often as its limit allows",
            Why::NoExperience => "no experience: once, to try it",
            Why::InPart => "in part: the credits are worth more elsewhere",
            Why::FillsBudget => "in part: one use more would cost more than the budget",
            Why::CrowdedOut => "crowded out: the credits are worth more elsewhere",
            Why::TooDear => "too dear: one use costs more than the budget",
            Why::Worthless => "worthless: its value is 0",
            Why::NotAllowed => "not allowed: its limit is 0",
            Why::BelowTau => "below tau: its expected value is too low",
        })
    }
}

/// Why each candidate has the uses that the [`plan`](super::plan()) of this budget gives it, in the
/// candidates' order.
pub fn why(candidates: &[Candidate], budget: f64, plan: &Plan) -> Vec<Why> {
    let each = candidates.iter().zip(&plan.uses);
    each.map(|(one, &uses)| of_one(one, budget, uses)).collect()
}

fn of_one(one: &Candidate, budget: f64, uses: u32) -> Why {
    let is_too_much = |uses: f64| one.cost * uses > budget;
    match uses {
        _ if one.limit == 0 => Why::NotAllowed,
        _ if uses == one.limit => Why::InFull,
        0 if one.value == 0.0 => Why::Worthless,
        0 if is_too_much(1.0) => Why::TooDear,
        0 => Why::CrowdedOut,
        _ if is_too_much(f64::from(uses) + 1.0) => Why::FillsBudget,
        _ => Why::InPart,
    }
}
