//! The reader of a session: a thread with a local model that ranks tools by their states, or an endpoint of embeddings
//! in its place.
//!
//! The thread opens the model, then answers queries at once, and encodes tools while there is no query. So a query
//! waits for one tool at most, and the session never waits for the encoding.

mod endpoint;
mod judge;
mod local;
mod means;
mod news;
mod pool;
mod reader_query;
mod work;

use std::rc::Rc;

use self::endpoint::EndpointRanker;
use self::local::LocalRanker;
use super::{SessionError, embedding::embedding};
use crate::config::{self, ReaderSettings};
use crate::engine::Ranker;
use crate::store::states::StateCache;

pub use self::means::Memory;

/// The reader that the settings name; `None` if they name none. `domain` names the queries that belong together and
/// have their own mean.
///
/// # Errors
/// The endpoint of embeddings, or the cache of their vectors, cannot be used.
pub fn of(
    settings: &ReaderSettings,
    domain: &str,
    memory: Memory,
) -> Result<Option<Rc<dyn Ranker>>, SessionError> {
    if let Some(file) = &settings.model {
        return Ok(Some(Rc::new(LocalRanker::new(file, &settings.heads, domain, memory))));
    }
    let Some(endpoint) = &settings.embeddings else { return Ok(None) };
    let cache = match config::default_states() {
        Some(path) => StateCache::open(&path),
        None => StateCache::in_memory(),
    };
    let cache = cache.map_err(SessionError::input)?;
    let model = embedding(endpoint)?;
    Ok(Some(Rc::new(EndpointRanker::new(model, cache.into(), domain, memory))))
}
