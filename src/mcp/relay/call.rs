//! A tool call on its way through the relay.

use std::cell::RefCell;
use std::rc::Rc;

use tokio::sync::{Notify, mpsc, oneshot, watch};

use super::answer;
use super::beat::beat;
use super::book::{Book, Came};
use super::listing::NOTICE;
use super::message::{CallRequest, read};
use super::structure::Structure;
use crate::domain::fault::Drift;
use crate::tool::relayed::{CallRelayEnd, RelayTurn};
use crate::tool::{ToolError, ToolErrorKind};

/// Why a held call fails when its session ends.
pub const NO_SESSION: &str =
    "toolyard's session has ended while it held this call; the tool did not run";
/// Why a call fails if its server has ended.
const LOST: &str = "the server ended while the call ran: its outcome is unknown";
/// Why a held call fails if its server has ended.
const NOT_SENT: &str = "the server ended before the call reached it; the tool did not run";

/// Why a call ends if its client has given up.
pub const GIVEN_UP: &str = "the client did not wait for the answer";

/// State that all calls of a relay share.
pub struct StdioRelay {
    pub book: RefCell<Book>,
    pub to_client: mpsc::Sender<Vec<u8>>,
    pub to_server: mpsc::Sender<Vec<u8>>,
    /// Ends the server's program.
    pub end_server: Notify,
    /// Signals that a call was sent on, or has its answer.
    pub settled: Notify,
    /// Whether the server has ended.
    pub lost: watch::Receiver<bool>,
}

/// A call that its session knows.
pub struct StdioCall {
    pub asked: CallRequest,
    /// The request as it came.
    pub line: Vec<u8>,
    pub way: CallRelayEnd,
    pub given_up: Rc<Notify>,
    /// Dropped as soon as the call is decided: later lines wait for that.
    pub decided: Option<oneshot::Sender<()>>,
    /// The structured content that the client expects.
    pub structure: Structure,
    /// The tool's new listing from this call on, if it changes.
    pub relist: Option<Option<Drift>>,
}

/// Answer that the client gets.
enum Given {
    /// A line of the server.
    Line(Vec<u8>),
    /// An answer that is not the server's.
    Made { line: Vec<u8>, ends_server: bool, cancels: bool },
}

impl StdioCall {
    /// Waits for the turns of the call until its client has an answer, or has given up.
    pub async fn pass(mut self, shared: Rc<StdioRelay>) {
        let given_up = Rc::clone(&self.given_up);
        let given = tokio::select! {
            biased;
            () = given_up.notified() => None,
            given = self.given(&shared) => given,
        };
        if let Some(change) = self.relist
            && shared.book.borrow_mut().listing.set(&self.asked.tool, change)
        {
            let _ = shared.to_client.send(NOTICE.into()).await;
        }
        match given {
            None => {
                let error = ToolError::new(ToolErrorKind::Cancelled, GIVEN_UP);
                let _ = self.way.returned.take().map(|tell| tell.send(Err(error)));
            }
            Some(Given::Line(line)) => {
                shared.book.borrow_mut().close(&self.asked.id);
                let _ = shared.to_client.send(line).await;
            }
            Some(Given::Made { line, ends_server, cancels }) => {
                match cancels {
                    true => shared.book.borrow_mut().answered(self.asked.id.clone()),
                    false => shared.book.borrow_mut().close(&self.asked.id),
                }
                let _ = shared.to_client.send(line).await;
                if ends_server {
                    shared.end_server.notify_one();
                } else if cancels {
                    let _ = shared.to_server.send(answer::cancel(&self.asked)).await;
                }
            }
        }
        self.decided = None;
        shared.settled.notify_waiters();
    }

    async fn given(&mut self, shared: &StdioRelay) -> Option<Given> {
        let sent = match self.before(shared).await {
            Ok(line) => line,
            Err(given) => return Some(given),
        };
        let came = shared.book.borrow_mut().send(&self.asked.id)?;
        let _ = shared.to_server.send(sent).await;
        self.decided = None;
        shared.settled.notify_waiters();
        let came = match self.running(came).await {
            Ok(came) => came,
            Err(given) => return given,
        };
        self.after(shared, came).await
    }

    /// Waits until the call is sent on, and returns its line.
    async fn before(&mut self, shared: &StdioRelay) -> Result<Vec<u8>, Given> {
        let mut lost = shared.lost.clone();
        let mut is_held = false;
        loop {
            let turn = tokio::select! {
                biased;
                turn = self.way.turns.recv() => turn,
                _ = lost.wait_for(|lost| *lost) => {
                    return Err(self.failed(ToolErrorKind::Unavailable, NOT_SENT));
                }
                never = beat::<Option<RelayTurn>>(&self.asked, &shared.book, &shared.to_client), if is_held => never,
            };
            match turn {
                Some(RelayTurn::Held) => (is_held, self.decided) = (true, None),
                Some(RelayTurn::On(None)) => return Ok(std::mem::take(&mut self.line)),
                Some(RelayTurn::On(Some(arguments))) => {
                    return Ok(self.asked.with(&self.line, &arguments));
                }
                Some(RelayTurn::Instead(answer)) => {
                    let line = answer::line(&self.asked, &answer.returned, &self.structure);
                    let ends_server = answer.ends_server;
                    return Err(Given::Made { line, ends_server, cancels: false });
                }
                Some(RelayTurn::Relist(change)) => self.relist = Some(change),
                Some(RelayTurn::AsCame) => {}
                None => return Err(self.failed(ToolErrorKind::Failed, NO_SESSION)),
            }
        }
    }

    /// Waits for the server's answer; `None` if the server has ended. The call may get another answer meanwhile, or
    /// pass without its session.
    async fn running(
        &mut self,
        mut came: oneshot::Receiver<Came>,
    ) -> Result<Option<Came>, Option<Given>> {
        loop {
            let turn = tokio::select! {
                biased;
                came = &mut came => return Ok(came.ok()),
                turn = self.way.turns.recv() => turn,
            };
            match turn {
                Some(RelayTurn::Instead(answer)) => {
                    let line = answer::line(&self.asked, &answer.returned, &self.structure);
                    let ends_server = answer.ends_server;
                    return Err(Some(Given::Made { line, ends_server, cancels: true }));
                }
                Some(RelayTurn::Relist(change)) => self.relist = Some(change),
                Some(RelayTurn::Held | RelayTurn::On(_) | RelayTurn::AsCame) => {}
                None => {
                    return Err(Some(match came.await {
                        Ok(came) => {
                            self.decided = Some(came.decided);
                            Given::Line(came.line)
                        }
                        Err(_) => self.failed(ToolErrorKind::Unavailable, LOST),
                    }));
                }
            }
        }
    }

    /// Tells the session the server's answer, and waits for its decision about the client's answer.
    async fn after(&mut self, shared: &StdioRelay, came: Option<Came>) -> Option<Given> {
        let line = came.map(|came| {
            self.decided = Some(came.decided);
            came.line
        });
        let mut returned = Err(ToolError::new(ToolErrorKind::Failed, LOST));
        if let Some((_, message)) = line.as_deref().and_then(read) {
            returned = answer::returned(&message);
            self.structure.see(&message, returned.is_ok());
        }
        let _ = self.way.returned.take().map(|tell| tell.send(returned));
        let mut is_held = false;
        loop {
            let turn = tokio::select! {
                biased;
                turn = self.way.turns.recv() => turn,
                never = beat::<Option<RelayTurn>>(&self.asked, &shared.book, &shared.to_client), if is_held => never,
            };
            match turn {
                Some(RelayTurn::Held) => (is_held, self.decided) = (true, None),
                Some(RelayTurn::Instead(answer)) => {
                    let line = answer::line(&self.asked, &answer.returned, &self.structure);
                    let ends_server = answer.ends_server;
                    return Some(Given::Made { line, ends_server, cancels: false });
                }
                Some(RelayTurn::Relist(change)) => self.relist = Some(change),
                Some(RelayTurn::On(_)) => {}
                // Without its session, the answer passes.
                Some(RelayTurn::AsCame) | None => {
                    return Some(match line {
                        Some(line) => Given::Line(line),
                        None => self.failed(ToolErrorKind::Unavailable, LOST),
                    });
                }
            }
        }
    }

    /// Returns an answer for a call that failed without an answer of the server.
    fn failed(&self, kind: ToolErrorKind, text: &str) -> Given {
        let line = answer::line(&self.asked, &Err(ToolError::new(kind, text)), &Structure::None);
        Given::Made { line, ends_server: false, cancels: false }
    }
}
