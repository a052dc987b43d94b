//! What becomes of one call: it waits for the turns of its session, and its client is kept waiting meanwhile.

use std::time::Duration;

use super::events::of_data;
use super::out::Out;
use crate::domain::fault::Drift;
use crate::mcp::relay::{Asked, BEAT, answer_line, note};
use crate::tool::relayed::{Answer, Line, Returned, Turn};
use crate::tool::{ToolError, ToolErrorKind};

/// Why a held call fails when its session ends.
const NO_SESSION: &str =
    "toolyard's session has ended while it held this call; the tool did not run";

/// Why a call ends whose client has given up.
const GIVEN_UP: &str = "the client did not wait for the answer";

/// A call of a client, and its way to the session.
pub struct Call {
    pub asked: Asked,
    pub way: Line,
    is_held: bool,
    /// How the tool is listed from this call on, where that changes.
    pub relist: Option<Option<Drift>>,
    /// Notes of progress that the client got.
    notes: u32,
}

/// What comes of waiting for a call to be sent on.
pub enum Before {
    /// This body goes to the server.
    On(Vec<u8>),
    /// The client gets this.
    Answer(Vec<u8>),
    /// The client does not wait any more.
    GivenUp,
}

enum Next {
    Turn(Turn),
    NoSession,
    GivenUp,
}

impl Call {
    pub fn new(asked: Asked, way: Line) -> Self {
        Self { asked, way, is_held: false, relist: None, notes: 0 }
    }

    /// Waits until the call is sent on.
    pub async fn before(&mut self, body: &[u8], out: &mut Out) -> Before {
        loop {
            match self.next(out).await {
                Next::Turn(Turn::On(Some(arguments))) => {
                    return Before::On(self.asked.with(body, &arguments));
                }
                Next::Turn(Turn::On(None)) => return Before::On(body.to_owned()),
                Next::Turn(Turn::Instead(answer)) => {
                    return Before::Answer(self.line(&answer, true));
                }
                Next::Turn(Turn::Held | Turn::AsCame | Turn::Relist(_)) => {}
                Next::NoSession => {
                    let returned = Err(ToolError::new(ToolErrorKind::Failed, NO_SESSION));
                    let answer = Answer { returned, ends_server: false };
                    return Before::Answer(self.line(&answer, true));
                }
                Next::GivenUp => return Before::GivenUp,
            }
        }
    }

    /// Waits until it is said what the client gets of the server's answer; `None`: as it came.
    pub async fn after(&mut self, out: &mut Out) -> Option<Answer> {
        loop {
            match self.next(out).await {
                Next::Turn(Turn::Instead(answer)) => return Some(answer),
                Next::Turn(Turn::AsCame) | Next::NoSession | Next::GivenUp => return None,
                Next::Turn(Turn::Held | Turn::On(_) | Turn::Relist(_)) => {}
            }
        }
    }

    /// An answer that comes before the server's.
    pub async fn meanwhile(&mut self) -> Answer {
        loop {
            match self.way.turns.recv().await {
                Some(Turn::Instead(answer)) => return answer,
                Some(_) => {}
                // Without its session it passes.
                None => std::future::pending().await,
            }
        }
    }

    pub fn line(&self, answer: &Answer, has_structure: bool) -> Vec<u8> {
        answer_line(&self.asked, &answer.returned, has_structure)
    }

    /// The next turn. A client that asked for notes of progress gets them meanwhile.
    async fn next(&mut self, out: &mut Out) -> Next {
        loop {
            tokio::select! {
                biased;
                turn = self.way.turns.recv() => return match turn {
                    Some(Turn::Held) => {
                        self.is_held = true;
                        continue;
                    }
                    Some(Turn::Relist(change)) => {
                        self.relist = Some(change);
                        continue;
                    }
                    Some(turn) => {
                        self.is_held = false;
                        Next::Turn(turn)
                    }
                    None => Next::NoSession,
                },
                () = out.closed() => return Next::GivenUp,
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

    /// Tells the session what the server has returned.
    pub fn tell(&mut self, returned: Returned) {
        let _ = self.way.returned.take().map(|tell| tell.send(returned));
    }
}

/// How long clients wait for an answer without notes of progress.
pub const PATIENCE: Duration = Duration::from_secs(60);
