//! Serves a request of a watched agent, from its arrival until the agent has its answer.

use std::{rc::Rc, sync::Arc};

use bytes::Bytes;

use super::agent_answer::{as_told, release};
use super::answers::FoundCalls;
use super::call_ends::end_calls;
use super::calls::{self, Parent};
use super::conversation_data::{RequestPlace, SharedTalks, Talks};
use super::facts::tool_of;
use super::forking::fork_here;
use super::past_changes::{Decided, retell};
use super::recorded_answers::Asking;
use super::retries::{adopt, ask, conclude};
use super::skipped_calls;
use crate::domain::{
    EffectId, EffectRef, Finish, Message, Messages, ModelCallEvent, Outcome as TaskOutcome, Reply,
    Role, SessionEvent, TaskEvent, TaskId, ToolCall,
};
use crate::effect::{self, Effect, ModelCall, PendingEffect, perform};
use crate::handle::Handle;
use crate::model::Model;
use crate::model::relay::{Arrival, Holds, Relay, Release};
use crate::session::{Session, lanes::Waits};
use crate::wire::{IncomingRequest, WireFormat};

/// A model call that was requested for a watched agent.
pub struct Begun {
    requested: PendingEffect,
    pub relay: Rc<Relay>,
    pub format: WireFormat,
    pub task: TaskId,
    pub step: u32,
}

/// An answer whose calls have passed their stations.
#[derive(Clone, Copy)]
pub struct PassedAnswer<'a> {
    pub of: Parent,
    pub format: WireFormat,
    pub relay: &'a Rc<Relay>,
    pub reply: &'a Reply,
}

/// Takes a request through the stations, and then its calls.
pub async fn attend(
    handle: Handle,
    talks: SharedTalks,
    (place, found): (RequestPlace, FoundCalls),
    arrival: Arrival,
) {
    let Some(arrival) = handle.write(|_| adopt(&talks, place, arrival)) else { return };
    fork_here(&handle, &talks, place, false);
    let sent = arrival.asked.request.messages.clone();
    let forces_call = arrival.asked.forces_call;
    end_calls(&handle, &talks, place, (&sent, &found)).await;
    let Some(mut begun) = begin(&handle, &talks, (place, &found), arrival) else { return };
    // The turns that the model received after its agent's request.
    let mut turns = Vec::new();
    let (said, calls, relay, id, effects) = loop {
        let Begun { requested, relay, format, task, step } = begun;
        let (id, effect) = (requested.reference.id, requested.reference);
        let said = ask(&handle, &talks, place, requested, &relay).await;
        keep_copy(&handle, &talks, Rc::clone(&relay), effect);
        note_edits(&handle, &talks, place, id, (&sent, &found, &mut turns));
        fork_here(&handle, &talks, place, true);
        let Ok(reply) = &said else { break (said, Vec::new(), relay, id, Vec::new()) };
        let is_fixed = relay.changeable().is_err() && !handle.read(has_relay);
        if is_fixed && !reply.calls.is_empty() {
            tell_fixed(&handle, &talks);
        }
        let of = Parent { task, step, id, forces_call, is_fixed };
        let (calls, effects) = call(&handle, &talks, place, of, reply).await;
        let answered = PassedAnswer { of, format, relay: &relay, reply };
        match skipped_calls::go_on(&handle, &talks, place, answered, &mut turns).await {
            Some(next) => begun = next,
            None => break (said, calls, relay, id, effects),
        }
    };
    let is_given = match &said {
        Ok(reply) => {
            let given = match calls == reply.calls {
                true => Arc::clone(reply),
                false => Arc::new(Reply { calls, ..Reply::clone(reply) }),
            };
            let mut all = talks.borrow_mut();
            if let Some(talk) = all.talk(place).filter(|_| !turns.is_empty()) {
                talk.decided.turns(&sent, &given, turns);
            }
            let release = release(relay.came(), &given);
            let id = relay.answer_id(&release);
            if let Some(talk) = all.talk(place) {
                talk.answers.given(found.past, &given, id.as_deref(), &effects);
            }
            all.conversations.answered(place.at, &given, id.as_deref());
            relay.end(&Ok(given), release)
        }
        Err(_) => {
            talks.borrow_mut().talk(place).into_iter().for_each(|talk| talk.failed = Some(id));
            let release = match relay.came().map(as_told) {
                Some(came) if came == said => Release::AsCame,
                _ => Release::Instead(said.clone()),
            };
            relay.end(&said, release)
        }
    };
    conclude(&talks, place, &relay, is_given && said.is_ok());
    if let Some(why) = relay.unread().filter(|_| is_given) {
        let mut all = talks.borrow_mut();
        all.conversations.answered_unread(place.at);
        if all.told.insert(why.clone()) {
            handle.emit(SessionEvent::Noticed { text: why });
        }
    }
    said.iter().for_each(|reply| finish(&handle, &talks, place, reply));
}

/// Records the copy of an answer, which comes beside what its agent does next.
fn keep_copy(handle: &Handle, talks: &SharedTalks, relay: Rc<Relay>, effect: EffectRef) {
    talks.borrow_mut().copies += 1;
    let (beside, talks) = (handle.clone(), Rc::clone(talks));
    handle.spawn(async move {
        let copy = relay.copy().await;
        beside.write(|session| {
            talks.borrow_mut().copies -= 1;
            let event = copy.map(|answer| ModelCallEvent::ModelCallAnswered { effect, answer });
            event.into_iter().for_each(|event| session.emit(event));
        });
    });
}

/// Notes a person's edits of a prompt, for the later requests that contain it. The prompt is the messages that the
/// agent sent, followed by the turns since then.
fn note_edits(
    handle: &Handle,
    talks: &SharedTalks,
    place: RequestPlace,
    id: EffectId,
    (sent, found, turns): (&Messages, &FoundCalls, &mut [Message]),
) {
    let is_edited = |session: &Session| {
        let effect = session.state().effect(id).filter(|effect| effect.edits > 0)?;
        Some(session.state().model_call(effect.id)?.request.messages.clone())
    };
    if let Some(read) = handle.read(is_edited)
        && let Some(talk) = talks.borrow_mut().talk(place)
    {
        let mut read = read.iter();
        talk.decided.messages(sent, found, &mut read);
        retell(turns, &mut read);
    }
}

/// Requests the model call, after the request's tools, models and tasks are noted.
fn begin(
    handle: &Handle,
    talks: &SharedTalks,
    (place, found): (RequestPlace, &FoundCalls),
    arrival: Arrival,
) -> Option<Begun> {
    let Arrival { format, asked, body: came, caller, way } = arrival;
    handle.write(|session| {
        let mut talks = talks.borrow_mut();
        talks.take_edits(session);
        let of_other = talks.of_other_model(place, (format, &came), caller.fixed);
        let (asked, body) = match of_other {
            Ok(other) => other.unwrap_or_else(|| (asked, came.clone())),
            Err(text) => {
                session.emit(SessionEvent::Noticed { text });
                (asked, came.clone())
            }
        };
        let spec = talks.models.of(session, &asked.model, &caller.endpoint);
        for id in talks.talk(place)?.decided.untold(&asked, found) {
            let tool = session.state().tool_call(id).map(|call| call.tool.to_string());
            let tool = tool.unwrap_or_default();
            let text = format!("a result of {tool} is no text: its model reads an empty result");
            if talks.told.insert(text.clone()) {
                session.emit(SessionEvent::Noticed { text });
            }
        }
        let prompt = talks.changed_prompt(place);
        let talk = talks.talk(place)?;
        if let Some(prompt) = prompt {
            talk.decided.messages(&asked.request.messages, found, &mut prompt.iter());
        }
        let (asked, read) =
            match as_decided(&talk.decided, format, &asked, (&body, found), caller.fixed) {
                Ok(decided) => decided.unwrap_or_else(|| (asked, body.clone())),
                Err(why) => {
                    let text = format!(
                        "the model reads what the agent sent, not what was made of it: {why}"
                    );
                    session.emit(SessionEvent::Noticed { text });
                    (asked, body.clone())
                }
            };
        talk.task(session, &asked);
        // A thread at the endpoint keeps its tools.
        let keeps_tools = asked.previous.is_some() && asked.request.tools.is_empty();
        let parent = talk.failed.take().filter(|_| place.is_again);
        let has_other_tools =
            !keeps_tools && talks.take_tools(place, session, &asked.request.tools);
        let relay = Relay::new(spec, read, way);
        relay.fix(caller.fixed);
        let begun = request(session, &mut talks, place, (format, asked, relay), parent)?;
        let talk = talks.talk(place)?;
        talk.follow(session, begun.requested.reference.id, place.rewritten, has_other_tools);
        talk.pending.push((came, Rc::clone(&begun.relay)));
        Some(begun)
    })
}

/// Requests the next model call of the task at work.
pub fn request(
    session: &mut Session,
    talks: &mut Talks,
    place: RequestPlace,
    (format, asked, relay): (WireFormat, IncomingRequest, Relay),
    parent: Option<EffectId>,
) -> Option<Begun> {
    let talk = talks.talk(place)?;
    talk.step += 1;
    let (run, task, step) = (talk.run, talk.task?, talk.step);
    let (from, menu) = (talk.at.clone(), Arc::clone(&talk.tools.menu));
    session.emit(TaskEvent::StepStarted { task, step, from, menu });
    let asking = Asking { format, asked: &asked, body: &relay.body() };
    let known = talks.known(session, (place, run), asking);
    if !asked.streams || known.is_some() {
        // The agent must not read any of it before it is complete.
        relay.hold(Holds::All);
    }
    relay.know(known);
    let (relay, request) = (Rc::new(relay), Arc::new(asked.request));
    let effect = Effect::Model(ModelCall {
        role: Role::Actor,
        model: Rc::clone(&relay) as Rc<dyn Model>,
        meant: Arc::clone(&request),
        request,
        evidence: None,
        judged: None,
        guest: Some(Rc::clone(&relay)),
    });
    let requested = effect::request(session, task, effect, parent, Waits::Agent);
    if let Some(flight) = session.flight(requested.reference.id) {
        flight.relay = Some(Rc::clone(&relay));
    }
    Some(Begun { requested, relay, format, task, step })
}

/// Whether tools of a relay are known: it answers a call in place of the tool, whatever the requests are.
fn has_relay(session: &Session) -> bool {
    session.state().tools.values().any(|tool| tool.spec.mcp_server().is_some())
}

/// Says once that armed faults do not act on the calls of requests that cannot change.
fn tell_fixed(handle: &Handle, talks: &SharedTalks) {
    let text = "faults of tools do not act here: the requests that bring the results are signed";
    let is_armed = handle.read(|session| session.state().faults_armed() > 0);
    if is_armed && talks.borrow_mut().told.insert(text.to_owned()) {
        handle.emit(SessionEvent::Noticed { text: text.to_owned() });
    }
}

/// The request and its body with the changes of its past applied; `None` if there are none. `fixed`: why it cannot change.
fn as_decided(
    decided: &Decided,
    format: WireFormat,
    asked: &IncomingRequest,
    past: (&Bytes, &FoundCalls),
    fixed: Option<&str>,
) -> Result<Option<(IncomingRequest, Bytes)>, String> {
    let applied = decided.applied(format, asked, past).map_err(|why| why.to_string())?;
    let Some(body) = applied else { return Ok(None) };
    if let Some(why) = fixed {
        return Err(why.to_owned());
    }
    let asked = format.read_request(&body).map_err(|why| why.to_string())?;
    Ok(Some((asked, body)))
}

/// Takes the calls of an answer through the stations, until each has started or ended there. Returns them with a
/// person's edits, and their effects.
async fn call(
    handle: &Handle,
    talks: &SharedTalks,
    place: RequestPlace,
    of: Parent,
    reply: &Reply,
) -> (Vec<ToolCall>, Vec<EffectId>) {
    let mut ids = Vec::new();
    for (at, call) in reply.calls.iter().enumerate() {
        let requested = handle.write(|session| {
            let spec = tool_of(session, &call.tool);
            calls::request(session, of, call, spec)
        });
        let (requested, mut open, ended) = requested;
        open.recorded = talks.borrow().recorded_call(place, at);
        let then = open.recorded.and_then(|then| talks.borrow().skipped_then(place, then));
        then.into_iter().for_each(|returned| open.give(returned));
        ids.push(open.effect);
        if let Some(talk) = talks.borrow_mut().talk(place) {
            talk.at = call.tool.clone();
            talk.open.push(open);
        }
        let beside = handle.clone();
        handle.spawn(async move {
            let (outcome, _) = perform(&beside, requested).await;
            // The conversation may have continued without it.
            let _ = ended.send(outcome);
        });
    }
    let are_on = |session: &Session| ids.iter().all(|id| is_on(session, *id));
    handle.until(are_on).await;
    let mut talks = talks.borrow_mut();
    let calls = handle.read(|session| {
        let as_left = |(call, id): (&ToolCall, &EffectId)| {
            let known = session.state().tool_call(*id).filter(|known| known.edits > 0);
            let Some(known) = known else { return call.clone() };
            if let Some(talk) = talks.talk(place).filter(|_| known.shows_own) {
                talk.decided.own_arguments(*id, call.arguments.clone());
            }
            ToolCall { arguments: known.arguments.clone(), ..call.clone() }
        };
        reply.calls.iter().zip(&ids).map(as_left).collect()
    });
    (calls, ids)
}

/// Whether a call has ended here, or its agent may have it now.
fn is_on(session: &Session, id: EffectId) -> bool {
    let Some(effect) = session.state().effect(id) else { return true };
    let fault = effect.injected.and_then(|fault| session.state().faults.get(&fault));
    let ends_here = fault.is_some_and(|fault| fault.spec.kind.answers_for_tool());
    effect.is_over() || effect.started.is_some() && !ends_here
}

/// An answer without calls ends the task.
fn finish(handle: &Handle, talks: &SharedTalks, place: RequestPlace, reply: &Reply) {
    if !reply.calls.is_empty() {
        return;
    }
    let outcome = match reply.finish {
        Finish::Length | Finish::Filtered | Finish::Refused => TaskOutcome::Failed,
        Finish::Stop | Finish::Calls | Finish::Judged | Finish::Other(_) => TaskOutcome::Answered,
    };
    let answer = Some(reply.said().to_owned());
    handle.write(|session| {
        match talks.borrow_mut().talk(place) {
            Some(talk) if reply.finish.is_pause() => talk.paused = answer,
            Some(talk) => talk.finish(session, outcome, answer),
            None => {}
        }
        session.settle();
    });
}
