//! Errors that end the program early, with their exit codes.

use serde_json::json;

use crate::session::SessionError;
use crate::store::database::DatabaseFault;
use crate::store::experience::ExperienceError;

/// An error for the person or script that started the program.
#[derive(Debug)]
pub enum Trouble {
    /// The command line, the configuration or an input file is wrong: exit code 2.
    Usage(String),
    /// A failure at run time: exit code 1.
    Failed(String),
    /// A session cannot start, or ended early; `text` names options of the command line.
    Session { error: SessionError, text: String },
}

impl Trouble {
    pub fn usage(error: impl std::fmt::Display) -> Self {
        Trouble::Usage(error.to_string())
    }

    pub fn failed(error: impl std::fmt::Display) -> Self {
        Trouble::Failed(error.to_string())
    }

    pub fn exit_code(&self) -> u8 {
        match self {
            Trouble::Failed(_)
            | Trouble::Session {
                error: SessionError::Failed(_) | SessionError::Without(_), ..
            } => 1,
            Trouble::Usage(_) | Trouble::Session { .. } => 2,
        }
    }

    /// The text for people.
    pub fn text(&self) -> &str {
        match self {
            Trouble::Usage(text) | Trouble::Failed(text) | Trouble::Session { text, .. } => text,
        }
    }

    /// Formats the error as one line of JSON, for scripts.
    pub fn to_json(&self) -> String {
        let kind = if self.exit_code() == 2 { "usage" } else { "failed" };
        let about = match self {
            Trouble::Session { error, .. } => error.about(),
            Trouble::Usage(_) | Trouble::Failed(_) => None,
        };
        let mut error = json!({"kind": kind, "text": self.text(), "exit_code": self.exit_code()});
        if let Some(about) = about {
            error["about"] = about.into();
        }
        json!({ "error": error }).to_string()
    }
}

/// Faults in a file or a line are usage errors; the rest are failures.
impl From<ExperienceError> for Trouble {
    fn from(error: ExperienceError) -> Self {
        let is_usage = match &error {
            ExperienceError::Database(error) => !matches!(
                error.fault,
                DatabaseFault::Damaged(_) | DatabaseFault::Busy | DatabaseFault::Failed(_)
            ),
            ExperienceError::Missing { .. }
            | ExperienceError::Io { .. }
            | ExperienceError::BadUse { .. }
            | ExperienceError::Line(_) => true,
            ExperienceError::Write(_) | ExperienceError::Partly { .. } => false,
        };
        if is_usage { Trouble::usage(error) } else { Trouble::failed(error) }
    }
}
