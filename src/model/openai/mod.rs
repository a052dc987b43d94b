//! Models behind an OpenAI-compatible chat endpoint: OpenAI itself, routers, and local servers.
//!
//! Servers differ in what they send more than in what they take, so this reads tolerantly what
//! is known to differ, and is strict in one thing: an answer is complete only if a finish reason came.
//! A try that failed before any text came is repeated, each time reported; one that failed after text
//! has come is a failure that holds this text, and whoever asked decides.

mod answer;
mod body;
mod embeddings;
mod endpoint;
mod exchange;
mod failure;
mod line;
mod names;
mod retry;
mod sse;
mod usage;

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use futures::future::LocalBoxFuture;
use reqwest::{
    Client, RequestBuilder, StatusCode, Url,
    header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue},
};
use serde_json::Value;

pub(crate) use self::endpoint::carries_key;
pub use self::{
    embeddings::{Embedded, Read},
    endpoint::Endpoint,
};
use self::{
    exchange::Exchange,
    failure::{Failed, Place},
    line::Line,
    names::Names,
};
use super::{
    Model, Progress, Reached,
    secret::{HeaderSource, Key, Redactor, Secret, from_env},
};
use crate::domain::{
    chance::Chance,
    chat::{Reply, Request},
    error::{ModelError, ModelErrorKind},
    spec::ModelSpec,
};

/// Largest list of models that is read, in bytes. Routers list hundreds.
const LONGEST_LIST: usize = 8 * 1024 * 1024;
/// How long a look whether it is reachable waits: a list is ready at once.
const REACH: Duration = Duration::from_secs(10);

/// A model behind an OpenAI-compatible endpoint.
#[derive(Debug)]
pub struct OpenAi {
    endpoint: Endpoint,
    base: Url,
    /// Host and port, for errors.
    host: String,
    spec: Arc<ModelSpec>,
    key: Key,
    /// Made at the first request: it reads the system's certificates, which takes longer than a
    /// first frame may.
    client: OnceLock<Client>,
}

impl OpenAi {
    /// # Errors
    /// [`ModelErrorKind::Refused`] for an address that is none, and for a key or password written
    /// into an address or a header. Keys are not read yet.
    pub fn new(endpoint: Endpoint) -> Result<Self, ModelError> {
        endpoint.check_secrets()?;
        let base = endpoint.base()?;
        Ok(Self {
            host: endpoint::place(&base),
            spec: Arc::new(endpoint.spec(&base)),
            key: Key::new(endpoint.key.clone()),
            client: OnceLock::new(),
            base,
            endpoint,
        })
    }

    /// What the endpoint calls the model.
    pub fn model(&self) -> &str {
        &self.endpoint.model
    }

    /// Whether the endpoint answers and takes the key. Costs no tokens: it
    /// asks for the list of models, and a server without one is reachable all the same.
    ///
    /// # Errors
    /// As [`Model::ask`], without retries.
    async fn reach(&self) -> Result<Reached, ModelError> {
        let (headers, redactor) = self.headers().await?;
        let list = self.client()?.get(endpoint::service(&self.base, &["models"])).headers(headers);
        let line =
            Line { silence: REACH.min(self.endpoint.silence_timeout), ..self.line(&redactor) };
        let (host, model) = (&self.host, &self.endpoint.model);
        let unlisted = format!("{host} answers, but lists no models; {model:?} is unchecked");
        let response = match line.send(list).await {
            Ok(response) => response,
            Err(Failed { status: Some(status), .. }) if has_no_list(status) => {
                let text = unlisted + ", and its `url` too (most end in /v1)";
                return Ok(Reached { is_sure: false, text });
            }
            Err(failed) => return Err(failed.error),
        };
        let body = line.body(response, LONGEST_LIST).await.map_err(|(_, failed)| failed.error)?;
        let list: Value = serde_json::from_slice(&body).unwrap_or_default();
        let entries = list["data"].as_array().into_iter().flatten();
        let ids: Vec<&str> = entries.filter_map(|entry| entry["id"].as_str()).collect();
        let is_sure = ids.contains(&model.as_str());
        let text = if is_sure {
            format!("{host} answers and has {model:?}")
        } else if ids.is_empty() {
            unlisted
        } else {
            let some = failure::visible(&ids[..ids.len().min(5)].join(", "), 200);
            format!("{host} answers, but does not list {model:?}; it has {some}")
        };
        Ok(Reached { is_sure, text })
    }

    async fn run(
        &self,
        request: &Request,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Reply, ModelError> {
        let (headers, redactor) = self.headers().await?;
        let names = Names::of(request);
        let body = body::body(&self.endpoint, request, &names).to_string();
        let chance = Chance::new(0).with(body.as_bytes());
        let exchange = Exchange { line: self.line(&redactor), request, names: &names };
        let mut failed = 0;
        loop {
            let send = self.post(headers.clone(), body.clone())?;
            let why = match exchange.run(send, progress).await {
                Ok(reply) => return Ok(reply),
                Err(why) => why,
            };
            failed += 1;
            let Some(wait) = why.again.wait(failed, self.endpoint.max_retries, chance) else {
                return Err(self.give_up(why.error, failed).await);
            };
            progress(Progress::Retrying { attempt: failed, wait, why: why.error.text });
            tokio::time::sleep(wait).await;
        }
    }

    async fn give_up(&self, mut error: ModelError, failed: u32) -> ModelError {
        if error.kind == ModelErrorKind::Auth {
            self.key.forget().await;
        }
        if failed > 1 {
            error.text += &format!(" Tried {failed} times.");
        }
        error
    }

    fn line<'a>(&'a self, redactor: &'a Redactor) -> Line<'a> {
        let Endpoint { model, key, silence_timeout, .. } = &self.endpoint;
        let place = Place { host: &self.host, model, key, redactor };
        Line { place, silence: *silence_timeout }
    }

    fn client(&self) -> Result<&Client, ModelError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let client = self.endpoint.client(&self.base)?;
        Ok(self.client.get_or_init(|| client))
    }

    fn post(&self, headers: HeaderMap, body: String) -> Result<RequestBuilder, ModelError> {
        let url = endpoint::service(&self.base, &["chat", "completions"]);
        Ok(self.client()?.post(url).headers(headers).body(body))
    }

    /// The headers with keys in them, and what takes these keys out of any text.
    async fn headers(&self) -> Result<(HeaderMap, Redactor), ModelError> {
        let mut headers = HeaderMap::new();
        let mut redactor = Redactor::default();
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        let accept = if self.endpoint.stream { "text/event-stream" } else { "application/json" };
        headers.insert("accept", HeaderValue::from_static(accept));
        if let Some(key) = self.key.read().await? {
            let bearer = sensitive(&format!("Bearer {}", key.expose()), "the key")?;
            headers.insert(AUTHORIZATION, bearer);
            redactor.hide(key);
        }
        for (name, source) in &self.endpoint.headers {
            let what = format!("header {name:?} of model {}", self.endpoint.name);
            let header = HeaderName::try_from(name.as_str()).map_err(|_| {
                ModelError::new(ModelErrorKind::Refused, format!("{what} is no header's name"))
            })?;
            let value = match source {
                HeaderSource::Literal(text) => sensitive(text, &what)?,
                HeaderSource::Env(variable) => {
                    let secret: Secret = from_env(variable, &what)?;
                    let value = sensitive(secret.expose(), &what)?;
                    redactor.hide(secret);
                    value
                }
            };
            headers.insert(header, value);
        }
        Ok((headers, redactor))
    }
}

/// Whether a refusal means that a server keeps no list of models, not that it is broken.
fn has_no_list(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_IMPLEMENTED
    )
}

/// A header's value that nothing prints.
fn sensitive(text: &str, what: &str) -> Result<HeaderValue, ModelError> {
    let mut value = HeaderValue::try_from(text).map_err(|_| {
        let text =
            format!("{what} holds characters that a header cannot carry, such as a line break");
        ModelError::new(ModelErrorKind::Auth, text)
    })?;
    value.set_sensitive(true);
    Ok(value)
}

impl Model for OpenAi {
    fn spec(&self) -> &Arc<ModelSpec> {
        &self.spec
    }

    fn ask<'a>(
        &'a self,
        request: &'a Request,
        progress: &'a mut dyn FnMut(Progress),
    ) -> LocalBoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(self.run(request, progress))
    }

    fn reachable(&self) -> LocalBoxFuture<'_, Result<Reached, ModelError>> {
        Box::pin(self.reach())
    }
}
