//! Language models. The engine asks a [`Model`] and nothing else; adapters translate to an
//! endpoint's wire format and back.

mod ids;
pub mod openai;
pub mod secret;
pub mod simulated;
pub mod text;

use std::{sync::Arc, time::Duration};

use futures::{FutureExt, future, future::LocalBoxFuture};

pub use crate::domain::error::{ModelError, ModelErrorKind};
use crate::domain::{
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
    /// Try number `attempt`, from 1, failed in a way that is worth another; the next one starts after
    /// `wait`. Nothing of the failed try's text was reported before, though thinking may have been.
    Retrying { attempt: u32, wait: Duration, why: String },
}

/// A model that can be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    /// Whether it is certain that the model is there.
    pub is_sure: bool,
    /// For a person.
    pub text: String,
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

    /// Whether it could be asked now, which costs no tokens. What is said here holds for a model that is
    /// part of the program.
    fn reachable(&self) -> LocalBoxFuture<'_, Result<Reached, ModelError>> {
        let text = "part of the program: there is nothing to reach".to_owned();
        future::ready(Ok(Reached { is_sure: true, text })).boxed_local()
    }
}
