//! The session as everything in the engine shares it: to read, to change, to wait, and to run tasks beside the agent.

use std::{cell::RefCell, rc::Rc};

use futures::{FutureExt, StreamExt, future::LocalBoxFuture, stream::FuturesUnordered};
use tokio::sync::Notify;

use super::{session::Session, station::Station};
use crate::domain::Event;

/// The session, shared by the loop, the strategy and everything that runs beside it. Single-threaded.
#[derive(Clone)]
pub(super) struct Handle {
    session: Rc<RefCell<Session>>,
    stations: Rc<[Rc<dyn Station>]>,
    /// Signals any change, for the lanes that wait for one.
    changed: Rc<Notify>,
    /// Futures to run beside the agent that have not been started yet.
    beside: Rc<RefCell<Vec<LocalBoxFuture<'static, ()>>>>,
    /// Signals such futures. `changed` does not, because every event would wake the whole session.
    spawned: Rc<Notify>,
}

impl Handle {
    pub fn new(session: Session, stations: Rc<[Rc<dyn Station>]>) -> Self {
        let session = Rc::new(RefCell::new(session));
        let (changed, beside, spawned) = (Rc::default(), Rc::default(), Rc::default());
        Self { session, stations, changed, beside, spawned }
    }

    pub fn stations(&self) -> Rc<[Rc<dyn Station>]> {
        Rc::clone(&self.stations)
    }

    /// Reads the session.
    pub fn read<T>(&self, look: impl FnOnce(&Session) -> T) -> T {
        look(&self.session.borrow())
    }

    /// Changes the session, and wakes all waiting lanes, which check their conditions again.
    pub fn write<T>(&self, change: impl FnOnce(&mut Session) -> T) -> T {
        let mut session = self.session.borrow_mut();
        // A person intervened between changes, so a session that runs again repeats that there.
        session.repeat_interventions();
        let out = change(&mut session);
        session.repeat_interventions();
        session.flush_if_watched();
        drop(session);
        self.changed.notify_waiters();
        out
    }

    pub fn emit(&self, event: impl Into<Event>) {
        self.write(|session| session.emit(event));
    }

    /// Journals and shows what was recorded.
    pub fn flush(&self) {
        let mut session = self.session.borrow_mut();
        session.flush();
        if session.is_broken() {
            self.changed.notify_waiters();
        }
    }

    /// Journals and shows the records of the other branches of a loop, whenever they were polled before this one. Never
    /// ends.
    pub fn flush_after_all(&self) -> impl Future<Output = ()> {
        std::future::poll_fn(|_| {
            self.flush();
            std::task::Poll::Pending
        })
    }

    /// Waits until the journal's copy elsewhere has all that was recorded, if there is one.
    pub async fn journal_copied(&self) {
        let copied = self.read(Session::copied);
        if let Some(copied) = copied
            && let Err(error) = copied.await
        {
            self.write(|session| session.note_unwritten(error));
        }
    }

    /// Waits forever if the journal has failed. Nothing may be done that cannot be recorded, and a strategy
    /// that went on with a state that does not change any more might never end.
    pub async fn halt_if_journal_failed(&self) {
        self.until(|session| !session.is_broken()).await;
    }

    /// Waits until the condition holds. Everything runs on one thread, so nothing can change between the check and the
    /// wait.
    pub async fn until(&self, holds: impl Fn(&Session) -> bool) {
        while !self.read(&holds) {
            self.changed.notified().await;
        }
    }

    /// Runs something beside the agent, until the session ends.
    pub fn spawn(&self, beside: impl Future<Output = ()> + 'static) {
        self.beside.borrow_mut().push(beside.boxed_local());
        self.spawned.notify_one();
    }

    /// Runs spawned futures; never ends. Earlier ones are dropped with this future even if it never ran.
    pub fn run_beside(&self) -> impl Future<Output = ()> {
        let mut running: FuturesUnordered<_> = self.beside.take().into_iter().collect();
        async move {
            loop {
                running.extend(self.beside.take());
                tokio::select! {
                    biased;
                    Some(()) = running.next() => {}
                    () = self.spawned.notified() => {}
                }
            }
        }
    }
}
