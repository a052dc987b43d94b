//! Answers one request: refuses it, passes it on unread, or hands it to the session.

use std::rc::Rc;
use std::sync::atomic::Ordering;

use hyper::body::{Body, Incoming};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};

use super::door::Entered;
use super::exchange::{self, Exchange, unreached};
use super::metered::Meter;
use super::own_answer::plain;
use super::request::{self, Posted};
use super::room::LONGEST;
use super::route::{self, Route};
use super::shared::ListenerState;
use super::{
    AnswerResult, Broken, Outgoing, background, door, early_answer, socket, tunnel, upstream,
};
use crate::intercept::Intercepted;
use crate::model::hosted::Overheard;
use crate::model::relay::ListenerNews;

/// Answers a request.
///
/// # Errors
/// The connection ends without an answer.
pub async fn answer(shared: Rc<ListenerState>, request: Request<Incoming>) -> AnswerResult {
    let (parts, body) = request.into_parts();
    if parts.method == Method::CONNECT {
        return tunnel::connect(&shared, &parts);
    }
    let token = shared.token.as_deref();
    let opened = parts.extensions.get::<Intercepted>();
    let entered = match opened {
        // Its connection was let in.
        Some(_) => Entered { path: parts.uri.path().to_owned(), session: None },
        None => match door::enter(parts.uri.path(), &parts.headers, token, shared.is_open) {
            Ok(entered) => entered,
            Err((status, why)) => return Ok(plain(status, why)),
        },
    };
    if let Some(answer) = own(&parts, &entered.path, opened.is_some()) {
        return Ok(answer);
    }
    let way = (entered.path.as_str(), parts.uri.query());
    let route = match opened {
        Some(to) => route::opened(to, &parts.method, way, &parts.headers),
        None => Some(route::route(&shared.upstreams, &parts.method, way, &parts.headers)),
    };
    let Some(route) = route else {
        return Ok(plain(StatusCode::BAD_REQUEST, "the host of this connection has no address"));
    };
    request::hide_keys(&parts.headers, &route.url);
    shared.learn_login();
    if socket::is_asked_for(&parts.headers) {
        return socket::open(&shared, &parts, entered.session, route).await;
    }
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
    let request = exchange::AgentRequest { format, route, headers, body, socket: None };
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
    let envelope = exchange.envelope.clone();
    let answered = early_answer::answer(kept, asker, exchange.question, |waiting| async move {
        let answered = exchange.run(&waiting).await;
        drop(room);
        match answered {
            Ok(answered) => answered,
            Err(unread) => passing.pass(&parts, Some(unread.body.into()), Some(unread.why)).await,
        }
    })
    .await?;
    match envelope {
        Some(envelope) => envelope.close(answered).await,
        None => Ok(answered),
    }
}

/// Answers requests that toolyard handles itself; `None` if the request is passed on.
fn own(parts: &Parts, path: &str, is_opened: bool) -> Option<Response<Outgoing>> {
    let is_root = matches!(path, "" | "/") && matches!(parts.method, Method::GET | Method::HEAD);
    if is_root && !is_opened {
        return Some(plain(StatusCode::OK, ""));
    }
    let has_socket = ["/responses", "/realtime"].iter().any(|end| path.ends_with(end));
    if socket::is_asked_for(&parts.headers) && !has_socket {
        return Some(socket::refused());
    }
    None
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
        let (news, endpoint) = (shared.news.clone(), route.endpoint);
        // A session that has ended needs no news.
        let _ = news.send(ListenerNews::Passed { what: what.clone(), why });
        let clients = match &shared.clients {
            Ok(clients) => clients,
            Err(why) => return Ok(unreached(route.errors, &route.host, why)),
        };
        let to = (parts.method.clone(), route.url);
        let headers = upstream::forwarded(&parts.headers);
        match upstream::send(clients, to, headers, body).await {
            Ok(response) => {
                let is_ok = response.status().is_success();
                let meter = is_ok.then(|| Meter::of(&what, &endpoint, response.headers(), &news));
                Ok(passed(response, meter.flatten()))
            }
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
fn passed(response: reqwest::Response, mut meter: Option<Meter>) -> Response<Outgoing> {
    use http_body_util::BodyExt;
    let (parts, body) = Response::<reqwest::Body>::from(response).into_parts();
    let body = body.map_err(Broken::from).map_frame(move |frame| {
        if let (Some(meter), Some(bytes)) = (&mut meter, frame.data_ref()) {
            meter.take(bytes);
        }
        frame
    });
    let mut passed = Response::new(Box::pin(body) as Outgoing);
    *passed.status_mut() = parts.status;
    *passed.headers_mut() = upstream::forwarded(&parts.headers);
    passed
}
