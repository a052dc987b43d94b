//! The connection to one endpoint: its headers and keys, and the retries of a request.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, RequestBuilder, Url};
use serde_json::Value;
use tokio::time::timeout;
use tracing::warn;

use super::failure::without_begun;
use super::line::{EndpointTransport, LONGEST_BODY};
use super::{Amended, Endpoint, EndpointLabel, Failure, RequestRefusal, endpoint};
use crate::ModelProgress;
use crate::domain::{Chance, ModelError, ModelErrorKind, ModelSpec};
use crate::net::secret::Secret;
use crate::secret::{EndpointKey, HeaderSource, KeySource, from_env};
use crate::wire::{GrowingAnswer, HttpFacts, ServicePath};

/// Changes a request that was refused; `None` if no change can help.
type Amend<'a> = dyn FnMut(&RequestRefusal) -> Option<Amended> + 'a;

/// An endpoint that can be called.
///
/// Dropping the future of a request closes its connection.
#[derive(Debug)]
pub struct EndpointConnection {
    pub(super) endpoint: Endpoint,
    pub(super) wire: HttpFacts,
    pub(super) base: Url,
    /// Host and port, for errors.
    pub(super) host: String,
    spec: Arc<ModelSpec>,
    key: EndpointKey,
    /// Created at the first request: it reads the system's certificates, which takes longer than a first frame may.
    client: OnceLock<Client>,
}

impl EndpointConnection {
    /// # Errors
    /// [`ModelErrorKind::Refused`] for an invalid address, and for a key or password written into
    /// an address or a header. Keys are not read yet.
    pub fn new(endpoint: Endpoint, wire: HttpFacts) -> Result<Self, ModelError> {
        endpoint.check_secrets()?;
        let base = endpoint.base()?;
        endpoint.remember_secrets(&base);
        Ok(Self {
            host: endpoint::place(&base),
            spec: Arc::new(endpoint.spec(&base)),
            key: EndpointKey::new(endpoint.key.clone()),
            client: OnceLock::new(),
            base,
            wire,
            endpoint,
        })
    }

    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The public description of the model.
    pub fn spec(&self) -> &Arc<ModelSpec> {
        &self.spec
    }

    /// Posts this body to a path below the address, and reads the answer as it arrives, streamed or whole; `begin`
    /// creates it from the headers of a response. New text and each retry are reported. A refusal goes to `amend`,
    /// whose new body is sent at once; it must stop amending eventually.
    ///
    /// # Errors
    /// Why the last attempt failed, with the text that had arrived. If a configured key is missing:
    /// [`ModelErrorKind::Auth`].
    pub async fn ask(
        &self,
        path: &ServicePath,
        body: String,
        begin: &dyn Fn(&HeaderMap) -> Box<dyn GrowingAnswer>,
        amend: &mut Amend<'_>,
        progress: &mut dyn FnMut(ModelProgress),
    ) -> Result<Box<dyn GrowingAnswer>, ModelError> {
        let read =
            async |line: &EndpointTransport<'_>, send, progress: &mut dyn FnMut(ModelProgress)| {
                line.answer(send, begin, progress).await
            };
        let mut partial = String::new();
        let mut report = |news: ModelProgress| {
            if let ModelProgress::Text(text) = &news {
                partial.push_str(text);
            }
            progress(news);
        };
        let answered = self.in_time(self.tries(path, body, amend, &mut report, read)).await;
        answered.unwrap_or_else(|error| Err(ModelError { partial, ..error })).map_err(without_begun)
    }

    /// Awaits a call within its time limit.
    ///
    /// # Errors
    /// The call did not end in time.
    async fn in_time<T>(&self, call: impl Future<Output = T>) -> Result<T, ModelError> {
        let most = self.endpoint.call_timeout;
        timeout(most, call).await.map_err(|_| {
            let (host, seconds) = (&self.host, most.as_secs_f64());
            let text = format!(
                "{host} did not complete its answer within {seconds} s. Set `call_timeout` of this \
                 model if it needs longer."
            );
            ModelError::new(ModelErrorKind::TooLong, text)
        })
    }

    /// Posts this body to a path below the address, and reads the one JSON document of the answer.
    ///
    /// # Errors
    /// Why the last attempt failed; `read` may reject the document.
    pub async fn fetch<T>(
        &self,
        path: &ServicePath,
        body: &Value,
        read: impl Fn(Value, &EndpointLabel<'_>) -> Result<T, Failure>,
    ) -> Result<T, ModelError> {
        let fetch = async |line: &EndpointTransport<'_>, send, _: &mut dyn FnMut(ModelProgress)| {
            let response = line.send(send).await?;
            let body = line.body(response, LONGEST_BODY).await.map_err(|(_, failed)| failed)?;
            read(line.place.document(&body)?, &line.place)
        };
        let body = body.to_string();
        self.in_time(self.tries(path, body, &mut |_| None, &mut |_| {}, fetch)).await?
    }

    /// Repeats a request until it succeeds or a retry is pointless.
    async fn tries<T>(
        &self,
        path: &ServicePath,
        mut body: String,
        amend: &mut Amend<'_>,
        progress: &mut dyn FnMut(ModelProgress),
        attempt: impl AsyncFn(
            &EndpointTransport<'_>,
            RequestBuilder,
            &mut dyn FnMut(ModelProgress),
        ) -> Result<T, Failure>,
    ) -> Result<T, ModelError> {
        let headers = self.headers().await?;
        let line = self.line();
        let url = endpoint::service(&self.base, path);
        let chance = Chance::new(0).with(body.as_bytes());
        let mut failed = 0;
        loop {
            let send = self.client()?.post(url.clone()).headers(headers.clone());
            let why = match attempt(&line, send.body(body.clone()), progress).await {
                Ok(read) => return Ok(read),
                Err(why) => why,
            };
            if let Some(amended) = why.refused.as_deref().and_then(&mut *amend) {
                body = amended.body;
                amended.notice.into_iter().for_each(|text| progress(ModelProgress::Noticed(text)));
                continue;
            }
            failed += 1;
            let Some(wait) = self.wait(&why, failed, chance) else {
                return Err(self.give_up(why.error, failed).await);
            };
            // A server closes idle connections when it likes: a new one costs nothing, and is not worth a report.
            if !wait.is_zero() {
                progress(ModelProgress::Retrying { attempt: failed, wait, why: why.error.text });
                tokio::time::sleep(wait).await;
            }
        }
    }

    /// The wait before the next attempt, after this many failed; `None` if there is none.
    fn wait(&self, why: &Failure, failed: u32, chance: Chance) -> Option<Duration> {
        let wait = why.again.wait(failed, self.endpoint.max_retries, chance);
        let (host, model, kind) = (&self.host, &self.endpoint.model, why.error.kind);
        let status = why.status.map(|status| status.as_u16());
        let again_in_ms = wait.map(|wait| wait.as_millis() as u64);
        warn!(host, model, ?kind, status, failed, again_in_ms, "a request failed");
        wait
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

    /// Host and port of the endpoint, for people.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Runs the key command, if there is one. Its failure is reported when the key is needed.
    pub async fn learn_key(&self) {
        if matches!(self.endpoint.key, KeySource::Command(_)) {
            drop(self.key.read().await);
        }
    }

    pub(super) fn line(&self) -> EndpointTransport<'_> {
        let Endpoint { model, key, silence_timeout, answer_limit, .. } = &self.endpoint;
        let place = EndpointLabel { host: &self.host, model, key: Some(key), wire: &self.wire };
        EndpointTransport { place, silence: *silence_timeout, longest: *answer_limit }
    }

    pub(super) fn client(&self) -> Result<&Client, ModelError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let client = self.endpoint.client(&self.base)?;
        Ok(self.client.get_or_init(|| client))
    }

    /// The headers including keys.
    pub(super) async fn headers(&self) -> Result<HeaderMap, ModelError> {
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        let accept = if self.endpoint.stream { "text/event-stream" } else { "application/json" };
        headers.insert("accept", HeaderValue::from_static(accept));
        for (name, value) in self.wire.headers {
            headers.insert(*name, HeaderValue::from_static(value));
        }
        if let Some(key) = self.key.read().await? {
            let value = format!("{}{}", self.wire.key_prefix, key.expose());
            headers.insert(self.wire.key_header, sensitive(&value, "the key")?);
        }
        for (name, source) in &self.endpoint.headers {
            let what = format!("header {name:?} of model {}", self.endpoint.name);
            let header = HeaderName::try_from(name.as_str()).map_err(|_| {
                ModelError::new(
                    ModelErrorKind::Refused,
                    format!("{what} is not a valid header name"),
                )
            })?;
            let value = match source {
                HeaderSource::Literal(text) => sensitive(text, &what)?,
                HeaderSource::Env(variable) => {
                    let secret: Secret = from_env(variable, &what)?;
                    sensitive(secret.expose(), &what)?
                }
            };
            headers.insert(header, value);
        }
        Ok(headers)
    }
}

/// A header's value that cannot be printed.
fn sensitive(text: &str, what: &str) -> Result<HeaderValue, ModelError> {
    let mut value = HeaderValue::try_from(text).map_err(|_| {
        let text =
            format!("{what} contains characters that a header cannot carry, such as a line break");
        ModelError::new(ModelErrorKind::Auth, text)
    })?;
    value.set_sensitive(true);
    Ok(value)
}
