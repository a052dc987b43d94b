//! Model endpoints over HTTP, whatever they speak: addresses, keys, proxies, streams, failures, retries.
//!
//! A wire (the format of one family of endpoints) adds three things: the body of a request, a [`Wire`]
//! with its header names, and an [`Answer`] that reads what comes back. A try that failed before any
//! text came is repeated, and each repetition is reported. One that failed after text has come is a
//! failure that holds this text, and whoever asked decides.

mod connection;
mod endpoint;
mod exchange;
mod failure;
mod line;
mod reach;
mod retry;
pub mod sse;

pub(crate) use self::endpoint::carries_key;
pub use self::{
    connection::Connection,
    endpoint::Endpoint,
    exchange::Answer,
    failure::{Failure, Place},
    retry::Again,
    sse::Event,
};

/// What the requests and the errors of one wire have of their own.
#[derive(Clone, Copy, Debug)]
pub struct Wire {
    /// The header that carries the key.
    pub key_header: &'static str,
    /// What stands before the key in that header, such as `Bearer ` with its space.
    pub key_prefix: &'static str,
    /// Names and values of what each request has besides. The endpoint's own headers replace these.
    pub headers: &'static [(&'static str, &'static str)],
    /// What must be at an endpoint's address, for errors, such as `an OpenAI-compatible API`.
    pub api: &'static str,
    /// How most addresses end, for errors, such as `/v1`.
    pub address_end: &'static str,
}
