//! Looks for models that can be used here: local servers that answer, and keys in the environment. A key's value is
//! neither read nor sent.

use std::time::Duration;

use futures::future::join_all;

use crate::app::config::{Environment, PROVIDERS, Provider};
use crate::model::{http::Endpoint, openai::OpenAi};

/// The longest time for one local server. All are asked at once.
const PATIENCE: Duration = Duration::from_millis(800);

/// Models of one provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub provider: &'static Provider,
    /// The address, without /chat/completions.
    pub url: String,
    /// The models that it lists; empty for a hosted provider, which is not asked.
    pub models: Vec<String>,
}

/// What can be used, the local ones first. `places` are the addresses of local servers.
pub async fn find(
    places: &[(&'static Provider, String)],
    environment: Environment<'_>,
) -> Vec<Found> {
    let asked = places.iter().map(|(provider, url)| async move {
        let models = listed(url).await;
        (!models.is_empty()).then(|| Found { provider, url: url.clone(), models })
    });
    let local: Vec<_> = join_all(asked).await.into_iter().flatten().collect();
    let has_key = |provider: &&Provider| {
        let value = provider.key.and_then(environment);
        value.is_some_and(|value| !value.is_empty())
    };
    let hosted = PROVIDERS.iter().filter(has_key);
    let hosted =
        hosted.map(|provider| Found { provider, url: provider.url.to_owned(), models: Vec::new() });
    local.into_iter().chain(hosted).collect()
}

/// The models of a server; none if it does not answer in time, or is no server of models.
async fn listed(url: &str) -> Vec<String> {
    let mut endpoint = Endpoint::new("found", url, "");
    (endpoint.connect_timeout, endpoint.silence_timeout) = (PATIENCE, PATIENCE);
    let Ok(model) = OpenAi::new(endpoint) else { return Vec::new() };
    let list = tokio::time::timeout(PATIENCE, model.list()).await;
    let mut models = list.ok().and_then(Result::ok).unwrap_or_default();
    // Those that only embed cannot answer.
    models.retain(|id| !id.to_lowercase().contains("embed"));
    models
}
