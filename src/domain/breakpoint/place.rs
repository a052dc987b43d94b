//! Where a breakpoint holds.

use serde::{Deserialize, Serialize};

use super::{Trouble, When};
use crate::domain::chat::Role;
use crate::domain::expression::{Expression, Scope};
use crate::domain::fault::{Aim, Target};
use crate::domain::id::{ModelName, ToolName};
use crate::domain::spec::EffectClass;

/// Where a breakpoint holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// Every call.
    Any,
    /// Every tool call.
    Tools,
    /// Every model call.
    Models,
    Embedding,
    Tool(ToolName),
    /// A tool of this class, or of `class / domain`.
    Class(String),
    /// A tool call that follows a certain tool.
    Edge(ToolName, ToolName),
    Role(Role),
    Model(ModelName),
    Effect(EffectClass),
    /// Before a task begins.
    Task,
    /// When a step of the agent begins, or a task.
    Step,
    /// When a planner has written a plan, or a budget was planned.
    Plan,
    /// After a task was evaluated.
    Evaluation,
    /// When something went wrong: this, or anything that failed.
    Trouble(Option<Trouble>),
    /// When a value changes or becomes true.
    Value {
        of: Expression,
        /// Only when it passes this number.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        crosses: Option<f64>,
    },
}

/// A call, before or after it.
#[derive(Clone, Copy, Debug)]
pub struct At<'a> {
    pub when: When,
    pub aim: Aim<'a>,
    /// The tool before a tool call.
    pub from: &'a str,
    pub effect: EffectClass,
    /// What is known to have gone wrong.
    pub troubles: &'a [Trouble],
}

impl Place {
    /// Whether it is this call, on either side.
    pub(in crate::domain) fn is_at(&self, at: &At<'_>) -> bool {
        let Aim { tool, role, model, embedding } = at.aim;
        let aimed = |target: Target| target.matches(&at.aim);
        match self {
            Place::Any => true,
            Place::Tools => tool.is_some(),
            Place::Models => role.is_some(),
            Place::Embedding => embedding,
            Place::Tool(wanted) => tool.is_some_and(|(name, _)| name == wanted),
            Place::Class(class) => tool.is_some() && aimed(Target::Class(class.clone())),
            Place::Edge(from, to) => {
                tool.is_some_and(|(name, _)| name == to) && at.from == from.as_str()
            }
            Place::Role(wanted) => role == Some(*wanted),
            Place::Model(wanted) => model == Some(wanted),
            Place::Effect(wanted) => tool.is_some() && at.effect == *wanted,
            Place::Trouble(None) => at.troubles.iter().any(|trouble| trouble.is_failure()),
            Place::Trouble(Some(wanted)) => at.troubles.contains(wanted),
            Place::Task | Place::Step | Place::Plan | Place::Evaluation | Place::Value { .. } => {
                false
            }
        }
    }

    /// The fields that a condition can use here.
    pub fn scope(&self) -> Scope {
        match self {
            Place::Task | Place::Step | Place::Plan | Place::Evaluation | Place::Value { .. } => {
                Scope::Session
            }
            // These two are no calls.
            Place::Trouble(Some(Trouble::Unparsable | Trouble::CacheBreak)) => Scope::Session,
            _ => Scope::Call,
        }
    }

    /// Whether it has two sides.
    pub fn has_sides(&self) -> bool {
        !matches!(
            self,
            Place::Task
                | Place::Step
                | Place::Plan
                | Place::Evaluation
                | Place::Trouble(_)
                | Place::Value { .. }
        )
    }
}
