//! Model endpoints over HTTP, for any wire: addresses, keys, proxies, streams, failures, retries.
//!
//! A wire (the format of one family of endpoints) adds three things: the body of a request, a [`Wire`] with its header
//! names, and a [`GrowingAnswer`](crate::wire::GrowingAnswer) for the response. An attempt that failed before any text
//! arrived is retried, and each retry is reported. An attempt that failed after some text is a failure that contains
//! this text, and the caller decides.

mod connection;
pub mod curl;
mod detail;
mod endpoint;
mod exchange;
mod failure;
mod limit;
mod line;
mod overflow;
mod passing_answer;
mod reach;
mod reading;
mod refusal;
mod retry;
mod verdict;

pub use self::passing_answer::{CopySender, Passing, Pieces, overhear};
pub use self::reading::read_pieces;
pub use self::{
    connection::EndpointConnection,
    endpoint::Endpoint,
    failure::{EndpointLabel, Failure},
    refusal::{Amended, RefusedField, RequestRefusal},
    retry::Again,
};

/// The parts of requests and errors that are specific to one wire.
#[derive(Clone, Copy, Debug)]
pub struct Wire {
    /// The header that carries the key.
    pub key_header: &'static str,
    /// The prefix of the key in that header, such as `Bearer ` with its space.
    pub key_prefix: &'static str,
    /// Names and values of further headers. The endpoint's own headers replace these.
    pub headers: &'static [(&'static str, &'static str)],
    /// The API that an endpoint must offer, for errors, such as `an OpenAI-compatible API`.
    pub api: &'static str,
    /// The end of most addresses, for errors, such as `/v1`.
    pub address_end: &'static str,
}
