//! Language models. The engine calls only a [`Model`]. [`hosted`] uses the formats of endpoints, which [`wire`]
//! defines; [`http`] transports them.

use toolyard_domain as domain;
use toolyard_files as files;
use toolyard_net as net;
use toolyard_papers as papers;
use toolyard_wire as wire;

mod caller;
pub mod hosted;
pub mod http;
mod listener_news;
pub mod markup;
pub mod relay;

mod interpretation;
pub mod secret;
pub mod text;

use std::{sync::Arc, time::Duration};

use futures::FutureExt;
use futures::future::{self, LocalBoxFuture};

pub use self::interpretation::understood;
pub use crate::domain::error::ModelError;
use crate::domain::sent_body::SentBody;
use crate::domain::wire_answer::WireAnswer;
use crate::domain::{Embedding, ModelSpec, Reply, Request, Usage};

/// Progress that a model reports while it works on a request.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelProgress {
    /// More of the answer's text.
    Text(String),
    /// More of the reasoning that is shown separately.
    Reasoning(String),
    /// Attempt number `attempt`, from 1, failed and is worth a retry, which starts after `wait`. No
    /// answer text of the failed attempt was reported before, though reasoning may have been.
    Retrying { attempt: u32, wait: Duration, why: String },
    /// A notice about the endpoint, for people.
    Noticed(String),
    /// The body of the request, where the model keeps it.
    Sent(SentBody),
    /// The answer as its endpoint wrote it, where the model keeps it.
    Answered(Arc<WireAnswer>),
}

/// The result of a successful probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reachability {
    /// Whether the endpoint confirmed that it has the model.
    pub is_sure: bool,
    /// For people.
    pub text: String,
    pub about: About,
}

/// Facts that an endpoint reports about a model besides its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// The owner of the model, in the endpoint's word, such as `llamacpp` or `vllm`.
    pub owner: Option<String>,
    /// The longest prompt and answer together, in tokens.
    pub window: Option<u64>,
}

/// A model that can be called.
///
/// Dropping the future cancels the request: its connection closes.
pub trait Model {
    fn spec(&self) -> &Arc<ModelSpec>;

    /// Answers one request. The arriving text, and each retry, is reported on the way.
    ///
    /// # Errors
    /// Why there is no complete answer, after all retries, with the text that had arrived.
    fn ask<'a>(
        &'a self,
        request: &'a Request,
        progress: &'a mut dyn FnMut(ModelProgress),
    ) -> LocalBoxFuture<'a, Result<Reply, ModelError>>;

    /// Restores the model's state after it had answered this request in an earlier part of the session. The default
    /// suits a model whose answers depend on nothing but the request.
    fn recall(&self, _request: &Request) {}

    /// Probes whether the model can be called, which costs no tokens. The default suits a model that is part of the
    /// program.
    ///
    /// # Errors
    /// Why it cannot be called.
    fn reachable(&self) -> LocalBoxFuture<'_, Result<Reachability, ModelError>> {
        let text = "part of toolyard: nothing to reach".to_owned();
        future::ready(Ok(Reachability { is_sure: true, text, about: About::default() }))
            .boxed_local()
    }

    /// Runs the model's key command, if it has one, so that the key is hidden in the output of tools. The default suits
    /// a model whose keys are known once it is created.
    fn learn_key(&self) -> LocalBoxFuture<'_, ()> {
        future::ready(()).boxed_local()
    }

    /// The embedder, if this is an embedding model. [`Model::spec`] has the price of its input.
    fn embedder(&self) -> Option<&dyn Embedder> {
        None
    }
}

/// The embeddings of some texts.
#[derive(Clone, Debug, PartialEq)]
pub struct Embeddings {
    /// The embedding of each text, in the order of the texts, all with the same number of dimensions.
    pub embeddings: Vec<Embedding>,
    /// The usage of all texts together; estimated locally if the endpoint reports none.
    pub usage: Usage,
    /// A notice about the endpoint, for people.
    pub notice: Option<String>,
}

/// A model that embeds texts.
pub trait Embedder {
    /// The embedding model's own name. Embeddings of different models are never compared.
    fn model(&self) -> &str;

    /// The embeddings of these texts. Dropping the future cancels the request.
    ///
    /// # Errors
    /// As [`Model::ask`]; also `ModelErrorKind::BadAnswer` if the answer is not a list of as many
    /// vectors, finite and of one length, or if one of them has no direction.
    fn embed<'a>(
        &'a self,
        texts: &'a [String],
    ) -> LocalBoxFuture<'a, Result<Embeddings, ModelError>>;
}
