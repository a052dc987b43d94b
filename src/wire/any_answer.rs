//! An answer of any format.

use std::sync::Arc;

use serde_json::Value;

use crate::domain::{Reply, Request};
use crate::reading::{AnswerFault, AnswerPiece, GrowingAnswer};
use crate::sse::Event;
use crate::{FunctionNames, Report, WireFormat, chat, messages, responses};

/// An answer of one of the formats, for callers that know the format only at run time.
pub enum AnyAnswer {
    Chat(Box<chat::ChatAnswer>),
    Responses(Box<responses::ResponsesAnswer>),
    Messages(Box<messages::MessagesAnswer>),
}

impl AnyAnswer {
    /// An answer to a request with these names of tools. `cost` is what the endpoint reports apart from the usage.
    pub fn begin(format: WireFormat, names: &Arc<FunctionNames>, cost: Report) -> Self {
        match format {
            WireFormat::Chat => Self::Chat(chat::ChatAnswer::begin(names, cost).into()),
            WireFormat::Responses => {
                Self::Responses(responses::ResponsesAnswer::begin(names, cost).into())
            }
            WireFormat::Messages => {
                Self::Messages(messages::MessagesAnswer::begin(names, cost).into())
            }
        }
    }
}

/// The same call on the answer of each format.
macro_rules! each {
    ($any:expr, $answer:ident => $call:expr) => {
        match $any {
            AnyAnswer::Chat($answer) => $call,
            AnyAnswer::Responses($answer) => $call,
            AnyAnswer::Messages($answer) => $call,
        }
    };
}

impl GrowingAnswer for AnyAnswer {
    fn whole(
        &mut self,
        document: &Value,
        seen: &mut dyn FnMut(AnswerPiece),
    ) -> Result<(), AnswerFault> {
        each!(self, answer => answer.whole(document, seen))
    }

    fn event(
        &mut self,
        event: &Event,
        seen: &mut dyn FnMut(AnswerPiece),
    ) -> Result<bool, AnswerFault> {
        each!(self, answer => answer.event(event, seen))
    }

    fn is_finished(&self) -> bool {
        each!(self, answer => answer.is_finished())
    }

    fn text(&self) -> &str {
        each!(self, answer => answer.text())
    }

    fn id(&self) -> &str {
        each!(self, answer => answer.id())
    }

    fn size(&self) -> usize {
        each!(self, answer => answer.size())
    }

    fn reply(self, request: &Request, endpoint: &str) -> (Reply, Report) {
        each!(self, answer => answer.reply(request, endpoint))
    }
}
