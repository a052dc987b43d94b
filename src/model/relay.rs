//! The requests of watched agents. A listener hands each one to the session as an [`Arrival`]. Its model is a
//! [`Relay`]: it has the request sent on, and reads the answer at the same time as the agent.
//!
//! ```text
//! listener ── Arrival ─────────────────────────────────► session
//!    ◄── Sending: send it on, or answer in its place ──────┤ after the stations before
//!    ├── Heard: pieces, the whole answer ─────────────────►│
//!    ◄── Release: the held part of the answer goes on ─────┤ after the stations of its calls
//! ```

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};
use std::{mem, pin::pin, sync::Arc, time::Duration};

use bytes::Bytes;
use futures::FutureExt;
use futures::future::{LocalBoxFuture, poll_fn};
use tokio::sync::{Notify, mpsc, oneshot};

pub use crate::caller::Caller;
pub use crate::listener_news::ListenerNews;

use crate::domain::sent_body::SentBody;
use crate::domain::wire_answer::WireAnswer;
use crate::domain::{ModelErrorKind, ModelSpec, Origin, Reply, Request, ToolCall};
use crate::wire::{IncomingRequest, WireFormat};
use crate::{Model, ModelError, ModelProgress};

/// Begins the error of an answer that only the agent could read.
pub const UNREAD: &str = "the answer went to the agent unread";

/// A request of a watched agent.
#[derive(Debug)]
pub struct Arrival {
    pub format: WireFormat,
    /// The request as it was read.
    pub asked: IncomingRequest,
    /// The body of the request as it came, decoded.
    pub body: Bytes,
    pub caller: Caller,
    pub way: RequestSessionEnd,
}

/// The session's end of the channels for one request.
#[derive(Debug)]
pub struct RequestSessionEnd {
    sending: Option<oneshot::Sender<Sending>>,
    heard: mpsc::UnboundedReceiver<Heard>,
    release: Option<oneshot::Sender<Release>>,
    /// The id of an answer that the listener writes.
    own_id: Option<String>,
    is_silent: Arc<AtomicBool>,
}

/// The listener's end of the channels for one request. A channel that is closed means that the other end is gone.
#[derive(Debug)]
pub struct RequestListenerEnd {
    pub sending: oneshot::Receiver<Sending>,
    pub heard: mpsc::UnboundedSender<Heard>,
    pub release: oneshot::Receiver<Release>,
    /// Whether the client must wait in vain: it gets nothing while its request or its answer is held.
    pub is_silent: Arc<AtomicBool>,
}

/// The session's decision about a request.
#[derive(Clone, Debug)]
pub enum Sending {
    /// The request goes to the endpoint with this body.
    On {
        body: Bytes,
        holds: Holds,
        /// The delay of each event of a stream on its way to the client.
        pace: Option<Duration>,
    },
    /// The client gets this answer; nothing is sent to the endpoint.
    Instead(RelayResult),
    /// The client gets this answer as an endpoint wrote it, with these calls if they are others. `said` is what it says.
    Recorded { said: RelayResult, answer: Arc<WireAnswer>, calls: Option<Vec<ToolCall>> },
}

/// The part of an answer that waits for its [`Release`]. An answer that is not a stream waits as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holds {
    /// The calls, and everything after them.
    #[default]
    Calls,
    /// The calls and the end: the text is sent, and the event with the finish waits.
    End,
    /// The whole answer.
    All,
}

/// The calls that an agent gets: its answer as it came (`Some(None)`), with other calls, or another answer (`None`).
type GivenCalls = Option<Option<Vec<ToolCall>>>;

/// An answer, or why there is none.
pub type RelayResult = Result<Arc<Reply>, ModelError>;

/// A report of the listener about the answer.
#[derive(Clone, Debug)]
pub enum Heard {
    Text(String),
    Reasoning(String),
    /// The body that was sent, where it is kept, as JSON.
    Sent(SentBody),
    /// The endpoint's own id of the answer.
    Named(String),
    /// The endpoint answers in the background: no connection of the agent waits for it.
    Detached,
    /// The whole answer as it came, where it is kept.
    Answered(Arc<WireAnswer>),
    /// The last report about a request: the endpoint's answer.
    Ended(Result<Reply, ModelError>),
}

/// The session's decision about the rest of an answer.
#[derive(Debug)]
pub enum Release {
    /// The rest is sent unchanged.
    AsCame,
    /// The agent gets these calls instead of the original ones. A call with an original id changes only its name and
    /// its arguments. Other original calls are dropped, and further calls follow the last one.
    Calls(Vec<ToolCall>),
    /// The agent gets this instead; only if the whole answer was held.
    Instead(RelayResult),
    /// The agent gets nothing of this answer: another request replaces this one, and its answer uses these channels.
    /// Only if the whole answer was held.
    Again(RequestListenerEnd),
}

/// Creates the channels for one request, and returns the session's end and the listener's end.
pub fn way() -> (RequestSessionEnd, RequestListenerEnd) {
    way_of(Arc::default())
}

fn way_of(is_silent: Arc<AtomicBool>) -> (RequestSessionEnd, RequestListenerEnd) {
    let (sending, to_send) = oneshot::channel();
    let (hear, heard) = mpsc::unbounded_channel();
    let (release, released) = oneshot::channel();
    let line = RequestListenerEnd {
        sending: to_send,
        heard: hear,
        release: released,
        is_silent: Arc::clone(&is_silent),
    };
    let (sending, release) = (Some(sending), Some(release));
    (RequestSessionEnd { sending, heard, release, own_id: None, is_silent }, line)
}

impl RequestSessionEnd {
    /// Sets the id of an answer that is not the endpoint's.
    pub fn name_own(&mut self, id: String) {
        self.own_id = Some(id);
    }

    /// Sends the decision about the request. False if it was sent before, or nobody waits for it any more.
    pub fn send(&mut self, sending: Sending) -> bool {
        self.sending.take().is_some_and(|way| way.send(sending).is_ok())
    }

    /// Returns when the agent has hung up before a decision about its request.
    pub async fn hung_up(&mut self) {
        match &mut self.sending {
            Some(way) => way.closed().await,
            None => std::future::pending().await,
        }
    }

    /// The channels of another request, whose answer the agent gets instead of this one's; `None` if the agent has hung
    /// up.
    fn again(&mut self) -> Option<RequestSessionEnd> {
        let own_id = self.own_id.take();
        let (mut next, line) = way_of(Arc::clone(&self.is_silent));
        next.own_id = own_id;
        match self.sending.take() {
            // Nothing was sent on, so the listener still waits for the decision.
            Some(sending) => {
                next.sending = Some(sending);
                std::mem::swap(&mut next.heard, &mut self.heard);
                next.release = self.release.take();
            }
            None if self.release(Release::Again(line)) => {}
            None => return None,
        }
        Some(next)
    }

    /// Releases the rest of the answer; false if the agent has hung up.
    pub fn release(&mut self, release: Release) -> bool {
        self.release.take().is_some_and(|way| way.send(release).is_ok())
    }
}

/// An answer that is known before the endpoint is called, which makes that call unnecessary.
#[derive(Clone, Debug)]
pub struct KnownReply {
    pub said: RelayResult,
    /// The answer as the endpoint wrote it, and its id there; `None`: it is not kept, or says something else.
    pub answer: Option<(Arc<WireAnswer>, Option<String>)>,
    /// The body to which the endpoint answered, as JSON.
    pub sent: Option<SentBody>,
    /// How long the agent waits for it.
    pub after: Duration,
    pub origin: Origin,
    /// Whether a fault has already changed it, and must not do so again.
    pub is_spoiled: bool,
}

/// The model of one request: the endpoint that a watched agent calls.
#[derive(Debug)]
pub struct Relay {
    spec: Arc<ModelSpec>,
    body: RefCell<Bytes>,
    way: RefCell<RequestSessionEnd>,
    holds: Cell<Holds>,
    pace: Cell<Option<Duration>>,
    came: RefCell<Option<RelayResult>>,
    /// The answer as the endpoint wrote it, where that is kept.
    answer: RefCell<Option<Arc<WireAnswer>>>,
    /// The answer that nobody got, since the agent had hung up.
    given: RefCell<Option<(RelayResult, GivenCalls)>>,
    /// The channel of the copy of the answer, which comes after its end.
    late: RefCell<Option<mpsc::UnboundedReceiver<Heard>>>,
    answer_id: RefCell<Option<String>>,
    known: RefCell<Option<KnownReply>>,
    is_detached: Cell<bool>,
    /// Why the body cannot be replaced.
    fixed: Cell<Option<&'static str>>,
    /// Signals that the agent has ended.
    left: Notify,
}

impl Relay {
    pub fn new(spec: Arc<ModelSpec>, body: Bytes, way: RequestSessionEnd) -> Self {
        Self {
            spec,
            body: RefCell::new(body),
            way: RefCell::new(way),
            holds: Cell::default(),
            pace: Cell::default(),
            came: RefCell::default(),
            answer: RefCell::default(),
            given: RefCell::default(),
            late: RefCell::default(),
            answer_id: RefCell::default(),
            known: RefCell::default(),
            is_detached: Cell::default(),
            fixed: Cell::default(),
            left: Notify::new(),
        }
    }

    /// Holds at least this part of the answer until its release. This has an effect only before the request is sent on.
    pub fn hold(&self, holds: Holds) {
        self.holds.set(self.holds.get().max(holds));
    }

    /// The part of the answer that waits for its release.
    pub fn holds(&self) -> Holds {
        self.holds.get()
    }

    /// Delays each event of the client's stream by this time.
    pub fn slow_down(&self, pace: Duration) {
        self.pace.set(Some(pace));
    }

    /// Sends the client nothing while it waits, as if nobody were there.
    pub fn stay_silent(&self) {
        self.way.borrow().is_silent.store(true, Ordering::Relaxed);
    }

    /// The endpoint's answer; `None` if the endpoint was not called, or has not answered yet.
    pub fn came(&self) -> Option<RelayResult> {
        self.came.borrow().clone()
    }

    /// The body of the request.
    pub fn body(&self) -> Bytes {
        self.body.borrow().clone()
    }

    /// Sends the body on as it came, for this reason.
    pub fn fix(&self, why: Option<&'static str>) {
        self.fixed.set(why);
    }

    /// The body of a request that may be replaced.
    ///
    /// # Errors
    /// The reason, for a person: the body must stay as it is.
    pub fn changeable(&self) -> Result<Bytes, &'static str> {
        self.fixed.get().map_or_else(|| Ok(self.body()), Err)
    }

    /// Replaces the body that is sent on.
    pub fn replace(&self, body: Bytes) {
        *self.body.borrow_mut() = body;
    }

    /// The id of the answer that the agent gets: the endpoint's, if it has sent one, else that of an answer that
    /// replaces it.
    pub fn answer_id(&self, release: &Release) -> Option<String> {
        let is_other = matches!(release, Release::Instead(_));
        let told = self.answer_id.borrow().clone().filter(|_| !is_other);
        told.or_else(|| self.way.borrow().own_id.clone())
    }

    /// Uses this as the endpoint's answer; with `None` the endpoint is called.
    pub fn know(&self, known: Option<KnownReply>) {
        *self.known.borrow_mut() = known;
    }

    /// The origin of the known answer.
    pub fn known_from(&self) -> Option<Origin> {
        self.known.borrow().as_ref().map(|known| known.origin)
    }

    /// Whether a fault has spoiled the known answer before.
    pub fn is_spoiled(&self) -> bool {
        self.known.borrow().as_ref().is_some_and(|known| known.is_spoiled)
    }

    /// Returns when the agent has hung up before its request was sent on or answered.
    pub async fn hung_up(&self) {
        poll_fn(|cx| pin!(self.way.borrow_mut().hung_up()).poll(cx)).await;
    }

    /// Whether the request was not sent on yet and an agent waits for its answer.
    pub fn is_waited_for(&self) -> bool {
        self.way.borrow().sending.as_ref().is_some_and(|way| !way.is_closed())
    }

    /// Whether an agent that repeats its request can get the answer to this one: it was not sent on, or its answer is
    /// there.
    pub fn can_be_adopted(&self) -> bool {
        self.way.borrow().sending.is_some() || self.came.borrow().is_some()
    }

    /// Waits no longer for an answer that only the agent's further requests could bring.
    pub fn give_up(&self) {
        if self.is_detached.get() {
            self.left.notify_one();
        }
    }

    /// The answer that nobody got, if there is one.
    pub fn ungiven(&self) -> Option<RelayResult> {
        self.given.borrow().as_ref().map(|(said, _)| said.clone())
    }

    /// Sends the answer over these channels from now on, since the agent has repeated its request.
    pub fn adopt(&self, mut way: RequestSessionEnd) {
        match &*self.given.borrow() {
            // Nobody got it before.
            Some((said, calls)) => drop(way.send(self.in_place(said, calls.clone()))),
            None => *self.way.borrow_mut() = way,
        }
    }

    /// The channels of another request, whose answer the agent gets instead of this one's, which was held as a whole;
    /// `None` if the agent has hung up.
    pub fn again(&self) -> Option<RequestSessionEnd> {
        self.way.borrow_mut().again()
    }

    /// Why an answer that the agent has could not be read here.
    pub fn unread(&self) -> Option<String> {
        let came = self.came.borrow();
        let error = came.as_ref()?.as_ref().err()?;
        error.text.starts_with(UNREAD).then(|| error.text.clone())
    }

    /// Whether the agent has read nothing of the answer.
    pub fn is_unread(&self) -> bool {
        // Of an answer in the background, the agent has the id.
        let is_whole = self.holds() == Holds::All && !self.is_detached.get();
        is_whole || self.way.borrow().sending.is_some()
    }

    /// Ends the request. The agent gets `said`; if the endpoint's answer is already on its way, `release` decides about
    /// that answer. Returns false if the agent has hung up.
    pub fn end(&self, said: &RelayResult, release: Release) -> bool {
        let calls = match &release {
            Release::AsCame => Some(None),
            Release::Calls(calls) => Some(Some(calls.clone())),
            Release::Instead(_) | Release::Again(_) => None,
        };
        let mut way = self.way.borrow_mut();
        let is_given = match way.sending.is_some() {
            true => way.send(self.in_place(said, calls.clone())),
            // The part that was not held was sent unchanged.
            false => way.release(release) || !self.holds_of(said),
        };
        if !is_given {
            *self.given.borrow_mut() = Some((said.clone(), calls));
        }
        is_given
    }

    /// The answer in a form that needs no endpoint: as it came with these calls, unless something else is given.
    fn in_place(&self, said: &RelayResult, calls: GivenCalls) -> Sending {
        let (said, answer) = (said.clone(), self.answer.borrow().clone());
        match answer.zip(calls) {
            Some((answer, calls)) => Sending::Recorded { said, answer, calls },
            None => Sending::Instead(said),
        }
    }

    /// Whether some of this answer waits for its release.
    fn holds_of(&self, said: &RelayResult) -> bool {
        match said {
            Ok(reply) => !reply.calls.is_empty() || self.holds() > Holds::Calls,
            Err(_) => self.holds() == Holds::All,
        }
    }

    /// The copy of the endpoint's answer, which may come after its end; `None` where none is kept.
    pub async fn copy(&self) -> Option<Arc<WireAnswer>> {
        let mut late = self.late.take()?;
        while let Some(heard) = late.recv().await {
            if let Heard::Answered(answer) = heard {
                *self.answer.borrow_mut() = Some(Arc::clone(&answer));
                return Some(answer);
            }
        }
        None
    }

    fn keep(&self, answer: Arc<WireAnswer>, progress: &mut dyn FnMut(ModelProgress)) {
        *self.answer.borrow_mut() = Some(Arc::clone(&answer));
        progress(ModelProgress::Answered(answer));
    }

    async fn relay(&self, progress: &mut dyn FnMut(ModelProgress)) -> Result<Reply, ModelError> {
        let known = self.known.borrow().clone();
        if let Some(KnownReply { said, answer, sent, after, .. }) = known {
            sent.into_iter().for_each(|sent| progress(ModelProgress::Sent(sent)));
            if !after.is_zero() {
                tokio::time::sleep(after).await;
            }
            if let Some((answer, id)) = answer {
                self.keep(answer, progress);
                *self.answer_id.borrow_mut() = id;
                *self.came.borrow_mut() = Some(said.clone());
            }
            return said.map(Arc::unwrap_or_clone);
        }
        let (holds, pace) = (self.holds(), self.pace.get());
        let sending = Sending::On { body: self.body(), holds, pace };
        if self.way.borrow_mut().send(sending) {
            loop {
                let heard = poll_fn(|cx| self.way.borrow_mut().heard.poll_recv(cx));
                let heard = tokio::select! {
                    biased;
                    heard = heard => heard,
                    () = self.left.notified() => None,
                };
                match heard {
                    Some(Heard::Text(text)) => progress(ModelProgress::Text(text)),
                    Some(Heard::Reasoning(text)) => progress(ModelProgress::Reasoning(text)),
                    Some(Heard::Sent(body)) => progress(ModelProgress::Sent(body)),
                    Some(Heard::Named(id)) => *self.answer_id.borrow_mut() = Some(id),
                    Some(Heard::Detached) => self.is_detached.set(true),
                    Some(Heard::Ended(ended)) => {
                        let closed = mpsc::unbounded_channel().1;
                        let late = mem::replace(&mut self.way.borrow_mut().heard, closed);
                        *self.late.borrow_mut() = Some(late);
                        *self.came.borrow_mut() = Some(ended.clone().map(Arc::new));
                        return ended;
                    }
                    // The copy comes after the end.
                    Some(Heard::Answered(_)) => {}
                    None => break,
                }
            }
        }
        Err(ModelError::new(ModelErrorKind::Cancelled, "the agent hung up"))
    }
}

impl Model for Relay {
    fn spec(&self) -> &Arc<ModelSpec> {
        &self.spec
    }

    /// Sends the body of its request on; `request` is the readable form of it.
    fn ask<'a>(
        &'a self,
        _request: &'a Request,
        progress: &'a mut dyn FnMut(ModelProgress),
    ) -> LocalBoxFuture<'a, Result<Reply, ModelError>> {
        self.relay(progress).boxed_local()
    }
}
