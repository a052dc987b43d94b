//! HTTP as servers speak it: the client behind the SDK's transport. A refusal is an answer with the server's words, so
//! that no request waits for an answer that never comes.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use futures::stream::{self, BoxStream, StreamExt};
use memchr::memmem;
use reqwest::header::{
    ACCEPT, CONTENT_TYPE, COOKIE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER, SET_COOKIE,
    WWW_AUTHENTICATE,
};
use reqwest::{Client, Method, Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, SseError, StreamableHttpClient, StreamableHttpError,
    StreamableHttpPostResponse,
};
use serde_json::Value;
use sse_stream::{Sse, SseStream};
use tokio::time::{sleep, timeout};

use super::log::Log;
use super::message_repair::{self, Asked};
use crate::net::{client, retry_after};
use crate::wire::json;

/// The largest answer, and the largest event of a stream, in bytes.
const LARGEST: usize = 16 << 20;
/// How long a server may take to refuse `server/discover`, which it may not know.
const DISCOVER: Duration = Duration::from_secs(8);
/// The longest wait before a refused request is sent again.
const LONGEST_WAIT: Duration = Duration::from_secs(20);
/// How long a server of the old transport may take until its first event.
const FIRST_EVENT: Duration = Duration::from_secs(3);
/// The most cookies, and the most bytes of one.
const COOKIES: usize = 50;
const COOKIE_SIZE: usize = 4096;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
const EVENTS: &str = "text/event-stream";
const ACCEPTED: HeaderValue = HeaderValue::from_static("text/event-stream, application/json");

const OLD: &str = "the server speaks the old transport HTTP+SSE, which toolyard does not; most servers have \
                   streamable HTTP, too, often at /mcp instead of /sse: write that address";

type Fault = StreamableHttpError<reqwest::Error>;
type Events = BoxStream<'static, Result<Sse, SseError>>;
type Headers = HashMap<HeaderName, HeaderValue>;

/// The client of one server.
#[derive(Clone)]
pub struct HttpClient {
    http: Client,
    log: Arc<Log>,
    known: Arc<Mutex<Known>>,
    /// Whether the server cannot bear `server/discover`.
    pub fears_discover: Arc<AtomicBool>,
}

/// The knowledge that the exchanges with a server share.
#[derive(Default)]
struct Known {
    asked: Asked,
    cookies: BTreeMap<String, String>,
    /// The request for which the session was renewed last.
    renewed: Option<i64>,
}

impl HttpClient {
    pub fn new(http: Client, log: Arc<Log>) -> Self {
        Self { http, log, known: Arc::default(), fears_discover: Arc::default() }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // The guarded data is consistent at every moment, even after a panic.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn send(
        &self,
        method: Method,
        uri: &str,
        mut headers: HeaderMap,
        body: Option<&ClientJsonRpcMessage>,
    ) -> Result<Response, reqwest::Error> {
        let mut cookies = Vec::from_iter(headers.get(COOKIE).and_then(|own| own.to_str().ok()));
        let known = self.known().cookies.clone();
        let pairs: Vec<_> = known.iter().map(|(name, value)| format!("{name}={value}")).collect();
        cookies.extend(pairs.iter().map(String::as_str));
        if let Ok(mut cookies) = HeaderValue::try_from(cookies.join("; "))
            && !cookies.is_empty()
        {
            cookies.set_sensitive(true);
            headers.insert(COOKIE, cookies);
        }
        let request = self.http.request(method, uri).headers(headers);
        let response = match body {
            Some(body) => request.json(body),
            None => request,
        };
        let response = response.send().await?;
        self.keep_cookies(&response);
        Ok(response)
    }

    /// Keeps the cookies of an answer. Only this server gets them: no redirect leads to another one.
    fn keep_cookies(&self, response: &Response) {
        let url = response.url();
        let is_safe = url.scheme() == "https" || client::is_local(url);
        for cookie in response.headers().get_all(SET_COOKIE) {
            let mut parts = cookie.to_str().unwrap_or_default().split(';').map(str::trim);
            let pair = parts.next().and_then(|pair| pair.split_once('='));
            let Some((name, value)) = pair.filter(|(name, _)| !name.is_empty()) else { continue };
            let attributes: BTreeMap<String, &str> = parts
                .map(|part| part.split_once('=').unwrap_or((part, "")))
                .map(|(name, value)| (name.to_ascii_lowercase(), value))
                .collect();
            if attributes.contains_key("secure") && !is_safe {
                continue;
            }
            let cookies = &mut self.known().cookies;
            let age = attributes.get("max-age").and_then(|age| age.parse::<i64>().ok());
            if age.is_some_and(|age| age <= 0) {
                cookies.remove(name);
            } else if cookies.len() < COOKIES && name.len() + value.len() < COOKIE_SIZE {
                cookies.insert(name.to_owned(), value.to_owned());
            }
        }
    }

    /// Posts a message, and once more where the server has not worked on it.
    async fn posted(
        &self,
        uri: &str,
        message: &ClientJsonRpcMessage,
        headers: &HeaderMap,
    ) -> Result<Response, reqwest::Error> {
        let is_call = matches!(message, ClientJsonRpcMessage::Request(request)
            if matches!(request.request, ClientRequest::CallToolRequest(_)));
        let send = || self.send(Method::POST, uri, headers.clone(), Some(message));
        let response = match send().await {
            // The connection was closed without an answer: only a tool may have done something.
            Err(error)
                if error.is_request() && !error.is_connect() && !error.is_timeout() && !is_call =>
            {
                send().await?
            }
            sent => sent?,
        };
        let status = response.status();
        let is_busy =
            matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE);
        let wait = retry_after::asked(response.headers(), SystemTime::now()).unwrap_or_default();
        if is_busy && response.headers().contains_key(RETRY_AFTER) && wait <= LONGEST_WAIT {
            sleep(wait).await;
            return send().await;
        }
        Ok(response)
    }

    async fn exchange(
        &self,
        uri: &str,
        message: &ClientJsonRpcMessage,
        headers: HeaderMap,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        let request = match message {
            ClientJsonRpcMessage::Request(request) => Some(request),
            _ => None,
        };
        let response = self.posted(uri, message, &headers).await.map_err(Fault::Client)?;
        let status = response.status();
        let header =
            |name: HeaderName| Some(response.headers().get(name)?.to_str().ok()?.to_owned());
        if let (StatusCode::UNAUTHORIZED, Some(challenge)) = (status, header(WWW_AUTHENTICATE)) {
            return Err(Fault::AuthRequired(AuthRequiredError::new(challenge)));
        }
        let (session, has_session) = (header(SESSION), headers.contains_key(SESSION));
        let is_stream = has_events(&response);
        let Some((id, asked)) = request.and_then(|request| match request.id {
            RequestId::Number(id) => Some((id, &request.request)),
            RequestId::String(_) => None,
        }) else {
            // Nothing is awaited.
            return match status {
                status if status.is_success() => Ok(StreamableHttpPostResponse::Accepted),
                StatusCode::NOT_FOUND if has_session => Err(Fault::SessionExpired),
                _ => Err(refusal(status, &body(response).await)),
            };
        };
        if status.is_success() && is_stream {
            return Ok(StreamableHttpPostResponse::Sse(self.events(response, Some(id)), session));
        }
        // The answer comes in the session's stream.
        if status == StatusCode::ACCEPTED && has_session {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        let body = body(response).await;
        if has_session && is_lost(status, &body) && self.known().renewed.replace(id) != Some(id) {
            return Err(Fault::SessionExpired);
        }
        let is_first = matches!(asked, ClientRequest::InitializeRequest(_));
        if is_first && status.is_client_error() && self.is_old(uri, headers).await {
            return Ok(StreamableHttpPostResponse::Json(
                message_repair::failure(id, OLD.to_owned()),
                None,
            ));
        }
        // The status says more than a document without an envelope, and who may not enter must know it.
        let is_message = status.is_success()
            || !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
                && json::read(&body).is_ok_and(|it| it.get("jsonrpc").or(it.get("id")).is_some());
        let heard = if is_message { self.known().asked.read(&body, Some(id)) } else { None };
        let is_answer = |message: &ServerJsonRpcMessage| {
            matches!(message, ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_))
        };
        let answer = heard.into_iter().flatten().find(is_answer).unwrap_or_else(|| {
            self.known().asked.forget(id);
            if matches!(asked, ClientRequest::DiscoverRequest(_)) && !status.is_client_error() {
                self.fears_discover.store(true, Ordering::Relaxed);
            }
            message_repair::failure(id, refusal_text(status, &body))
        });
        Ok(StreamableHttpPostResponse::Json(answer, session))
    }

    /// Whether the address is one of the old transport: a stream whose first event names another address.
    async fn is_old(&self, uri: &str, mut headers: HeaderMap) -> bool {
        headers.insert(ACCEPT, HeaderValue::from_static(EVENTS));
        let first = async {
            let mut response = self.send(Method::GET, uri, headers, None).await.ok()?;
            has_events(&response).then_some(())?;
            let first = response.chunk().await.ok()??;
            let is_endpoint = |event: &str| memmem::find(&first, event.as_bytes()).is_some();
            Some(is_endpoint("event: endpoint") || is_endpoint("event:endpoint"))
        };
        timeout(FIRST_EVENT, first).await.is_ok_and(|is_old| is_old == Some(true))
    }

    /// The events of a stream with messages that the SDK reads. All others are empty.
    fn events(&self, response: Response, of: Option<i64>) -> Events {
        let mut size = 0;
        let bytes = response.bytes_stream().map(move |chunk| {
            let chunk = chunk.map_err(io::Error::other)?;
            size = match memmem::rfind(&chunk, b"\n\n")
                .or_else(|| memmem::rfind(&chunk, b"\r\n\r\n"))
            {
                Some(end) => chunk.len() - end,
                None => size + chunk.len(),
            };
            match size > LARGEST {
                true => Err(io::Error::other("an event has more than 16 MiB")),
                false => Ok(chunk),
            }
        });
        let client = self.clone();
        let events = SseStream::from_bytes_stream(bytes);
        events.flat_map(move |event| stream::iter(client.mended(event, of))).boxed()
    }

    fn mended(&self, event: Result<Sse, SseError>, of: Option<i64>) -> Vec<Result<Sse, SseError>> {
        let mut event = match event {
            Ok(event) => event,
            Err(error) => return vec![Err(error)],
        };
        let is_message = matches!(event.event.take().as_deref(), None | Some("" | "message"));
        let data = event.data.take().unwrap_or_default();
        if !is_message || data.trim().is_empty() {
            return vec![Ok(event)];
        }
        let asked = &mut self.known().asked;
        let messages = asked.read(data.as_bytes(), of).unwrap_or_else(|| {
            self.log.unread(data.as_bytes());
            asked.unread(data.as_bytes(), of).into_iter().collect()
        });
        let with = |message| Sse { data: serde_json::to_string(&message).ok(), ..Sse::default() };
        // The event itself has its id and comes last, so that a stream goes on behind its messages.
        let messages = messages.into_iter().map(with).chain([event]);
        messages.map(Ok).collect()
    }
}

impl StreamableHttpClient for HttpClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        custom: Headers,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        self.known().asked.sent(&message);
        let (id, is_discover) = match &message {
            ClientJsonRpcMessage::Request(request) => {
                (Some(&request.id), matches!(request.request, ClientRequest::DiscoverRequest(_)))
            }
            _ => (None, false),
        };
        let exchange = self.exchange(&uri, &message, headers(session.as_deref(), custom));
        let answer = match is_discover {
            false => exchange.await,
            true => timeout(DISCOVER, exchange).await.unwrap_or(Err(Fault::UnexpectedEndOfStream)),
        };
        let Some(RequestId::Number(id)) = id.filter(|_| answer.is_err()) else { return answer };
        self.known().asked.forget(*id);
        match answer {
            Err(Fault::Client(error)) if error.is_connect() || error.is_redirect() => {
                Err(Fault::Client(error))
            }
            Err(error @ (Fault::AuthRequired(_) | Fault::SessionExpired)) => Err(error),
            // The server may still know `initialize`.
            Err(error) if is_discover => {
                self.fears_discover.store(true, Ordering::Relaxed);
                Ok(StreamableHttpPostResponse::Json(
                    message_repair::failure(*id, error.to_string()),
                    None,
                ))
            }
            other => other,
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        _: Option<String>,
        custom: Headers,
    ) -> Result<(), Fault> {
        let sent = self.send(Method::DELETE, &uri, headers(Some(&session), custom), None).await;
        sent.map(drop).map_err(Fault::Client)
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        _: Option<String>,
        custom: Headers,
    ) -> Result<Events, Fault> {
        let mut headers = headers(session.as_deref(), custom);
        if let Some(Ok(last)) = last_event.map(HeaderValue::try_from) {
            headers.insert(LAST_EVENT, last);
        }
        let response = self.send(Method::GET, &uri, headers, None).await.map_err(Fault::Client)?;
        match response.status() {
            StatusCode::METHOD_NOT_ALLOWED => Err(Fault::ServerDoesNotSupportSse),
            status if !status.is_success() => Err(refusal(status, &body(response).await)),
            _ if !has_events(&response) => Err(Fault::UnexpectedContentType(None)),
            _ => Ok(self.events(response, None)),
        }
    }
}

/// The headers of a request. Those of the protocol are the client's own.
fn headers(session: Option<&str>, custom: Headers) -> HeaderMap {
    let mut headers: HeaderMap = custom.into_iter().collect();
    headers.insert(ACCEPT, ACCEPTED);
    if let Some(Ok(session)) = session.map(HeaderValue::try_from) {
        headers.insert(SESSION, session);
    }
    headers
}

fn has_events(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.trim_start().to_ascii_lowercase().starts_with(EVENTS))
}

/// The body as far as it comes; a larger one is cut, and so is no message.
async fn body(mut response: Response) -> Vec<u8> {
    let mut body = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await
        && body.len() <= LARGEST
    {
        body.extend_from_slice(&chunk);
    }
    body
}

/// Whether the server does not know the session.
fn is_lost(status: StatusCode, body: &[u8]) -> bool {
    let words = String::from_utf8_lossy(body).to_lowercase();
    let is_of_none =
        || json::read(body).is_ok_and(|it| it.get("result").is_none() && it["id"].is_null());
    let unknown =
        ["not found", "no valid", "invalid", "expired", "unknown", "missing", "exist", "required"];
    let is_said = || words.contains("session") && unknown.iter().any(|it| words.contains(it));
    status == StatusCode::NOT_FOUND || (status.is_client_error() || is_of_none()) && is_said()
}

fn refusal(status: StatusCode, body: &[u8]) -> Fault {
    Fault::UnexpectedServerResponse(Cow::Owned(refusal_text(status, body)))
}

/// A refusal in the server's words.
fn refusal_text(status: StatusCode, body: &[u8]) -> String {
    let said = match json::read(body) {
        Ok(value) => words(&value, 4).unwrap_or_else(|| value.to_string()),
        Err(_) => {
            let text = String::from_utf8_lossy(body);
            let title =
                text.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
            title.map_or_else(|| text.to_string(), |(title, _)| title.to_owned())
        }
    };
    let said = message_repair::beginning(said.as_bytes());
    match (status.is_success(), said.is_empty()) {
        (true, true) => {
            format!("the server has answered with HTTP {status}, and without a message")
        }
        (true, false) => format!("its answer cannot be read: {said}"),
        (false, true) => format!("the server has answered with HTTP {status}"),
        (false, false) => format!("the server has answered with HTTP {status}: {said}"),
    }
}

/// The message of an error, which may be nested.
fn words(value: &Value, deepest: usize) -> Option<String> {
    let deeper = deepest.checked_sub(1)?;
    match value {
        Value::String(text) => Some(text.clone()).filter(|text| !text.trim().is_empty()),
        Value::Array(items) => items.iter().find_map(|item| words(item, deeper)),
        Value::Object(fields) => {
            let names = [
                "message",
                "error_description",
                "detail",
                "error",
                "errors",
                "msg",
                "reason",
                "title",
            ];
            names.iter().find_map(|name| words(fields.get(*name)?, deeper))
        }
        _ => None,
    }
}
