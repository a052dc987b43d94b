//! Models behind an OpenAI-compatible endpoint: OpenAI itself, routers, and local servers.
//!
//! Servers differ in what they send more than in what they accept. So this parser tolerates the
//! known differences, and is strict in one thing: an answer is complete only if a finish reason
//! arrived, or the event that ends a stream.

mod answer;
mod body;
mod call_ids;
mod calls;
mod embeddings;
mod field;
mod finish;
mod kept;
mod listed;
mod messages;
mod names;
mod negotiated;
mod refusal;
pub mod replies;
mod schema_words;
mod usage;

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use futures::future::LocalBoxFuture;
use reqwest::header::HeaderMap;

use self::{answer::Answer, names::Names, negotiated::Negotiated, usage::Report};
use super::http::{Amended, Connection, Endpoint, Refused, Wire, curl};
use super::{Embedder, Model, Progress, Reachability};
use crate::domain::{ModelError, ModelSpec, Reply, Request};

const WIRE: Wire = Wire {
    key_header: "authorization",
    key_prefix: "Bearer ",
    headers: &[],
    api: "an OpenAI-compatible API",
    address_end: "/v1",
};

/// The path of chats.
const CHAT: [&str; 2] = ["chat", "completions"];

/// The path of the list of models.
const LIST: [&str; 1] = ["models"];

/// A model behind an OpenAI-compatible endpoint.
#[derive(Debug)]
pub struct OpenAi {
    connection: Connection,
    /// It is an embedding model, not a chat model.
    embeds: bool,
    /// An implausible usage was said.
    has_noticed: Cell<bool>,
    /// What the endpoint has refused so far.
    negotiated: RefCell<Negotiated>,
}

impl OpenAi {
    /// A chat model.
    ///
    /// # Errors
    /// As [`Connection::new`].
    pub fn new(endpoint: Endpoint) -> Result<Self, ModelError> {
        Self::with(endpoint, false)
    }

    /// An embedding model. It has no output tokens, so an unknown output price counts as 0.
    ///
    /// # Errors
    /// As [`Connection::new`].
    pub fn embedding(mut endpoint: Endpoint) -> Result<Self, ModelError> {
        endpoint.price_out.get_or_insert(0.0);
        Self::with(endpoint, true)
    }

    fn with(endpoint: Endpoint, embeds: bool) -> Result<Self, ModelError> {
        let connection = Connection::new(endpoint, WIRE)?;
        let (has_noticed, negotiated) = (Cell::default(), RefCell::default());
        Ok(Self { connection, embeds, has_noticed, negotiated })
    }

    /// The ids of the endpoint's models; none if it does not list them.
    ///
    /// # Errors
    /// As [`Connection::list`].
    pub async fn list(&self) -> Result<Vec<String>, ModelError> {
        Ok(self.connection.list(&LIST, listed::ids).await?.unwrap_or_default())
    }

    /// The command of `curl` that makes this request by hand.
    ///
    /// # Errors
    /// The endpoint's address is invalid.
    pub fn curl(endpoint: &Endpoint, request: &Request) -> Result<String, ModelError> {
        let source = endpoint.source()?;
        let names = Names::of(request);
        let body = body::body(endpoint, &source, request, &names, &Negotiated::default());
        curl::curl(endpoint, &WIRE, &CHAT, &body)
    }

    async fn run(
        &self,
        request: &Request,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Reply, ModelError> {
        let names = Arc::new(Names::of(request));
        let endpoint = self.connection.endpoint();
        let source = &self.spec().source;
        let body = || {
            let negotiated = self.negotiated.borrow();
            let body = body::body(endpoint, source, request, &names, &negotiated);
            (body.to_string(), negotiated.offer(&body))
        };
        let (first, mut offer) = body();
        let mut amend = |refused: &Refused| {
            let mut negotiated = self.negotiated.borrow_mut();
            let notice = negotiated.learn(refused, &offer, &request.tools, endpoint)?;
            drop(negotiated);
            let (body, next) = body();
            offer = next;
            Some(Amended { body, notice: (!notice.is_empty()).then_some(notice) })
        };
        let begin = |headers: &HeaderMap| Answer::begin(headers, &names);
        let asked = self.connection.ask(&CHAT, first, &begin, &mut amend, progress);
        let (reply, report) = asked.await?.reply(request, source);
        if let Some(text) = self.notice(&report) {
            progress(Progress::Noticed(text));
        }
        Ok(reply)
    }

    /// What to say of an endpoint that reports an implausible usage: once, for all of them.
    fn notice(&self, report: &Report) -> Option<String> {
        let text = report.notice(self.spec().name.as_str(), self.connection.host())?;
        (!self.has_noticed.replace(true)).then_some(text)
    }
}

impl Model for OpenAi {
    fn spec(&self) -> &Arc<ModelSpec> {
        self.connection.spec()
    }

    fn ask<'a>(
        &'a self,
        request: &'a Request,
        progress: &'a mut dyn FnMut(Progress),
    ) -> LocalBoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(self.run(request, progress))
    }

    fn reachable(&self) -> LocalBoxFuture<'_, Result<Reachability, ModelError>> {
        Box::pin(self.connection.reach(&LIST, listed::ids, listed::about))
    }

    fn learn_key(&self) -> LocalBoxFuture<'_, ()> {
        Box::pin(self.connection.learn_key())
    }

    fn embedder(&self) -> Option<&dyn Embedder> {
        self.embeds.then_some(self)
    }
}
