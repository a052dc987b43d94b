//! Answers that begin before their content is there, because a client would give up while they are held.
//!
//! Their head reports success, and heartbeats follow. An answer that no longer fits that head resets the connection;
//! the client then repeats its request, and gets the answer.

use std::cell::RefCell;
use std::hash::BuildHasher;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use foldhash::quality::FixedState;
use futures::stream;
use http_body_util::{BodyExt, Full, Limited, StreamBody};
use hyper::body::Frame;
use hyper::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue};
use hyper::{HeaderMap, Response};
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::own_answer::Asker;
use super::patience::{Waiting, due};
use super::room::LONGEST;
use super::{AnswerResult, Broken, Outgoing, Reset, coding};

/// The time for which an answer is kept for a client that repeats its request.
const KEPT: Duration = Duration::from_secs(60);
/// The longest message of an error, in characters.
const MESSAGE: usize = 2000;

/// The rest of the work for an answer.
type AnswerFuture = Pin<Box<dyn Future<Output = AnswerResult>>>;

/// Answers for clients that repeat their request, and how long clients have waited.
#[derive(Default)]
pub struct OwedAnswers {
    answers: RefCell<Vec<KeptAnswer>>,
    /// Requests whose clients gave up: the request, when, and after how long.
    waited: RefCell<Vec<(u64, Instant, Duration)>>,
}

struct KeptAnswer {
    question: u64,
    since: Instant,
    response: Response<Bytes>,
}

impl OwedAnswers {
    /// Returns the answer to a request that was made before, once.
    fn take(&self, question: u64) -> Option<Response<Outgoing>> {
        let mut kept = self.answers.borrow_mut();
        kept.retain(|it| it.since.elapsed() < KEPT);
        let at = kept.iter().position(|it| it.question == question)?;
        Some(kept.remove(at).response.map(whole))
    }

    fn keep(&self, question: u64, response: Response<Bytes>) {
        self.answers.borrow_mut().push(KeptAnswer { question, since: Instant::now(), response });
    }
}

impl OwedAnswers {
    /// The time that a client waited for the answer to this request before.
    pub fn waited(&self, question: u64) -> Option<Duration> {
        let mut waited = self.waited.borrow_mut();
        waited.retain(|(_, since, _)| since.elapsed() < KEPT);
        waited.iter().rev().find(|(known, ..)| *known == question).map(|(.., time)| *time)
    }
}

/// Shortest wait that counts as a time-out: no client has a shorter one.
const SHORTEST: Duration = Duration::from_millis(500);

/// A client that waits for the head of its answer. Many do not say how long, so the time is noted when one gives up.
struct Client {
    kept: Rc<OwedAnswers>,
    question: u64,
    since: Instant,
    has_answer: bool,
}

impl Drop for Client {
    fn drop(&mut self) {
        let now = Instant::now();
        let waited = now - self.since;
        if !self.has_answer && waited >= SHORTEST {
            self.kept.waited.borrow_mut().push((self.question, now, waited));
        }
    }
}

/// The hash that identifies a request, by its address and its body.
pub fn question(url: &str, body: &[u8]) -> u64 {
    FixedState::default().hash_one((url, body))
}

/// Answers with the result of this work, or begins the answer before the work is done.
///
/// # Errors
/// The connection ends without an answer.
pub async fn answer<W>(
    kept: Rc<OwedAnswers>,
    asker: Asker,
    question: u64,
    work: impl FnOnce(Waiting) -> W,
) -> AnswerResult
where
    W: Future<Output = AnswerResult> + 'static,
{
    if let Some(known) = kept.take(question) {
        return Ok(known);
    }
    let (waiting, told) = Waiting::new(asker.patience);
    let (since, known) = (Instant::now(), Rc::clone(&kept));
    let mut client = Client { kept: known, question, since, has_answer: false };
    let mut work: AnswerFuture = Box::pin(work(waiting));
    let answered = tokio::select! {
        biased;
        answered = &mut work => answered,
        () = due(told, Arc::clone(&asker.is_silent)) => {
            let kind = HeaderValue::from_static(asker.form.content_type());
            let begun = Begun { kept, asker, question, state: EarlyState::Waits(work) };
            let body = StreamBody::new(stream::unfold(begun, Begun::step));
            let mut response = Response::new(Box::pin(body) as Outgoing);
            response.headers_mut().insert(CONTENT_TYPE, kind);
            response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
            Ok(response)
        }
    };
    client.has_answer = true;
    answered
}

/// An answer whose head has gone out.
struct Begun {
    kept: Rc<OwedAnswers>,
    asker: Asker,
    question: u64,
    state: EarlyState,
}

enum EarlyState {
    Waits(AnswerFuture),
    Goes(Outgoing),
    Over,
}

impl Begun {
    async fn step(mut self) -> Option<(Result<Frame<Bytes>, Broken>, Self)> {
        loop {
            match &mut self.state {
                EarlyState::Over => return None,
                EarlyState::Waits(work) => {
                    let answered = tokio::select! {
                        biased;
                        answered = work => answered,
                        () = sleep(self.asker.patience.beat()) => {
                            let beat = Bytes::from_static(self.asker.heartbeat().as_bytes());
                            return Some((Ok(Frame::data(beat)), self));
                        }
                    };
                    self.state = EarlyState::Over;
                    let body = match answered {
                        Ok(response) => self.body(response).await,
                        Err(why) => Err(why),
                    };
                    match body {
                        Ok(body) => self.state = EarlyState::Goes(body),
                        Err(why) => return Some((Err(why), self)),
                    }
                }
                EarlyState::Goes(body) => return Some((body.frame().await?, self)),
            }
        }
    }

    /// Returns the body of an answer in a form that can follow a head already sent.
    async fn body(&self, response: Response<Outgoing>) -> Result<Outgoing, Broken> {
        let headers = response.headers();
        let kind =
            headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let is_ok = response.status().is_success();
        let is_packed = headers.contains_key(CONTENT_ENCODING);
        // Some servers do not stream.
        let form = self.asker.form;
        if is_ok && !is_packed && form.has_type(kind) {
            return Ok(response.into_body());
        }
        let (parts, body) = response.into_parts();
        let body = Limited::new(body, LONGEST).collect().await?.to_bytes();
        if !is_ok && form.streams() {
            let status = parts.status.as_u16();
            let message = message(&parts.headers, &body);
            let event = self.asker.format.write_error_event(status, &message, (form, true));
            return Ok(whole(event.into()));
        }
        match coding::unpacked(&parts.headers, &body) {
            Ok(text) if is_ok && !form.streams() => Ok(whole(text.into())),
            _ => {
                self.kept.keep(self.question, Response::from_parts(parts, body));
                Err(Reset.into())
            }
        }
    }
}

/// The message of an error.
fn message(headers: &HeaderMap, body: &[u8]) -> String {
    let text = coding::unpacked(headers, body).unwrap_or_default();
    let said: Option<Value> = serde_json::from_slice(&text).ok();
    let at = |place: &str| said.as_ref()?.pointer(place)?.as_str();
    let said = ["/error/message", "/error"].into_iter().find_map(at);
    let text = said.map_or_else(|| String::from_utf8_lossy(&text), Into::into);
    text.chars().take(MESSAGE).collect()
}

fn whole(bytes: Bytes) -> Outgoing {
    Box::pin(Full::new(bytes).map_err(|never| match never {}))
}
