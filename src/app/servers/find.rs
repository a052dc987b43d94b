//! Looks for usable models: local servers that answer, and keys in the environment. A key's value is neither read nor
//! sent.

use std::time::Duration;

use futures::future::join_all;

use super::ServerAddress;
use crate::config::{Environment, PROVIDERS, Provider};
use crate::domain::{ModelError, ModelErrorKind};
use crate::model::{About, Model as _, hosted::Hosted, http::Endpoint};
use crate::trial::{self, Behaviour, Server};

/// The longest time for a connection. A port that a firewall drops must not delay a start.
const CONNECT: Duration = Duration::from_millis(500);

/// The longest time for the list of models from a server that has accepted the connection.
const PATIENCE: Duration = Duration::from_secs(2);

/// Models of one provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelServer {
    pub provider: &'static Provider,
    /// The address, without /chat/completions.
    pub url: String,
    /// Models that the server lists; empty for a hosted provider, which is not called.
    pub models: Vec<String>,
    /// Result of a trial of the first model.
    pub tried: Option<Tried>,
}

/// Facts about a server and its first model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    pub server: Server,
    pub behaviour: Behaviour,
    /// Context window in tokens, if the server states it.
    pub window: Option<u64>,
}

/// The reason why no model was found at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Absent {
    /// No server answers at the address.
    Nothing,
    /// A server answers, but lists no chat model.
    NoModel,
    /// A server answers, but its list of models cannot be read.
    Failed(String),
}

/// Looks at all places at once; the results are in their order. `with_trial`: sends each server one request, which may make
/// it load a model.
pub async fn look(places: &[ServerAddress], with_trial: bool) -> Vec<Result<ModelServer, Absent>> {
    join_all(places.iter().map(|place| at(place, with_trial))).await
}

async fn at(place: &ServerAddress, with_trial: bool) -> Result<ModelServer, Absent> {
    let ServerAddress { provider, url } = place;
    let models = listed(url).await?;
    let first = models.first().ok_or(Absent::NoModel)?;
    let tried = match with_trial {
        true => Some(tried(url, first).await),
        false => None,
    };
    Ok(ModelServer { provider, url: url.clone(), models, tried })
}

/// The models that a server lists.
async fn listed(url: &str) -> Result<Vec<String>, Absent> {
    let failed = |error: ModelError| match error.kind {
        ModelErrorKind::Connection => Absent::Nothing,
        _ => Absent::Failed(error.text),
    };
    let model = Hosted::new(quick(url, "")).map_err(failed)?;
    let list = tokio::time::timeout(CONNECT + PATIENCE, model.list()).await;
    let mut models = list.map_err(|_| Absent::Nothing)?.map_err(failed)?;
    // Models that only embed cannot answer.
    models.retain(|id| !id.to_lowercase().contains("embed"));
    Ok(models)
}

async fn tried(url: &str, model: &str) -> Tried {
    let about = match Hosted::new(quick(url, model)) {
        Ok(model) => model.reachable().await.map(|reached| reached.about).unwrap_or_default(),
        Err(_) => About::default(),
    };
    let behaviour = trial::of(&Endpoint::new("found", url, model)).await;
    let server = Server::at(url, about.owner.as_deref());
    Tried { server, behaviour, window: about.window }
}

fn quick(url: &str, model: &str) -> Endpoint {
    let mut endpoint = Endpoint::new("found", url, model);
    (endpoint.connect_timeout, endpoint.silence_timeout) = (CONNECT, PATIENCE);
    endpoint
}

/// The hosted providers whose keys are in the environment.
pub fn hosted(environment: Environment<'_>) -> Vec<ModelServer> {
    let has_key = |provider: &&Provider| {
        let value = provider.key.and_then(environment);
        value.is_some_and(|value| !value.is_empty())
    };
    let found = |provider: &'static Provider| {
        let url = provider.url.to_owned();
        ModelServer { provider, url, models: Vec::new(), tried: None }
    };
    PROVIDERS.iter().filter(has_key).map(found).collect()
}
