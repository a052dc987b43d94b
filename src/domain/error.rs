//! Why calls of tools and models fail, as data.

use serde::{Deserialize, Serialize};

/// Why a call failed; the agent reads `text`.
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
    /// The tool did not answer within its time limit.
    Timeout,
    /// The tool could not be started or reached, or does not exist.
    Unavailable,
    /// The tool ran and reported a failure.
    Failed,
    /// No result is recorded for these arguments.
    NotRecorded,
    /// The call took longer than the budget pays for.
    OverBudget,
    /// The call was cancelled while it ran.
    Cancelled,
}

impl ToolError {
    pub fn new(kind: ToolErrorKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }
}

/// Kinds of failure of a model request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelErrorKind {
    /// No connection, or it broke.
    Connection,
    /// Silence for longer than allowed.
    Timeout,
    RateLimited,
    /// The key is missing or refused.
    Auth,
    /// The account of the key has no quota or credit left.
    Quota,
    /// The prompt is longer than the model takes.
    ContextOverflow,
    /// The endpoint failed (5xx, or an error inside a stream).
    Endpoint,
    /// The endpoint refused the request (other 4xx).
    Refused,
    /// A content filter of the endpoint refused this request, or ended its answer.
    Filtered,
    /// The answer ended early or makes no sense.
    BadAnswer,
    /// The call took longer, or its answer became longer, than the limit of its model.
    TooLong,
    /// The rest of the budget does not pay for the call: it was not sent, or took too long.
    OverBudget,
    /// The call was cancelled while it ran.
    Cancelled,
}

/// Why a request failed; `text` is for people and holds no secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{text}")]
pub struct ModelError {
    pub kind: ModelErrorKind,
    pub text: String,
    /// The part of an answer that had already arrived.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub partial: String,
    /// Form in which a watched agent sees the failure; `None`: the usual form of this kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<WireFailure>,
}

/// A failure as it looks on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WireFailure {
    /// An HTTP status. The client is asked to wait for `retry_after` seconds, if set.
    Status {
        status: u16,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after: Option<u32>,
    },
    /// The connection is reset, after the part that had arrived.
    Reset,
    /// The stream ends after the part that had arrived.
    Cut,
    /// The stream reports the failure after the part that had arrived.
    Event,
}

impl ModelErrorKind {
    /// The error that an unsuccessful HTTP status means by itself.
    pub fn of_status(status: u16) -> Self {
        match status {
            401 | 403 => ModelErrorKind::Auth,
            402 => ModelErrorKind::Quota,
            408 => ModelErrorKind::Timeout,
            429 => ModelErrorKind::RateLimited,
            409 | 425 | 499.. => ModelErrorKind::Endpoint,
            _ => ModelErrorKind::Refused,
        }
    }
}

impl ModelError {
    pub fn new(kind: ModelErrorKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into(), partial: String::new(), shown: None }
    }

    /// The same failure, which looks like this on the wire.
    pub fn shown(self, shown: WireFailure) -> Self {
        Self { shown: Some(shown), ..self }
    }
}
