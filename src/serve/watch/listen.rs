//! Binds the address, and runs the thread of the listener.

use std::cell::{Cell, RefCell};
use std::net::{SocketAddr, TcpListener as StdListener};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::{io, thread};

use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;
use tokio::task::LocalSet;
use tracing::info;

use super::recent_requests::Recent;
use super::route::{BadUpstream, Upstreams};
use super::shared::ListenerState;
use super::upstream::Clients;
use super::{connections, service};
use crate::agent::KnownLogin;
use crate::intercept::Intercepting;
use crate::model::relay::ListenerNews;

/// The settings of a listener.
#[derive(Debug)]
pub struct Listening {
    /// The address where it listens.
    pub socket: Bound,
    /// The token that paths must begin with: `/t/TOKEN`. On loopback, only where an upstream adds a key.
    pub token: Option<String>,
    pub upstreams: Upstreams,
    /// The authority that opens encrypted connections, where a person chose that.
    pub intercepting: Option<Intercepting>,
    /// Whether a record may answer requests, so that no endpoint is needed.
    pub has_record: bool,
    /// The login of the agent, whose tokens are hidden as it renews them.
    pub login: Option<KnownLogin>,
    pub news: UnboundedSender<ListenerNews>,
}

/// A bound address, so that it is known before anybody listens.
#[derive(Debug)]
pub struct Bound {
    socket: StdListener,
    pub address: SocketAddr,
}

impl Bound {
    /// The socket, for another kind of listener.
    pub(crate) fn into_socket(self) -> StdListener {
        self.socket
    }
}

/// Takes an address, usually a loopback one; port 0 takes a free port.
///
/// # Errors
/// The address is in use, or does not belong to this machine.
pub fn bind(address: SocketAddr) -> Result<Bound, ListenError> {
    let socket = StdListener::bind(address).map_err(|why| failed(address, why))?;
    let address = socket.local_addr().map_err(|why| failed(address, why))?;
    Ok(Bound { socket, address })
}

fn failed(address: SocketAddr, why: io::Error) -> ListenError {
    match why.kind() {
        io::ErrorKind::AddrInUse => ListenError::InUse(address),
        _ => ListenError::Io { address, why },
    }
}

/// Why nothing listens.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    #[error("{0} is in use by another program; choose another port, or port 0 for a free one")]
    InUse(SocketAddr),
    #[error(
        "{0} can be reached by other machines, so a token is needed; set one, or listen on 127.0.0.1"
    )]
    NoToken(SocketAddr),
    #[error(transparent)]
    BadUpstream(#[from] BadUpstream),
    #[error("cannot listen on {address}: {why}")]
    Io { address: SocketAddr, why: io::Error },
}

/// A running listener. Dropping it ends its thread and all connections.
#[derive(Debug)]
pub struct Listener {
    address: SocketAddr,
    requests: Arc<AtomicU64>,
    understood: Arc<AtomicBool>,
    open: Option<oneshot::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Listener {
    /// The address where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The number of requests that were sent on or shown to the session so far.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Whether a request was understood; outlives the listener.
    pub fn understood(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.understood)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.open = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Listens, and sends news about it.
///
/// # Errors
/// The address needs a token, an upstream is not an address, or the system has no thread.
pub fn listen(settings: Listening) -> Result<Listener, ListenError> {
    let Listening { socket, token, upstreams, intercepting, has_record, login, news } = settings;
    let Bound { socket, address } = socket;
    let upstreams = upstreams.read()?;
    let is_local = address.ip().is_loopback();
    if !is_local && token.is_none() {
        return Err(ListenError::NoToken(address));
    }
    let failed = |why: io::Error| failed(address, why);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(failed)?;
    let requests = Arc::new(AtomicU64::new(0));
    let (open, closed) = oneshot::channel::<()>();
    let understood = Arc::<AtomicBool>::default();
    let (counted, noted) = (Arc::clone(&requests), Arc::clone(&understood));
    let work = move || {
        let shared = ListenerState {
            is_open: is_local && !upstreams.add_key(),
            token,
            has_record,
            login: RefCell::new(login),
            upstreams,
            news,
            // Reads the system's certificates, which may take longer than the start of a session should.
            clients: Clients::new().map_err(|error| error.to_string()),
            requests: counted,
            understood: noted,
            unmetered: RefCell::default(),
            recent: Recent::default(),
            kept: Rc::default(),
            background: Default::default(),
            written: Cell::default(),
            sockets: Cell::default(),
            intercepting,
            complained: RefCell::default(),
        };
        let local = LocalSet::new();
        let shared = Rc::new(shared);
        let answer = move |request| service::answer(Rc::clone(&shared), request);
        let served = local.run_until(connections::serve(socket, answer));
        runtime.block_on(async {
            tokio::select! {
                _ = closed => {}
                served = served => info!(?served, "the listener ended"),
            }
        });
    };
    let thread = thread::Builder::new().name("watch".to_owned()).spawn(work).map_err(failed)?;
    info!(%address, "listens for model requests");
    Ok(Listener { address, requests, understood, open: Some(open), thread: Some(thread) })
}
