//! The calls and lists that a relay waits for.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use tokio::sync::{Notify, oneshot};

use super::message::Id;
use super::relisted::Relisted;

/// Answers that are waited for at most, which are to be dropped.
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
    /// Where its answer goes, once it was sent on.
    pub answer: Option<oneshot::Sender<Came>>,
    /// The token of its notes of progress.
    pub token: Option<String>,
    /// The last number in such a note.
    pub progress: f64,
}

#[derive(Default)]
pub struct Book {
    open: HashMap<Id, PendingCall>,
    /// Requests for the list of tools.
    lists: HashSet<Id>,
    /// How the tool that a fault has hit is listed.
    pub relisted: Relisted,
    /// Calls that were answered before the server did.
    answered: HashSet<Id>,
}

/// Kind of a server's answer.
pub enum AnswerKind {
    Call(oneshot::Sender<Came>),
    List,
    /// The client has another answer already.
    TooLate,
    /// Any other answer; it passes.
    Other,
}

impl Book {
    /// Opens a call; false: there is one with this id.
    pub fn open(&mut self, id: Id, open: PendingCall) -> bool {
        let is_new = !self.open.contains_key(&id);
        if is_new {
            self.answered.remove(&id);
            self.open.insert(id, open);
        }
        is_new
    }

    /// A call is sent on: its answer comes this way. `None`: the client has given up.
    pub fn send(&mut self, id: &Id) -> Option<oneshot::Receiver<Came>> {
        let (answer, came) = oneshot::channel();
        let open = self.open.get_mut(id)?;
        (open.is_sent, open.answer) = (true, Some(answer));
        Some(came)
    }

    /// The call has its answer, or needs none.
    pub fn close(&mut self, id: &Id) {
        self.open.remove(id);
    }

    /// The client has an answer that is not the server's, which was asked and is to be dropped.
    pub fn answered(&mut self, id: Id) {
        self.open.remove(&id);
        // One that never comes.
        if self.answered.len() < MOST {
            self.answered.insert(id);
        }
    }

    /// The client waits no more; false: the server knows nothing of this call.
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

    /// Whether an answer of the server may be one of these.
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

    /// Notes how far the server says that a call is.
    pub fn note_progress(&mut self, token: &str, progress: f64) {
        let of = self.open.values_mut().find(|open| open.token.as_deref() == Some(token));
        of.into_iter().for_each(|open| open.progress = open.progress.max(progress));
    }

    /// The number of the next note of progress that is not the server's.
    pub fn next_progress(&mut self, id: &Id) -> f64 {
        let Some(open) = self.open.get_mut(id) else { return 0.0 };
        // The server's own numbers begin at 0 or 1.
        open.progress += 1e-6;
        open.progress
    }

    /// The server has ended: nothing that was sent is answered any more.
    pub fn lose_server(&mut self) {
        self.open.values_mut().for_each(|open| open.answer = None);
    }
}
