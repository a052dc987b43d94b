//! The formats of requests and answers.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::asked::{IncomingRequest, NotRead, Spot, SpotForm};
use crate::codec::Codec;
use crate::domain::Reply;
use crate::frames::frames;
use crate::{Answering, chat, messages, plan, responses};

/// The format of a family of endpoints. Gemini's own would belong here too.
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
        f.write_str(self.codec().name)
    }
}

impl WireFormat {
    pub const ALL: [Self; 3] = [Self::Chat, Self::Responses, Self::Messages];

    pub const fn codec(self) -> &'static Codec {
        match self {
            WireFormat::Chat => &chat::CODEC,
            WireFormat::Responses => &responses::CODEC,
            WireFormat::Messages => &messages::CODEC,
        }
    }

    /// The format that is displayed like this.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.codec().name == name)
    }

    /// Reads a request.
    ///
    /// # Errors
    /// The body is not a request of this format.
    pub fn read_request(self, body: &[u8]) -> Result<IncomingRequest, NotRead> {
        (self.codec().read_request)(body)
    }

    /// A whole answer: the frames of a stream, or one body.
    pub fn write_answer(self, reply: &Reply, answering: &Answering<'_>, streams: bool) -> String {
        let Codec { write_reply, write_stream, .. } = self.codec();
        if streams { write_stream(reply, answering) } else { write_reply(reply, answering) }
    }

    /// A streamed answer up to its last piece of text, without an end.
    pub fn write_beginning(self, reply: &Reply, answering: &Answering<'_>) -> String {
        let stream = self.write_answer(reply, answering, true);
        let frames = frames(stream.as_bytes());
        // A stream that breaks before its text still has its beginning.
        let is_text = |data: &str| data.contains(self.codec().text_event);
        let last = frames.iter().rposition(|frame| is_text(&frame.data)).unwrap_or(0);
        let length = frames.iter().take(last + 1).map(|frame| frame.bytes.len()).sum();
        stream.get(..length).unwrap_or_default().to_owned()
    }

    /// The body of a refusal with this status.
    pub fn write_error(self, status: u16, message: &str) -> String {
        (self.codec().write_error)(status, message)
    }

    /// The body of the refusal of a prompt that is too long, in the form that clients recognise.
    pub fn write_overflow(self, message: &str) -> String {
        (self.codec().write_overflow)(message)
    }

    /// An error inside a stream.
    pub fn write_error_event(self, status: u16, message: &str) -> String {
        (self.codec().write_error_event)(status, message)
    }

    /// The JSON value that the arguments of a call are in a request or a whole answer.
    pub fn arguments(self, arguments: &Value) -> Value {
        match self.codec().quotes_arguments {
            true => plan::text(arguments).into(),
            false => arguments.clone(),
        }
    }

    /// The text to write at this place of a request for these arguments.
    pub fn arguments_at(self, spot: &Spot, arguments: &Value) -> String {
        match spot.form {
            SpotForm::Object => arguments.to_string(),
            _ => self.arguments(arguments).to_string(),
        }
    }

    /// Whether the data of one event has the end of the answer and its reason.
    pub fn is_end(self, data: &str) -> bool {
        data.trim() == "[DONE]" || (self.codec().is_end)(data)
    }

    /// Whether the data of one event, or a whole answer, has a part of a call.
    pub fn has_call(self, data: &str) -> bool {
        (self.codec().has_call)(data)
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
        for format in WireFormat::ALL {
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
