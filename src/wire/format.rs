//! The formats of requests and answers.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::asked::{IncomingRequest, NotRead, Spot, SpotForm};
use crate::codec::{AddressFacts, Codec, RequestAddress};
use crate::domain::Reply;
use crate::frames::frames;
use crate::reading::GrowingAnswer;
use crate::{
    AnswerForm, Answering, FunctionNames, Report, chat, gemini, messages, ollama, plan, responses,
};

/// The format of a family of endpoints.
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
    /// Google's `generateContent`.
    Gemini,
    /// Ollama's chat.
    Ollama,
    /// Ollama's completions of one prompt.
    Generate,
}

impl fmt::Display for WireFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.codec().name)
    }
}

impl WireFormat {
    pub const ALL: [Self; 6] =
        [Self::Chat, Self::Responses, Self::Messages, Self::Gemini, Self::Ollama, Self::Generate];

    pub const fn codec(self) -> &'static Codec {
        match self {
            WireFormat::Chat => &chat::CODEC,
            WireFormat::Responses => &responses::CODEC,
            WireFormat::Messages => &messages::CODEC,
            WireFormat::Gemini => &gemini::CODEC,
            WireFormat::Ollama => &ollama::CODEC,
            WireFormat::Generate => &ollama::GENERATE,
        }
    }

    /// The format that is displayed like this.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.codec().name == name)
    }

    /// The format of a request that is posted to this address, with the facts of the address.
    pub fn addressed(address: &RequestAddress<'_>) -> Option<(Self, AddressFacts)> {
        Self::ALL.into_iter().find_map(|it| Some((it, (it.codec().addressed)(address)?)))
    }

    /// Begins an answer to a request with these names of tools. `cost` is what the endpoint reports apart from the usage.
    pub fn begin(self, names: &Arc<FunctionNames>, cost: Report) -> Box<dyn GrowingAnswer> {
        (self.codec().begin)(names, cost)
    }

    /// Reads a request.
    ///
    /// # Errors
    /// The body is not a request of this format.
    pub fn read_request(self, body: &[u8]) -> Result<IncomingRequest, NotRead> {
        (self.codec().read_request)(body)
    }

    /// A whole answer, in one of the forms of this format.
    pub fn write_answer(
        self,
        reply: &Reply,
        answering: &Answering<'_>,
        form: AnswerForm,
    ) -> String {
        let Codec { write_reply, write_stream, .. } = self.codec();
        match form.streams() {
            true => form.of_events(write_stream(reply, answering), true),
            false => write_reply(reply, answering),
        }
    }

    /// A streamed answer up to its last piece of text, without an end.
    pub fn write_beginning(
        self,
        reply: &Reply,
        answering: &Answering<'_>,
        form: AnswerForm,
    ) -> String {
        let mut stream = (self.codec().write_stream)(reply, answering);
        let frames = frames(stream.as_bytes());
        // A stream that breaks before its text still has its beginning.
        let is_text = |data: &str| data.contains(self.codec().text_event) && !self.is_end(data);
        let last = frames.iter().rposition(|frame| is_text(&frame.data)).unwrap_or(0);
        let length = frames.iter().take(last + 1).map(|frame| frame.bytes.len()).sum();
        stream.truncate(length);
        form.of_events(stream, false)
    }

    /// The body of a refusal with this status.
    pub fn write_error(self, status: u16, message: &str) -> String {
        (self.codec().write_error)(status, message)
    }

    /// The body of the refusal of a prompt that is too long, in the form that clients recognise.
    pub fn write_overflow(self, message: &str) -> String {
        (self.codec().write_overflow)(message)
    }

    /// An error inside a stream of this form. `is_first`: no event came before it.
    pub fn write_error_event(
        self,
        status: u16,
        message: &str,
        (form, is_first): (AnswerForm, bool),
    ) -> String {
        match form {
            AnswerForm::List => {
                let begin = if is_first { "[" } else { "\n,\n" };
                format!("{begin}{}\n]\n", self.write_error(status, message))
            }
            _ => (self.codec().write_error_event)(status, message),
        }
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
    use super::*;
    use crate::domain::Usage;
    use crate::{AnswerFault, Feed};

    #[test]
    fn a_beginning_has_the_text_and_no_end() {
        let answering =
            Answering { id: "x", model: "m", names: &FunctionNames::default(), created: 1 };
        let forms = WireFormat::ALL.map(|format| (format, format.codec().streamed));
        for (format, form) in forms.into_iter().chain([(WireFormat::Gemini, AnswerForm::List)]) {
            for text in ["Half of \"it\"", ""] {
                let reply = Reply { usage: Usage::default(), ..Reply::of_text(text) };
                let stream = format.write_beginning(&reply, &answering, form);
                assert!(!stream.is_empty(), "{format}");
                let answer = format.begin(&Arc::default(), Report::default());
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
