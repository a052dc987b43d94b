//! Errors that end the program early, with their exit codes.

use serde_json::json;

/// An error for the person or script that started the program.
#[derive(Debug)]
pub enum Trouble {
    /// The command line, the configuration or an input file is wrong: exit code 2.
    Usage(String),
    /// A failure at run time: exit code 1.
    Failed(String),
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
            Trouble::Usage(_) => 2,
            Trouble::Failed(_) => 1,
        }
    }

    /// The text for people.
    pub fn text(&self) -> &str {
        match self {
            Trouble::Usage(text) | Trouble::Failed(text) => text,
        }
    }

    /// Formats the error as one line of JSON, for scripts.
    pub fn to_json(&self) -> String {
        let kind = match self {
            Trouble::Usage(_) => "usage",
            Trouble::Failed(_) => "failed",
        };
        json!({"error": {"kind": kind, "text": self.text(), "exit_code": self.exit_code()}})
            .to_string()
    }
}
