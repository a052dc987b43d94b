//! One request of a foreign agent, from its arrival until the agent has its answer.

use std::sync::Arc;
use std::{cell::RefCell, rc::Rc};

use bytes::Bytes;
use futures::future::join_all;

use super::again::Asking;
use super::calls::{self, OpenCall};
use super::facts::tool_of;
use super::talk::{Place, Talks};
use crate::domain::{
    EffectId, Finish, Messages, ModelError, ModelErrorKind, Outcome as TaskOutcome, Reply, Role,
    SessionEvent, TaskEvent, TaskId, ToolError, ToolErrorKind,
};
use crate::effect::{self, Effect, ModelCall, Outcome, PendingEffect, perform};
use crate::handle::Handle;
use crate::model::Model;
use crate::model::relay::{Arrival, Relay, Release, Said};
use crate::session::lanes::Waits;
use crate::wire::{Asked, patch};

type Shared = Rc<RefCell<Talks>>;

/// A model call that was requested for a foreign agent.
struct Begun {
    requested: PendingEffect,
    relay: Rc<Relay>,
    task: TaskId,
    step: u32,
}

/// Takes a request through the door, and its calls after it.
pub async fn attend(handle: Handle, talks: Shared, place: Place, arrival: Arrival) {
    end_calls(&handle, &talks, place, &arrival.asked.request.messages).await;
    let Some(begun) = begin(&handle, &talks, place, arrival) else { return };
    let Begun { requested, relay, task, step } = begun;
    let id = requested.reference.id;
    let said = ask(&handle, requested, &relay).await;
    let release = match relay.came().map(as_told) {
        Some(came) if came == said => Release::AsCame,
        _ => Release::Instead(said.clone()),
    };
    match &said {
        Ok(reply) => {
            talks.borrow_mut().conversations.answered(
                place.at,
                reply,
                relay.answer_id().as_deref(),
            );
            call(&handle, &talks, place, (task, step, id), reply).await;
            relay.end(release);
            finish(&handle, &talks, place, reply);
        }
        Err(_) => {
            let mut talks = talks.borrow_mut();
            talks.conversations.failed(place.at);
            talks.talk(place).into_iter().for_each(|talk| talk.failed = Some(id));
            relay.end(release);
        }
    }
}

/// Ends the calls whose results the request has, and those that the conversation goes on without.
async fn end_calls(handle: &Handle, talks: &Shared, place: Place, messages: &Messages) {
    // Agents can go two ways from one past: what the other way waits for is not lost.
    let is_told = |open: &mut OpenCall| !place.is_rewritten || calls::is_in(&open.call, messages);
    let open: Vec<OpenCall> = match talks.borrow_mut().talk(place) {
        Some(talk) => talk.open.extract_if(.., is_told).collect(),
        None => return,
    };
    let lost = || Err(ToolError::new(ToolErrorKind::Unavailable, calls::NO_RESULT));
    let ended = open.into_iter().map(|open| async move {
        let (id, result) = (open.call.id.clone(), calls::result_of(&open.call, messages));
        let has_result = result.is_some();
        let instead = result.as_ref().and_then(|own| talks.borrow().recalled(place, &id, own));
        let decided = open.end(handle, result.unwrap_or_else(lost), instead).await;
        decided.filter(|_| has_result).map(|text| (id, text))
    });
    let decided = join_all(ended).await.into_iter().flatten();
    if let Some(talk) = talks.borrow_mut().talk(place) {
        talk.decided.extend(decided);
    }
}

/// Requests the model call, after what the request says of tools, models and tasks.
fn begin(handle: &Handle, talks: &Shared, place: Place, arrival: Arrival) -> Option<Begun> {
    let Arrival { format, asked, body, caller, way } = arrival;
    handle.write(|session| {
        let mut talks = talks.borrow_mut();
        let spec = talks.models.of(session, &asked.model, &caller.endpoint);
        let talk = talks.talk(place)?;
        let body = match patched(&asked, &body, |id| talk.decided.get(id)) {
            Ok(patched) => patched.unwrap_or(body),
            Err(text) => {
                session.emit(SessionEvent::Noticed { text });
                body
            }
        };
        let task = talk.task(session, &asked.request.messages);
        talk.tools.take(session, &asked.request.tools);
        talk.step += 1;
        let (step, from, menu) = (talk.step, talk.at.clone(), Arc::clone(&talk.tools.menu));
        session.emit(TaskEvent::StepStarted { task, step, from, menu });
        let relay = Rc::new(Relay::new(spec, body.clone(), way));
        let run = talk.run;
        let known =
            talks.known(session, (place, run), Asking { format, asked: &asked, body: &body });
        relay.know(known);
        let request = Arc::new(asked.request);
        let effect = Effect::Model(ModelCall {
            role: Role::Actor,
            model: Rc::clone(&relay) as Rc<dyn Model>,
            meant: Arc::clone(&request),
            request,
            evidence: None,
            judged: None,
            guest: Some(Rc::clone(&relay)),
        });
        let failed = talks.talk(place).and_then(|talk| talk.failed.take());
        let parent = failed.filter(|_| place.is_again);
        let requested = effect::request(session, task, effect, parent, Waits::Agent);
        Some(Begun { requested, relay, task, step })
    })
}

/// The body with what was decided of results in it; `None` if that is nothing.
fn patched<'a>(
    asked: &Asked,
    body: &Bytes,
    decided: impl Fn(&str) -> Option<&'a String>,
) -> Result<Option<Bytes>, String> {
    let spots = asked.results.iter().filter_map(|spot| {
        let text = serde_json::Value::String(decided(&spot.id)?.clone()).to_string();
        Some((spot.range.clone(), text))
    });
    let spots: Vec<_> = spots.collect();
    if spots.is_empty() {
        return Ok(None);
    }
    let places: Vec<_> = spots.iter().map(|(range, text)| (range.clone(), text.as_str())).collect();
    let patched = patch(body, &places).map_err(|why| format!("a result is not replaced: {why}"))?;
    Ok(Some(patched.into()))
}

/// Makes the call. An agent that hangs up ends it.
async fn ask(handle: &Handle, requested: PendingEffect, relay: &Relay) -> Said {
    let cancel = requested.cancel.clone();
    let mut performed = std::pin::pin!(perform(handle, requested));
    let (outcome, _) = tokio::select! {
        biased;
        performed = &mut performed => performed,
        () = relay.hung_up() => {
            cancel.cancel();
            performed.await
        }
    };
    match outcome {
        Outcome::Reply(said) => said,
        _ => Err(ModelError::new(ModelErrorKind::BadAnswer, "not the outcome of a model call")),
    }
}

/// What came, as the record has it.
fn as_told(came: Said) -> Said {
    match effect::redacted(Outcome::Reply(came)) {
        Outcome::Reply(said) => said,
        _ => Err(ModelError::new(ModelErrorKind::BadAnswer, "not the outcome of a model call")),
    }
}

/// Takes the calls of an answer through the door, until each has started or ended there.
async fn call(
    handle: &Handle,
    talks: &Shared,
    place: Place,
    (task, step, parent): (TaskId, u32, EffectId),
    reply: &Reply,
) {
    let mut ids = Vec::new();
    for call in &reply.calls {
        let requested = handle.write(|session| {
            let spec = tool_of(session, &call.tool);
            calls::request(session, (task, step, parent), call, spec)
        });
        let (requested, open, ended) = requested;
        ids.push(open.effect);
        if let Some(talk) = talks.borrow_mut().talk(place) {
            talk.at = call.tool.clone();
            talk.open.push(open);
        }
        let beside = handle.clone();
        handle.spawn(async move {
            let (outcome, _) = perform(&beside, requested).await;
            // The conversation may have gone on without it.
            let _ = ended.send(outcome);
        });
    }
    let are_on = |session: &crate::session::Session| {
        let is_on = |id: &EffectId| {
            let effect = session.state().effect(*id);
            effect.is_none_or(|effect| effect.started.is_some() || effect.is_over())
        };
        ids.iter().all(is_on)
    };
    handle.until(are_on).await;
}

/// An answer without calls ends the task.
fn finish(handle: &Handle, talks: &Shared, place: Place, reply: &Reply) {
    if !reply.calls.is_empty() {
        return;
    }
    let outcome = match reply.finish {
        Finish::Length | Finish::Filtered | Finish::Refused => TaskOutcome::Failed,
        Finish::Stop | Finish::Calls | Finish::Judged | Finish::Other(_) => TaskOutcome::Answered,
    };
    let answer = Some(reply.said().to_owned());
    handle.write(|session| {
        if let Some(talk) = talks.borrow_mut().talk(place) {
            talk.finish(session, outcome, answer);
        }
        session.settle();
    });
}
