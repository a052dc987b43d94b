//! Relays of MCP servers at a running session. A relay is a separate program: it finds the session's socket, sends
//! `{"relay":KEY}`, and hands over each call of its client.
//!
//! [`line`] defines the lines of both sides after that. They contain whole arguments and results, which the socket's
//! folder protects from others.

mod dial;
mod find;
mod line;
mod serve;

pub use self::dial::dial;
pub use self::find::{RelaySession, SocketScan, find};
pub(super) use self::serve::serve;
