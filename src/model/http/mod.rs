//! Model endpoints over HTTP, for any wire: addresses, keys, proxies, streams, failures, retries.
//!
//! A wire (the format of one family of endpoints) adds three things: the body of a request, a [`HttpFacts`](crate::wire::HttpFacts) with its header
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
