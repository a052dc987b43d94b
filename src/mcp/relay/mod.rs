//! Stands between a client and its MCP server. Every line passes as it came, but the calls of tools: a session decides what
//! becomes of each one and of its answer, by [`crate::tool::relayed`].
//!
//! What is not understood passes, and so does all else when the session is gone. The order of lines stays, unless a call is
//! held: what comes after that one overtakes it.

mod answer;
mod beat;
mod book;
mod call;
mod learn;
mod message;
mod passing;
mod pieces;
mod program;
mod relisted;
#[cfg(test)]
mod tests;

pub use self::answer::{has_structure, line as answer_line, returned};
pub use self::beat::{BEAT, note};
pub use self::learn::tools as learnt;
pub use self::message::{CallRequest, Id, Message, read};
pub use self::passing::{Ends, relay};
pub use self::pieces::{LinePiece, Splitter};
pub use self::program::start;
pub use self::relisted::{NOTICE, Relisted};
