//! Why a plan gives a candidate its uses.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Candidate, Estimate, UsePlan};

/// Why a plan gives a candidate its uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The candidate has all uses that its limit allows.
    InFull,
    /// The candidate has uses above its limit, since credits are left beyond all limits.
    Beyond,
    /// The limit is one trial use, because the tool was never used.
    NoExperience,
    /// Other tools are worth more per credit than one more use of this one.
    InPart,
    /// Another use would exceed the budget.
    FillsBudget,
    /// Other tools are worth more per credit than any use of this one.
    CrowdedOut,
    /// A single use costs more than the budget.
    TooDear,
    /// The tool has a cost but no value.
    Worthless,
    /// The limit is 0.
    NotAllowed,
    /// The limit is 0 because the expected value is below tau.
    BelowTau,
}

impl Why {
    /// The same reason, refined by the origin of value and limit.
    #[must_use]
    pub fn by_estimate(self, estimate: &Estimate) -> Self {
        match self {
            Why::NotAllowed => Why::BelowTau,
            Why::InFull if estimate.experience == 0 => Why::NoExperience,
            Why::InFull
            | Why::Beyond
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
            Why::InFull => "at its limit",
            Why::Beyond => "above its limit, since credits are left",
            Why::NoExperience => "no experience: one trial use",
            Why::InPart => "in part: better value elsewhere",
            Why::FillsBudget => "in part: one more use would exceed the budget",
            Why::CrowdedOut => "better value elsewhere",
            Why::TooDear => "too expensive: one use costs more than the budget",
            Why::Worthless => "worthless: its value is 0",
            Why::NotAllowed => "not allowed: its limit is 0",
            Why::BelowTau => "below tau: its expected value is too low",
        })
    }
}

/// Why the [`plan`](super::plan()) of this budget gives each candidate its uses, in the order of
/// the candidates.
pub fn why(candidates: &[Candidate], budget: f64, plan: &UsePlan) -> Vec<Why> {
    let each = candidates.iter().zip(&plan.uses);
    each.map(|(one, &uses)| of_one(one, budget, uses)).collect()
}

fn of_one(one: &Candidate, budget: f64, uses: u32) -> Why {
    let is_too_much = |uses: f64| one.cost * uses > budget;
    match uses {
        _ if uses > one.limit => Why::Beyond,
        _ if one.limit == 0 => Why::NotAllowed,
        _ if uses == one.limit => Why::InFull,
        0 if one.value == 0.0 => Why::Worthless,
        0 if is_too_much(1.0) => Why::TooDear,
        0 => Why::CrowdedOut,
        _ if is_too_much(f64::from(uses) + 1.0) => Why::FillsBudget,
        _ => Why::InPart,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_said_in_words() {
        assert_eq!(Why::TooDear.to_string(), "too expensive: one use costs more than the budget");
        assert_eq!(format!("{:>16}", Why::InFull), "    at its limit");
    }

    #[test]
    fn only_what_nobody_used_has_no_experience() {
        let estimate = |experience| Estimate { value: 1.0, limit: 1, experience };
        assert_eq!(Why::InFull.by_estimate(&estimate(0)), Why::NoExperience);
        assert_eq!(Why::InFull.by_estimate(&estimate(3)), Why::InFull);
        assert_eq!(Why::NotAllowed.by_estimate(&estimate(3)), Why::BelowTau);
    }
}
