//! Accepts the requests of clients.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;

use hyper::body::Incoming;
use hyper::header::ACCEPT_ENCODING;
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use reqwest::Client;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{Notify, oneshot};

use super::client_answer::{Gone, Out};
use super::sides::HttpSides;
use super::target::RelayTarget;
use crate::mcp::OfferedTools;
use crate::mcp::relay::{Book, Given, ListDecision, RelayedCall, Sides, answers, listed, read};
use crate::net::guard::{self, Redirects};
use crate::tool::foreign_calls::RelayNews;
use crate::watch::request::{self, Posted};
use crate::watch::upstream::{Came, forwarded};
use crate::watch::{AnswerResult, Bound, connections, door, passed, plain};

/// The most bytes of a request that is read.
const LONGEST: usize = 8 << 20;
/// The header by which a client names its session with the server.
const SESSION: &str = "mcp-session-id";

/// A server behind this relay.
#[derive(Debug)]
pub struct Relaying {
    /// The address where the relay listens: on loopback.
    pub socket: Bound,
    pub target: RelayTarget,
    /// Name of the server in the session.
    pub key: String,
    pub news: UnboundedSender<RelayNews>,
    /// The tools that clients may read.
    pub offered: OfferedTools,
}

/// State that all requests share.
pub struct HttpRelay {
    pub book: Rc<RefCell<Book>>,
    target: RelayTarget,
    /// The path of all requests.
    path: String,
    client: Client,
}

/// Listens until this is dropped. Needs a local set.
///
/// # Errors
/// The address is refused, or the socket does not work.
pub async fn serve(relaying: Relaying) -> io::Result<()> {
    let Relaying { socket, target, key, news, offered } = relaying;
    if !target.any_address {
        guard::check(target.url()).map_err(io::Error::other)?;
    }
    let client = guard::builder(target.any_address, Redirects::SameServer).build();
    let client = client.map_err(io::Error::other)?;
    let book = Rc::new(RefCell::new(Book::new(key.into(), news, offered)));
    let path = target.path();
    let shared = Rc::new(HttpRelay { book, target, path, client });
    let answer = move |request| answer(Rc::clone(&shared), request);
    connections::serve(socket.into_socket(), answer).await
}

/// Answers a request.
async fn answer(shared: Rc<HttpRelay>, request: Request<Incoming>) -> AnswerResult {
    let (parts, body) = request.into_parts();
    let token = shared.target.token.as_deref();
    let entered = door::enter(parts.uri.path(), &parts.headers, token, token.is_none());
    if let Err((status, why)) = entered {
        return Ok(plain(status, why));
    }
    let path = match parts.headers.contains_key(door::TOKEN) {
        true => shared.target.url().path(),
        false => &shared.path,
    };
    if parts.uri.path() != path {
        let why = "this relay has its server's path only; its address says it";
        return Ok(plain(StatusCode::NOT_FOUND, why));
    }
    request::hide_keys(&parts.headers, shared.target.url());
    let (body, room) = match request::read(body, LONGEST).await? {
        Posted::Whole(body, room) => (body, room),
        Posted::Long(body, why) => return shared.pass(&parts, body, why).await,
    };
    let (respond, response) = oneshot::channel();
    let gone = Rc::new(Notify::new());
    let (out, waits) = (Out::new(respond, &gone), Gone::new(&gone));
    let exchange = async move {
        let _until_it_is_answered = room;
        shared.exchange(&parts, body.into(), out, &gone).await
    };
    tokio::task::spawn_local(exchange);
    let answered = response.await;
    waits.end();
    answered.or_else(|_| {
        let mut broken: Response<_> = plain(StatusCode::BAD_GATEWAY, "the request was given up");
        broken.headers_mut().clear();
        Ok(broken)
    })
}

fn session_of(headers: &HeaderMap) -> &str {
    headers.get(SESSION).and_then(|session| session.to_str().ok()).unwrap_or_default()
}

impl HttpRelay {
    /// Carries one request to the server, and its answer to the client, which may be `gone` before.
    async fn exchange(&self, parts: &Parts, body: Vec<u8>, mut out: Out, gone: &Rc<Notify>) {
        let session = session_of(&parts.headers);
        let message = read(&body).filter(|_| parts.method == Method::POST);
        let Some((text, message)) = message else {
            let calls = match listed(&self.book, &body, session, gone).await {
                ListDecision::On(calls) => calls,
                ListDecision::Refused(answer) => return out.answer(&answer).await,
            };
            return self.forward(parts, body, calls, out, gone).await;
        };
        let call = message.call(text).map(|asked| asked.within(session));
        let refusal = call.as_ref().and_then(|asked| self.book.borrow().refusal(asked));
        if let Some(answer) = refusal {
            return out.answer(&answer).await;
        }
        if let Some(call) = call.and_then(|asked| RelayedCall::of(&self.book, asked, &body, gone)) {
            let mut sides = HttpSides::new(self, parts, vec![call.asked.id.clone()], out);
            call.pass(&mut sides).await;
            return unless_gone(sides.finish(), gone).await;
        }
        let cancelled = message.cancelled().map(|id| id.within(session));
        if cancelled.is_some_and(|id| !self.book.borrow_mut().give_up(&id)) {
            // The server does not know this call.
            return out.end(StatusCode::ACCEPTED, HeaderMap::new(), Default::default()).await;
        }
        match message.id().filter(|_| message.method.as_deref() == Some("tools/list")) {
            Some(id) => {
                let mut sides = HttpSides::new(self, parts, vec![id], out);
                unless_gone(self.list(body.clone(), &mut sides), gone).await;
                unless_gone(sides.finish(), gone).await;
            }
            None => self.forward(parts, body.clone(), Vec::new(), out, gone).await,
        }
    }

    async fn list(&self, body: Vec<u8>, sides: &mut HttpSides<'_>) {
        match sides.ask(body).await {
            Ok(Some(line)) => {
                let changed = self.book.borrow_mut().listed(&line);
                sides.give(changed.map_or(Given::AsCame, Given::made)).await;
            }
            Ok(None) => {}
            Err(why) => sides.fail(why).await,
        }
    }

    /// Passes a request as it is. The session is told the answers to the calls in it.
    async fn forward(
        &self,
        parts: &Parts,
        body: Vec<u8>,
        mut calls: Vec<RelayedCall>,
        out: Out,
        gone: &Rc<Notify>,
    ) {
        let ids = calls.iter().map(|call| call.asked.id.clone()).collect();
        let mut sides = HttpSides::new(self, parts, ids, out);
        let passing = async {
            let mut came = sides.ask(body).await;
            while let Ok(Some(part)) = came {
                let is_only = calls.len() == 1;
                let of = calls.iter().position(|call| answers(&part, &call.asked.id, is_only));
                match of.map(|at| calls.swap_remove(at)) {
                    Some(call) => call.came(&mut sides, Some(part)).await,
                    None => sides.give(Given::AsCame).await,
                }
                came = Ok(sides.next().await);
            }
            if let Err(why) = came {
                sides.fail(why).await;
            }
            for call in calls {
                call.came(&mut sides, None).await;
            }
            sides.finish().await;
        };
        unless_gone(passing, gone).await;
    }

    /// Sends a body, of which the answer is read.
    pub async fn send(&self, parts: &Parts, body: Vec<u8>) -> reqwest::Result<reqwest::Response> {
        let mut headers = forwarded(&parts.headers);
        headers.remove(ACCEPT_ENCODING);
        let has_body = !body.is_empty() || parts.method == Method::POST;
        if has_body {
            headers = crate::watch::upstream::with_length(headers, body.len());
        }
        self.post(parts, headers, has_body.then(|| body.into())).await
    }

    /// Passes a body that is not read, and its answer.
    async fn pass(&self, parts: &Parts, body: reqwest::Body, why: &str) -> AnswerResult {
        self.book.borrow().notice(|key| format!("a request went to {key} unread: {why}"));
        match self.post(parts, forwarded(&parts.headers), Some(body)).await {
            Ok(response) => Ok(passed(Came::from(response))),
            Err(error) => {
                let why = format!("the server cannot be reached: {error}");
                Ok(plain(StatusCode::BAD_GATEWAY, why))
            }
        }
    }

    async fn post(
        &self,
        parts: &Parts,
        headers: HeaderMap,
        body: Option<reqwest::Body>,
    ) -> reqwest::Result<reqwest::Response> {
        let (method, query) = (parts.method.clone(), parts.uri.query());
        let mut request = self.target.request(&self.client, method, query, headers)?;
        *request.body_mut() = body;
        self.client.execute(request).await
    }
}

/// Runs this as long as the client waits.
async fn unless_gone(work: impl Future<Output = ()>, gone: &Notify) {
    tokio::select! {
        () = work => {}
        () = gone.notified() => {}
    }
}
