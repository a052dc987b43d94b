//! Embedding models.

use std::rc::Rc;

use super::SessionError;
use crate::config::Config;
use crate::model::{Model, hosted::Hosted, http::Endpoint};

/// The embedding model for past queries, if one is configured.
pub fn embedder(config: &Config) -> Result<Option<Rc<dyn Model>>, SessionError> {
    config.experience.embeddings.as_ref().map(embedding).transpose()
}

/// The embedding model at this endpoint.
pub(super) fn embedding(endpoint: &Endpoint) -> Result<Rc<dyn Model>, SessionError> {
    let model = Hosted::embedding(endpoint.clone()).map_err(SessionError::input)?;
    Ok(Rc::new(model))
}
