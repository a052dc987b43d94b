//! Websockets of Responses. Each request on one is an exchange as any other: the frames of its answer are read as the
//! events of a stream, and the events that the client gets become frames again.

use std::collections::VecDeque;
use std::io;
use std::rc::Rc;

use bytes::Bytes;
use futures::{SinkExt, StreamExt};
use http_body_util::BodyExt;
use hyper::header::{
    CONNECTION, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_EXTENSIONS, SEC_WEBSOCKET_KEY,
    UPGRADE,
};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Response, StatusCode};
use reqwest::Upgraded;
use serde_json::{Value, json};
use tokio::io::copy_bidirectional;
use tokio::sync::mpsc::{Sender, UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::{AbortHandle, spawn_local};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

use super::answer::passed;
use super::connections::{ClientStream, Left, Upgrade};
use super::exchange::{AgentRequest, Exchange};
use super::own_answer::plain;
use super::patience::Waiting;
use super::room::LONGEST;
use super::route::Route;
use super::shared::ListenerState;
use super::socket_line::{Order, SocketLine};
use super::upstream::Came;
use super::{AnswerResult, Broken, Outgoing, upstream};
use crate::model::relay::ListenerNews;
use crate::wire::errors::is_error;
use crate::wire::sse::Parser;
use crate::wire::{AddressFacts, AnswerForm, WireFormat, json};

/// The most websockets that are open at once.
const MOST: usize = 256;
/// The type of a frame that asks for an answer.
const CREATE: &str = "response.create";

/// Whether a request asks for a websocket.
pub fn is_asked_for(headers: &HeaderMap) -> bool {
    let upgrade = headers.get(UPGRADE).and_then(|name| name.to_str().ok());
    upgrade.is_some_and(|name| name.eq_ignore_ascii_case("websocket"))
}

/// The answer where there is no websocket, upon which clients use HTTP.
pub fn refused() -> Response<Outgoing> {
    plain(StatusCode::UPGRADE_REQUIRED, "there is no websocket at this endpoint; use HTTP")
}

/// The endpoint at the address of a websocket.
enum There {
    Socket(Box<Upgraded>, HeaderMap),
    Nothing,
    /// The endpoint refuses this client, which can do something about that.
    Refused(reqwest::Response),
    /// The endpoint cannot be reached. A session may have answers nevertheless, as it has of a record.
    Unreached,
}

/// Opens a websocket if the endpoint has one.
///
/// # Errors
/// As of any request.
pub async fn open(
    shared: &Rc<ListenerState>,
    parts: &Parts,
    session: Option<String>,
    route: Route,
) -> AnswerResult {
    let Some(upgrade) = parts.extensions.get::<Upgrade>() else { return Ok(refused()) };
    if shared.sockets.get() >= MOST {
        return Ok(plain(StatusCode::SERVICE_UNAVAILABLE, "too many websockets are open"));
    }
    let is_realtime = route.url.path().ends_with("/realtime");
    let key = parts.headers.get(SEC_WEBSOCKET_KEY).map_or(&b""[..], HeaderValue::as_bytes);
    let (upstream, mut headers) = match handshake(shared, parts, &route).await {
        There::Socket(upstream, headers) => (Some(*upstream), headers),
        There::Refused(response) if is_realtime || !shared.has_record => {
            return Ok(passed(Came::from(response)));
        }
        There::Unreached if is_realtime => return Ok(refused()),
        There::Nothing => return Ok(refused()),
        // Over a record no login is needed.
        There::Refused(_) | There::Unreached => (None, HeaderMap::new()),
    };
    if let (None, Ok(accept)) = (&upstream, HeaderValue::try_from(derive_accept_key(key))) {
        headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
    }
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    let client = upgrade.ask();
    let shared = Rc::clone(shared);
    shared.sockets.update(|open| open + 1);
    if is_realtime {
        let what = format!("{} {}", parts.method, route.url.path());
        let _ = shared.news.send(ListenerNews::Passed { what, why: None });
        spawn_local(pass(shared, client, upstream));
    } else {
        let headers = upstream::forwarded(&parts.headers);
        let (line, orders) = unbounded_channel();
        let asking = Asking { shared, own: parts.headers.clone(), headers, session, route, line };
        spawn_local(serve(asking, client, upstream, orders));
    }
    let mut response = plain(StatusCode::SWITCHING_PROTOCOLS, "");
    *response.headers_mut() = headers;
    Ok(response)
}

/// Asks the endpoint for a websocket, without compression, since compressed frames cannot be read.
async fn handshake(shared: &ListenerState, parts: &Parts, route: &Route) -> There {
    let Ok(clients) = &shared.clients else { return There::Unreached };
    let mut headers = upstream::forwarded(&parts.headers);
    headers.remove(SEC_WEBSOCKET_EXTENSIONS);
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    let to = (Method::GET, route.url.clone());
    let Ok(response) = upstream::send(clients, to, headers, None).await else {
        return There::Unreached;
    };
    let (status, headers) = (response.status(), upstream::forwarded(response.headers()));
    if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::TOO_MANY_REQUESTS) {
        return There::Refused(response);
    }
    match (status, response.upgrade().await) {
        (StatusCode::SWITCHING_PROTOCOLS, Ok(upgraded)) => {
            There::Socket(Box::new(upgraded), headers)
        }
        _ => There::Nothing,
    }
}

/// Passes bytes on unread, until one side ends.
async fn pass(
    shared: Rc<ListenerState>,
    client: oneshot::Receiver<Left>,
    upstream: Option<Upgraded>,
) {
    if let (Ok((mut client, begun)), Some(mut upstream)) = (client.await, upstream) {
        let sent = tokio::io::AsyncWriteExt::write_all(&mut upstream, &begun).await;
        if sent.is_ok() {
            let _ = copy_bidirectional(&mut client, &mut upstream).await;
        }
    }
    shared.sockets.update(|open| open - 1);
}

/// Makes exchanges of the frames of a client.
struct Asking {
    shared: Rc<ListenerState>,
    /// The headers of the client, and those to send on.
    own: HeaderMap,
    headers: HeaderMap,
    session: Option<String>,
    route: Route,
    line: UnboundedSender<Order>,
}

impl Asking {
    /// Begins the exchange of a request, whose frames go to `out`; or returns the frame if it cannot be read.
    fn begin(
        &self,
        frame: Utf8Bytes,
        out: UnboundedSender<Message>,
    ) -> Result<AbortHandle, Utf8Bytes> {
        let facts = AddressFacts { form: Some(AnswerForm::Events), ..AddressFacts::default() };
        let request = AgentRequest {
            format: WireFormat::Responses,
            route: Route { facts, ..self.route.clone() },
            headers: self.headers.clone(),
            body: Bytes::copy_from_slice(frame.as_bytes()),
            socket: Some(SocketLine::of(&self.line)),
        };
        let read = match request.read(&self.shared.recent) {
            Ok(read) => read,
            Err(unread) => {
                let what = "a frame of a websocket".to_owned();
                let _ = self.shared.news.send(ListenerNews::Passed { what, why: Some(unread.why) });
                return Err(frame);
            }
        };
        read.hide_keys();
        self.shared.learn_login();
        self.shared.understood.store(true, std::sync::atomic::Ordering::Relaxed);
        let exchange = Exchange::new(&self.shared, read, self.session.clone(), &self.own);
        let task = spawn_local(async move {
            // Frames without content keep a client as long as it takes, so nothing has to begin early.
            let (waiting, _) = Waiting::new(exchange.asker.patience);
            let Ok(Ok(answer)) = exchange.run(&waiting).await else { return };
            let _ = give(answer, &out).await;
        });
        Ok(task.abort_handle())
    }
}

/// Sends an answer as frames.
///
/// # Errors
/// The answer breaks, or the client is gone.
async fn give(answer: Response<Outgoing>, out: &UnboundedSender<Message>) -> Result<(), Broken> {
    let (parts, mut body) = answer.into_parts();
    if !parts.status.is_success() {
        let text = body.collect().await?.to_bytes();
        let said: Value = json::read(&text).unwrap_or_default();
        let status = parts.status.as_u16();
        let frame = json!({"type": "error", "status": status, "error": said["error"]});
        return Ok(out.send(Message::text(frame.to_string()))?);
    }
    let mut parser = Parser::default();
    while let Some(frame) = body.frame().await.transpose()? {
        let Ok(bytes) = frame.into_data() else { continue };
        let events = parser.feed(&bytes)?;
        if events.is_empty() {
            // A comment, for a client that waits. Frames of the protocol itself are invisible to agents.
            out.send(Message::Ping(Bytes::new()))?;
        }
        for event in events {
            out.send(Message::text(event.data))?;
        }
    }
    for event in parser.finish() {
        out.send(Message::text(event.data))?;
    }
    Ok(())
}

/// The frames on their way between a client and its endpoint.
struct Traffic {
    asking: Asking,
    /// Requests that wait for the end of the one at work.
    waiting: VecDeque<Utf8Bytes>,
    /// The exchange at work, and the end of its frames.
    work: Option<(AbortHandle, UnboundedReceiver<Message>)>,
    /// Where the events of the current answer go.
    events: Option<Sender<io::Result<Bytes>>>,
    /// How the endpoint ended the websocket, if it did: with a frame, or without one.
    last: Option<Option<Message>>,
}

/// Serves a websocket until one side ends it.
async fn serve(
    asking: Asking,
    client: oneshot::Receiver<Left>,
    upstream: Option<Upgraded>,
    mut orders: UnboundedReceiver<Order>,
) {
    let shared = Rc::clone(&asking.shared);
    let config = WebSocketConfig::default().max_message_size(Some(LONGEST));
    let config = config.max_frame_size(Some(LONGEST));
    if let Ok((stream, begun)) = client.await {
        let client =
            WebSocketStream::from_partially_read(stream, begun.into(), Role::Server, Some(config));
        let upstream = async {
            match upstream {
                Some(io) => {
                    Some(WebSocketStream::from_raw_socket(io, Role::Client, Some(config)).await)
                }
                None => None,
            }
        };
        let (mut client, mut upstream) = (client.await, upstream.await);
        let mut traffic =
            Traffic { asking, waiting: VecDeque::new(), work: None, events: None, last: None };
        while traffic.step(&mut client, &mut upstream, &mut orders).await.is_some() {}
        if let Some((work, _)) = traffic.work {
            work.abort();
        }
    }
    shared.sockets.update(|open| open - 1);
}

type ClientSocket = WebSocketStream<Box<dyn ClientStream>>;
type UpstreamSocket = Option<WebSocketStream<Upgraded>>;

impl Traffic {
    /// Handles what comes next; `None` at the end.
    async fn step(
        &mut self,
        client: &mut ClientSocket,
        upstream: &mut UpstreamSocket,
        orders: &mut UnboundedReceiver<Order>,
    ) -> Option<()> {
        let of_work = async {
            match &mut self.work {
                Some((_, frames)) => frames.recv().await,
                None => std::future::pending().await,
            }
        };
        let of_upstream = async {
            match &mut *upstream {
                Some(upstream) => upstream.next().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            frame = of_work => match frame {
                Some(frame) => client.send(frame).await.ok()?,
                None => {
                    self.work = None;
                    self.next(upstream).await?;
                    self.end(client).await?;
                }
            },
            Some(order) = orders.recv() => self.order(order, upstream).await?,
            frame = client.next() => match frame?.ok()? {
                Message::Text(text) if is_request(&text) => {
                    self.waiting.push_back(text);
                    self.next(upstream).await?;
                }
                Message::Ping(_) | Message::Pong(_) => {}
                frame @ Message::Close(_) => {
                    if let Some(upstream) = upstream {
                        let _ = upstream.send(frame).await;
                    }
                    return None;
                }
                frame => self.pass(frame, upstream).await?,
            },
            frame = of_upstream => match frame.and_then(Result::ok) {
                Some(Message::Ping(_) | Message::Pong(_)) => {}
                Some(Message::Text(text)) if self.events.is_some() => self.answer(&text).await,
                Some(frame) if !frame.is_close() => client.send(frame).await.ok()?,
                last => {
                    // What came before it goes out first.
                    self.break_off().await;
                    self.last = Some(last);
                    *upstream = None;
                    self.end(client).await?;
                }
            },
        }
        Some(())
    }

    /// Ends the websocket if the endpoint did, and no answer is at work.
    async fn end(&mut self, client: &mut ClientSocket) -> Option<()> {
        if self.last.is_none() || self.work.is_some() {
            return Some(());
        }
        if let Some(Some(frame)) = self.last.take() {
            let _ = client.send(frame).await;
        }
        None
    }

    /// Begins the next request if none is at work.
    async fn next(&mut self, upstream: &mut UpstreamSocket) -> Option<()> {
        while self.work.is_none()
            && let Some(frame) = self.waiting.pop_front()
        {
            let (out, frames) = unbounded_channel();
            match self.asking.begin(frame, out) {
                Ok(work) => self.work = Some((work, frames)),
                Err(frame) => self.pass(Message::Text(frame), upstream).await?,
            }
        }
        Some(())
    }

    /// Sends a request of an exchange.
    async fn order(&mut self, order: Order, upstream: &mut UpstreamSocket) -> Option<()> {
        let Ok(text) = Utf8Bytes::try_from(order.body) else { return Some(()) };
        match upstream {
            Some(upstream) => {
                upstream.send(Message::Text(text)).await.ok()?;
                self.events = Some(order.events);
            }
            None => {
                let why = io::Error::new(io::ErrorKind::NotConnected, "the endpoint is not there");
                let _ = order.events.send(Err(why)).await;
            }
        }
        Some(())
    }

    async fn pass(&mut self, frame: Message, upstream: &mut UpstreamSocket) -> Option<()> {
        match upstream {
            Some(upstream) => upstream.send(frame).await.ok(),
            None => Some(()),
        }
    }

    /// Adds an event to the current answer.
    async fn answer(&mut self, text: &str) {
        let Some(events) = &self.events else { return };
        let lines: String = text.lines().map(|line| format!("data: {line}\n")).collect();
        let _ = events.send(Ok((lines + "\n").into())).await;
        let is_last = WireFormat::Responses.is_end(text)
            || json::read(text.as_bytes()).is_ok_and(|event| is_error(&event));
        if is_last {
            self.events = None;
        }
    }

    /// Ends the current answer where the connection broke.
    async fn break_off(&mut self) {
        if let Some(events) = self.events.take() {
            let why = io::Error::new(io::ErrorKind::ConnectionReset, "the websocket was closed");
            let _ = events.send(Err(why)).await;
        }
    }
}

/// Whether a frame asks for an answer.
fn is_request(frame: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct Typed<'a> {
        #[serde(borrow, rename = "type")]
        kind: std::borrow::Cow<'a, str>,
    }
    serde_json::from_str::<Typed<'_>>(frame).is_ok_and(|frame| frame.kind == CREATE)
}
