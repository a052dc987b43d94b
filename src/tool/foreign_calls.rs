//! Calls of foreign clients over the tool protocol. A relay is between a client and its server, and hands each call to
//! a session as a [`ForeignCall`]. It then waits for its [`RelayTurn`]s:
//!
//! ```text
//! relay ── ForeignCall ──────────────────────────────────────► session
//!    ◄── RelayTurn::On: the server gets it, or Instead ────────┤ after the stations before
//!    ├── what the server returned ───────────────────────────►│
//!    ◄── RelayTurn::AsCame: the client gets that, or Instead ──┤ after the stations after it
//! ```

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use crate::domain::ToolSpec;
use crate::domain::fault::Drift;
use crate::{ToolError, ToolOutput};

/// The result of a call.
pub type Returned = Result<ToolOutput, ToolError>;

/// An event that a relay reports to a session.
#[derive(Debug)]
pub enum RelayNews {
    /// A server has these tools, by its own names.
    Offered {
        server: Arc<str>,
        tools: Vec<ToolSpec>,
    },
    Called(Box<ForeignCall>),
    /// The relay of a server has ended.
    Ended {
        server: Arc<str>,
    },
    /// A notice for people.
    Noticed(String),
}

/// A call of a foreign client.
#[derive(Debug)]
pub struct ForeignCall {
    /// The key of the server.
    pub server: Arc<str>,
    /// The client's own id of the call.
    pub id: Arc<str>,
    /// The server's own name of the tool.
    pub tool: String,
    pub arguments: Value,
    /// How long the client waits; `None` if progress notes keep it waiting.
    pub patience: Option<Duration>,
    pub way: CallSessionEnd,
}

/// The session's decision about a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RelayTurn {
    /// The call waits for a while; messages after it need not wait for it.
    Held,
    /// The server gets the call, with other arguments if there are any.
    On(Option<Value>),
    /// From now on the client reads the called tool in the server's list with this change, or as the server lists it.
    /// The turn that ends the call follows.
    Relist(Option<Drift>),
    /// The client gets the server's answer.
    AsCame,
    /// The client gets this answer instead.
    Instead(RelayAnswer),
}

/// An answer that replaces the server's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RelayAnswer {
    pub returned: Returned,
    /// Whether the server's program ends with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends_server: bool,
}

/// The session's end of the channels for a call.
#[derive(Debug)]
pub struct CallSessionEnd {
    turns: mpsc::UnboundedSender<RelayTurn>,
    returned: RefCell<Option<oneshot::Receiver<Returned>>>,
}

/// The relay's end of the channels for a call. A closed channel means that the other end is gone.
#[derive(Debug)]
pub struct CallRelayEnd {
    pub turns: mpsc::UnboundedReceiver<RelayTurn>,
    pub returned: Option<oneshot::Sender<Returned>>,
}

/// Creates the channels for a call, and returns the session's end and the relay's end.
pub fn way() -> (CallSessionEnd, CallRelayEnd) {
    let (turns, to_take) = mpsc::unbounded_channel();
    let (returned, to_come) = oneshot::channel();
    let line = CallRelayEnd { turns: to_take, returned: Some(returned) };
    (CallSessionEnd { turns, returned: RefCell::new(Some(to_come)) }, line)
}

impl CallSessionEnd {
    /// Sends the decision about the call. False if nobody waits for it any more.
    pub fn tell(&self, turn: RelayTurn) -> bool {
        self.turns.send(turn).is_ok()
    }

    /// Awaits the result of the server; `None` if the relay is gone, or this was called before.
    pub async fn returned(&self) -> Option<Returned> {
        let returned = self.returned.take()?;
        returned.await.ok()
    }

    /// Returns when the client has given up.
    pub async fn given_up(&self) {
        self.turns.closed().await;
    }
}
