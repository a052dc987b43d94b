//! An answer of any format.

use std::sync::Arc;

use serde_json::Value;

use crate::domain::{Reply, Request};
use crate::reading::{Fault, Piece, Reading};
use crate::sse::Event;
use crate::{Format, Names, Report, chat, messages, responses};

/// An answer of one of the formats, for callers that know the format only at run time.
pub enum AnyAnswer {
    Chat(Box<chat::Answer>),
    Responses(Box<responses::Answer>),
    Messages(Box<messages::Answer>),
}

impl AnyAnswer {
    /// An answer to a request with these names of tools. `cost` is what the endpoint reports apart from the usage.
    pub fn begin(format: Format, names: &Arc<Names>, cost: Report) -> Self {
        match format {
            Format::Chat => Self::Chat(chat::Answer::begin(names, cost).into()),
            Format::Responses => Self::Responses(responses::Answer::begin(names, cost).into()),
            Format::Messages => Self::Messages(messages::Answer::begin(names, cost).into()),
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

impl Reading for AnyAnswer {
    fn whole(&mut self, document: &Value, seen: &mut dyn FnMut(Piece)) -> Result<(), Fault> {
        each!(self, answer => answer.whole(document, seen))
    }

    fn event(&mut self, event: &Event, seen: &mut dyn FnMut(Piece)) -> Result<bool, Fault> {
        each!(self, answer => answer.event(event, seen))
    }

    fn is_finished(&self) -> bool {
        each!(self, answer => answer.is_finished())
    }

    fn text(&self) -> &str {
        each!(self, answer => answer.text())
    }

    fn size(&self) -> usize {
        each!(self, answer => answer.size())
    }

    fn reply(self, request: &Request, endpoint: &str) -> (Reply, Report) {
        each!(self, answer => answer.reply(request, endpoint))
    }
}
