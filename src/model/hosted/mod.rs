//! Models behind an endpoint: OpenAI, Anthropic, routers, and local servers. The codec of the endpoint's format writes
//! the requests and reads the answers.

mod demands;
mod embeddings;
mod foreign_endpoint;
mod formats;
mod model_list;
mod refusal;
mod refused_tools;
pub mod replies;
mod schema_words;

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

use futures::future::LocalBoxFuture;
use reqwest::header::HeaderMap;

use self::demands::Negotiated;
pub use self::foreign_endpoint::Overheard;
use super::http::{Amended, Endpoint, EndpointConnection, RequestRefusal, curl};
use super::{Embedder, Model, ModelProgress, Reachability};
use crate::domain::blocks::Block;
use crate::domain::{Message, ModelError, ModelSpec, Reply, Request};
use crate::wire::learned::Learned;
use crate::wire::{FunctionNames, GrowingAnswer, Report, ServicePath};

/// The facts about an endpoint that has not been called yet.
static NOTHING_LEARNT: Learned = Learned::new();

/// The text in place of an empty result.
const NO_OUTPUT: &str = "(no output)";

/// A model behind an endpoint.
#[derive(Debug)]
pub struct Hosted {
    connection: EndpointConnection,
    /// Whether this is an embedding model, and not a chat model.
    embeds: bool,
    /// Whether a notice about implausible usage was given.
    has_noticed: Cell<bool>,
    /// The refusals of the endpoint so far.
    negotiated: RefCell<Negotiated>,
}

impl Hosted {
    /// A chat model.
    ///
    /// # Errors
    /// As [`EndpointConnection::new`].
    pub fn new(endpoint: Endpoint) -> Result<Self, ModelError> {
        Self::with(endpoint, false)
    }

    /// An embedding model. It has no output tokens, so an unknown output price counts as 0.
    ///
    /// # Errors
    /// As [`EndpointConnection::new`].
    pub fn embedding(mut endpoint: Endpoint) -> Result<Self, ModelError> {
        endpoint.price_out.get_or_insert(0.0);
        Self::with(endpoint, true)
    }

    fn with(endpoint: Endpoint, embeds: bool) -> Result<Self, ModelError> {
        let connection = EndpointConnection::new(endpoint.clone(), endpoint.format.codec().http)?;
        let (has_noticed, negotiated) = (Cell::default(), RefCell::default());
        Ok(Self { connection, embeds, has_noticed, negotiated })
    }

    /// The ids of the endpoint's models; none if it does not list them.
    ///
    /// # Errors
    /// As [`EndpointConnection::list`].
    pub async fn list(&self) -> Result<Vec<String>, ModelError> {
        Ok(self.connection.list(model_list::ids).await?.unwrap_or_default())
    }

    /// The command of `curl` that makes this request by hand.
    ///
    /// # Errors
    /// The endpoint's address is invalid.
    pub fn curl(endpoint: &Endpoint, request: &Request) -> Result<String, ModelError> {
        let (source, names) = (endpoint.source()?, FunctionNames::of(request));
        let settings = formats::settings(endpoint, &source, &names, &NOTHING_LEARNT);
        let body = (endpoint.format.codec().write_request)(&filled(request), &settings);
        curl::curl(endpoint, &endpoint.format.codec().http, &path(endpoint), &body)
    }

    async fn run(
        &self,
        request: &Request,
        progress: &mut dyn FnMut(ModelProgress),
    ) -> Result<Reply, ModelError> {
        let names = Arc::new(FunctionNames::of(request));
        let format = self.connection.endpoint().format;
        let begin = |headers: &HeaderMap| format.begin(&names, formats::cost(headers));
        self.talk(request, &names, &begin, progress).await
    }

    async fn talk(
        &self,
        request: &Request,
        names: &FunctionNames,
        begin: &dyn Fn(&HeaderMap) -> Box<dyn GrowingAnswer>,
        progress: &mut dyn FnMut(ModelProgress),
    ) -> Result<Reply, ModelError> {
        let endpoint = self.connection.endpoint();
        let source = &self.spec().source;
        let sent = filled(request);
        let body = || {
            let negotiated = self.negotiated.borrow();
            let settings = formats::settings(endpoint, source, names, &negotiated.learned);
            let body = (endpoint.format.codec().write_request)(&sent, &settings);
            (body.to_string(), negotiated.offer(&body, endpoint.format))
        };
        let (first, mut offer) = body();
        let tools = request.tools.iter().map(|tool| names.out(&tool.name));
        let unsent = self.negotiated.borrow_mut().leave_out_unsent(&offer, tools, endpoint);
        unsent.into_iter().for_each(|text| progress(ModelProgress::Noticed(text)));
        let mut amend = |refused: &RequestRefusal| {
            let mut negotiated = self.negotiated.borrow_mut();
            let notice = negotiated.learn(refused, &offer, &request.tools, endpoint)?;
            drop(negotiated);
            let (body, next) = body();
            offer = next;
            Some(Amended { body, notice: (!notice.is_empty()).then_some(notice) })
        };
        let path = path(endpoint);
        let asked = self.connection.ask(&path, first, begin, &mut amend, progress);
        let (reply, report) = asked.await?.reply(request, source);
        if let Some(text) = self.notice(&report) {
            progress(ModelProgress::Noticed(text));
        }
        Ok(reply)
    }

    /// The notice about an implausible usage report; given only once.
    fn notice(&self, report: &Report) -> Option<String> {
        let text = report.notice(self.spec().name.as_str(), self.connection.host())?;
        (!self.has_noticed.replace(true)).then_some(text)
    }
}

/// The path of an endpoint's requests.
fn path(endpoint: &Endpoint) -> ServicePath {
    (endpoint.format.codec().path)(&endpoint.model, endpoint.stream)
}

/// The request with a word in place of each empty result, which strict endpoints refuse.
fn filled(request: &Request) -> Cow<'_, Request> {
    let mut filled = Cow::Borrowed(request);
    for (at, message) in request.messages.iter().enumerate() {
        let Message::Tool { text, blocks, .. } = message else { continue };
        let is_empty = text.trim().is_empty()
            && blocks.iter().all(|block| matches!(block, Block::Text { .. }));
        if is_empty
            && let Some(Message::Tool { text, blocks, .. }) = filled.to_mut().messages.get_mut(at)
        {
            (*text, *blocks) = (NO_OUTPUT.to_owned(), Vec::new());
        }
    }
    filled
}

impl Model for Hosted {
    fn spec(&self) -> &Arc<ModelSpec> {
        self.connection.spec()
    }

    fn ask<'a>(
        &'a self,
        request: &'a Request,
        progress: &'a mut dyn FnMut(ModelProgress),
    ) -> LocalBoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(self.run(request, progress))
    }

    fn reachable(&self) -> LocalBoxFuture<'_, Result<Reachability, ModelError>> {
        Box::pin(self.connection.reach(model_list::ids, model_list::about))
    }

    fn learn_key(&self) -> LocalBoxFuture<'_, ()> {
        Box::pin(self.connection.learn_key())
    }

    fn embedder(&self) -> Option<&dyn Embedder> {
        self.embeds.then_some(self)
    }
}
