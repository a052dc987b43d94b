//! Answers one request: refuses it, passes it on unread, or hands it to the session.

use std::rc::Rc;
use std::sync::atomic::Ordering;

use hyper::body::{Body, Incoming};
use hyper::header::UPGRADE;
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};

use super::exchange::{self, Exchange, unreached};
use super::own_answer::plain;
use super::request::{self, Posted};
use super::room::LONGEST;
use super::route::{self, Route};
use super::shared::ListenerState;
use super::{AnswerResult, Broken, Outgoing, background, door, early_answer, upstream};
use crate::model::hosted::Overheard;
use crate::model::relay::ListenerNews;

/// Answers a request.
///
/// # Errors
/// The connection ends without an answer.
pub async fn answer(shared: Rc<ListenerState>, request: Request<Incoming>) -> AnswerResult {
    let (parts, body) = request.into_parts();
    let token = shared.token.as_deref();
    let entered = match door::enter(parts.uri.path(), &parts.headers, token, shared.is_open) {
        Ok(entered) => entered,
        Err((status, why)) => return Ok(plain(status, why)),
    };
    if let Some(answer) = own(&parts, &entered.path) {
        return Ok(answer);
    }
    let way = (entered.path.as_str(), parts.uri.query());
    let route = route::route(&shared.upstreams, &parts.method, way, &parts.headers);
    request::hide_keys(&parts.headers, &route.url);
    shared.requests.fetch_add(1, Ordering::Relaxed);
    if route.format.is_none()
        && let Some(answer) = shared.background.find(&route.url)
    {
        let body = (!body.is_end_stream()).then(|| reqwest::Body::wrap(body));
        return background::poll(shared, answer, (&parts, route), body).await;
    }
    let passing = Passing { shared, what: format!("{} {}", parts.method, entered.path), route };
    let Some(format) = passing.route.format else {
        let body = (!body.is_end_stream()).then(|| reqwest::Body::wrap(body));
        return passing.pass(&parts, body, None).await;
    };
    let (body, room) = match request::read(body, LONGEST).await? {
        Posted::Whole(body, room) => (body, room),
        Posted::Long(body, why) => {
            return passing.pass(&parts, Some(body), Some(why.to_owned())).await;
        }
    };
    let headers = upstream::forwarded(&parts.headers);
    let route = passing.route.clone();
    let request = exchange::AgentRequest { format, route, headers, body };
    let read = match request.read(&passing.shared.recent) {
        Ok(read) => read,
        Err(unread) => {
            return passing.pass(&parts, Some(unread.body.into()), Some(unread.why)).await;
        }
    };
    read.hide_keys();
    passing.shared.understood.store(true, Ordering::Relaxed);
    let exchange = Exchange::new(&passing.shared, read, entered.session, &parts.headers);
    let (kept, asker) = (Rc::clone(&passing.shared.kept), exchange.asker.clone());
    early_answer::answer(kept, asker, exchange.question, |waiting| async move {
        let answered = exchange.run(&waiting).await;
        drop(room);
        match answered {
            Ok(answered) => answered,
            Err(unread) => passing.pass(&parts, Some(unread.body.into()), Some(unread.why)).await,
        }
    })
    .await
}

/// Answers requests that toolyard handles itself; `None` if the request is passed on.
fn own(parts: &Parts, path: &str) -> Option<Response<Outgoing>> {
    let is_root = matches!(path, "" | "/") && matches!(parts.method, Method::GET | Method::HEAD);
    if is_root {
        return Some(plain(StatusCode::OK, ""));
    }
    let upgrade = parts.headers.get(UPGRADE).and_then(|name| name.to_str().ok());
    if upgrade.is_some_and(|name| name.eq_ignore_ascii_case("websocket")) {
        let text = "toolyard relays no websockets; use HTTP";
        return Some(plain(StatusCode::UPGRADE_REQUIRED, text));
    }
    let text = "toolyard is no proxy for other addresses; set the base URL of the client to it";
    (parts.method == Method::CONNECT).then(|| plain(StatusCode::METHOD_NOT_ALLOWED, text))
}

/// A request that is about to pass.
struct Passing {
    shared: Rc<ListenerState>,
    /// Method and path, for people.
    what: String,
    route: Route,
}

impl Passing {
    /// Sends a request on unread, and its answer back.
    async fn pass(
        self,
        parts: &Parts,
        body: Option<reqwest::Body>,
        why: Option<String>,
    ) -> AnswerResult {
        let Self { shared, what, route } = self;
        // A session that has ended needs no news.
        let _ = shared.news.send(ListenerNews::Passed { what, why });
        let clients = match &shared.clients {
            Ok(clients) => clients,
            Err(why) => return Ok(unreached(route.errors, &route.host, why)),
        };
        let to = (parts.method.clone(), route.url);
        let headers = upstream::forwarded(&parts.headers);
        match upstream::send(clients, to, headers, body).await {
            Ok(response) => Ok(passed(response)),
            Err(error) => {
                let (host, model) = (route.host, String::new());
                let source = String::new();
                let format = route.errors;
                let overheard = Overheard { format, host, model, source };
                let why = error.told(&overheard).text;
                Ok(unreached(format, &overheard.host, &why))
            }
        }
    }
}

/// An answer that passes as it comes.
fn passed(response: reqwest::Response) -> Response<Outgoing> {
    use http_body_util::BodyExt;
    let (parts, body) = Response::<reqwest::Body>::from(response).into_parts();
    let mut passed = Response::new(Box::pin(body.map_err(Broken::from)) as Outgoing);
    *passed.status_mut() = parts.status;
    *passed.headers_mut() = upstream::forwarded(&parts.headers);
    passed
}
