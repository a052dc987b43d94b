//! Passes an answer on, and holds back the parts that the session must see first.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::time::Duration;
use std::{mem, pin::pin};

use bytes::Bytes;
use futures::stream::{self, StreamExt};
use http_body_util::StreamBody;
use hyper::body::Frame;
use hyper::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use hyper::{HeaderMap, Response, StatusCode};
use tokio::sync::oneshot;
use tokio::task::yield_now;
use tokio::time::sleep;

use super::coding::{Decoder, Unread, unpacked};
use super::hold::Hold;
use super::own_answer::Asker;
use super::patience::Waiting;
use super::room::Room;
use super::upstream::{Came, forwarded};
use super::{AnswerResult, Broken, Outgoing};
use crate::domain::{ModelError, ModelErrorKind};
use crate::model::hosted::Overheard;
use crate::model::http::{CopySender, Passing};
use crate::model::relay::{Holds, Release, RequestListenerEnd, UNREAD};
use crate::wire::changed;

/// The most compressed bytes that are unpacked at once: their text can be a thousand times longer.
const PACKED: usize = 1 << 10;

/// An answer that is being passed on.
pub struct Pump {
    came: Came,
    overheard: Overheard,
    asker: Asker,
    /// The channel for copies, whose reader may be gone.
    copy: CopySender,
    release: oneshot::Receiver<Release>,
    hold: Hold,
    /// The decoder; `None` if the answer is not read.
    decoder: Option<Decoder>,
    /// Whether the chunk with the usage is removed.
    hides_usage: bool,
    /// Whether the client gets the unpacked text, since compressed bytes cannot be cut.
    unpacks: bool,
    /// Whether bytes of the body have come.
    has_begun: bool,
    state: AnswerState,
    /// The room of the bytes that are kept.
    room: Room,
    /// Delay of each event; `None`: no delay.
    pace: Option<Duration>,
}

#[derive(Debug)]
enum AnswerState {
    Open,
    /// No more bytes come; has the error if the connection broke.
    Over(Option<Broken>),
    Done,
}

impl Pump {
    pub fn new(
        mut came: Came,
        (overheard, asker): (Overheard, Asker),
        copy: CopySender,
        release: oneshot::Receiver<Release>,
        hides_usage: bool,
    ) -> Self {
        copy.send(Passing::Began(came.status, came.headers.clone()));
        if came.is_empty() {
            // Nobody needs the pieces of an empty body.
            copy.send(Passing::End);
        }
        let decoder = Decoder::of(&came.headers).and_then(|decoder| {
            let is_late = asker.form.streams() && matches!(decoder, Decoder::Zstd(..));
            if is_late { Err(Unread::Unknown("zstd".to_owned())) } else { Ok(decoder) }
        });
        let decoder = decoder.map_err(|why| tell_unread(&copy, &why)).ok();
        let hides_usage = hides_usage && came.status.is_success() && decoder.is_some();
        let is_packed = decoder.as_ref().is_some_and(|it| !it.is_plain());
        let unpacks = asker.form.streams() && is_packed;
        if is_packed {
            came.most = PACKED;
        }
        let (hold, state, pace) = (Hold::nothing(asker.format), AnswerState::Open, None);
        Self {
            pace,
            came,
            overheard,
            asker,
            copy,
            release,
            hold,
            decoder,
            hides_usage,
            unpacks,
            has_begun: false,
            state,
            room: Room::default(),
        }
    }

    /// The answer to a request for a stream; its headers are sent at once.
    pub fn flow(mut self, holds: Holds, pace: Option<Duration>) -> Response<Outgoing> {
        self.pace = pace;
        if self.is_read() {
            self.hold = Hold::new(self.asker.format, holds, self.hides_usage);
        }
        response(self.came.status, self.headers(), stream::unfold(self, Self::step))
    }

    fn is_read(&self) -> bool {
        self.came.status.is_success() && self.decoder.is_some()
    }

    /// The headers to send.
    fn headers(&self) -> HeaderMap {
        let mut headers = forwarded(&self.came.headers);
        if self.hides_usage || self.unpacks {
            headers.remove(CONTENT_LENGTH);
        }
        if self.unpacks {
            headers.remove(CONTENT_ENCODING);
        }
        headers
    }

    /// The answer, of which nothing is sent before its release; or the channels of another request, whose answer the
    /// client gets.
    pub async fn held(
        mut self,
        waiting: &Waiting,
    ) -> ControlFlow<AnswerResult, RequestListenerEnd> {
        let (mut kept, is_whole) = waiting.during(self.keep()).await;
        // If the session is gone, nothing is held.
        let release = async { (&mut self.release).await.unwrap_or(Release::AsCame) };
        let release = match is_whole {
            false => Release::AsCame,
            true if self.came.status.is_success() => waiting.behind_success(release).await,
            true => waiting.during(release).await,
        };
        let calls = match release {
            Release::Instead(said) => return ControlFlow::Break(self.asker.answer(&said)),
            Release::Again(line) => return ControlFlow::Continue(line),
            Release::Calls(calls) if self.is_read() => Some(calls),
            Release::Calls(_) | Release::AsCame => None,
        };
        let format = self.asker.format;
        if self.hides_usage {
            kept = self.asker.without_usage(&kept);
        }
        let (status, mut headers) = (self.came.status, self.headers());
        if let Some(calls) = calls {
            let text = match self.unpacks {
                true => Ok(kept.clone()),
                false => unpacked(&self.came.headers, &kept),
            };
            // The session's copy of the answer was read from the same bytes.
            let text = text.unwrap_or_default();
            let new = changed(format, &text, "", &calls);
            if new != text {
                headers.remove(CONTENT_ENCODING);
                headers.insert(CONTENT_LENGTH, new.len().into());
                kept = new;
            }
        }
        let kept = stream::iter([Ok(Bytes::from(kept))]);
        let answer = response(status, headers, kept.chain(stream::unfold(self, Self::step)));
        ControlFlow::Break(Ok(answer))
    }

    /// Reads the answer; returns its bytes, and whether these are all.
    async fn keep(&mut self) -> (Vec<u8>, bool) {
        let mut kept = Vec::new();
        let broken = loop {
            let came = chunk(&self.copy, &mut self.came).await;
            match self.copied(came) {
                Ok(Some(bytes)) => kept.extend_from_slice(&bytes),
                Ok(None) => break None,
                Err(broken) => break Some(broken),
            }
            if !self.room.has(kept.len()) {
                tell_unread(&self.copy, &Unread::TooLarge);
                return (kept, false);
            }
        };
        self.state = AnswerState::Over(broken);
        (kept, true)
    }

    async fn step(mut self) -> Option<(Result<Bytes, Broken>, Self)> {
        loop {
            if self.hold.waits() {
                let bytes = self.wait().await;
                if !bytes.is_empty() {
                    return Some((Ok(bytes), self));
                }
                continue;
            }
            match mem::replace(&mut self.state, AnswerState::Done) {
                AnswerState::Open => {
                    self.state = AnswerState::Open;
                    let came = chunk(&self.copy, &mut self.came).await;
                    if let Some(bytes) = self.take(came) {
                        self.slow_down(&bytes).await;
                        return Some((Ok(bytes), self));
                    }
                }
                AnswerState::Over(broken) => {
                    let rest = self.hold.rest();
                    if !rest.is_empty() {
                        self.state = AnswerState::Over(broken);
                        return Some((Ok(rest), self));
                    }
                    let broken = broken?;
                    // Bytes that were sent before are written first, or they would be lost.
                    yield_now().await;
                    return Some((Err(broken), self));
                }
                AnswerState::Done => return None,
            }
        }
    }

    /// Waits before these bytes are sent, if this is a slow answer.
    async fn slow_down(&self, bytes: &[u8]) {
        if let Some(pace) = self.pace {
            let events = memchr::memmem::find_iter(bytes, "data:").count();
            sleep(pace.saturating_mul(events as u32)).await;
        }
    }

    /// Waits for the release of the held bytes; meanwhile more may come. Returns the bytes to send.
    async fn wait(&mut self) -> Bytes {
        let mut beat = pin!(sleep(self.asker.patience.beat()));
        while self.hold.waits() {
            let is_open = matches!(self.state, AnswerState::Open);
            let is_silent = self.asker.is_silent.load(Ordering::Relaxed);
            tokio::select! {
                biased;
                // If the session is gone, nothing is held.
                release = &mut self.release => {
                    return self.hold.release(release.unwrap_or(Release::AsCame), !is_open);
                }
                came = chunk(&self.copy, &mut self.came), if is_open => {
                    if let Some(bytes) = self.take(came) {
                        return bytes;
                    }
                }
                () = &mut beat, if self.hold.is_stream() && !is_silent => {
                    return Bytes::from_static(self.asker.heartbeat().as_bytes());
                }
            }
        }
        Bytes::new()
    }

    /// Adds the bytes that came; returns those to send.
    fn take(&mut self, came: reqwest::Result<Option<Bytes>>) -> Option<Bytes> {
        let bytes = match self.copied(came) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => {
                self.over(None);
                return None;
            }
            Err(broken) => {
                self.over(Some(broken));
                return None;
            }
        };
        let mut now = self.hold.take(&bytes);
        if !self.room.has(self.hold.waiting()) {
            now = [now, self.hold.rest()].concat().into();
        }
        (!now.is_empty()).then_some(now)
    }

    fn over(&mut self, broken: Option<Broken>) {
        self.state = AnswerState::Over(broken);
        self.hold.end();
    }

    /// Copies what came for the session; returns the bytes for the client: the text if it gets that, else the same.
    fn copied(&mut self, came: reqwest::Result<Option<Bytes>>) -> Result<Option<Bytes>, Broken> {
        let bytes = came.map_err(|error| self.fail(error))?;
        let Some(decoder) = &mut self.decoder else {
            if bytes.is_none() {
                self.copy.send(Passing::End);
            }
            return Ok(bytes);
        };
        let read = match &bytes {
            Some(bytes) if decoder.is_plain() => Ok(Some(bytes.clone())),
            Some(bytes) => decoder.feed(bytes).map(|text| Some(text.into())),
            None if self.unpacks && self.has_begun && !decoder.is_whole() => Err(Unread::Damaged),
            None => Ok(None),
        };
        self.has_begun |= bytes.is_some();
        match read {
            Ok(text) => {
                let piece = text.clone().map_or(Passing::End, Passing::Bytes);
                self.copy.send(piece);
                Ok(if self.unpacks { text } else { bytes })
            }
            Err(why) => {
                tell_unread(&self.copy, &why);
                self.decoder = None;
                // Text that has gone out cannot be followed by compressed bytes.
                if self.unpacks { Err(why.into()) } else { Ok(bytes) }
            }
        }
    }

    fn fail(&self, error: reqwest::Error) -> Broken {
        let error = self.overheard.failed(error);
        self.copy.send(Passing::Failed(error.clone()));
        error.into()
    }
}

/// The next bytes, once the reader of the copy is not far behind.
async fn chunk(copy: &CopySender, came: &mut Came) -> reqwest::Result<Option<Bytes>> {
    copy.wait().await;
    came.chunk().await
}

/// Reports that the answer cannot be read. It still passes.
fn tell_unread(copy: &CopySender, why: &Unread) {
    let text = format!("{UNREAD}: {why}.");
    copy.send(Passing::Failed(ModelError::new(ModelErrorKind::BadAnswer, text)));
}

/// An answer that passes as it comes.
pub fn passed(came: Came) -> Response<Outgoing> {
    let (status, headers) = (came.status, forwarded(&came.headers));
    let next = |mut came: Came| async move {
        let bytes = came.chunk().await.transpose()?;
        Some((bytes.map_err(Broken::from), came))
    };
    response(status, headers, stream::unfold(came, next))
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
