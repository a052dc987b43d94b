//! Changes of a combination besides its strategy and its knobs.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::domain::{FaultSpec, Knob, Task};

/// A group of settings of a combination, which its name gives by one word.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Setting {
    /// Empty: no group.
    pub name: &'static str,
    /// The number of tools that come with each task.
    pub task_tools: Option<usize>,
    pub knobs: &'static [(Knob, f64)],
}

impl Setting {
    pub(super) fn is_none(&self) -> bool {
        self.name.is_empty()
    }

    /// The suffix that marks this setting in the name of a strategy.
    pub fn mark(self) -> String {
        if self.is_none() { String::new() } else { format!(" {}", self.name) }
    }
}

impl Serialize for Setting {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name)
    }
}

/// Changes of a combination besides strategy, models and knobs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trial {
    /// Number of tools to which the workspace is filled up.
    pub tools: Option<usize>,
    pub fault: Option<FaultSpec>,
    /// Number of tasks, instead of that of the comparison.
    pub tasks: Option<usize>,
    /// Tasks instead of those of the comparison; empty: those.
    pub own_tasks: Vec<Task>,
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
