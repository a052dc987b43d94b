//! Why a session cannot start.

use std::fmt::{self, Display};

use crate::domain::{FaultSpec, Knob, Role};

/// Why a session cannot start, or ended early.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SessionError {
    /// A field of the spec does not fit the rest, the configuration or the workspace.
    #[error("{field}: {why}")]
    Spec { field: SpecField, why: String },
    /// The configuration, the workspace or another file is wrong.
    #[error("{0}")]
    Input(String),
    /// A failure at run time.
    #[error("{0}")]
    Failed(String),
}

/// A field of a spec that can only be checked together with other input.
#[derive(Clone, Debug, PartialEq)]
pub enum SpecField {
    Model,
    Role(Role),
    Knob(Knob),
    Fault(Box<FaultSpec>),
    MaxDollars,
    ToolsTotal,
}

impl Display for SpecField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpecField::Model => write!(f, "model"),
            SpecField::Role(role) => write!(f, "roles.{role}"),
            SpecField::Knob(knob) => write!(f, "knobs.{knob}"),
            SpecField::Fault(fault) => write!(f, "faults: {fault}"),
            SpecField::MaxDollars => write!(f, "max_dollars"),
            SpecField::ToolsTotal => write!(f, "tools_total"),
        }
    }
}

impl SessionError {
    pub(super) fn input(error: impl Display) -> Self {
        SessionError::Input(error.to_string())
    }

    pub(super) fn failed(error: impl Display) -> Self {
        SessionError::Failed(error.to_string())
    }

    /// For `map_err`.
    pub(super) fn of(field: SpecField) -> impl FnOnce(String) -> Self {
        move |why| SessionError::Spec { field, why }
    }
}
