//! The calls and lists that a relay waits for.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use tokio::sync::{Notify, oneshot};

use super::listing::ServerListing;
use super::message::Id;

/// The most awaited answers that will be dropped.
const MOST: usize = 1024;

/// An answer of the server.
pub struct Came {
    pub line: Vec<u8>,
    /// Dropped as soon as the answer is decided: later lines wait for that.
    pub decided: oneshot::Sender<()>,
}

/// A call whose client waits.
pub struct PendingCall {
    pub given_up: Rc<Notify>,
    pub is_sent: bool,
    /// The channel for its answer, once it was sent on.
    pub answer: Option<oneshot::Sender<Came>>,
    /// The token of its progress notes.
    pub token: Option<String>,
    /// The last number in such a note.
    pub progress: f64,
}

#[derive(Default)]
pub struct Book {
    open: HashMap<Id, PendingCall>,
    /// Requests for the list of tools.
    lists: HashSet<Id>,
    /// The list of tools as the client reads it.
    pub listing: ServerListing,
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
    /// Opens a call; false if a call with this id is open.
    pub fn open(&mut self, id: Id, open: PendingCall) -> bool {
        let is_new = !self.open.contains_key(&id);
        if is_new {
            self.answered.remove(&id);
            self.open.insert(id, open);
        }
        is_new
    }

    /// Marks a call as sent on; returns the channel for its answer. `None` if the client has given up.
    pub fn send(&mut self, id: &Id) -> Option<oneshot::Receiver<Came>> {
        let (answer, came) = oneshot::channel();
        let open = self.open.get_mut(id)?;
        (open.is_sent, open.answer) = (true, Some(answer));
        Some(came)
    }

    /// Closes a call that has its answer, or needs none.
    pub fn close(&mut self, id: &Id) {
        self.open.remove(id);
    }

    /// Notes that the client has another answer, so that the server's must be dropped.
    pub fn answered(&mut self, id: Id) {
        self.open.remove(&id);
        // Some answers never come.
        if self.answered.len() < MOST {
            self.answered.insert(id);
        }
    }

    /// Ends the wait of the client; false if the server does not know this call.
    pub fn give_up(&mut self, id: &Id) -> bool {
        let Some(open) = self.open.remove(id) else { return true };
        open.given_up.notify_one();
        open.is_sent
    }

    pub fn list(&mut self, id: Id) {
        if self.lists.len() < MOST {
            self.lists.insert(id);
        }
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

    pub fn answer(&mut self, id: &Id) -> AnswerKind {
        if self.lists.remove(id) {
            return AnswerKind::List;
        }
        if self.answered.remove(id) {
            return AnswerKind::TooLate;
        }
        let answer = self.open.get_mut(id).and_then(|open| open.answer.take());
        answer.map_or(AnswerKind::Other, AnswerKind::Call)
    }

    /// Notes the progress of a call that the server reports.
    pub fn note_progress(&mut self, token: &str, progress: f64) {
        let of = self.open.values_mut().find(|open| open.token.as_deref() == Some(token));
        of.into_iter().for_each(|open| open.progress = open.progress.max(progress));
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
