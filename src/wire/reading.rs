//! Reading an answer: from the events of a stream, or from one whole document, whichever the server sends.

use std::fmt;

use serde_json::Value;

use crate::domain::{Reply, Request};
use crate::objects::ObjectParser;
use crate::sse::{self, Event, TooLong};
use crate::{Report, json};

/// A piece of an answer that a person sees while it arrives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerPiece {
    Text(String),
    Reasoning(String),
}

/// Why an answer cannot be read. The caller, who knows the endpoint, adds its name.
#[derive(Clone, Debug, PartialEq)]
pub enum AnswerFault {
    /// Data that is not JSON, and why.
    NotJson(String),
    /// An error of the endpoint inside an answer.
    Said(Value),
    /// A document or an event that is not part of an answer. It may contain an error in an unknown form.
    Other(Value),
    /// A part of an answer is missing.
    Missing(&'static str),
    /// The answer ended with a failure, in the endpoint's words.
    Ended(String),
    /// The answer is larger than this many MiB.
    TooLarge(usize),
}

/// An answer of one format that grows.
pub trait GrowingAnswer: fmt::Debug {
    /// Reads a whole answer, and reports its pieces.
    ///
    /// # Errors
    /// The document is not an answer, or is an error.
    fn whole(
        &mut self,
        document: &Value,
        seen: &mut dyn FnMut(AnswerPiece),
    ) -> Result<(), AnswerFault>;

    /// Reads one event whose data is not blank, and reports what it adds. True for the last event.
    ///
    /// # Errors
    /// The event is not part of an answer, or is an error. After [`AnswerFault::Other`] the next event can be read.
    fn event(
        &mut self,
        event: &Event,
        seen: &mut dyn FnMut(AnswerPiece),
    ) -> Result<bool, AnswerFault>;

    /// Whether the server has sent the end of the answer. Without that, it is only a beginning.
    fn is_finished(&self) -> bool;

    /// The text so far.
    fn text(&self) -> &str;

    /// The endpoint's id of the answer, by which later requests can name it; empty if there is none.
    fn id(&self) -> &str {
        ""
    }

    /// Bytes of everything that the model has written so far, in any part of the answer.
    fn size(&self) -> usize;

    /// The reply to this request, and what the endpoint of this name reported of its usage.
    fn reply(self: Box<Self>, request: &Request, endpoint: &str) -> (Reply, Report);

    /// Whether a body that begins with a bracket is a sequence of JSON objects, rather than one document.
    fn is_sequence(&self) -> bool {
        false
    }
}

/// The JSON of an event.
///
/// # Errors
/// The data is not JSON. An error may be a plain text.
pub(crate) fn data(event: &Event) -> Result<Value, AnswerFault> {
    json::read(event.data.as_bytes()).map_err(|why| match &*event.name {
        "error" => AnswerFault::Said(event.data.as_str().into()),
        _ => AnswerFault::NotJson(why.to_string()),
    })
}

/// Splits a stream into its events.
#[derive(Debug)]
pub enum EventParser {
    /// Server-sent events.
    Named(sse::Parser),
    /// JSON objects.
    Objects(ObjectParser),
}

impl EventParser {
    /// A parser of a stream that begins with a bracket, or does not.
    pub fn of(has_bracket: bool) -> Self {
        match has_bracket {
            true => EventParser::Objects(ObjectParser::default()),
            false => EventParser::Named(sse::Parser::default()),
        }
    }

    /// Reads bytes and returns the events that they complete.
    ///
    /// # Errors
    /// If the current event is too long; no more can be read then.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Vec<Event>, TooLong> {
        match self {
            EventParser::Named(parser) => parser.feed(bytes),
            EventParser::Objects(parser) => parser.feed(bytes),
        }
    }

    /// The events that the end of the stream completes.
    pub fn finish(self) -> Vec<Event> {
        match self {
            EventParser::Named(parser) => parser.finish(),
            EventParser::Objects(_) => Vec::new(),
        }
    }
}

/// An answer in pieces of any size: a stream of events, or a document.
pub struct Feed {
    reading: Box<dyn GrowingAnswer>,
    body: FeedBody,
    was_last: bool,
}

enum FeedBody {
    Open,
    Document(Vec<u8>),
    Events(EventParser),
}

impl Feed {
    pub fn new(reading: Box<dyn GrowingAnswer>) -> Self {
        Self { reading, body: FeedBody::Open, was_last: false }
    }

    /// Reads the next bytes.
    ///
    /// # Errors
    /// As [`GrowingAnswer::event`].
    pub fn feed(
        &mut self,
        bytes: &[u8],
        seen: &mut dyn FnMut(AnswerPiece),
    ) -> Result<(), AnswerFault> {
        if let (FeedBody::Open, Some(first)) =
            (&self.body, bytes.iter().find(|byte| !byte.is_ascii_whitespace()))
        {
            let has_bracket = matches!(first, b'{' | b'[');
            self.body = match has_bracket && !self.reading.is_sequence() {
                true => FeedBody::Document(Vec::new()),
                false => FeedBody::Events(EventParser::of(has_bracket)),
            };
        }
        match &mut self.body {
            FeedBody::Open => Ok(()),
            FeedBody::Document(body) => {
                body.extend_from_slice(bytes);
                Ok(())
            }
            FeedBody::Events(parser) => {
                let events = parser.feed(bytes).map_err(|_| AnswerFault::TooLarge(16))?;
                self.events(&events, seen)
            }
        }
    }

    /// The answer, after its last byte.
    ///
    /// # Errors
    /// As [`GrowingAnswer::event`] and [`GrowingAnswer::whole`], or it has no end.
    pub fn end(
        mut self,
        seen: &mut dyn FnMut(AnswerPiece),
    ) -> Result<Box<dyn GrowingAnswer>, AnswerFault> {
        match std::mem::replace(&mut self.body, FeedBody::Open) {
            FeedBody::Open => {}
            FeedBody::Document(body) => {
                let document =
                    json::read(&body).map_err(|why| AnswerFault::NotJson(why.to_string()))?;
                self.reading.whole(&document, seen)?;
            }
            FeedBody::Events(parser) => self.events(&parser.finish(), seen)?,
        }
        match self.reading.is_finished() {
            true => Ok(self.reading),
            false => Err(AnswerFault::Missing("end")),
        }
    }

    fn events(
        &mut self,
        events: &[Event],
        seen: &mut dyn FnMut(AnswerPiece),
    ) -> Result<(), AnswerFault> {
        for event in events.iter().filter(|event| !event.data.trim().is_empty()) {
            if !self.was_last {
                self.was_last = self.reading.event(event, seen)?;
            }
        }
        Ok(())
    }
}
