//! Models behind an OpenAI-compatible endpoint: OpenAI itself, routers, and local servers.
//!
//! Servers differ in what they send more than in what they accept. So this parser tolerates the
//! known differences, and is strict in one thing: an answer is complete only if a finish reason
//! arrived.

mod answer;
mod body;
mod embeddings;
mod listed;
mod names;
mod usage;

use std::{cell::Cell, sync::Arc};

use futures::future::LocalBoxFuture;
use serde_json::Value;

use self::{answer::Answer, names::Names, usage::Report};
use super::http::{Connection, Endpoint, Wire, curl};
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
}

impl OpenAi {
    /// A chat model.
    ///
    /// # Errors
    /// As [`Connection::new`].
    pub fn new(endpoint: Endpoint) -> Result<Self, ModelError> {
        Ok(Self {
            connection: Connection::new(endpoint, WIRE)?,
            embeds: false,
            has_noticed: Cell::default(),
        })
    }

    /// An embedding model. It has no output tokens, so an unknown output price counts as 0.
    ///
    /// # Errors
    /// As [`Connection::new`].
    pub fn embedding(mut endpoint: Endpoint) -> Result<Self, ModelError> {
        endpoint.price_out.get_or_insert(0.0);
        Ok(Self {
            connection: Connection::new(endpoint, WIRE)?,
            embeds: true,
            has_noticed: Cell::default(),
        })
    }

    /// The ids of the endpoint's models; none if it does not list them.
    ///
    /// # Errors
    /// As [`Connection::list`].
    pub async fn list(&self) -> Result<Vec<String>, ModelError> {
        Ok(self.connection.list(&LIST, ids).await?.unwrap_or_default())
    }

    /// The command of `curl` that makes this request by hand.
    ///
    /// # Errors
    /// The endpoint's address is invalid.
    pub fn curl(endpoint: &Endpoint, request: &Request) -> Result<String, ModelError> {
        let body = body::body(endpoint, request, &Names::of(request));
        curl::curl(endpoint, &WIRE, &CHAT, &body)
    }

    async fn run(
        &self,
        request: &Request,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Reply, ModelError> {
        let names = Names::of(request);
        let body = body::body(self.connection.endpoint(), request, &names);
        let answer: Answer = self.connection.ask(&CHAT, &body, progress).await?;
        let (reply, report) = answer.reply(request, &names);
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
        Box::pin(self.connection.reach(&LIST, ids, listed::about))
    }

    fn learn_key(&self) -> LocalBoxFuture<'_, ()> {
        Box::pin(self.connection.learn_key())
    }

    fn embedder(&self) -> Option<&dyn Embedder> {
        self.embeds.then_some(self)
    }
}

/// The ids of a list of models.
fn ids(list: &Value) -> Vec<&str> {
    let entries = list["data"].as_array().into_iter().flatten();
    entries.filter_map(|entry| entry["id"].as_str()).collect()
}
