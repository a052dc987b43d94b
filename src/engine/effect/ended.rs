//! How the end of an effect is told, and what it cost.

use super::{Effect, Outcome};
use crate::{
    domain::{
        chat::Usage,
        error::{ModelError, ModelErrorKind, ToolError, ToolErrorKind},
        event::{Billed, EffectRef, EmbeddingEvent, Event, ModelCallEvent, Refusal, ToolCallEvent},
        id::EffectId,
        spec::ModelSpec,
        tokens,
    },
    engine::{session::Session, station::Passage},
};

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

/// The event of an outcome.
pub fn event(session: &Session, passage: &Passage, outcome: &Outcome) -> Event {
    let effect = passage.reference;
    match outcome {
        Outcome::Reply(Ok(reply)) => {
            let dollars = model(passage).and_then(|model| dollars(model, reply.usage));
            ModelCallEvent::ModelCallFinished { effect, reply: reply.clone(), dollars }.into()
        }
        Outcome::Reply(Err(error)) => failed(session, effect, error.clone()).into(),
        Outcome::Result(Ok(output)) => {
            ToolCallEvent::ToolCallFinished { effect, output: output.clone() }.into()
        }
        Outcome::Result(Err(error)) => {
            ToolCallEvent::ToolCallFailed { effect, error: error.clone() }.into()
        }
        Outcome::Refused(reason, why) => {
            ToolCallEvent::ToolCallRefused { effect, why: why.clone(), reason: *reason }.into()
        }
        Outcome::Embedded(Ok(embedded)) => {
            let dollars = model(passage).and_then(|model| dollars(&unasked(model), embedded.usage));
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
        Effect::Embedding(call) => Some(crate::model::Model::spec(&*call.model)),
        Effect::Tool(_) => None,
    }
}

/// That an effect is gone with the session; `None` for one that there is not.
pub fn abandoned(session: &Session, id: EffectId) -> Option<Event> {
    let state = &session.state;
    let effect = state.effect(id)?.reference();
    let text = "the session was stopped";
    let error = ModelError::new(ModelErrorKind::Cancelled, text);
    if state.ask(id).is_some() {
        return Some(failed(session, effect, error).into());
    }
    Some(if state.call(id).is_some() {
        let error = ToolError::new(ToolErrorKind::Cancelled, text);
        ToolCallEvent::ToolCallFailed { effect, error }.into()
    } else {
        EmbeddingEvent::EmbeddingFailed { effect, error }.into()
    })
}

/// Nothing comes out of an embedding model that could have a price.
fn unasked(model: &ModelSpec) -> ModelSpec {
    ModelSpec { price_out: model.price_out.or(Some(0.0)), ..model.clone() }
}

/// That a model call failed. Where some of its answer had come, it was most likely billed: nobody says how
/// much, so that is counted here.
fn failed(session: &Session, effect: EffectRef, error: ModelError) -> ModelCallEvent {
    let billed = billed(session, effect.id, &error);
    ModelCallEvent::ModelCallFailed { effect, error, billed }
}

fn billed(session: &Session, id: EffectId, error: &ModelError) -> Option<Billed> {
    let call = session.state.ask(id)?;
    let told =
        if call.partial.len() > error.partial.len() { &call.partial } else { &error.partial };
    let model = &session.state.models.known.get(&call.model)?.spec;
    (!told.is_empty()).then(|| {
        let tokens_in = tokens::count_request(&call.request);
        let tokens_out = tokens::count(told);
        let usage = Usage { tokens_in, tokens_out, estimated: true, ..Usage::default() };
        Billed { usage, dollars: dollars(model, usage) }
    })
}

/// What a request cost in US dollars: as the endpoint says, else by price; `None` where unknown. Cached
/// tokens without a price of their own are paid in full, which is never too little.
pub fn dollars(model: &ModelSpec, usage: Usage) -> Option<f64> {
    usage.dollars.or_else(|| {
        let (price_in, price_out) = (model.price_in?, model.price_out?);
        let cached = usage.cached.min(usage.tokens_in);
        let new = (usage.tokens_in - cached) as f64;
        let paid_in = new * price_in + cached as f64 * model.price_cached.unwrap_or(price_in);
        Some((paid_in + usage.tokens_out as f64 * price_out) / 1e6)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::spec::ToolMode;

    fn model(price_cached: Option<f64>) -> ModelSpec {
        ModelSpec {
            name: "m".into(),
            source: String::new(),
            simulated: false,
            mode: ToolMode::Native,
            structured: false,
            price_in: Some(2.0),
            price_out: Some(8.0),
            price_cached,
            price_from: None,
            context: None,
        }
    }

    #[test]
    fn cached_tokens_are_paid_at_their_own_price_or_in_full() {
        let usage = Usage { tokens_in: 3000, tokens_out: 500, cached: 1000, ..Usage::default() };
        assert_eq!(dollars(&model(Some(0.5)), usage), Some(0.0085));
        assert_eq!(dollars(&model(None), usage), Some(0.01));
        // No endpoint should say so, but one might.
        let usage = Usage { cached: 9000, ..usage };
        assert_eq!(dollars(&model(Some(0.5)), usage), Some(0.0055));
    }

    #[test]
    fn an_ask_is_unpriced_unless_both_prices_are_known_or_the_endpoint_says_what_it_charged() {
        let usage = Usage { tokens_in: 3000, tokens_out: 0, ..Usage::default() };
        for unpriced in [
            ModelSpec { price_in: None, ..model(Some(0.5)) },
            ModelSpec { price_out: None, ..model(Some(0.5)) },
        ] {
            assert_eq!(dollars(&unpriced, usage), None);
            let charged = Usage { dollars: Some(0.25), ..usage };
            assert_eq!(dollars(&unpriced, charged), Some(0.25));
        }
    }
}
