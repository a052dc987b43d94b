//! The calls and lists that a relay waits for.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{Notify, oneshot};

use super::answer;
use super::assembly::Assembly;
use super::learn;
use super::listing::ServerListing;
use super::message::{CallRequest, Id, answers, read};
use crate::OfferedTools;
use crate::tool::foreign_calls::RelayNews;

/// The most awaited answers that will be dropped.
const MOST: usize = 1024;
/// The largest request, in bytes, about which a session decides.
const LARGEST: usize = 4 << 20;

/// An answer of the server.
pub struct Came {
    /// The line with the answer, and its place there.
    pub line: Rc<RefCell<Assembly>>,
    pub at: usize,
    /// Dropped as soon as the answer is decided: later lines wait for that.
    pub decided: oneshot::Sender<()>,
}

/// A call whose client waits.
struct PendingCall {
    given_up: Rc<Notify>,
    is_sent: bool,
    /// The channel for its answer, once it was sent on.
    answer: Option<oneshot::Sender<Came>>,
    /// The token of its progress notes.
    token: Option<String>,
    /// The last number in such a note.
    progress: f64,
}

/// The state of a relay's requests.
pub struct Book {
    /// The name of the server.
    pub key: Arc<str>,
    news: UnboundedSender<RelayNews>,
    open: HashMap<Id, PendingCall>,
    /// Requests for the list of tools.
    lists: HashSet<Id>,
    /// The list of tools as the client reads it.
    pub listing: ServerListing,
    /// The tools that clients may read.
    offered: OfferedTools,
    /// Calls that were answered before the server answered.
    answered: HashSet<Id>,
}

/// Kind of a server's answer.
pub enum AnswerKind {
    Call(oneshot::Sender<Came>),
    List,
    /// The client already has another answer.
    TooLate,
    /// Any other answer; it passes.
    Other,
}

impl Book {
    /// The empty state for the server with this key, whose session gets `news`.
    pub fn new(key: Arc<str>, news: UnboundedSender<RelayNews>, offered: OfferedTools) -> Self {
        let (open, lists, answered) = Default::default();
        Self { key, news, open, lists, listing: ServerListing::default(), offered, answered }
    }

    /// Opens a call of so many bytes; `None` if nobody decides about it.
    pub fn open(&mut self, asked: &CallRequest, bytes: usize, given_up: &Rc<Notify>) -> Option<()> {
        if bytes > LARGEST {
            let tool = &asked.tool;
            self.notice(|key| format!(
                "a call of {tool} has {bytes} bytes: it went to {key} unread, since at most {LARGEST} are read"
            ));
        }
        if bytes > LARGEST || self.news.is_closed() || self.open.contains_key(&asked.id) {
            return None;
        }
        self.answered.remove(&asked.id);
        let (given_up, token) = (Rc::clone(given_up), asked.token.clone());
        let open = PendingCall { given_up, is_sent: false, answer: None, token, progress: 0.0 };
        self.open.insert(asked.id.clone(), open);
        Some(())
    }

    /// Marks a call as sent on; returns the channel for its answer. `None` if the client has given up.
    pub fn send(&mut self, id: &Id) -> Option<oneshot::Receiver<Came>> {
        let (answer, came) = oneshot::channel();
        let open = self.open.get_mut(id)?;
        (open.is_sent, open.answer) = (true, Some(answer));
        Some(came)
    }

    /// Closes a call that has its answer, or needs none. `drops`: the server's answer will come, and must be dropped.
    pub fn close(&mut self, id: &Id, drops: bool) {
        let is_open = self.open.remove(id).is_some();
        // Some answers never come.
        if is_open && drops && self.answered.len() < MOST {
            self.answered.insert(id.clone());
        }
    }

    /// Ends the wait of the client; false if the server does not know this call.
    pub fn give_up(&mut self, id: &Id) -> bool {
        let Some(open) = self.open.remove(id) else { return true };
        open.given_up.notify_one();
        open.is_sent
    }

    /// The answer to a call of a tool that is not offered; `None` for others.
    pub fn refusal(&self, asked: &CallRequest) -> Option<Vec<u8>> {
        let is_off = !self.offered.includes(&asked.tool);
        is_off.then(|| answer::unknown(&asked.id, &asked.tool))
    }

    /// Notes a request for the list of tools.
    pub fn list(&mut self, id: Id) {
        if self.lists.len() < MOST {
            self.lists.insert(id);
        }
    }

    /// Reads a list of tools. Returns the client's version, if it differs.
    pub fn listed(&mut self, line: &[u8]) -> Option<Vec<u8>> {
        let changed = self.listing.line(line);
        let changed = self.offered.listed(changed.as_deref().unwrap_or(line)).or(changed);
        if let Some((_, message)) = read(changed.as_deref().unwrap_or(line)) {
            let tools = learn::tools(&self.key, &message);
            self.listing.learn(&tools);
            self.tell(RelayNews::Offered { server: Arc::clone(&self.key), tools });
        }
        changed
    }

    /// Tells the session, which may have ended.
    pub fn tell(&self, news: RelayNews) {
        let _ = self.news.send(news);
    }

    /// Tells people something about the server with this key.
    pub fn notice(&self, text: impl Fn(&str) -> String) {
        self.tell(RelayNews::Noticed(text(&self.key)));
    }

    /// Tells the session that the relay has ended.
    pub fn end(&self) {
        self.tell(RelayNews::Ended { server: Arc::clone(&self.key) });
    }

    pub fn is_all_sent(&self) -> bool {
        self.open.values().all(|open| open.is_sent)
    }

    pub fn is_closed(&self) -> bool {
        self.open.is_empty()
    }

    /// Whether an answer of the server may be for one of these.
    pub fn waits(&self) -> bool {
        !(self.open.is_empty() && self.lists.is_empty() && self.answered.is_empty())
    }

    /// Reads a message of the server, and takes what waits for it. An id is also found by its text alone, and in bytes
    /// that cannot be read.
    pub fn came(&mut self, part: &[u8]) -> AnswerKind {
        if self.hear(part) {
            return AnswerKind::Other;
        }
        let id = read(part).and_then(|(_, message)| message.id());
        if id.as_ref().is_some_and(|id| self.lists.remove(id)) {
            return AnswerKind::List;
        }
        if id.as_ref().is_some_and(|id| self.answered.remove(id)) {
            return AnswerKind::TooLate;
        }
        let exact = id.filter(|id| self.open.contains_key(id));
        let is_only = self.open.len() == 1;
        let found =
            exact.or_else(|| self.open.keys().find(|open| answers(part, open, is_only)).cloned());
        let answer = found.and_then(|id| self.open.get_mut(&id)?.answer.take());
        answer.map_or(AnswerKind::Other, AnswerKind::Call)
    }

    /// Notes the progress of a call, if the server reports it here; false for an answer.
    pub fn hear(&mut self, part: &[u8]) -> bool {
        let Some((_, message)) = read(part) else { return false };
        if let Some((token, progress)) = message.progress() {
            let of = self.open.values_mut().find(|open| open.token.as_deref() == Some(token));
            of.into_iter().for_each(|open| open.progress = open.progress.max(progress));
        }
        message.method.is_some()
    }

    /// The number of the next progress note that is not the server's.
    pub fn next_progress(&mut self, id: &Id) -> f64 {
        let Some(open) = self.open.get_mut(id) else { return 0.0 };
        // The server's own numbers begin at 0 or 1.
        open.progress += 1e-6;
        open.progress
    }

    /// Notes that the server has ended: no sent call is answered any longer.
    pub fn lose_server(&mut self) {
        self.open.values_mut().for_each(|open| open.answer = None);
    }
}
