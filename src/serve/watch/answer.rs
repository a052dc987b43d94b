//! Passes an answer on, and holds back what the session has to see first.

use std::mem;

use bytes::Bytes;
use futures::stream::{self, StreamExt};
use http_body_util::StreamBody;
use hyper::body::Frame;
use hyper::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use hyper::{HeaderMap, Response, StatusCode};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;
use tokio::task::yield_now;

use super::coding::{Decoder, Unread};
use super::hold::Hold;
use super::in_place::Asker;
use super::upstream::{Came, forwarded};
use super::{Answered, Broken, LONGEST, Outgoing};
use crate::domain::{ModelError, ModelErrorKind};
use crate::model::hosted::Overheard;
use crate::model::http::Passing;
use crate::model::relay::Release;

/// An answer on its way.
pub struct Pump {
    came: Came,
    overheard: Overheard,
    /// Where copies go. Nobody may read them any more.
    copy: UnboundedSender<Passing>,
    release: oneshot::Receiver<Release>,
    hold: Hold,
    /// `None`: the answer is not read.
    decoder: Option<Decoder>,
    /// The chunk of the usage does not go on.
    hides_usage: bool,
    /// The client gets the unpacked text, since the bytes cannot be cut.
    unpacks: bool,
    state: State,
}

#[derive(Debug)]
enum State {
    Open,
    /// No more bytes come, and whether the connection broke.
    Over(Option<Broken>),
    Done,
}

impl Pump {
    pub fn new(
        came: Came,
        overheard: Overheard,
        copy: UnboundedSender<Passing>,
        release: oneshot::Receiver<Release>,
        hides_usage: bool,
    ) -> Self {
        let _ = copy.send(Passing::Began(came.status, came.headers.clone()));
        if came.is_empty() {
            // Nobody asks for the pieces of an empty body.
            let _ = copy.send(Passing::End);
        }
        let decoder = Decoder::of(&came.headers).map_err(|why| tell_unread(&copy, &why)).ok();
        let is_read = came.status.is_success() && decoder.is_some();
        let format = overheard.format;
        let hold = if is_read { Hold::new(format, hides_usage) } else { Hold::nothing(format) };
        let hides_usage = hides_usage && is_read;
        let unpacks = hides_usage && decoder.as_ref().is_some_and(|it| !it.is_plain());
        let state = State::Open;
        Self { came, overheard, copy, release, hold, decoder, hides_usage, unpacks, state }
    }

    /// The answer, whose headers go on at once.
    pub fn flow(self) -> Response<Outgoing> {
        response(self.came.status, self.headers(), stream::unfold(self, Self::step))
    }

    /// The headers that go on.
    fn headers(&self) -> HeaderMap {
        let mut headers = forwarded(&self.came.headers);
        if self.hides_usage {
            headers.remove(CONTENT_LENGTH);
        }
        if self.unpacks {
            headers.remove(CONTENT_ENCODING);
        }
        headers
    }

    /// The answer, of which nothing goes on before its release.
    ///
    /// # Errors
    /// The client gets no answer.
    pub async fn held(mut self, asker: &Asker) -> Answered {
        let (mut kept, mut size, mut broken) = (Vec::new(), 0, None);
        let is_whole = loop {
            match self.came.chunk().await {
                Ok(Some(bytes)) => {
                    let text = self.copy_text(&bytes).filter(|_| self.unpacks);
                    size += bytes.len();
                    kept.push(text.unwrap_or(bytes));
                }
                Ok(None) => break true,
                Err(error) => {
                    broken = Some(self.fail(error));
                    break true;
                }
            }
            if size > LONGEST {
                break false;
            }
        };
        let release = if is_whole {
            let _ = self.copy.send(Passing::End);
            (&mut self.release).await.unwrap_or(Release::AsCame)
        } else {
            tell_unread(&self.copy, &Unread::TooLarge);
            Release::AsCame
        };
        if let Release::Instead(said) = release {
            return asker.answer(&said);
        }
        if self.hides_usage {
            kept = kept.iter().map(|bytes| self.hold.take(bytes, None)).collect();
            kept.push(self.hold.rest());
        }
        let (status, headers) = (self.came.status, self.headers());
        self.state = if is_whole { State::Over(broken) } else { State::Open };
        self.hold = Hold::nothing(asker.format);
        let rest = stream::unfold(self, Self::step);
        Ok(response(status, headers, stream::iter(kept).map(Ok).chain(rest)))
    }

    async fn step(mut self) -> Option<(Result<Bytes, Broken>, Self)> {
        loop {
            if self.hold.has_call() {
                let is_open = matches!(self.state, State::Open);
                tokio::select! {
                    biased;
                    // A session that is gone holds nothing.
                    _ = &mut self.release => {
                        let bytes = self.hold.release();
                        if !bytes.is_empty() {
                            return Some((Ok(bytes), self));
                        }
                    }
                    came = self.came.chunk(), if is_open => {
                        if let Some(bytes) = self.take(came) {
                            return Some((Ok(bytes), self));
                        }
                    }
                }
                continue;
            }
            match mem::replace(&mut self.state, State::Done) {
                State::Open => {
                    self.state = State::Open;
                    let came = self.came.chunk().await;
                    if let Some(bytes) = self.take(came) {
                        return Some((Ok(bytes), self));
                    }
                }
                State::Over(broken) => {
                    let rest = self.hold.rest();
                    if !rest.is_empty() {
                        self.state = State::Over(broken);
                        return Some((Ok(rest), self));
                    }
                    let broken = broken?;
                    // What goes on before is written first, or it would be lost.
                    yield_now().await;
                    return Some((Err(broken), self));
                }
                State::Done => return None,
            }
        }
    }

    /// Takes what came; returns what goes on of it.
    fn take(&mut self, came: reqwest::Result<Option<Bytes>>) -> Option<Bytes> {
        let bytes = match came {
            Ok(Some(bytes)) => bytes,
            Ok(None) => {
                let _ = self.copy.send(Passing::End);
                self.over(None);
                return None;
            }
            Err(error) => {
                let broken = self.fail(error);
                self.over(Some(broken));
                return None;
            }
        };
        let text = self.copy_text(&bytes);
        let now = match text {
            Some(text) if self.unpacks => self.hold.take(&text, None),
            text => self.hold.take(&bytes, text.as_deref()),
        };
        (!now.is_empty()).then_some(now)
    }

    fn over(&mut self, broken: Option<Broken>) {
        self.state = State::Over(broken);
        self.hold.end();
    }

    /// Copies bytes for the session; returns what they mean if they are compressed.
    fn copy_text(&mut self, bytes: &Bytes) -> Option<Bytes> {
        let decoder = self.decoder.as_mut()?;
        if decoder.is_plain() {
            let _ = self.copy.send(Passing::Bytes(bytes.clone()));
            return None;
        }
        match decoder.feed(bytes) {
            Ok(text) => {
                let text = Bytes::from(text);
                let _ = self.copy.send(Passing::Bytes(text.clone()));
                Some(text)
            }
            Err(why) => {
                tell_unread(&self.copy, &why);
                self.decoder = None;
                self.hold = Hold::nothing(self.overheard.format);
                None
            }
        }
    }

    fn fail(&self, error: reqwest::Error) -> Broken {
        let error = self.overheard.failed(error);
        let _ = self.copy.send(Passing::Failed(error.clone()));
        error.into()
    }
}

/// Tells that the answer cannot be read. It passes nevertheless.
fn tell_unread(copy: &UnboundedSender<Passing>, why: &Unread) {
    let text = format!("the answer went to the agent unread: {why}.");
    let _ = copy.send(Passing::Failed(ModelError::new(ModelErrorKind::BadAnswer, text)));
}

fn response(
    status: StatusCode,
    headers: HeaderMap,
    pieces: impl stream::Stream<Item = Result<Bytes, Broken>> + 'static,
) -> Response<Outgoing> {
    let body = StreamBody::new(pieces.map(|piece| piece.map(Frame::data)));
    let mut response = Response::new(Box::pin(body) as Outgoing);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}
