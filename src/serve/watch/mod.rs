//! The listener of a watched session: the address that watched agents send their model requests to.
//!
//! ```text
//! agent ──► door ──► route ──► request ──► Arrival ─► session
//!             │ not loopback        │ not understood      │ Sending
//!             ▼                     ▼                     ▼
//!            403              passed on unread        upstream ──► answer, which hold keeps back from its calls on
//! ```
//!
//! If the session holds a request or an answer for nearly as long as a client waits, `early` begins an answer with
//! heartbeats.
//!
//! Bytes are passed on unchanged. A copy is read in the background. The listener has its own thread, so that a session
//! that draws or writes delays no agent.

mod answer;
mod background;
mod background_reader;
mod coding;
pub(crate) mod connections;
pub(crate) mod door;
mod early_answer;
mod envelope;
mod exchange;
mod frames;
mod hold;
mod listen;
mod metered;
mod own_answer;
mod patience;
mod recent_requests;
pub(crate) mod request;
pub(crate) mod room;
mod route;
mod service;
mod shared;
mod socket;
mod socket_line;
#[cfg(test)]
mod tests;
mod tunnel;
pub(crate) mod upstream;

pub(crate) use self::answer::passed;
pub use self::door::{TOKEN as DOOR, new_token};
pub use self::listen::{Bound, ListenError, Listener, Listening, bind, listen};
pub(crate) use self::own_answer::plain;
pub use self::route::{BadUpstream, Upstreams};

use std::error::Error;
use std::pin::Pin;

use bytes::Bytes;
use hyper::Response;
use hyper::body::Body;

/// Why a connection ends without an answer, or in the middle of one.
pub(crate) type Broken = Box<dyn Error + Send + Sync>;

/// The reason to reset a connection, so that a client sees its answer without an end.
#[derive(Debug, thiserror::Error)]
#[error("the connection is reset")]
struct Reset;

/// The body of an answer.
pub(crate) type Outgoing = Pin<Box<dyn Body<Data = Bytes, Error = Broken>>>;

/// An answer, or the end of the connection without one.
pub(crate) type AnswerResult = Result<Response<Outgoing>, Broken>;
