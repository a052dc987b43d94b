//! The end of an effect as an event, and its cost.

use std::sync::Arc;

use serde::{Serialize, de::DeserializeOwned};

use super::{Effect, Outcome};
use crate::domain::{
    Bill, EffectId, EffectRef, EmbeddingEvent, Event, ModelCallEvent, ModelError, ModelErrorKind,
    ModelSpec, Refusal, ToolCallEvent, ToolError, ToolErrorKind, Usage, tokens,
};
use crate::engine::{session::Session, station::Passage};
use crate::model::known;

/// A tool call that was cancelled before it started was not run.
pub fn as_told(session: &Session, passage: &Passage, outcome: Outcome) -> Outcome {
    let is_running =
        session.state.effect(passage.reference.id).is_some_and(|effect| effect.started.is_some());
    match outcome {
        Outcome::Result(Err(error)) if error.kind == ToolErrorKind::Cancelled && !is_running => {
            Outcome::Refused(Refusal::Cancelled, error.text)
        }
        outcome => outcome,
    }
}

/// The outcome without keys: models and tools get the same texts that the record has.
pub fn redacted(outcome: Outcome) -> Outcome {
    fn clean<T: Serialize + DeserializeOwned>(value: T) -> T {
        known::redacted(&value, |json| serde_json::from_slice(json).ok()).unwrap_or(value)
    }
    match outcome {
        Outcome::Reply(reply) => Outcome::Reply(reply.map(clean).map_err(clean)),
        Outcome::Result(result) => Outcome::Result(result.map(clean).map_err(clean)),
        Outcome::Refused(reason, why) => Outcome::Refused(reason, clean(why)),
        Outcome::Embedded(embedded) => Outcome::Embedded(embedded.map_err(clean)),
    }
}

/// The event of an outcome.
pub fn event(session: &Session, passage: &Passage, outcome: &Outcome) -> Event {
    let effect = passage.reference;
    match outcome {
        Outcome::Reply(Ok(reply)) => {
            let dollars = model(passage).and_then(|model| model.price(&reply.usage));
            ModelCallEvent::ModelCallFinished { effect, reply: reply.clone(), dollars }.into()
        }
        Outcome::Reply(Err(error)) => failed(session, effect, error.clone()).into(),
        Outcome::Result(Ok(output)) => {
            let output = Arc::new(output.clone());
            ToolCallEvent::ToolCallFinished { effect, output }.into()
        }
        Outcome::Result(Err(error)) => {
            ToolCallEvent::ToolCallFailed { effect, error: error.clone() }.into()
        }
        Outcome::Refused(reason, why) => {
            ToolCallEvent::ToolCallRefused { effect, why: why.clone(), reason: *reason }.into()
        }
        Outcome::Embedded(Ok(embedded)) => {
            let dollars = model(passage).and_then(|model| model.price(&embedded.usage));
            let vector = embedded.embedding.as_ref();
            let vector = vector.map(|embedding| embedding.vector().to_vec()).unwrap_or_default();
            let usage = embedded.usage;
            EmbeddingEvent::EmbeddingFinished { effect, usage, dollars, vector }.into()
        }
        Outcome::Embedded(Err(error)) => {
            EmbeddingEvent::EmbeddingFailed { effect, error: error.clone() }.into()
        }
    }
}

fn model(passage: &Passage) -> Option<&ModelSpec> {
    match &passage.effect {
        Effect::Model(call) => Some(call.model.spec()),
        Effect::Embedding(call) => Some(call.model.spec()),
        Effect::Tool(_) => None,
    }
}

/// The end of an effect that was in flight at the end of the session; `None` if there is no such
/// effect.
pub fn abandoned(session: &Session, id: EffectId) -> Option<Event> {
    let state = &session.state;
    let effect = state.effect(id)?.reference();
    let text = "the session was stopped";
    let error = ModelError::new(ModelErrorKind::Cancelled, text);
    if state.model_call(id).is_some() {
        return Some(failed(session, effect, error).into());
    }
    Some(if state.tool_call(id).is_some() {
        let error = ToolError::new(ToolErrorKind::Cancelled, text);
        ToolCallEvent::ToolCallFailed { effect, error }.into()
    } else {
        EmbeddingEvent::EmbeddingFailed { effect, error }.into()
    })
}

/// The failure of a model call. If some of its answer had arrived, it was most likely billed; no
/// endpoint reports the amount, so it is estimated here.
fn failed(session: &Session, effect: EffectRef, error: ModelError) -> ModelCallEvent {
    let billed = billed(session, effect.id, &error);
    ModelCallEvent::ModelCallFailed { effect, error, billed }
}

fn billed(session: &Session, id: EffectId, error: &ModelError) -> Option<Bill> {
    let call = session.state.model_call(id)?;
    let told =
        if call.partial.len() > error.partial.len() { &call.partial } else { &error.partial };
    let model = &session.state.models.known.get(&call.model)?.spec;
    (!told.is_empty()).then(|| {
        let usage = Usage::estimate(tokens::count_request(&call.request), tokens::count(told));
        Bill { usage, dollars: model.price(&usage) }
    })
}
