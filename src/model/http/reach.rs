//! Probes whether an endpoint answers, accepts the key and has the model.

use std::time::Duration;

use reqwest::StatusCode;
use serde_json::Value;

use super::{EndpointConnection, Failure, endpoint, failure::visible, line::EndpointTransport};
use crate::domain::ModelError;
use crate::wire::{ServicePath, json};
use crate::{About, Reachability};

/// Largest list of models that is read, in bytes. Routers list hundreds.
const LONGEST_LIST: usize = 8 * 1024 * 1024;
/// Time limit of a probe: a list is available at once.
const REACH: Duration = Duration::from_secs(10);

impl EndpointConnection {
    /// Requests the list of models, which costs no tokens; `ids` finds
    /// their ids in it. `None`: the server has no such list.
    ///
    /// # Errors
    /// As [`EndpointConnection::ask`], without retries.
    pub async fn list(
        &self,
        ids: fn(&Value) -> Vec<&str>,
    ) -> Result<Option<Vec<String>>, ModelError> {
        let list = self.document().await?;
        Ok(list.map(|list| ids(&list).into_iter().map(str::to_owned).collect()))
    }

    /// The list of models as the server sends it; a text of another form is not a list.
    async fn document(&self) -> Result<Option<Value>, ModelError> {
        let headers = self.headers().await?;
        let path = ServicePath::of(self.wire.models);
        let list = self.client()?.get(endpoint::service(&self.base, &path)).headers(headers);
        let line =
            EndpointTransport { silence: REACH.min(self.endpoint.silence_timeout), ..self.line() };
        let response = match line.send(list).await {
            Ok(response) => response,
            Err(Failure { status: Some(status), .. }) if has_no_list(status) => return Ok(None),
            Err(failed) => return Err(failed.error),
        };
        let body = line.body(response, LONGEST_LIST).await.map_err(|(_, failed)| failed.error)?;
        Ok(Some(json::read(&body).unwrap_or_default()))
    }

    /// Looks for the model in the list of models, and for the facts that the list has `about` it. A server without such
    /// a list still counts as reachable.
    ///
    /// # Errors
    /// As [`EndpointConnection::list`].
    pub async fn reach(
        &self,
        ids: fn(&Value) -> Vec<&str>,
        about: fn(&Value, &str) -> About,
    ) -> Result<Reachability, ModelError> {
        let (host, model) = (&self.host, &self.endpoint.model);
        let unlisted = format!("{host} answers, but lists no models; {model:?} is unchecked");
        let Some(list) = self.document().await? else {
            let end = self.wire.address_end;
            let text = format!("{unlisted}, and its `url` too (most end in {end})");
            return Ok(Reachability { is_sure: false, text, about: About::default() });
        };
        let ids = ids(&list);
        // Gemini lists a model `m` as `models/m`, and accepts both names.
        let is_it = |id: &&str| id == model || id.strip_prefix("models/") == Some(model);
        let is_sure = ids.iter().any(is_it);
        let text = if is_sure {
            format!("{host} answers and has {model:?}")
        } else if ids.is_empty() {
            unlisted
        } else {
            let some = visible(&ids[..ids.len().min(5)].join(", "), 200);
            format!("{host} answers, but does not list {model:?}; it has {some}")
        };
        Ok(Reachability { is_sure, text, about: about(&list, model) })
    }
}

/// Whether a refusal means that a server has no list of models, not that it is broken.
fn has_no_list(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_IMPLEMENTED
    )
}
