//! Where a breakpoint holds.

use serde::{Deserialize, Serialize};

use super::{Trouble, When};
use crate::expression::{Expression, Scope};
use crate::finite::Finite;
use crate::id::ToolName;
use crate::program::LineStop;
use crate::target::{Aim, Target};

/// Where a breakpoint holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BreakpointPlace {
    /// Before a task begins.
    Task,
    /// When a step of the agent begins, or a task.
    Step,
    /// When a planner has written a plan, or a budget was planned.
    Plan,
    /// After a task was evaluated.
    Evaluation,
    /// When this problem occurs; `None`: when anything fails.
    Trouble(Option<Trouble>),
    /// When a value changes or becomes true.
    Value {
        of: Expression,
        /// Only when it passes this number.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        crosses: Option<Finite>,
    },
    /// Before a statement that begins in this line of a program.
    Line(u32),
    /// After a program has set this variable.
    Variable(String),
    /// Before a statement in a frame of at most this depth (1: the module), or at the end of the program.
    Frame(usize),
    /// Before or after these calls. The last variant, since its text form is the target alone.
    #[serde(untagged)]
    Call(Target),
}

/// A call, before or after it.
#[derive(Clone, Copy, Debug)]
pub struct At<'a> {
    pub when: When,
    pub aim: Aim<'a>,
    /// Problems of the call that are known.
    pub troubles: &'a [Trouble],
}

impl BreakpointPlace {
    pub fn tool(name: ToolName) -> Self {
        BreakpointPlace::Call(Target::Tool(name))
    }

    /// Whether the place is this call, on either side.
    pub(crate) fn is_at(&self, at: &At<'_>) -> bool {
        match self {
            BreakpointPlace::Call(target) => target.matches(&at.aim),
            BreakpointPlace::Trouble(None) => {
                at.troubles.iter().any(|trouble| trouble.is_failure())
            }
            BreakpointPlace::Trouble(Some(wanted)) => at.troubles.contains(wanted),
            _ => false,
        }
    }

    /// The fields that a condition can use here.
    pub fn scope(&self) -> Scope {
        match self {
            BreakpointPlace::Call(_) => Scope::Call,
            // A breakpoint on these problems is not at a call.
            BreakpointPlace::Trouble(Some(
                Trouble::Unparsable
                | Trouble::CacheBreak
                | Trouble::ProgramError
                | Trouble::Doubtful
                | Trouble::Drift,
            )) => Scope::Session,
            BreakpointPlace::Trouble(_) => Scope::Call,
            _ => Scope::Session,
        }
    }

    /// Whether the place can be before and after something.
    pub fn has_sides(&self) -> bool {
        matches!(self, BreakpointPlace::Call(_))
    }

    /// Whether the place is within a program, whose variables conditions can use.
    pub fn is_in_program(&self) -> bool {
        matches!(
            self,
            BreakpointPlace::Line(_) | BreakpointPlace::Variable(_) | BreakpointPlace::Frame(_)
        )
    }

    /// Whether a program has to stop there.
    pub fn is_at_line(&self, at: &LineStop) -> bool {
        match self {
            BreakpointPlace::Line(line) => *line == at.line,
            BreakpointPlace::Variable(name) => at.set.iter().any(|set| set.name == *name),
            BreakpointPlace::Frame(depth) => at.frames.len() <= *depth,
            _ => false,
        }
    }
}
