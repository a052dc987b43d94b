//! What all connections share. Everything here runs on one thread.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use reqwest::{Client, Url};
use tokio::sync::mpsc::UnboundedSender;

use super::route::Upstreams;
use crate::model::relay::News;

/// The state of a listener.
pub struct Shared {
    pub is_local: bool,
    pub token: Option<String>,
    pub upstreams: Upstreams<Url>,
    pub news: UnboundedSender<News>,
    /// The client for all upstreams, or why there is none.
    pub client: Result<Client, String>,
    pub requests: Arc<AtomicU64>,
    /// Endpoints that refuse to be asked for the usage of a stream.
    pub unmetered: RefCell<HashSet<String>>,
    /// Answers written here so far; it makes their ids.
    pub written: Cell<u64>,
}
