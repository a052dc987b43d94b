//! The requests of foreign agents. A listener hands each one to the session as an [`Arrival`]. Its model is a [`Relay`]: it
//! has the request sent on, and hears the answer while the agent reads it.
//!
//! ```text
//! listener ── Arrival ─────────────────────────────────► session
//!    ◄── Sending: send it on, or answer in its place ──────┤ after the stations before
//!    ├── Heard: pieces, the whole answer ─────────────────►│
//!    ◄── Release: what was held of the answer goes on ─────┤ after the stations of its calls
//! ```

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};
use std::{pin::pin, sync::Arc, time::Duration};

use bytes::Bytes;
use futures::FutureExt;
use futures::future::{LocalBoxFuture, poll_fn};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use crate::domain::{ModelErrorKind, ModelSpec, Reply, Request, ToolCall};
use crate::wire::{Asked, Format};
use crate::{Model, ModelError, Progress};

/// A request of a foreign agent.
#[derive(Debug)]
pub struct Arrival {
    pub format: Format,
    /// What was read of it.
    pub asked: Asked,
    /// Its body as it came, decoded.
    pub body: Bytes,
    pub caller: Caller,
    pub way: Way,
}

/// What a listener tells a session.
#[derive(Debug)]
pub enum News {
    Arrived(Box<Arrival>),
    /// A request went through unread: its method and path, and why it was not understood, if it should have been.
    Passed {
        what: String,
        why: Option<String>,
    },
    /// An agent was started by this command.
    Started {
        command: String,
    },
    /// It has ended, with this exit code or by a signal.
    Ended {
        code: Option<i32>,
    },
    /// Something that a person should know.
    Noticed(String),
}

/// What is known of the sender of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// The client's own word for its session: from the address, a header or the body.
    pub session: Option<String>,
    /// How often the client has tried before, as it says.
    pub retries: u32,
    /// How long the client waits, as it says.
    pub patience: Option<Duration>,
    /// The endpoint that the request is for, as host and path: `api.openai.com/v1`.
    pub endpoint: String,
}

/// The session's end of the way of one request.
#[derive(Debug)]
pub struct Way {
    sending: Option<oneshot::Sender<Sending>>,
    heard: mpsc::UnboundedReceiver<Heard>,
    release: Option<oneshot::Sender<Release>>,
    is_silent: Arc<AtomicBool>,
}

/// The listener's end of the way of one request. A channel that is closed means that the other end is gone.
#[derive(Debug)]
pub struct Line {
    pub sending: oneshot::Receiver<Sending>,
    pub heard: mpsc::UnboundedSender<Heard>,
    pub release: oneshot::Receiver<Release>,
    /// The client is to wait in vain: it hears nothing while its request or its answer is held.
    pub is_silent: Arc<AtomicBool>,
}

/// What becomes of a request.
#[derive(Clone, Debug)]
pub enum Sending {
    /// This body goes to the endpoint.
    On {
        body: Bytes,
        holds: Holds,
        /// The client gets each event of a stream later by this.
        pace: Option<Duration>,
    },
    /// This is the answer; nothing is sent.
    Instead(Said),
}

/// What of an answer waits for its [`Release`]. An answer that is no stream waits as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holds {
    /// Its calls, and what comes after them.
    #[default]
    Calls,
    /// Also its end: the text goes on, and the event with the finish waits.
    End,
    /// All of it.
    All,
}

/// An answer, or why there is none.
pub type Said = Result<Arc<Reply>, ModelError>;

/// What the listener hears of the answer.
#[derive(Clone, Debug)]
pub enum Heard {
    Text(String),
    Reasoning(String),
    /// The body that was sent, where it is kept, as JSON.
    Sent(Arc<Value>),
    /// The endpoint's own id of the answer.
    Named(String),
    /// The last of a request: the endpoint's answer.
    Ended(Result<Reply, ModelError>),
}

/// What becomes of the rest of an answer.
#[derive(Clone, Debug)]
pub enum Release {
    /// It goes on as it came.
    AsCame,
    /// The agent gets these calls in place of those that came. Of a call whose id came, only the name and the arguments
    /// change. The others that came are dropped, and further ones follow the last one.
    Calls(Vec<ToolCall>),
    /// The agent gets this instead; only where all of the answer was held.
    Instead(Said),
}

/// Both ends of the way of one request.
pub fn way() -> (Way, Line) {
    let (sending, to_send) = oneshot::channel();
    let (hear, heard) = mpsc::unbounded_channel();
    let (release, released) = oneshot::channel();
    let is_silent = Arc::<AtomicBool>::default();
    let line = Line {
        sending: to_send,
        heard: hear,
        release: released,
        is_silent: Arc::clone(&is_silent),
    };
    (Way { sending: Some(sending), heard, release: Some(release), is_silent }, line)
}

impl Way {
    /// Says what becomes of the request; false: that was said before, or nobody waits for it any more.
    pub fn send(&mut self, sending: Sending) -> bool {
        self.sending.take().is_some_and(|way| way.send(sending).is_ok())
    }

    /// Returns when the agent has hung up before anything was said about its request.
    pub async fn hung_up(&mut self) {
        match &mut self.sending {
            Some(way) => way.closed().await,
            None => std::future::pending().await,
        }
    }

    /// Lets the rest of the answer go on.
    pub fn release(&mut self, release: Release) {
        // An agent that has hung up needs no answer.
        self.release.take().map(|way| way.send(release));
    }
}

/// The model of one request: the endpoint that a foreign agent asks.
#[derive(Debug)]
pub struct Relay {
    spec: Arc<ModelSpec>,
    body: Bytes,
    way: RefCell<Way>,
    holds: Cell<Holds>,
    pace: Cell<Option<Duration>>,
    came: RefCell<Option<Said>>,
    answer_id: RefCell<Option<String>>,
}

impl Relay {
    pub fn new(spec: Arc<ModelSpec>, body: Bytes, way: Way) -> Self {
        Self {
            spec,
            body,
            way: RefCell::new(way),
            holds: Cell::default(),
            pace: Cell::default(),
            came: RefCell::default(),
            answer_id: RefCell::default(),
        }
    }

    /// Has at least this much of the answer wait for its release. It counts for a request that was not sent on yet.
    pub fn hold(&self, holds: Holds) {
        self.holds.set(self.holds.get().max(holds));
    }

    /// What of the answer waits for its release.
    pub fn holds(&self) -> Holds {
        self.holds.get()
    }

    /// Has the client get each event of its stream later by this.
    pub fn slow_down(&self, pace: Duration) {
        self.pace.set(Some(pace));
    }

    /// Has the client hear nothing while it waits, as if nobody were there.
    pub fn stay_silent(&self) {
        self.way.borrow().is_silent.store(true, Ordering::Relaxed);
    }

    /// What the endpoint said; `None` if it was not asked, or has not answered yet.
    pub fn came(&self) -> Option<Said> {
        self.came.borrow().clone()
    }

    /// Bytes of the request.
    pub fn size(&self) -> u64 {
        self.body.len() as u64
    }

    /// The endpoint's own id of the answer, where it has told one.
    pub fn answer_id(&self) -> Option<String> {
        self.answer_id.borrow().clone()
    }

    /// Returns when the agent has hung up before its request was sent on or answered.
    pub async fn hung_up(&self) {
        poll_fn(|cx| pin!(self.way.borrow_mut().hung_up()).poll(cx)).await;
    }

    /// Ends the way of the request: the agent gets what came, or what the session made of it.
    pub fn end(&self, release: Release) {
        let mut way = self.way.borrow_mut();
        let is_sent = match &release {
            Release::Instead(said) => way.send(Sending::Instead(said.clone())),
            Release::AsCame | Release::Calls(_) => false,
        };
        if !is_sent {
            way.release(release);
        }
    }

    async fn relay(&self, progress: &mut dyn FnMut(Progress)) -> Result<Reply, ModelError> {
        let sending =
            Sending::On { body: self.body.clone(), holds: self.holds.get(), pace: self.pace.get() };
        if self.way.borrow_mut().send(sending) {
            loop {
                match poll_fn(|cx| self.way.borrow_mut().heard.poll_recv(cx)).await {
                    Some(Heard::Text(text)) => progress(Progress::Text(text)),
                    Some(Heard::Reasoning(text)) => progress(Progress::Reasoning(text)),
                    Some(Heard::Sent(body)) => progress(Progress::Sent(body)),
                    Some(Heard::Named(id)) => *self.answer_id.borrow_mut() = Some(id),
                    Some(Heard::Ended(ended)) => {
                        *self.came.borrow_mut() = Some(ended.clone().map(Arc::new));
                        return ended;
                    }
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

    /// Has the body of its request sent on; `request` is what a person reads of it.
    fn ask<'a>(
        &'a self,
        _request: &'a Request,
        progress: &'a mut dyn FnMut(Progress),
    ) -> LocalBoxFuture<'a, Result<Reply, ModelError>> {
        self.relay(progress).boxed_local()
    }
}
