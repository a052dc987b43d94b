//! The answer to a client: a whole one, or a stream that may begin before its content is known.

use std::convert::Infallible;
use std::rc::Rc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Frame;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::{HeaderMap, Response, StatusCode};
use tokio::sync::{Notify, mpsc, oneshot};

use super::events::of_data;
use crate::watch::upstream::with_length;
use crate::watch::{Broken, Outgoing};

/// Signals, when it is dropped, that the client no longer waits.
pub struct Gone(Option<Rc<Notify>>);

impl Gone {
    pub fn new(gone: &Rc<Notify>) -> Self {
        Self(Some(Rc::clone(gone)))
    }

    /// The client has what it waited for.
    pub fn end(mut self) {
        self.0 = None;
    }
}

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(|gone| gone.notify_one());
    }
}

/// The destination of an answer.
pub struct Out {
    gone: Rc<Notify>,
    respond: Option<oneshot::Sender<Response<Outgoing>>>,
    events: Option<mpsc::Sender<Result<Frame<Bytes>, Broken>>>,
}

impl Out {
    /// A destination; `gone` is signalled when the client of a stream no longer waits.
    pub fn new(respond: oneshot::Sender<Response<Outgoing>>, gone: &Rc<Notify>) -> Self {
        Self { gone: Rc::clone(gone), respond: Some(respond), events: None }
    }

    /// Sends the head of a stream, unless it was sent.
    pub fn begin(&mut self, status: StatusCode, headers: HeaderMap) {
        let Some(respond) = self.respond.take() else { return };
        let (events, mut given) = mpsc::channel(1);
        let gone = Gone::new(&self.gone);
        let frames = futures::stream::poll_fn(move |cx| {
            let _until_it_is_dropped = &gone;
            given.poll_recv(cx)
        });
        let mut response = Response::new(Box::pin(StreamBody::new(frames)) as Outgoing);
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        self.events = Some(events);
        // If the client is gone, this ends soon.
        let _ = respond.send(response);
    }

    /// Sends the head of a stream of events, unless a stream has begun.
    pub fn begin_events(&mut self) {
        let kind = HeaderValue::from_static("text/event-stream");
        let headers = [(CONTENT_TYPE, kind), (CACHE_CONTROL, HeaderValue::from_static("no-cache"))];
        self.begin(StatusCode::OK, HeaderMap::from_iter(headers));
    }

    /// Sends bytes of the stream.
    pub async fn send(&self, bytes: impl Into<Bytes>) {
        if let Some(events) = &self.events {
            let _ = events.send(Ok(Frame::data(bytes.into()))).await;
        }
    }

    /// Breaks the stream off, so that the client sees it without an end.
    pub async fn fail(&self, why: Broken) {
        if let Some(events) = &self.events {
            let _ = events.send(Err(why)).await;
        }
    }

    /// Sends a whole answer; if a stream has begun, sends the body as an event.
    pub async fn end(&mut self, status: StatusCode, headers: HeaderMap, body: Bytes) {
        let Some(respond) = self.respond.take() else {
            return self.send(of_data(&String::from_utf8_lossy(&body))).await;
        };
        let headers = with_length(headers, body.len());
        let body = Full::new(body).map_err(|never: Infallible| -> Broken { match never {} });
        let mut response = Response::new(Box::pin(body) as Outgoing);
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        let _ = respond.send(response);
    }

    /// Sends an answer that is not the server's.
    pub async fn answer(&mut self, line: &[u8]) {
        let kind = HeaderValue::from_static("application/json");
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, kind)]);
        self.end(StatusCode::OK, headers, Bytes::copy_from_slice(line.trim_ascii_end())).await;
    }
}
