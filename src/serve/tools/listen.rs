//! Accepts the requests of clients.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::rc::Rc;
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::header::ACCEPT_ENCODING;
use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use reqwest::{Client, Url};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{Notify, oneshot};

use super::answers::{Of, pass, unreached};
use super::call::{Before, HttpCall};
use super::out::Out;
use crate::mcp::relay::{Id, PATIENCE, ServerListing, read};
use crate::net::guard::{self, Redirects};
use crate::tool::relayed::{self, RelayNews};
use crate::watch::request::{self, Posted};
use crate::watch::upstream::forwarded;
use crate::watch::{AnswerResult, Bound, door, plain};

/// The largest body of a call, in bytes, about which a session decides.
const MOST: usize = 4 << 20;
/// The header by which a client names its session with the server.
const SESSION: &str = "mcp-session-id";

/// A server behind this relay.
#[derive(Debug)]
pub struct Relaying {
    /// The address where the relay listens: on loopback.
    pub socket: Bound,
    /// Address of the server.
    pub target: Url,
    /// Whether it may be at an address that [`guard`] refuses.
    pub any_address: bool,
    /// Name of the server in the session.
    pub key: String,
    pub news: UnboundedSender<RelayNews>,
}

/// State that all requests share.
pub struct HttpRelay {
    pub key: Arc<str>,
    pub news: UnboundedSender<RelayNews>,
    target: Url,
    client: Client,
    pub listing: RefCell<ServerListing>,
    /// Calls whose clients wait, and whether they were sent on.
    open: RefCell<HashMap<(String, Id), Rc<HttpWait>>>,
}

#[derive(Default)]
struct HttpWait {
    given_up: Notify,
    is_sent: std::cell::Cell<bool>,
}

/// Listens until this is dropped. Needs a local set.
///
/// # Errors
/// The address is refused, or the socket does not work.
pub async fn serve(relaying: Relaying) -> io::Result<()> {
    let Relaying { socket, target, any_address, key, news } = relaying;
    if !any_address {
        guard::check(&target).map_err(io::Error::other)?;
    }
    let client = guard::builder(any_address, Redirects::SameServer).build();
    let client = client.map_err(io::Error::other)?;
    let (key, listing, open) = (key.into(), RefCell::default(), RefCell::default());
    let shared = Rc::new(HttpRelay { key, news, target, client, listing, open });
    let socket = socket.into_socket();
    socket.set_nonblocking(true)?;
    let listener = TcpListener::from_std(socket)?;
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::task::spawn_local(connection(stream, Rc::clone(&shared)));
    }
}

async fn connection(stream: TcpStream, shared: Rc<HttpRelay>) {
    let _ = stream.set_nodelay(true);
    let serve = service_fn(|request| answer(Rc::clone(&shared), request));
    let mut builder = http1::Builder::new();
    builder.auto_date_header(false);
    // A client that is gone needs no report.
    let _ = builder.serve_connection(TokioIo::new(stream), serve).await;
}

/// Answers a request.
async fn answer(shared: Rc<HttpRelay>, request: Request<Incoming>) -> AnswerResult {
    let (parts, body) = request.into_parts();
    if let Err(why) = door::enter(parts.uri.path(), &parts.headers, None, true) {
        return Ok(plain(StatusCode::FORBIDDEN, why));
    }
    request::hide_keys(&parts.headers, &shared.target);
    let body = match request::read(body).await? {
        Posted::Whole(body) => body,
        Posted::Long(_) => {
            let why = "a request of more than 64 MiB is not relayed";
            return Ok(plain(StatusCode::PAYLOAD_TOO_LARGE, why));
        }
    };
    let (respond, response) = oneshot::channel();
    tokio::task::spawn_local(exchange(shared, parts, body.to_vec(), Out::new(respond)));
    response.await.or_else(|_| {
        let mut broken: Response<_> = plain(StatusCode::BAD_GATEWAY, "the request was given up");
        broken.headers_mut().clear();
        Ok(broken)
    })
}

/// Carries one request to the server, and its answer to the client.
async fn exchange(shared: Rc<HttpRelay>, parts: Parts, body: Vec<u8>, mut out: Out) {
    let message = read(&body).filter(|_| parts.method == Method::POST);
    let Some((text, message)) = message else {
        return shared.forward(&parts, body, None, &mut out).await;
    };
    if let Some(asked) = message.call(text).filter(|_| body.len() <= MOST) {
        return call(&shared, &parts, body.clone(), asked, out).await;
    }
    let session = session_of(&parts.headers);
    let cancelled =
        message.cancelled().and_then(|id| shared.open.borrow().get(&(session, id)).map(Rc::clone));
    if let Some(open) = cancelled {
        open.given_up.notify_one();
        if !open.is_sent.get() {
            // The server does not know this call.
            return out.end(StatusCode::ACCEPTED, HeaderMap::new(), Default::default()).await;
        }
    }
    let is_list = message.method.as_deref() == Some("tools/list");
    let of = message.id().filter(|_| is_list).map(Of::List);
    shared.forward(&parts, body.clone(), of, &mut out).await;
}

fn session_of(headers: &HeaderMap) -> String {
    let session = headers.get(SESSION).and_then(|session| session.to_str().ok());
    session.unwrap_or_default().to_owned()
}

/// Hands a call to the session, and carries out its decision.
async fn call(
    shared: &Rc<HttpRelay>,
    parts: &Parts,
    body: Vec<u8>,
    asked: crate::mcp::relay::CallRequest,
    mut out: Out,
) {
    let (to_session, way) = relayed::way();
    let called = relayed::ForeignCall {
        server: Arc::clone(&shared.key),
        id: asked.id.shown().into(),
        tool: asked.tool.clone(),
        arguments: asked.arguments.clone(),
        patience: asked.token.is_none().then_some(PATIENCE),
        way: to_session,
    };
    if shared.news.send(RelayNews::Called(Box::new(called))).is_err() {
        // Without a session all calls pass.
        return shared.forward(parts, body, None, &mut out).await;
    }
    let place = (session_of(&parts.headers), asked.id.clone());
    let open = Rc::new(HttpWait::default());
    shared.open.borrow_mut().insert(place.clone(), Rc::clone(&open));
    let structure = shared.listing.borrow().structure(&asked.tool);
    let mut of = Of::Call(Box::new(HttpCall::new(asked, way, structure)));
    let is_over = tokio::select! {
        biased;
        () = passing(shared, parts, &body, &open, (&mut of, &mut out)) => true,
        () = open.given_up.notified() => false,
    };
    if let Of::Call(call) = &mut of
        && !is_over
    {
        call.give_up();
        out.end(StatusCode::ACCEPTED, HeaderMap::new(), Default::default()).await;
    }
    shared.open.borrow_mut().remove(&place);
}

async fn passing(
    shared: &Rc<HttpRelay>,
    parts: &Parts,
    body: &[u8],
    open: &HttpWait,
    (of, out): (&mut Of, &mut Out),
) {
    let Of::Call(call) = of else { return };
    let body = match call.before(body, out).await {
        Before::On(body) => body,
        Before::Answer(line) => return out.answer(&line).await,
        Before::GivenUp => return call.give_up(),
    };
    open.is_sent.set(true);
    let sent = tokio::select! {
        biased;
        sent = shared.send(parts, body) => sent,
        answer = call.meanwhile() => {
            let line = call.line(&answer);
            return out.answer(&line).await;
        }
        () = out.closed() => return call.give_up(),
    };
    match sent {
        Ok(response) => pass(shared, response, of, out).await,
        Err(error) => unreached(Some(call), out, &error).await,
    }
}

impl HttpRelay {
    /// Forwards a request and its answer; the answer to `of` is read.
    async fn forward(&self, parts: &Parts, body: Vec<u8>, of: Option<Of>, out: &mut Out) {
        let sent = tokio::select! {
            sent = self.send(parts, body) => sent,
            () = out.closed() => return,
        };
        match (sent, of) {
            (Ok(response), Some(mut of)) => pass(self, response, &mut of, out).await,
            (Ok(mut response), None) => {
                out.begin(response.status(), forwarded(response.headers()));
                loop {
                    let chunk = tokio::select! {
                        chunk = response.chunk() => chunk,
                        () = out.closed() => return,
                    };
                    match chunk {
                        Ok(Some(chunk)) => out.send(chunk).await,
                        Ok(None) => return,
                        Err(error) => return out.fail(error.into()).await,
                    }
                }
            }
            (Err(error), _) => unreached(None, out, &error).await,
        }
    }

    async fn send(&self, parts: &Parts, body: Vec<u8>) -> reqwest::Result<reqwest::Response> {
        let mut url = self.target.clone();
        url.set_path(parts.uri.path());
        url.set_query(parts.uri.query().or(self.target.query()));
        let mut headers = forwarded(&parts.headers);
        // Answers are read.
        headers.remove(ACCEPT_ENCODING);
        let mut request = reqwest::Request::new(parts.method.clone(), url);
        let has_body = !body.is_empty() || parts.method == Method::POST;
        if has_body {
            headers = crate::watch::upstream::with_length(headers, body.len());
        }
        *request.headers_mut() = headers;
        *request.body_mut() = has_body.then(|| body.into());
        self.client.execute(request).await
    }
}
