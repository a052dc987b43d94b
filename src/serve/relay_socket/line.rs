//! The lines between a relay and a session.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::ToolSpec;
use crate::tool::foreign_calls::{RelayTurn, Returned};

/// The longest line. Arguments are shorter than this, and results are cut.
pub const LONGEST: usize = 16 << 20;

/// A line of a relay.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RelayLine {
    /// The server has these tools.
    Offered(Vec<ToolSpec>),
    Called(Called),
    /// The server has answered this call.
    Returned {
        n: u64,
        returned: Returned,
    },
    /// No client waits for this call any more.
    GivenUp(u64),
    Noticed(String),
}

/// A call of the client.
#[derive(Debug, Serialize, Deserialize)]
pub struct Called {
    /// Number of the call, given by the relay.
    pub n: u64,
    pub id: Arc<str>,
    pub tool: String,
    pub arguments: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patience_ms: Option<u64>,
}

/// A line of a session: the next turn of a call.
#[derive(Debug, Serialize, Deserialize)]
pub struct CallTurn {
    pub n: u64,
    pub turn: RelayTurn,
}

/// A value as a line. No keys are removed: the server must get exactly what its client sent.
pub fn line_of(value: &impl Serialize) -> Vec<u8> {
    // These types have no maps with other keys than texts, so that this cannot fail.
    let mut line = serde_json::to_vec(value).unwrap_or_default();
    line.push(b'\n');
    line
}
