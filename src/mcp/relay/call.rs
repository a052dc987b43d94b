//! A tool call on its way through a relay, whatever its transport.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::sleep;

use super::answer;
use super::beat::{BEAT, note};
use super::book::Book;
use super::listing::NOTICE;
use super::message::{CallRequest, batch, read};
use super::structure::Structure;
use crate::domain::fault::Drift;
use crate::tool::foreign_calls::{CallRelayEnd, CallSessionEnd, ForeignCall, RelayAnswer};
use crate::tool::foreign_calls::{RelayNews, RelayTurn, Returned, way};
use crate::tool::{ToolError, ToolErrorKind};

/// The time that clients wait for an answer without progress notes.
const PATIENCE: Duration = Duration::from_secs(60);
/// Why a held call fails when its session ends.
const NO_SESSION: &str =
    "toolyard's session has ended while it held this call; the tool did not run";
/// Why a held call fails if its server has ended.
const NOT_SENT: &str = "the server ended before the call reached it; the tool did not run";
/// Why a call ends if its client has given up.
const GIVEN_UP: &str = "the client did not wait for the answer";
/// Why a call has no result.
const UNREAD: &str = "the server's answer has no result of this call that could be read";
/// Why the calls of a list do not run.
const LISTED: &str =
    "toolyard holds or changes a call of this list, so none has run: send the calls one at a time";

/// Why no request of a list is served.
const OFF: &str = "a tool of this list is not offered";

/// The client and the server of a call.
pub trait Sides {
    /// Sends the client a line that precedes the answer.
    fn say(&mut self, line: Vec<u8>) -> impl Future<Output = ()>;
    /// Sends the server a request, unless it is empty, and returns the answer; `None` if no answer could be read. Fails
    /// if the server is not reached, or has ended.
    fn ask(&mut self, request: Vec<u8>) -> impl Future<Output = Result<Option<Vec<u8>>, String>>;
    /// Returns when the server has ended, if that can be known without a request.
    fn lost(&self) -> impl Future<Output = ()> + 'static {
        std::future::pending()
    }
    /// Lets later lines pass, which wait for the decision.
    fn decide(&mut self) {}
    /// Ends the call for its client.
    fn give(&mut self, given: Given) -> impl Future<Output = ()>;
}

/// Answer that the client gets.
pub enum Given {
    /// The server's, as it came.
    AsCame,
    /// An answer that is not the server's. `cancels`: the server still runs the call.
    Made { line: Vec<u8>, ends_server: bool, cancels: bool },
    /// None: the client has given up.
    Nothing,
}

impl Given {
    /// A line that replaces the server's.
    pub fn made(line: Vec<u8>) -> Self {
        Given::Made { line, ends_server: false, cancels: false }
    }
}

/// A call that its session knows.
pub struct RelayedCall {
    book: Rc<RefCell<Book>>,
    pub asked: CallRequest,
    /// The request as it came; empty once it is sent.
    request: Vec<u8>,
    /// Whether it is sent with others in a list, which the server may not know.
    is_listed: bool,
    way: CallRelayEnd,
    /// The structured content that the client expects.
    structure: Structure,
    /// The tool's new listing from this call on, if it changes.
    relist: Option<Option<Drift>>,
    /// Signals that the client no longer waits.
    given_up: Rc<Notify>,
}

impl RelayedCall {
    /// Hands a call to the session; `None` if nobody decides about it, so that it passes. `request` is what came, and
    /// `given_up` will signal that the client no longer waits.
    pub fn of(
        book: &Rc<RefCell<Book>>,
        asked: CallRequest,
        request: &[u8],
        given_up: &Rc<Notify>,
    ) -> Option<Self> {
        let (to_session, way) = way();
        let structure = book.borrow().listing.structure(&asked.tool);
        let (book, given_up) = (Rc::clone(book), Rc::clone(given_up));
        let call = Self {
            book,
            asked,
            request: request.to_owned(),
            is_listed: false,
            way,
            structure,
            relist: None,
            given_up,
        };
        call.book.borrow_mut().open(&call.asked, request.len(), &call.given_up)?;
        let foreign = call.foreign(&call.book.borrow().key, to_session);
        call.book.borrow().tell(RelayNews::Called(Box::new(foreign)));
        Some(call)
    }

    /// The call for the session.
    fn foreign(&self, server: &Arc<str>, way: CallSessionEnd) -> ForeignCall {
        let CallRequest { id, tool, arguments, token, .. } = &self.asked;
        ForeignCall {
            server: Arc::clone(server),
            id: id.shown().into(),
            tool: tool.clone(),
            arguments: arguments.clone(),
            patience: token.is_none().then_some(PATIENCE),
            way,
        }
    }

    /// Follows the turns of the call until its client has an answer, or has given up.
    pub async fn pass(mut self, sides: &mut impl Sides) {
        let given_up = Rc::clone(&self.given_up);
        let given = tokio::select! {
            biased;
            () = given_up.notified() => Given::Nothing,
            given = self.given(sides) => given,
        };
        self.end(sides, given).await;
    }

    async fn given(&mut self, sides: &mut impl Sides) -> Given {
        let request = match self.before(sides).await {
            Ok(request) => request,
            Err(given) => return given,
        };
        let came = tokio::select! {
            biased;
            came = sides.ask(request) => came,
            given = Self::meanwhile(&mut self.way, &mut self.relist) => {
                return self.made(&given, true);
            }
        };
        self.after(sides, came).await
    }

    /// Waits until the call is sent on, and returns its line.
    async fn before(&mut self, sides: &mut impl Sides) -> Result<Vec<u8>, Given> {
        let lost = sides.lost();
        let mut lost = std::pin::pin!(lost);
        while !self.request.is_empty() {
            let turn = tokio::select! {
                biased;
                turn = self.turn(sides) => turn,
                () = &mut lost => return Err(self.failed(ToolErrorKind::Unavailable, NOT_SENT)),
            };
            match turn {
                Some(RelayTurn::On(None)) => break,
                Some(RelayTurn::On(Some(arguments))) => {
                    return Ok(self.asked.with(&self.request, &arguments));
                }
                Some(RelayTurn::Instead(answer)) => return Err(self.made(&answer, false)),
                Some(_) => {}
                None => return Err(self.failed(ToolErrorKind::Failed, NO_SESSION)),
            }
        }
        Ok(std::mem::take(&mut self.request))
    }

    /// Waits for an answer that replaces the server's before it arrives. Without its session, the call passes.
    async fn meanwhile(way: &mut CallRelayEnd, relist: &mut Option<Option<Drift>>) -> RelayAnswer {
        loop {
            match way.turns.recv().await {
                Some(RelayTurn::Instead(answer)) => return answer,
                Some(RelayTurn::Relist(change)) => *relist = Some(change),
                Some(_) => {}
                None => std::future::pending().await,
            }
        }
    }

    /// Tells the session the server's answer, and waits for its decision about the client's answer.
    async fn after(
        &mut self,
        sides: &mut impl Sides,
        came: Result<Option<Vec<u8>>, String>,
    ) -> Given {
        let mut returned = Err(ToolError::new(ToolErrorKind::Failed, UNREAD));
        match &came {
            Ok(Some(line)) => {
                if let Some((_, message)) = read(line) {
                    returned = answer::returned(&message);
                    self.structure.see(&message, returned.is_ok());
                }
            }
            Ok(None) => {}
            Err(why) => returned = Err(ToolError::new(ToolErrorKind::Failed, why)),
        }
        self.tell(returned);
        loop {
            match self.turn(sides).await {
                Some(RelayTurn::Instead(answer)) => return self.made(&answer, false),
                Some(RelayTurn::AsCame) | None => {
                    return match came {
                        Err(why) if !self.is_listed => {
                            self.failed(ToolErrorKind::Unavailable, &why)
                        }
                        _ => Given::AsCame,
                    };
                }
                Some(_) => {}
            }
        }
    }

    /// The next turn that decides. While the call is held, a client that asked for progress notes gets them.
    async fn turn(&mut self, sides: &mut impl Sides) -> Option<RelayTurn> {
        let mut is_held = false;
        loop {
            tokio::select! {
                biased;
                turn = self.way.turns.recv() => match turn {
                    Some(RelayTurn::Held) => {
                        is_held = true;
                        sides.decide();
                    }
                    Some(RelayTurn::Relist(change)) => self.relist = Some(change),
                    turn => return turn,
                },
                () = sleep(BEAT), if is_held => {
                    let progress = self.book.borrow_mut().next_progress(&self.asked.id);
                    if let Some(note) = note(&self.asked, progress) {
                        sides.say(note).await;
                    }
                }
            }
        }
    }

    async fn end(mut self, sides: &mut impl Sides, given: Given) {
        if let Some(change) = self.relist.take()
            && self.book.borrow_mut().listing.set(&self.asked.tool, change)
        {
            sides.say(NOTICE.into()).await;
        }
        if matches!(given, Given::Nothing) {
            self.tell(Err(ToolError::new(ToolErrorKind::Cancelled, GIVEN_UP)));
        }
        let drops = matches!(given, Given::Made { cancels: true, .. });
        self.book.borrow_mut().close(&self.asked.id, drops);
        sides.give(given).await;
    }

    /// Ends a call of a list, to which the server has answered this.
    pub async fn came(mut self, sides: &mut impl Sides, part: Option<Vec<u8>>) {
        let given = self.after(sides, Ok(part)).await;
        self.end(sides, given).await;
    }

    /// Tells the session the server's result.
    fn tell(&mut self, returned: Returned) {
        let _ = self.way.returned.take().map(|tell| tell.send(returned));
    }

    fn made(&self, answer: &RelayAnswer, cancels: bool) -> Given {
        let line = answer::line(&self.asked, &answer.returned, &self.structure);
        Given::Made { line, ends_server: answer.ends_server, cancels }
    }

    /// Returns an answer for a call that failed without an answer of the server.
    fn failed(&self, kind: ToolErrorKind, text: &str) -> Given {
        Given::made(answer::line(&self.asked, &Err(ToolError::new(kind, text)), &Structure::None))
    }
}

/// The calls of a list of requests, which the session knows, or the answer that the client gets for all of them.
pub enum ListDecision {
    /// The list passes as it is. No call has been changed or held.
    On(Vec<RelayedCall>),
    /// The answer for the client, since one is held or changed; none runs.
    Refused(Vec<u8>),
}

/// Hands the calls of a list to the session. A list passes as a whole or not at all.
pub async fn listed(
    book: &Rc<RefCell<Book>>,
    line: &[u8],
    session: &str,
    given_up: &Rc<Notify>,
) -> ListDecision {
    let asked = batch(line);
    if asked.iter().any(|asked| book.borrow().refusal(asked).is_some()) {
        return ListDecision::Refused(answer::refused(line, OFF));
    }
    let calls = asked.into_iter().map(|asked| asked.within(session));
    let mut calls: Vec<_> =
        calls.filter_map(|asked| RelayedCall::of(book, asked, line, given_up)).collect();
    let mut passes = true;
    for call in &mut calls {
        passes &= matches!(call.way.turns.recv().await, Some(RelayTurn::On(None)) | None);
    }
    if passes {
        for call in &mut calls {
            call.request.clear();
            call.is_listed = true;
        }
        return ListDecision::On(calls);
    }
    for mut call in calls {
        call.tell(Err(ToolError::new(ToolErrorKind::Failed, LISTED)));
        book.borrow_mut().close(&call.asked.id, false);
    }
    ListDecision::Refused(answer::refused(line, LISTED))
}
