//! Tools for models without native tool calls: ReAct in plain text (Yao et al. 2023).
//!
//! [`to_text`] writes the menu, the format and the past calls into the messages; [`from_text`]
//! parses the answer. Both are pure and outside the HTTP adapter, so that a journal contains
//! exactly the text that the model saw.

mod action;
mod label;
mod prompt;
mod schema;

pub use action::from_text;
pub use prompt::to_text;
