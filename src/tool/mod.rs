//! Tools and where they come from. The engine calls a [`Tool`] and nothing else; it does not know
//! whether a built-in function, a program or a table of recorded answers stands behind it.

use std::sync::Arc;

use futures::future::LocalBoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::spec::ToolSpec;

/// What one call is given.
#[derive(Clone, Debug, PartialEq)]
pub struct Invocation {
    /// The arguments, checked against the tool's schema.
    pub arguments: Value,
    /// All the chance a tool may use: a hash of the session's seed, the tool, the arguments and how
    /// often they were called before. Never a clock, never a shared stream, so that runs repeat.
    pub seed: u64,
}

/// What a call gives back to the agent. Bounded in size by whoever produced it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolOutput {
    pub text: String,
    /// How many bytes the tool gave in all, when `text` is only the beginning of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_from: Option<u64>,
}

/// Why a call failed; `text` is what the agent reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{text}")]
pub struct ToolError {
    pub kind: ToolErrorKind,
    pub text: String,
}

/// Kinds of failure, for filters, faults and statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolErrorKind {
    /// The arguments do not fit the schema; the tool was not run.
    Arguments,
    /// It did not answer within its time.
    Timeout,
    /// It could not be started or reached.
    Unavailable,
    /// It ran and said that it failed.
    Failed,
    /// Nothing is recorded for these arguments.
    NotRecorded,
}

impl ToolError {
    pub fn new(kind: ToolErrorKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }
}

/// One tool that can be called.
///
/// Dropping the future cancels the call for real: a program's whole process group ends.
pub trait Tool {
    fn spec(&self) -> &Arc<ToolSpec>;

    fn call<'a>(
        &'a self,
        invocation: &'a Invocation,
    ) -> LocalBoxFuture<'a, Result<ToolOutput, ToolError>>;
}
