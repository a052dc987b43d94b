//! Errors of a session that cannot start.

use std::error::Error;
use std::fmt::{self, Display};
use std::io;
use std::sync::Arc;

use super::ForkEdit;
use crate::domain::{FaultSpec, Knob, ModelError, Role};
use crate::files::toml_file::{Problem, Problems};
use crate::store::{experience::ExperienceError, journal::JournalError};

/// Why a session cannot start, or ended early.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SessionError {
    /// A field of the spec does not fit the rest, the configuration or the workspace.
    #[error("{field}: {why}")]
    Spec { field: SpecField, why: String },
    /// The configuration, the workspace or another file is wrong.
    #[error(transparent)]
    Input(ErrorCause),
    /// A failure at run time.
    #[error(transparent)]
    Failed(ErrorCause),
    /// Without a result from elsewhere, which says nothing about other sessions.
    #[error("{0}")]
    Without(String),
}

/// The typed error behind a [`SessionError`], shared since errors are cloned for several readers.
#[derive(Clone)]
pub struct ErrorCause(Arc<dyn Error + Send + Sync>);

impl ErrorCause {
    /// The kind of thing at fault, for programs; `None`: only the text says it.
    pub fn about(&self) -> Option<&'static str> {
        let error = &*self.0;
        if error.is::<JournalError>() {
            Some("journal")
        } else if error.is::<Problems>() || error.is::<Problem>() {
            Some("file")
        } else if error.is::<ExperienceError>() {
            Some("past_uses")
        } else if error.is::<ModelError>() {
            Some("model")
        } else if error.is::<io::Error>() {
            Some("system")
        } else {
            None
        }
    }
}

impl Display for ErrorCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for ErrorCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.0, f)
    }
}

impl Error for ErrorCause {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}

/// Causes are equal if their texts are.
impl PartialEq for ErrorCause {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
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
    ForkAt(u64),
    Set(Box<ForkEdit>),
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
            SpecField::ForkAt(at) => write!(f, "fork_at: {at}"),
            SpecField::Set(edit) => write!(f, "set: {edit}"),
        }
    }
}

impl SessionError {
    pub(crate) fn input(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        SessionError::Input(ErrorCause(error.into().into()))
    }

    pub(crate) fn failed(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        SessionError::Failed(ErrorCause(error.into().into()))
    }

    /// The kind of thing at fault, for programs; `None`: only the text says it.
    pub fn about(&self) -> Option<&'static str> {
        match self {
            SessionError::Spec { .. } => Some("spec"),
            SessionError::Input(cause) | SessionError::Failed(cause) => cause.about(),
            SessionError::Without(_) => None,
        }
    }

    /// A function for `map_err`.
    pub(super) fn of(field: SpecField) -> impl FnOnce(String) -> Self {
        move |why| SessionError::Spec { field, why }
    }
}
