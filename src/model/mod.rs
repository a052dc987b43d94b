//! Language models. The engine asks a [`Model`] and nothing else. A wire, such as [`openai`],
//! translates to the format of its endpoints and back; [`http`] carries it there.

pub mod http;
mod ids;
pub mod openai;
pub mod secret;
pub mod simulated;
pub mod text;

use std::{sync::Arc, time::Duration};

use futures::FutureExt;
use futures::future::{self, LocalBoxFuture};

pub use crate::domain::error::{ModelError, ModelErrorKind};
use crate::domain::{Embedding, ModelSpec, Reply, Request, Usage};

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
pub struct Reachability {
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

    /// The answer to one request. What comes of it, and each retry, is reported on the way.
    ///
    /// # Errors
    /// Why there is no whole answer, after all retries, with the text that had come.
    fn ask<'a>(
        &'a self,
        request: &'a Request,
        progress: &'a mut dyn FnMut(Progress),
    ) -> LocalBoxFuture<'a, Result<Reply, ModelError>>;

    /// Whether it could be asked now, which costs no tokens. What is said here holds for a model that is
    /// part of the program.
    ///
    /// # Errors
    /// Why it cannot be asked.
    fn reachable(&self) -> LocalBoxFuture<'_, Result<Reachability, ModelError>> {
        let text = "part of the program: there is nothing to reach".to_owned();
        future::ready(Ok(Reachability { is_sure: true, text })).boxed_local()
    }

    /// What makes embeddings, if this is an embedding model. [`Model::spec`] has the price of its input.
    fn embedder(&self) -> Option<&dyn Embedder> {
        None
    }

    /// What shows its hidden states, if it runs where they can be seen.
    fn hidden_states(&self) -> Option<&dyn HiddenStates> {
        None
    }
}

/// What an embedding model made of some texts.
#[derive(Clone, Debug, PartialEq)]
pub struct Embeddings {
    /// One for each text, in the order of the texts, all with as many dimensions.
    pub embeddings: Vec<Embedding>,
    /// What all texts together consumed; counted here where the endpoint does not say it.
    pub usage: Usage,
}

/// A model that says what texts mean.
pub trait Embedder {
    /// The embedding model's own name. Embeddings of two names are never compared.
    fn model(&self) -> &str;

    /// The embeddings of these texts. Dropping the future cancels the request.
    ///
    /// # Errors
    /// As [`Model::ask`]; also [`ModelErrorKind::BadAnswer`] if the answer is no list of as many vectors,
    /// finite and of one length, or if one of them has no direction.
    fn embed<'a>(
        &'a self,
        texts: &'a [String],
    ) -> LocalBoxFuture<'a, Result<Embeddings, ModelError>>;
}

/// The hidden states of one text after one layer.
#[derive(Clone, Debug, PartialEq)]
pub struct States {
    /// Where each token ends in the text: byte offsets that only grow, the last one the text's length.
    pub ends: Vec<usize>,
    /// `(ends.len() + 1) × width` numbers, row after row: one row for each token in its order, and a last
    /// one for the model's END token, which is appended to the text. As the model has them: without a
    /// unit, neither centred nor scaled.
    pub rows: Vec<f32>,
}

/// A causal model that shows what it makes of a text, token by token (CoTools, section 3).
pub trait HiddenStates {
    /// Numbers in one row.
    fn width(&self) -> usize;

    /// Number of layers.
    fn layers(&self) -> usize;

    /// The states of these texts, in their order, after layer `layer`, from 1. `None` is the last layer
    /// with the final norm behind it. No token sees those after it, so that a row does not depend on
    /// what follows in its text.
    ///
    /// # Errors
    /// [`ModelErrorKind::Refused`] for a layer that there is not; [`ModelErrorKind::ContextOverflow`] for
    /// a text with more tokens than the model takes.
    fn read<'a>(
        &'a self,
        texts: &'a [String],
        layer: Option<usize>,
    ) -> LocalBoxFuture<'a, Result<Vec<States>, ModelError>>;
}
