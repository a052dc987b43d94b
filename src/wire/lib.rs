//! The formats of model endpoints. Each has one codec, which a client and a proxy share. All functions are pure.
//!
//! ```text
//! bytes of a request ──► read_request ──► IncomingRequest: a Request, and the places of its calls and results
//! Request ─────────────► write_request ─► the body of a request
//! bytes of an answer ──► GrowingAnswer ─► pieces on the way, and a Reply with its Report
//! Reply ───────────────► write_reply ───► frames of a stream, or a whole body; write_error for failures
//! bytes, replacements ─► patch ─────────► the same bytes but for the given places
//! ```
//!
//! Each folder is a format: most endpoints speak [`chat`]. Unknown content never fails: it is kept unchanged, and
//! counted in [`IncomingRequest::unknown`].

use toolyard_domain as domain;

mod after;
mod answer_form;
mod answering;
mod arguments;
pub mod asked;
mod assistant_message;
pub mod bedrock;
mod body;
mod call_ids;
mod changed;
pub mod chat;
mod codec;
pub mod errors;
mod field;
mod format;
mod frames;
pub mod gemini;
pub mod ids;
pub mod json;
pub mod learned;
mod message_layout;
pub mod messages;
mod model;
mod names;
pub mod node;
mod object;
pub mod objects;
pub mod ollama;
mod patch;
pub mod pieces;
mod plan;
mod reading;
pub mod responses;
mod roles;
mod schema;
pub mod schema_words;
mod settings;
pub mod sse;
mod texts;
mod turns;
pub mod usage;

pub use self::after::Earlier;
pub use self::answer_form::AnswerForm;
pub use self::answering::Answering;
pub use self::asked::{IncomingRequest, NotRead, Spot, SpotForm};
pub use self::bedrock::Envelope;
pub use self::changed::changed;
pub use self::codec::AddressFacts;
pub use self::codec::{Codec, HttpFacts, RequestAddress, ServicePath};
pub use self::format::WireFormat;
pub use self::frames::answer_id;
pub use self::model::with_model;
pub use self::names::FunctionNames;
pub use self::patch::{BadPlace, patch};
pub use self::reading::{AnswerFault, AnswerPiece, EventParser, Feed, GrowingAnswer};
pub use self::settings::WireSettings;
pub use self::texts::{NotChanged, with_texts};
pub use self::turns::with_turns;
pub use self::usage::Report;

/// The cases of a round trip's property: some hundred in a test, more in the long tests.
#[cfg(test)]
fn cases() -> u32 {
    let asked = std::env::var("TOOLYARD_WIRE_CASES").ok();
    asked.and_then(|cases| cases.parse().ok()).unwrap_or(300)
}
