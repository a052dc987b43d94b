//! Passes one tool call: waits for the turns of its session, and keeps its client waiting meanwhile.

use super::events::of_data;
use super::out::Out;
use crate::domain::fault::Drift;
use crate::mcp::relay::{BEAT, CallRequest, GIVEN_UP, NO_SESSION, Structure, answer_line, note};
use crate::tool::relayed::{CallRelayEnd, RelayAnswer, RelayTurn, Returned};
use crate::tool::{ToolError, ToolErrorKind};

/// A call of a client, and its way to the session.
pub struct HttpCall {
    pub asked: CallRequest,
    pub way: CallRelayEnd,
    is_held: bool,
    /// The structured content that the client expects.
    pub structure: Structure,
    /// The tool's new listing from this call on, if it changes.
    pub relist: Option<Option<Drift>>,
    /// The number of progress notes that the client got.
    notes: u32,
}

/// Result of waiting for a call to be sent on.
pub enum Before {
    /// Body that goes to the server.
    On(Vec<u8>),
    /// Answer that the client gets.
    Answer(Vec<u8>),
    /// The client no longer waits.
    GivenUp,
}

enum CallEvent {
    Turn(RelayTurn),
    NoSession,
    GivenUp,
}

impl HttpCall {
    pub fn new(asked: CallRequest, way: CallRelayEnd, structure: Structure) -> Self {
        Self { asked, way, is_held: false, structure, relist: None, notes: 0 }
    }

    /// Waits until the call is sent on.
    pub async fn before(&mut self, body: &[u8], out: &mut Out) -> Before {
        loop {
            match self.next(out).await {
                CallEvent::Turn(RelayTurn::On(Some(arguments))) => {
                    return Before::On(self.asked.with(body, &arguments));
                }
                CallEvent::Turn(RelayTurn::On(None)) => return Before::On(body.to_owned()),
                CallEvent::Turn(RelayTurn::Instead(answer)) => {
                    return Before::Answer(self.line(&answer));
                }
                CallEvent::Turn(RelayTurn::Held | RelayTurn::AsCame | RelayTurn::Relist(_)) => {}
                CallEvent::NoSession => {
                    let returned = Err(ToolError::new(ToolErrorKind::Failed, NO_SESSION));
                    let answer = RelayAnswer { returned, ends_server: false };
                    return Before::Answer(self.line(&answer));
                }
                CallEvent::GivenUp => return Before::GivenUp,
            }
        }
    }

    /// Waits for the decision about the server's answer; `None` if it passes unchanged.
    pub async fn after(&mut self, out: &mut Out) -> Option<RelayAnswer> {
        loop {
            match self.next(out).await {
                CallEvent::Turn(RelayTurn::Instead(answer)) => return Some(answer),
                CallEvent::Turn(RelayTurn::AsCame) | CallEvent::NoSession | CallEvent::GivenUp => {
                    return None;
                }
                CallEvent::Turn(RelayTurn::Held | RelayTurn::On(_) | RelayTurn::Relist(_)) => {}
            }
        }
    }

    /// Waits for an answer that replaces the server's before it arrives.
    pub async fn meanwhile(&mut self) -> RelayAnswer {
        loop {
            match self.way.turns.recv().await {
                Some(RelayTurn::Instead(answer)) => return answer,
                Some(_) => {}
                // Without its session, the call passes.
                None => std::future::pending().await,
            }
        }
    }

    pub fn line(&self, answer: &RelayAnswer) -> Vec<u8> {
        answer_line(&self.asked, &answer.returned, &self.structure)
    }

    /// The next turn. A client that asked for progress notes gets them meanwhile.
    async fn next(&mut self, out: &mut Out) -> CallEvent {
        loop {
            tokio::select! {
                biased;
                turn = self.way.turns.recv() => return match turn {
                    Some(RelayTurn::Held) => {
                        self.is_held = true;
                        continue;
                    }
                    Some(RelayTurn::Relist(change)) => {
                        self.relist = Some(change);
                        continue;
                    }
                    Some(turn) => {
                        self.is_held = false;
                        CallEvent::Turn(turn)
                    }
                    None => CallEvent::NoSession,
                },
                () = out.closed() => return CallEvent::GivenUp,
                () = tokio::time::sleep(BEAT), if self.is_held => {}
            }
            self.note(out).await;
        }
    }

    async fn note(&mut self, out: &mut Out) {
        self.notes += 1;
        // The server's own numbers begin at 0 or 1.
        let Some(note) = note(&self.asked, f64::from(self.notes) * 1e-6) else { return };
        out.begin_events();
        out.send(of_data(&String::from_utf8_lossy(&note))).await;
    }

    /// Tells the session that nobody waits for the answer.
    pub fn give_up(&mut self) {
        self.tell(Err(ToolError::new(ToolErrorKind::Cancelled, GIVEN_UP)));
    }

    /// Tells the session the server's result.
    pub fn tell(&mut self, returned: Returned) {
        let _ = self.way.returned.take().map(|tell| tell.send(returned));
    }
}
