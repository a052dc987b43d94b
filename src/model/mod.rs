//! Language models. The engine asks a [`Model`] and nothing else; adapters translate to an
//! endpoint's wire format and back.

use std::{sync::Arc, time::Duration};

use futures::future::LocalBoxFuture;
use serde::{Deserialize, Serialize};

use crate::{
    chat::{Reply, Request},
    spec::ModelSpec,
};

/// What a model reports while it works on a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress {
    /// More of the answer's text.
    Text(String),
    /// More of the thinking that is shown apart.
    Reasoning(String),
    /// A try failed in a way that is worth another; the next one starts after `wait`.
    Retrying { attempt: u32, wait: Duration, why: String },
}

/// Kinds of failure, for filters, faults and statistics.
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
    /// The prompt is longer than the model takes.
    ContextOverflow,
    /// The endpoint failed (5xx, or an error inside a stream).
    Endpoint,
    /// The endpoint refused the request (other 4xx).
    Refused,
    /// The answer ended early or makes no sense.
    BadAnswer,
}

/// Why a request failed; `text` is for people and holds no secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{text}")]
pub struct ModelError {
    pub kind: ModelErrorKind,
    pub text: String,
    /// The part of an answer that had already come.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub partial: String,
}

impl ModelError {
    pub fn new(kind: ModelErrorKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into(), partial: String::new() }
    }
}

/// One model that can be asked.
///
/// Dropping the future cancels the request for real: its connection closes.
pub trait Model {
    fn spec(&self) -> &Arc<ModelSpec>;

    fn ask<'a>(
        &'a self,
        request: &'a Request,
        progress: &'a mut dyn FnMut(Progress),
    ) -> LocalBoxFuture<'a, Result<Reply, ModelError>>;
}
