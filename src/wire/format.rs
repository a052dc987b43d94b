//! The formats of requests and answers.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::asked::{IncomingRequest, NotRead};
use crate::domain::Reply;
use crate::frames::frames;
use crate::{Answering, CallPiece, chat, messages, responses};

/// The format of a family of endpoints. Gemini's own has its place beside these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WireFormat {
    /// OpenAI's chat completions, which most endpoints speak.
    #[default]
    Chat,
    /// OpenAI's Responses.
    Responses,
    /// Anthropic's Messages.
    Messages,
}

impl fmt::Display for WireFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            WireFormat::Chat => "OpenAI chat",
            WireFormat::Responses => "OpenAI Responses",
            WireFormat::Messages => "Anthropic Messages",
        })
    }
}

impl WireFormat {
    /// The format that is displayed like this.
    pub fn named(name: &str) -> Option<Self> {
        [WireFormat::Chat, WireFormat::Responses, WireFormat::Messages]
            .into_iter()
            .find(|format| format.to_string() == name)
    }

    /// Reads a request.
    ///
    /// # Errors
    /// The body is no request of this format.
    pub fn read_request(self, body: &[u8]) -> Result<IncomingRequest, NotRead> {
        match self {
            WireFormat::Chat => chat::read_request(body),
            WireFormat::Responses => responses::read_request(body),
            WireFormat::Messages => messages::read_request(body),
        }
    }

    /// A whole answer: the frames of a stream, or one body.
    pub fn write_answer(self, reply: &Reply, answering: &Answering<'_>, streams: bool) -> String {
        match (self, streams) {
            (WireFormat::Chat, false) => chat::write_reply(reply, answering),
            (WireFormat::Chat, true) => chat::write_stream(reply, answering),
            (WireFormat::Responses, false) => responses::write_reply(reply, answering),
            (WireFormat::Responses, true) => responses::write_stream(reply, answering),
            (WireFormat::Messages, false) => messages::write_reply(reply, answering),
            (WireFormat::Messages, true) => messages::write_stream(reply, answering),
        }
    }

    /// A streamed answer up to its last piece of text, without an end.
    pub fn write_beginning(self, reply: &Reply, answering: &Answering<'_>) -> String {
        let stream = self.write_answer(reply, answering, true);
        let is_text = |data: &str| match self {
            WireFormat::Chat => data.contains(r#""delta":{"content":"#),
            WireFormat::Responses => data.contains(r#""type":"response.output_text.delta""#),
            WireFormat::Messages => data.contains(r#""type":"text_delta""#),
        };
        let frames = frames(stream.as_bytes());
        // A stream that breaks before its text has begun nevertheless.
        let last = frames.iter().rposition(|frame| is_text(&frame.data)).unwrap_or(0);
        let length = frames.iter().take(last + 1).map(|frame| frame.bytes.len()).sum();
        stream.get(..length).unwrap_or_default().to_owned()
    }

    /// The body of a refusal with this status.
    pub fn write_error(self, status: u16, message: &str) -> String {
        match self {
            WireFormat::Chat => chat::write_error(status, message),
            WireFormat::Responses => responses::write_error(status, message),
            WireFormat::Messages => messages::write_error(status, message),
        }
    }

    /// The body of the refusal of a prompt that is too long, by which clients know it.
    pub fn write_overflow(self, message: &str) -> String {
        match self {
            WireFormat::Messages => {
                self.write_error(400, &format!("prompt is too long: {message}"))
            }
            WireFormat::Chat | WireFormat::Responses => {
                let code = "context_length_exceeded";
                let error = json!({"message": message, "type": "invalid_request_error",
                    "param": null, "code": code});
                json!({ "error": error }).to_string()
            }
        }
    }

    /// An error inside a stream.
    pub fn write_error_event(self, status: u16, message: &str) -> String {
        match self {
            WireFormat::Chat => chat::write_error_event(status, message),
            WireFormat::Responses => responses::write_error_event(status, message),
            WireFormat::Messages => messages::write_error_event(status, message),
        }
    }

    /// The JSON value that the arguments of a call are in a request or a whole answer: OpenAI's formats have them as a text.
    pub fn arguments(self, arguments: &Value) -> Value {
        match self {
            WireFormat::Chat | WireFormat::Responses => Value::from(arguments.to_string()),
            WireFormat::Messages => arguments.clone(),
        }
    }

    /// Whether the data of one event says that the answer ends, and how.
    pub fn is_end(self, data: &str) -> bool {
        data.trim() == "[DONE]"
            || match self {
                WireFormat::Chat => chat::is_end(data),
                WireFormat::Responses => responses::is_end(data),
                WireFormat::Messages => messages::is_end(data),
            }
    }

    /// The parts of calls in the data of one event, or in a whole answer.
    pub fn calls_in(self, data: &str) -> Vec<CallPiece> {
        match self {
            WireFormat::Chat => chat::calls_in(data),
            WireFormat::Responses => responses::calls_in(data),
            WireFormat::Messages => messages::calls_in(data),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::domain::Usage;
    use crate::{AnswerFault, AnyAnswer, Feed, FunctionNames, Report};

    #[test]
    fn a_beginning_has_the_text_and_no_end() {
        let answering =
            Answering { id: "x", model: "m", names: &FunctionNames::default(), created: 1 };
        for format in [WireFormat::Chat, WireFormat::Responses, WireFormat::Messages] {
            for text in ["Half of \"it\"", ""] {
                let reply = Reply { usage: Usage::default(), ..Reply::of_text(text) };
                let stream = format.write_beginning(&reply, &answering);
                assert!(!stream.is_empty(), "{format}");
                let answer = AnyAnswer::begin(format, &Arc::default(), Report::default());
                let (mut feed, mut seen) = (Feed::new(answer), Vec::new());
                feed.feed(stream.as_bytes(), &mut |piece| seen.push(piece)).unwrap();
                let expected = crate::AnswerPiece::Text(text.to_owned());
                assert!(
                    seen == [expected] || text.is_empty() && seen.is_empty(),
                    "{format} {seen:?}"
                );
                assert_eq!(
                    feed.end(&mut |_| {}).err(),
                    Some(AnswerFault::Missing("end")),
                    "{format}"
                );
            }
        }
    }
}
