//! The way of an answer through toolyard: opened for the session, and closed again for the client.

use std::collections::VecDeque;

use aws_smithy_types::event_stream::Message;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::event_stream::{FrameParser, frame, header};
use super::{Envelope, converse_answer, errors};
use crate::sse::Event;

/// The event for bytes that cannot be read. A client of Messages ignores it.
const UNREAD: &str = ": unread\n\n";

/// An answer on its way. Its events wait here with the bytes that they had, until they go on.
#[derive(Debug)]
pub struct Passage {
    envelope: Envelope,
    frames: FrameParser,
    /// Events that were opened, and their bytes. Of several from one frame, the first has them.
    came: VecDeque<(String, Vec<u8>)>,
    /// The text of an event that has not come to its end.
    open: Vec<u8>,
    /// A whole answer: opened, and as it came.
    document: Option<(Vec<u8>, Vec<u8>)>,
}

impl Passage {
    pub fn new(envelope: Envelope) -> Self {
        let (came, open) = (VecDeque::new(), Vec::new());
        Self { envelope, frames: FrameParser::default(), came, open, document: None }
    }

    /// Opens the next bytes of a stream: returns events of Messages.
    pub fn open(&mut self, bytes: &[u8]) -> String {
        let frames = self.frames.feed(bytes);
        frames.into_iter().map(|(message, raw)| self.note(message.as_ref(), raw)).collect()
    }

    /// Opens the end of a stream, which may be inside of a frame.
    pub fn open_end(&mut self) -> String {
        match self.frames.rest() {
            rest if rest.is_empty() => String::new(),
            rest => self.note(None, rest),
        }
    }

    fn note(&mut self, message: Option<&Message>, raw: Vec<u8>) -> String {
        let mut events = message.map(|message| self.events(message)).unwrap_or_default();
        if events.is_empty() {
            events.push(UNREAD.to_owned());
        }
        let text = events.concat();
        let mut raw = Some(raw);
        self.came.extend(events.into_iter().map(|event| (event, raw.take().unwrap_or_default())));
        text
    }

    /// The events in a frame.
    fn events(&self, message: &Message) -> Vec<String> {
        let header = |name| header(message, name).unwrap_or_default();
        match header(":message-type") {
            "exception" => {
                vec![written(&errors::opened(header(":exception-type"), message.payload()))]
            }
            "error" => {
                let why = header(":error-message").as_bytes();
                vec![written(&errors::opened(header(":error-code"), why))]
            }
            _ => {
                let Ok(payload) = serde_json::from_slice::<Value>(message.payload()) else {
                    return Vec::new();
                };
                match self.envelope {
                    Envelope::Converse => {
                        let events = converse_answer::opened(header(":event-type"), &payload);
                        events.iter().map(written).collect()
                    }
                    Envelope::Invoke => event_in(&payload).into_iter().collect(),
                }
            }
        }
    }

    /// Closes the next bytes of events of Messages. What came like this goes on as it came.
    pub fn close(&mut self, text: &[u8]) -> Vec<u8> {
        self.open.extend_from_slice(text);
        let open = std::mem::take(&mut self.open);
        let (mut closed, mut rest) = (Vec::new(), &open[..]);
        while let Some(at) = rest.windows(2).position(|end| end == b"\n\n") {
            let (event, after) = rest.split_at(at + 2);
            closed.extend(self.closed(&String::from_utf8_lossy(event)));
            rest = after;
        }
        self.open = rest.to_vec();
        closed
    }

    fn closed(&mut self, event: &str) -> Vec<u8> {
        if let Some(at) = self.came.iter().position(|(came, _)| came == event) {
            // Those before it were changed or left out.
            return self.came.drain(..=at).next_back().map(|(_, raw)| raw).unwrap_or_default();
        }
        let mut parser = crate::sse::Parser::default();
        let mut events = parser.feed(event.as_bytes()).unwrap_or_default();
        events.extend(parser.finish());
        let frames = events.iter().flat_map(|Event { data, .. }| self.frames_of(data));
        frames.flatten().collect()
    }

    fn frames_of(&self, data: &str) -> Vec<Vec<u8>> {
        let Ok(event) = serde_json::from_str::<Value>(data) else { return Vec::new() };
        if event["type"] == "error" {
            let (name, payload) = errors::closed(&event);
            return frame("exception", name, payload).into_iter().collect();
        }
        match self.envelope {
            Envelope::Invoke => {
                let payload = json!({"bytes": STANDARD.encode(data)}).to_string();
                frame("event", "chunk", payload).into_iter().collect()
            }
            Envelope::Converse => {
                let events = converse_answer::closed(&event).into_iter();
                events.filter_map(|(name, it)| frame("event", name, it.to_string())).collect()
            }
        }
    }

    /// Opens a whole answer. One that cannot be read stays as it is.
    pub fn open_document(&mut self, bytes: &[u8]) -> Vec<u8> {
        let message = match self.envelope {
            Envelope::Invoke => None,
            Envelope::Converse => serde_json::from_slice(bytes)
                .ok()
                .and_then(|answer| converse_answer::message(&answer))
                .map(|message| message.to_string().into_bytes()),
        };
        let message = message.unwrap_or_else(|| bytes.to_vec());
        self.document = Some((message.clone(), bytes.to_vec()));
        message
    }

    /// Closes a whole answer of Messages. Anything else stays as it is.
    pub fn close_document(&mut self, text: &[u8]) -> Vec<u8> {
        if let Some((_, raw)) = self.document.take_if(|(opened, _)| opened == text) {
            return raw;
        }
        let answer = match self.envelope {
            Envelope::Invoke => None,
            Envelope::Converse => serde_json::from_slice(text)
                .ok()
                .and_then(|message| converse_answer::answer(&message)),
        };
        answer.map_or_else(|| text.to_vec(), |answer| answer.to_string().into_bytes())
    }
}

/// An event of Messages.
fn written(event: &Value) -> String {
    format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default())
}

/// The event in the payload of `InvokeModelWithResponseStream`, as it came.
fn event_in(payload: &Value) -> Option<String> {
    let event = String::from_utf8(STANDARD.decode(payload["bytes"].as_str()?).ok()?).ok()?;
    let kind = serde_json::from_str::<Value>(&event).ok()?;
    // A line break between two JSON values can be a space.
    let event = event.replace(['\n', '\r'], " ");
    Some(format!("event: {}\ndata: {event}\n\n", kind["type"].as_str()?))
}
