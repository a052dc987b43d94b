//! Relays between a client and its MCP server. Every line passes unchanged, except for tool calls: a session decides
//! about each one and about its answer, by [`crate::tool::foreign_calls`].
//!
//! Unknown lines pass, and so does everything when the session is gone. The order of lines stays, unless a call is
//! held: later lines overtake it.

mod answer;
mod assembly;
mod beat;
mod book;
mod call;
mod learn;
mod line_relay;
mod listing;
mod message;
mod pieces;
mod pipes;
mod program;
mod recorded_server;
mod structure;
#[cfg(test)]
mod tests;

pub use self::assembly::Assembly;
pub use self::book::Book;
pub use self::call::{Given, ListDecision, RelayedCall, Sides, listed};
pub use self::line_relay::{Ends, relay};
pub use self::listing::ServerListing;
pub use self::message::{Id, answers, read};
pub use self::pieces::{LinePiece, Splitter};
pub use self::program::start;
pub use self::recorded_server::{RecordedCall, RecordedServer};
