//! Problems of calls: the exceptions at which a breakpoint holds.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::words;

/// Kind of problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[derive(Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Trouble {
    /// A tool ran and failed.
    ToolError,
    /// A model call failed.
    ModelError,
    /// A tool or a model did not answer in time.
    Timeout,
    /// An endpoint refused the call because there were too many.
    RateLimit,
    /// The arguments of a tool call do not fit its schema.
    Schema,
    /// A call was not made: its tool is not offered, or its reply makes too many calls.
    Refused,
    /// The budget did not pay for a call.
    Budget,
    /// A model's answer ended too early.
    CutAnswer,
    /// A model's answer could not be read: a plan, or an evaluation.
    Unparsable,
    /// A program failed, or could not run.
    ProgramError,
    /// A program ran, but its calls returned nothing except errors, empty results and null.
    Doubtful,
    /// The same tool is called with the same arguments for the third time in a task.
    Loop,
    /// A fault caused the outcome.
    Injected,
    /// A request begins differently from the one before it, so that a prompt cache does not help.
    CacheBreak,
    /// A watched agent dropped messages of its past.
    Rewritten,
    /// An endpoint left out part of a request, as its token count shows.
    DroppedInput,
    /// A watched agent never sent the result of a tool call.
    NoResult,
    /// A tool's result does not match its learned schema.
    Drift,
    /// A model failed that had not failed before.
    FirstFailure,
}

impl Trouble {
    pub fn all() -> impl Iterator<Item = Trouble> + Clone {
        Self::VARIANTS.iter().copied()
    }

    pub fn name(self) -> &'static str {
        self.into()
    }

    /// # Errors
    /// No problem has this name; the error lists the names.
    pub fn named(name: &str) -> Result<Self, String> {
        name.parse().map_err(|_| {
            format!(
                "there is no error {name}; {}",
                words::expected(name, Self::all().map(Self::name))
            )
        })
    }

    /// Whether the problem is a failure; the other problems are only worth a look.
    pub fn is_failure(self) -> bool {
        match self {
            Trouble::ToolError
            | Trouble::ModelError
            | Trouble::Timeout
            | Trouble::RateLimit
            | Trouble::Schema
            | Trouble::Refused
            | Trouble::Budget
            | Trouble::CutAnswer
            | Trouble::Unparsable
            | Trouble::ProgramError => true,
            Trouble::Doubtful
            | Trouble::Loop
            | Trouble::Injected
            | Trouble::CacheBreak
            | Trouble::Rewritten
            | Trouble::DroppedInput
            | Trouble::NoResult
            | Trouble::Drift
            | Trouble::FirstFailure => false,
        }
    }
}
