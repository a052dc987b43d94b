//! State that all connections share. All code here runs on one thread.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

use reqwest::Url;
use tokio::sync::mpsc::UnboundedSender;

use super::background::BackgroundAnswers;
use super::early_answer::OwedAnswers;
use super::recent_requests::Recent;
use super::route::Upstreams;
use super::upstream::Clients;
use crate::agent::KnownLogin;
use crate::intercept::Intercepting;
use crate::model::relay::ListenerNews;

/// The state of a listener.
pub struct ListenerState {
    /// Whether requests of this machine need no token.
    pub is_open: bool,
    pub token: Option<String>,
    pub upstreams: Upstreams<Url>,
    pub news: UnboundedSender<ListenerNews>,
    /// The clients for all upstreams, or why there are none.
    pub clients: Result<Clients, String>,
    pub requests: Arc<AtomicU64>,
    /// Whether a request was understood.
    pub understood: Arc<AtomicBool>,
    /// Endpoints that refuse requests for the usage of a stream.
    pub unmetered: RefCell<HashSet<String>>,
    /// Answers that could not be delivered.
    pub kept: Rc<OwedAnswers>,
    pub recent: Recent,
    pub background: BackgroundAnswers,
    /// The authority that opens encrypted connections; `None`: nothing does.
    pub intercepting: Option<Intercepting>,
    /// Hosts about whose connections a person was told.
    pub complained: RefCell<HashSet<String>>,
    /// Whether a record may answer requests, so that no endpoint is needed.
    pub has_record: bool,
    /// The login of the agent.
    pub login: RefCell<Option<KnownLogin>>,
    /// The number of open websockets.
    pub sockets: Cell<usize>,
    /// The number of answers written here so far; it makes their ids.
    pub written: Cell<u64>,
}

impl ListenerState {
    /// Hides the tokens of a login that was renewed, before a request can repeat them.
    pub fn learn_login(&self) {
        self.login.borrow_mut().iter_mut().for_each(KnownLogin::learn);
    }
}
