//! Which formats there are.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The format of a family of endpoints. Gemini's own has its place beside these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// OpenAI's chat completions, which most endpoints speak.
    #[default]
    Chat,
    /// OpenAI's Responses.
    Responses,
    /// Anthropic's Messages.
    Messages,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Chat => "OpenAI chat",
            Format::Responses => "OpenAI Responses",
            Format::Messages => "Anthropic Messages",
        })
    }
}
