//! Relays between a client and its MCP server. Every line passes unchanged, except for tool calls: a session decides
//! about each one and about its answer, by [`crate::tool::relayed`].
//!
//! Unknown lines pass, and so does everything when the session is gone. The order of lines stays, unless a call is
//! held: later lines overtake it.

mod answer;
mod beat;
mod book;
mod call;
mod learn;
mod listing;
mod message;
mod passing;
mod pieces;
mod program;
mod structure;
#[cfg(test)]
mod tests;

pub use self::answer::{line as answer_line, returned};
pub use self::beat::{BEAT, note};
pub use self::call::{GIVEN_UP, NO_SESSION};
pub use self::learn::tools as learnt;
pub use self::listing::{NOTICE, ServerListing};
pub use self::message::{CallRequest, Id, Message, read};
pub use self::passing::{Ends, PATIENCE, relay};
pub use self::pieces::{LinePiece, Splitter};
pub use self::program::start;
pub use self::structure::Structure;
