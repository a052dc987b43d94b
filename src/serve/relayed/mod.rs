//! Relays of MCP servers at a running session. A relay is a program of its own: it finds the session's socket, says
//! `{"relay":KEY}` there, and hands over each call of its client.
//!
//! The lines of both sides after that are in [`line`]. They have whole arguments and results, which the socket's folder
//! keeps from others.

mod dial;
mod find;
mod line;
mod serve;

pub use self::dial::dial;
pub use self::find::{RelaySession, SocketScan, find};
pub(super) use self::serve::serve;
