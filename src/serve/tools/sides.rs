//! The client and the server of a request by HTTP. The answer may be whole or a stream of events.

use std::collections::VecDeque;
use std::mem;

use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE};
use hyper::http::request::Parts;
use hyper::{HeaderMap, StatusCode};
use reqwest::Response;

use super::client_answer::Out;
use super::events::{Events, data, of_data, with_data};
use super::listen::HttpRelay;
use crate::mcp::relay::{Assembly, Given, Id, Sides, answers};
use crate::watch::room::Room;
use crate::watch::upstream::forwarded;

/// The sides of one request.
pub struct HttpSides<'a> {
    relay: &'a HttpRelay,
    parts: &'a Parts,
    out: Out,
    /// The requests whose answers are read.
    ids: Vec<Id>,
    came: ReceivedAnswer,
    /// The room of a whole answer.
    room: Room,
}

/// Answer of the server, as far as it is there.
enum ReceivedAnswer {
    Nothing,
    Whole { status: StatusCode, headers: HeaderMap, body: Assembly, next: usize },
    Stream { response: Response, events: Events, waiting: VecDeque<Vec<u8>>, event: Vec<u8> },
}

impl<'a> HttpSides<'a> {
    /// The answers to the requests with these `ids` are read.
    pub fn new(relay: &'a HttpRelay, parts: &'a Parts, ids: Vec<Id>, out: Out) -> Self {
        Self { relay, parts, out, ids, came: ReceivedAnswer::Nothing, room: Room::default() }
    }

    fn is_read(&self, part: &[u8]) -> bool {
        self.ids.iter().any(|id| answers(part, id, self.ids.len() == 1))
    }

    /// The next answer to one of the requests. Everything before it passes.
    pub async fn next(&mut self) -> Option<Vec<u8>> {
        loop {
            let is_over = match &mut self.came {
                ReceivedAnswer::Nothing => return None,
                ReceivedAnswer::Whole { body, next, .. } => {
                    let at = *next;
                    *next += 1;
                    if at >= body.count() {
                        return None;
                    }
                    let part = body.part(at).to_owned();
                    if self.is_read(&part) {
                        return Some(part);
                    }
                    false
                }
                ReceivedAnswer::Stream { waiting, .. } if !waiting.is_empty() => {
                    let event = waiting.pop_front().unwrap_or_default();
                    let part = data(&event).unwrap_or_default().into_bytes();
                    self.relay.book.borrow_mut().hear(&part);
                    if self.is_read(&part) {
                        self.hold(event);
                        return Some(part);
                    }
                    self.out.send(event).await;
                    false
                }
                ReceivedAnswer::Stream { response, events, waiting, .. } => {
                    match response.chunk().await {
                        Ok(Some(chunk)) if self.ids.is_empty() => {
                            self.out.send(chunk).await;
                            false
                        }
                        Ok(Some(chunk)) => {
                            waiting.extend(events.take(&chunk));
                            false
                        }
                        Ok(None) => {
                            let rest = mem::take(events).rest();
                            self.out.send(rest).await;
                            true
                        }
                        Err(error) => {
                            self.out.fail(error.into()).await;
                            true
                        }
                    }
                }
            };
            if is_over {
                self.came = ReceivedAnswer::Nothing;
            }
        }
    }

    fn hold(&mut self, now: Vec<u8>) {
        if let ReceivedAnswer::Stream { event, .. } = &mut self.came {
            *event = now;
        }
    }

    /// Reads the head of the answer, and a whole body.
    async fn read(&mut self, mut response: Response) {
        let (status, mut headers) = (response.status(), forwarded(response.headers()));
        let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let streams = kind.unwrap_or_default().starts_with("text/event-stream");
        let mut body = Vec::new();
        while !streams && !self.ids.is_empty() && self.room.wait(body.len()).await {
            match response.chunk().await {
                Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                Ok(None) => {
                    let body = Assembly::of(body);
                    self.came = ReceivedAnswer::Whole { status, headers, body, next: 0 };
                    return;
                }
                Err(error) => {
                    // The client gets the part that came, without an end.
                    self.out.begin(status, headers);
                    self.out.send(body).await;
                    return self.out.fail(error.into()).await;
                }
            }
        }
        match streams && !self.ids.is_empty() {
            // An event may be replaced.
            true => drop(headers.remove(CONTENT_LENGTH)),
            false => self.ids.clear(),
        }
        self.out.begin(status, headers);
        self.out.send(body).await;
        let (events, waiting, event) = Default::default();
        self.came = ReceivedAnswer::Stream { response, events, waiting, event };
    }

    /// Answers if the server cannot be reached.
    pub async fn fail(&mut self, why: String) {
        self.out.end(StatusCode::BAD_GATEWAY, HeaderMap::new(), why.into()).await;
    }

    /// Passes the rest of the answer.
    pub async fn finish(mut self) {
        while self.next().await.is_some() {
            self.give(Given::AsCame).await;
        }
        if let ReceivedAnswer::Whole { status, headers, body, .. } = self.came {
            match body.is_changed() {
                true => self.out.answer(&body.into_line()).await,
                false => self.out.end(status, headers, body.into_line().into()).await,
            }
        }
    }
}

impl Sides for HttpSides<'_> {
    async fn say(&mut self, line: Vec<u8>) {
        self.out.begin_events();
        self.out.send(of_data(&String::from_utf8_lossy(&line))).await;
    }

    async fn ask(&mut self, request: Vec<u8>) -> Result<Option<Vec<u8>>, String> {
        let response = self.relay.send(self.parts, request).await;
        let response =
            response.map_err(|error| format!("the server cannot be reached: {error}"))?;
        self.read(response).await;
        Ok(self.next().await)
    }

    async fn give(&mut self, given: Given) {
        match (given, &mut self.came) {
            (Given::AsCame, ReceivedAnswer::Stream { event, .. }) => {
                let event = mem::take(event);
                self.out.send(event).await;
            }
            (Given::AsCame, _) => {}
            (Given::Made { line, cancels: false, .. }, ReceivedAnswer::Stream { event, .. })
                if !event.is_empty() =>
            {
                let event = with_data(&mem::take(event), &String::from_utf8_lossy(&line));
                self.out.send(event).await;
            }
            (
                Given::Made { line, cancels: false, .. },
                ReceivedAnswer::Whole { body, next, .. },
            ) => {
                body.set(next.saturating_sub(1).min(body.count() - 1), line);
            }
            (Given::Made { line, .. }, came) => {
                *came = ReceivedAnswer::Nothing;
                self.out.answer(&line).await;
            }
            (Given::Nothing, came) => {
                *came = ReceivedAnswer::Nothing;
                self.out.end(StatusCode::ACCEPTED, HeaderMap::new(), Default::default()).await;
            }
        }
    }
}
