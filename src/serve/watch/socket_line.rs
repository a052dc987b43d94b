//! The line of a websocket to its endpoint, on which an exchange sends its request.

use std::io;

use bytes::Bytes;
use futures::stream;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use tokio::sync::mpsc::{Receiver, Sender, UnboundedSender, channel};

use crate::wire::AnswerForm;

/// The most frames of an answer that wait to be read. A fast endpoint waits then.
const AHEAD: usize = 64;

/// A line to the endpoint on which one answer comes at a time.
#[derive(Clone, Debug)]
pub struct SocketLine(UnboundedSender<Order>);

/// A request for the endpoint, and where the events of its answer go.
#[derive(Debug)]
pub struct Order {
    pub body: Bytes,
    pub events: Sender<io::Result<Bytes>>,
}

impl SocketLine {
    pub fn of(orders: &UnboundedSender<Order>) -> Self {
        Self(orders.clone())
    }

    /// Sends a body. The answer is a stream of events.
    pub fn send(&self, body: Bytes) -> reqwest::Response {
        let (events, come) = channel(AHEAD);
        // Without the line no event comes.
        let _ = self.0.send(Order { body, events });
        let next = |mut come: Receiver<_>| async { Some((come.recv().await?, come)) };
        let body = reqwest::Body::wrap_stream(stream::unfold(come, next));
        let mut response = hyper::Response::new(body);
        let kind = HeaderValue::from_static(AnswerForm::Events.content_type());
        response.headers_mut().insert(CONTENT_TYPE, kind);
        response.into()
    }
}
