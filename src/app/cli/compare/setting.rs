//! Changes of a combination besides its strategy and its knobs.

use std::fmt;

use serde::Serialize;

use crate::domain::{Blacklist, Estimation, FaultSpec, Knob};

/// Number of tools that come with a query in the paper.
const GIVEN: usize = 5;

/// Changes of a combination besides strategy, models and knobs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trial {
    /// Number of tools to which the workspace is filled up.
    pub tools: Option<usize>,
    pub fault: Option<FaultSpec>,
    /// Number of tasks, instead of that of the comparison.
    pub tasks: Option<usize>,
    /// True if the only task is to probe the tools (ATC, section 4.3).
    pub probe: bool,
}

/// The setting of one of BTP's experiments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Setting {
    /// Every tool may be offered, and `+btp` looks for candidates and for tools that are missing.
    #[default]
    Ours,
    /// The same five tools come with each task, for every strategy, as in the paper.
    Given,
    /// As [`Setting::Given`], with `+btp` as published: its estimates, a strict blacklist, no widening.
    Paper,
}

impl Setting {
    pub(super) fn is_ours(&self) -> bool {
        *self == Setting::Ours
    }

    /// The suffix that marks this setting in the name of a strategy.
    pub fn mark(self) -> &'static str {
        match self {
            Setting::Ours => "",
            Setting::Given => " given",
            Setting::Paper => " paper",
        }
    }

    /// The number of tools that come with each task.
    pub(super) fn task_tools(self) -> Option<usize> {
        (self != Setting::Ours).then_some(GIVEN)
    }

    pub(super) fn knobs(self) -> &'static [(Knob, f64)] {
        match self {
            Setting::Ours | Setting::Given => &[],
            Setting::Paper => &[
                (Knob::Estimate, Estimation::Paper as u8 as f64),
                (Knob::Blacklist, Blacklist::Strict as u8 as f64),
                (Knob::Widen, 0.0),
                (Knob::Spread, 0.0),
                (Knob::Sharpness, 1.0),
            ],
        }
    }
}

/// The models bound in a combination; otherwise the configured ones are.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RoleBindings {
    #[default]
    AsConfigured,
    /// Every role by this model.
    By(String),
    /// The planner's model also sorts tools into classes, which is the first step of planning; the
    /// solver's model also answers the questions of a plan.
    Pair { planner: Option<String>, solver: Option<String> },
}

impl RoleBindings {
    pub(super) fn is_as_configured(&self) -> bool {
        *self == RoleBindings::AsConfigured
    }
}

impl fmt::Display for RoleBindings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RoleBindings::AsConfigured => Ok(()),
            RoleBindings::By(model) => write!(f, " model={model}"),
            RoleBindings::Pair { planner, solver } => [("planner", planner), ("solver", solver)]
                .into_iter()
                .filter_map(|(role, model)| Some((role, model.as_ref()?)))
                .try_for_each(|(role, model)| write!(f, " {role}={model}")),
        }
    }
}
