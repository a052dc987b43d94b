//! A model that is asked, with the request in the form that it reads; and notes about the parts that it does not read.

use std::{rc::Rc, sync::Arc};

use crate::domain::words::counted;
use crate::domain::{Message, ModelError, ModelName, Reply, Request, ToolMode, Usage, tokens};
use crate::model::{Model, text, understood};
use crate::recorded_call::RecordedCall;
use crate::tally::AskedReply;
use crate::unsent::unsent;

/// The word in a journal in place of a key.
const HIDDEN: &str = "[key]";
/// The end of the text at which a model stops that has its tools in a text.
const OBSERVATION: &str = "Observation:";
/// Tokens of an answer, assumed before it comes.
const ASSUMED: u64 = 500;

/// A model that is asked.
pub struct Candidate {
    pub model: Rc<dyn Model>,
    /// The request as the model reads it.
    pub request: Request,
    /// The request with its tools, by which a reply is read.
    meant: Request,
    mode: ToolMode,
    /// The number of past replies with parts that go only to the endpoint that wrote them, which is another one.
    foreign: usize,
}

impl Candidate {
    /// Asks this model the request of the recorded call, as it was or edited.
    pub fn new(model: Rc<dyn Model>, recorded: &RecordedCall, request: &Request) -> Self {
        let (spec, mut meant, mut foreign) = (Arc::clone(model.spec()), request.clone(), 0);
        let is_same = recorded.spec().is_some_and(|then| then.source == spec.source);
        for message in meant.messages.iter_mut() {
            let Message::Assistant { source: Some(source), .. } = message else { continue };
            // The past of a watched agent does not say which endpoint wrote it.
            if source.endpoint.is_empty() && is_same {
                Arc::make_mut(source).endpoint.clone_from(&spec.source);
            }
            let is_kept = source.blocks.iter().any(|block| block.label().is_some());
            let has_fields = !source.message.is_empty() || !source.calls.is_empty();
            foreign += usize::from(source.endpoint != spec.source && (is_kept || has_fields));
        }
        let (mut mode, mut request) = (spec.mode, meant.clone());
        if meant.stop.iter().any(|stop| stop.ends_with(OBSERVATION)) {
            (mode, meant.tools) = (ToolMode::Text, recorded.tools());
        } else if mode == ToolMode::Text {
            request = text::to_text(&meant);
        }
        Self { model, request, meant, mode, foreign }
    }

    pub fn name(&self) -> &ModelName {
        &self.model.spec().name
    }

    /// A call that has ended, its reply read as in a session. What had arrived of a failed one was most likely billed; no
    /// endpoint says how much.
    pub(crate) fn asked(
        &self,
        time: u32,
        ms: u64,
        outcome: Result<Reply, ModelError>,
    ) -> AskedReply {
        let usage = match &outcome {
            Ok(reply) => Some(reply.usage),
            Err(error) if error.partial.is_empty() => None,
            Err(error) => Some(self.usage(tokens::count(&error.partial))),
        };
        let dollars = usage.and_then(|usage| self.model.spec().price(&usage));
        let (reply, error) = match outcome {
            Ok(reply) => (Some(understood(self.mode, &self.meant, reply)), None),
            Err(error) => (None, Some(error)),
        };
        AskedReply { model: self.name().clone(), time, reply, error, dollars, ms }
    }

    fn usage(&self, answer: u64) -> Usage {
        Usage::estimate(tokens::count_request(&self.request), answer)
    }

    /// The probable cost of a call in US dollars: by price, or as much as its dearest reply; `None` if neither is known.
    pub(crate) fn dearest(&self, replies: &[AskedReply]) -> Option<f64> {
        let own = replies.iter().filter(|reply| reply.model == *self.name());
        let paid = own.filter_map(|reply| reply.dollars);
        paid.chain(self.model.spec().price(&self.usage(ASSUMED))).map(f64::from).reduce(f64::max)
    }
}

/// A line for each part that the models do not read as the recorded call's model did.
pub fn notes(recorded: &RecordedCall, request: &Request, candidates: &[Candidate]) -> Vec<String> {
    let mut notes = Vec::new();
    let unsent = recorded.sent.as_ref().map(|body| unsent(body, request));
    match unsent.map(|paths| paths.map(|paths| paths.join(", "))) {
        Some(Some(paths)) if !paths.is_empty() => {
            notes.push(format!("not sent again, since requests here have no such field: {paths}"));
        }
        Some(None) => {
            notes.push("only what was understood of the agent's request is sent".to_owned())
        }
        Some(Some(_)) | None => {}
    }
    let keys = serde_json::to_string(request).unwrap_or_default().matches(HIDDEN).count();
    if keys > 0 {
        let places = counted(keys, "place");
        notes.push(format!("the journal has {HIDDEN} for a key in {places}; models read {HIDDEN}"));
    }
    let left_out = request.left_out.as_ref();
    notes.extend(left_out.map(|left| format!("recorded without what did not fit: {left}")));
    for it in candidates.iter().filter(|candidate| candidate.foreign > 0) {
        let (name, messages) = (it.name(), counted(it.foreign, "message"));
        notes.push(format!(
            "{name}: thoughts and signatures in {messages} are not sent, since another endpoint wrote them"
        ));
    }
    notes
}
