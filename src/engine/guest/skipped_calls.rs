//! Calls that never reach their agent. Each was answered in the agent's place: the model gets that as the call's
//! result, and is called again until an answer has no such call. The agent gets only that answer; the turns before it
//! are put into every later request (knob `skip`).

use std::{cell::RefCell, rc::Rc, sync::Arc};

use super::attend::{Begun, PassedAnswer, request};
use super::calls::{OpenCall, Returned};
use super::conversation_data::{RequestPlace, Talks};
use super::past::RecordedCall;
use crate::domain::state::tool_calls::{ToolCallPhase, ToolCallState};
use crate::domain::{Knob, Message, Origin, Reply, SessionEvent, ToolCall, ToolCallEvent};
use crate::handle::Handle;
use crate::model::Model;
use crate::model::relay::Relay;
use crate::session::Session;
use crate::wire::{IncomingRequest, WireFormat, with_turns};

/// The most further model calls for one request: a model that calls a failing tool for ever must not keep its agent
/// waiting for ever.
const MOST: usize = 16;

/// Calls the model again if every call of its answer was answered here; `None`: the agent gets the answer. `turns`:
/// what the model received since the agent's request.
pub async fn go_on(
    handle: &Handle,
    talks: &Rc<RefCell<Talks>>,
    place: RequestPlace,
    answered: PassedAnswer<'_>,
    turns: &mut Vec<Message>,
) -> Option<Begun> {
    let PassedAnswer { format, relay, reply, .. } = answered;
    match handle.read(|session| skips(session, &answered, turns)) {
        Skips::No => return None,
        Skips::Refused(why) => {
            say(handle, why);
            return None;
        }
        Skips::All => {}
    }
    let is_of = |open: &mut OpenCall| open.parent == answered.of.id;
    let mut open: Vec<OpenCall> =
        talks.borrow_mut().talk(place)?.open.extract_if(.., is_of).collect();
    // A person may hold a call after its end, and change what it returned.
    for call in &mut open {
        call.over().await;
    }
    let turn =
        handle.read(|session| turn_of(reply, |at| session.state().tool_call(open.get(at)?.effect)));
    let next = asked_on(format, relay, &turn).and_then(|(asked, body)| {
        let way = relay.again().ok_or("the agent has hung up")?;
        Ok((asked, Relay::new(Arc::clone(relay.spec()), body.into(), way)))
    });
    let (asked, next) = match next {
        Ok(next) => next,
        Err(why) => {
            say(handle, format!("the agent gets a call that was answered here: {why}"));
            talks.borrow_mut().talk(place)?.open.extend(open);
            return None;
        }
    };
    turns.extend(turn);
    handle.write(|session| {
        for open in &open {
            let effect = session.state().effect(open.effect).map(|effect| effect.reference());
            let skipped = effect.map(|effect| ToolCallEvent::CallSkipped { effect });
            skipped.into_iter().for_each(|event| session.emit(event));
        }
        let mut talks = talks.borrow_mut();
        let begun = request(session, &mut talks, place, (format, asked, next), None)?;
        let pending = talks.talk(place)?.pending.iter_mut();
        let own = pending.filter(|(_, pending)| Rc::ptr_eq(pending, relay));
        own.for_each(|(_, pending)| pending.clone_from(&begun.relay));
        Some(begun)
    })
}

/// Whether the calls of an answer are skipped.
enum Skips {
    No,
    All,
    /// Why the agent gets calls that were answered here.
    Refused(String),
}

fn skips(session: &Session, answered: &PassedAnswer<'_>, turns: &[Message]) -> Skips {
    if answered.reply.calls.is_empty() {
        return Skips::No;
    }
    let refused =
        |why: &str| Skips::Refused(format!("the agent gets a call that was answered here: {why}"));
    let children = session.state().tool_calls.iter().rev();
    let own = children.filter(|call| call.parent == Some(answered.of.id));
    let own: Vec<_> = own.take(answered.reply.calls.len()).collect();
    if !session.state().knobs.is_on(Knob::Skip) {
        // Faults say that by themselves.
        let by_person = |call: &&&ToolCallState| {
            call.is_over() && call.injected.is_none() && call.origin == Origin::Live
        };
        let ended = own.iter().find(by_person).map(|call| &call.tool);
        return ended.map_or(Skips::No, |tool| {
            let text = "failed for the model; the tool still runs (the knob skip prevents that)";
            Skips::Refused(format!("{tool} {text}"))
        });
    }
    let over = own.iter().filter(|call| call.is_over()).count();
    let asked = turns.iter().filter(|it| matches!(it, Message::Assistant { .. })).count();
    match over {
        0 => Skips::No,
        over if over < own.len() => refused("other calls of the same answer run"),
        _ if !answered.relay.is_unread() => refused("it has read a part of the answer"),
        _ if asked >= MOST => refused(&format!("the model was asked on {MOST} times")),
        _ => Skips::All,
    }
}

/// A request that continues with this turn, and its body.
fn asked_on(
    format: WireFormat,
    relay: &Relay,
    turn: &[Message],
) -> Result<(IncomingRequest, Vec<u8>), String> {
    let body = with_turns(format, &relay.changeable()?, &[(None, turn)]);
    let body = body.map_err(|why| why.to_string())?;
    let asked = format.read_request(&body).map_err(|why| why.to_string())?;
    Ok((asked, body))
}

/// An answer whose calls were skipped, and their results, as its model reads them. `known`: a call by its number.
pub fn turn_of<'a>(
    reply: &Reply,
    known: impl Fn(usize) -> Option<&'a ToolCallState>,
) -> Vec<Message> {
    let as_read = |(at, call): (usize, &ToolCall)| {
        let arguments = known(at).map_or(&call.arguments, |it| it.shown_arguments());
        ToolCall { arguments: arguments.clone(), ..call.clone() }
    };
    let result = |(at, call): (usize, &ToolCall)| {
        let known = known(at);
        let text = known.and_then(|known| known.observation()).unwrap_or_default().to_owned();
        let failed = known.is_none_or(|it| !matches!(it.phase, ToolCallPhase::Done { .. }));
        let (id, tool, blocks) = (call.id.clone(), call.tool.clone(), Vec::new());
        Message::Tool { id, tool, text, blocks, failed }
    };
    let answer = Message::Assistant {
        text: reply.text.clone(),
        calls: reply.calls.iter().enumerate().map(as_read).collect(),
        // The ids of the calls are sent back unchanged.
        source: Some(reply.source.clone().unwrap_or_default()),
    };
    std::iter::once(answer).chain(reply.calls.iter().enumerate().map(result)).collect()
}

fn say(handle: &Handle, text: String) {
    handle.emit(SessionEvent::Noticed { text });
}

impl Talks {
    /// The recorded result of a skipped call, if a person had answered it.
    pub fn skipped_then(&self, place: RequestPlace, call: RecordedCall) -> Option<Returned> {
        let again = self.again.as_ref()?;
        let then = again.past.result(place.at, call)?;
        (then.is_skipped && !then.by_fault).then(|| then.read.clone())
    }
}
