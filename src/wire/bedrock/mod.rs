//! Amazon Bedrock: Anthropic's Messages inside of requests and answers of its own.
//!
//! ```text
//! /model/ID/invoke                      Messages, but for the model and the stream in the address
//! /model/ID/invoke-with-response-stream its events, each in a frame (event_stream)
//! /model/ID/converse[-stream]           Converse, the same content in other words (converse, converse_answer)
//! ```
//!
//! Requests are signed, so they are only read. Answers are not: [`Passage`] opens one on its way to the session, and
//! closes it on its way to the client. What nobody changed has the bytes that came.

mod address;
mod converse;
mod converse_answer;
mod errors;
mod event_stream;
mod passage;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use serde_json::Value;

pub(crate) use self::address::addressed;
pub use self::errors::{error_kind, write_error};
pub use self::passage::Passage;
use crate::NotRead;

/// The content type of an answer in frames.
pub const EVENT_STREAM: &str = "application/vnd.amazon.eventstream";

/// The form that Bedrock gives to requests and answers of Messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Envelope {
    /// `InvokeModel`: the body is the model's own.
    Invoke,
    /// `Converse`: one form for all models.
    Converse,
}

impl Envelope {
    /// The request of Messages in a body.
    ///
    /// # Errors
    /// The body has another form, such as that of another vendor's model.
    pub fn request(self, body: &[u8]) -> Result<Cow<'_, [u8]>, NotRead> {
        match self {
            Envelope::Invoke => match str::from_utf8(body)?.contains("\"anthropic_version\"") {
                true => Ok(body.into()),
                false => Err(NotRead::NoRequest("expected `anthropic_version`")),
            },
            Envelope::Converse => {
                let body: Value = serde_json::from_slice(body)?;
                let request = converse::request(&body);
                let request = request.ok_or(NotRead::NoRequest("expected a list `messages`"))?;
                Ok(request.to_string().into_bytes().into())
            }
        }
    }
}
