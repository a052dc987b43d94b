//! The end of an effect as an event, and its cost.

use std::sync::Arc;

use serde::{Serialize, de::DeserializeOwned};

use super::{Outcome, Ranked};
use crate::domain::{
    Bill, EffectId, EffectRef, EmbeddingEvent, Event, Lane, ModelCallEvent, ModelError,
    ModelErrorKind, Refusal, RunId, ToolCallEvent, ToolError, ToolErrorKind, Usage, tokens,
};
use crate::net::known;
use crate::session::lanes::Waits;
use crate::{session::Session, station::Passage};

/// Turns the outcome of a tool call that was cancelled before it started into a refusal.
pub fn as_told(session: &Session, passage: &Passage, outcome: Outcome) -> Outcome {
    let is_running =
        session.state().effect(passage.reference.id).is_some_and(|effect| effect.started.is_some());
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
        known::redacted(&value, |json| serde_json::from_str(json).ok()).unwrap_or(value)
    }
    match outcome {
        Outcome::Reply(reply) => Outcome::Reply(reply.map(clean).map_err(clean)),
        Outcome::Result(result) => Outcome::Result(result.map(clean).map_err(clean)),
        Outcome::Refused(reason, why) => Outcome::Refused(reason, clean(why)),
        Outcome::Embedded(embedded) => Outcome::Embedded(embedded.map_err(clean)),
        Outcome::Ranked(ranked) => Outcome::Ranked(ranked.map_err(clean)),
    }
}

/// The event of an outcome.
pub fn event(session: &Session, passage: &Passage, outcome: &Outcome) -> Event {
    let effect = passage.reference;
    let dollars = || {
        if passage.effect.is_known() {
            return Some(0.0.into());
        }
        passage.effect.spec().and_then(|model| model.price(outcome.usage()?))
    };
    match outcome {
        Outcome::Reply(Ok(reply)) => {
            let dollars = dollars();
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
            let vector = embedded.embedding.as_ref();
            let vector = vector.map(|embedding| embedding.vector().to_vec()).unwrap_or_default();
            let (usage, dollars, ranking) = (embedded.usage, dollars(), None);
            EmbeddingEvent::EmbeddingFinished { effect, usage, dollars, vector, ranking }.into()
        }
        Outcome::Ranked(Ok(Ranked { ranking, usage })) => {
            let (usage, dollars, vector) = (*usage, dollars(), Vec::new());
            let ranking = Some(ranking.clone());
            EmbeddingEvent::EmbeddingFinished { effect, usage, dollars, vector, ranking }.into()
        }
        Outcome::Embedded(Err(error)) | Outcome::Ranked(Err(error)) => {
            EmbeddingEvent::EmbeddingFailed { effect, error: error.clone() }.into()
        }
    }
}

impl Session {
    /// Ends the effects of a run: those that it waits for were dropped with its work, and those beside it are cancelled.
    pub fn drop_effects(&mut self, run: RunId, why: &str) {
        // Effects that have ended can still be held.
        let held: Vec<Lane> = self.state().control.held.iter().map(|hold| hold.lane).collect();
        for lane in held {
            if self.lanes().run_of(lane) == run && !self.lanes().is_by_hand(lane) {
                self.let_go(lane);
            }
        }
        let live: Vec<EffectId> =
            self.state().effects_in_flight().map(|effect| effect.id).collect();
        let is_own = |session: &Self, id| session.lanes().run_of(Lane::Effect(id)) == run;
        for id in live {
            if !is_own(self, id) {
                continue;
            }
            match self.lanes().waits(id) {
                Some(Waits::Agent) => {
                    self.abandon(id, why);
                    self.lanes_mut().leave(id);
                }
                Some(Waits::Nobody) => {
                    self.lanes().flight(id).into_iter().for_each(|it| it.cancel.cancel());
                }
                Some(Waits::Person) | None => {}
            }
        }
    }

    /// Records the end of all effects in flight: nothing runs them any more.
    pub fn abandon_all(&mut self, why: &str) {
        let gone: Vec<EffectId> =
            self.state().effects_in_flight().map(|effect| effect.id).collect();
        gone.into_iter().for_each(|id| self.abandon(id, why));
    }

    /// Records the end of an effect that nothing runs any more.
    pub fn abandon(&mut self, id: EffectId, why: &str) {
        let event = abandoned(self, id, why);
        event.into_iter().for_each(|event| self.emit(event));
        self.settle_budget(id);
    }
}

/// The end of an effect that was dropped in flight, with its reason; `None` if there is no such effect.
fn abandoned(session: &Session, id: EffectId, text: &str) -> Option<Event> {
    let state = session.state();
    let effect = state.effect(id)?.reference();
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
    let call = session.state().model_call(id)?;
    let told =
        if call.partial.len() > error.partial.len() { &call.partial } else { &error.partial };
    let model = &session.state().models.known.get(&call.model)?.spec;
    (!told.is_empty()).then(|| {
        let usage = Usage::estimate(tokens::count_request(&call.request), tokens::count(told));
        Bill { usage, dollars: model.price(&usage) }
    })
}
