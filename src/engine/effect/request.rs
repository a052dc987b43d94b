//! Requests of effects: each gets its number and its lane before any check.

use serde_json::Value;

use super::pending::PendingEffect;
use super::{Effect, ModelCall, ToolCall};
use crate::domain::{
    Chance, EffectClass, EffectId, EffectRef, EmbeddingEvent, Event, ModelCallEvent, Request, Role,
    TaskId, ToolCallEvent, ToolName, chance::canonical,
};
use crate::model::Model;
use crate::{
    fault_choice::FaultChoice,
    session::{Session, lanes::Waits},
};

/// Requests an effect for this task. Effects of one decision are all requested before the first one
/// runs, so that their numbers and draws follow their order.
pub fn request(
    session: &mut Session,
    task: TaskId,
    effect: Effect,
    parent: Option<EffectId>,
    waits: Waits,
) -> PendingEffect {
    let class = match &effect {
        Effect::Model(_) | Effect::Embedding(_) | Effect::Reading(_) => EffectClass::Read,
        Effect::Tool(call) if session.state().reads_on(&call.tool) => EffectClass::Read,
        Effect::Tool(call) => {
            let spec = session.state().tools.get(&call.tool).map(|tool| tool.spec.effect);
            spec.unwrap_or_default()
        }
    };
    let line = match &effect {
        Effect::Tool(call) => call.line,
        Effect::Model(_) | Effect::Embedding(_) | Effect::Reading(_) => None,
    };
    let reference =
        EffectRef { line, ..EffectRef::new(session.next_effect(), class).caused_by(parent) };
    let event = requested(reference, task, &effect);
    let chance = occurrence(session, &event).unwrap_or(Chance::new(session.state().seed));
    let cancel = session.enter(reference.id, task, waits);
    session.emit(event);
    let mut choice = FaultChoice::default();
    if !effect.is_fixed() {
        session.choose_fault((reference.id, task), chance, &mut choice);
    }
    PendingEffect { reference, task, effect, cancel, chance, choice }
}

/// The event of this request.
pub fn requested(reference: EffectRef, task: TaskId, effect: &Effect) -> Event {
    match effect {
        Effect::Model(ModelCall { role, model, request, evidence, .. }) => {
            ModelCallEvent::ModelCallRequested {
                effect: reference,
                task,
                role: *role,
                model: model.spec().name.clone(),
                request: request.clone(),
                evidence: *evidence,
            }
            .into()
        }
        Effect::Tool(ToolCall { step, tool, arguments, evidence, by, guest, .. }) => {
            ToolCallEvent::ToolCallRequested {
                effect: reference,
                task,
                step: *step,
                tool: tool.clone(),
                arguments: arguments.clone(),
                evidence: *evidence,
                by: *by,
                wire_id: guest.as_ref().map(|guest| guest.id.clone()),
            }
            .into()
        }
        Effect::Embedding(call) => of_text(reference, task, name(&*call.model), &call.text),
        Effect::Reading(call) => {
            let endpoint = call.ranker.endpoint();
            let model = endpoint.map(|model| name(&*model));
            let model = model.unwrap_or_else(|| call.ranker.spec().name.to_string());
            of_text(reference, task, model, &call.text)
        }
    }
}

fn of_text(effect: EffectRef, task: TaskId, model: String, text: &str) -> Event {
    EmbeddingEvent::EmbeddingRequested { effect, task, model, text: text.to_owned() }.into()
}

/// An embedding model, as its endpoint calls it.
fn name(model: &dyn Model) -> String {
    let name = model.embedder().map(|embedder| embedder.model().to_owned());
    name.unwrap_or_else(|| model.spec().name.to_string())
}

/// The draw for this occurrence of this request, counted; `None` for an event that is not a
/// request. It depends on the seed, the request and its earlier occurrences, never on a shared
/// stream.
pub fn occurrence(session: &mut Session, event: &Event) -> Option<Chance> {
    let seed = Chance::new(session.state().seed);
    let what = match event {
        Event::ToolCall(ToolCallEvent::ToolCallRequested { tool, arguments, .. }) => {
            of_call(seed, tool, arguments)
        }
        Event::ModelCall(ModelCallEvent::ModelCallRequested { role, request, .. }) => {
            of_request(seed, *role, request)
        }
        Event::Embedding(EmbeddingEvent::EmbeddingRequested { model, text, .. }) => {
            seed.with(model.as_bytes()).with(text.as_bytes())
        }
        _ => return None,
    };
    let nth = session.count_request(what.bits());
    Some(what.with(&nth.to_le_bytes()))
}

fn of_call(seed: Chance, tool: &ToolName, arguments: &Value) -> Chance {
    seed.with(tool.as_str().as_bytes()).with(canonical(arguments).as_bytes())
}

/// The last message and the number of messages distinguish requests of a role, without reading long
/// prompts.
fn of_request(seed: Chance, role: Role, request: &Request) -> Chance {
    let last = request.messages.last().map_or("", |message| message.text());
    let count = request.messages.len() as u64;
    seed.with(role.name().as_bytes()).with(&count.to_le_bytes()).with(last.as_bytes())
}
