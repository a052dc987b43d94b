//! The conversations of a session that continues after its past: their places, and the changes to their pasts.

use super::conversations::Letter;
use super::decided::Decision;
use super::skipped::turn_of;
use super::talk::{Talk, Talks};
use crate::domain::edit::Edit;
use crate::domain::state::model_calls::ModelCallState;
use crate::domain::state::tool_calls::{ToolCallPhase, ToolCallState};
use crate::domain::{
    EditEvent, Event, Message, Messages, Origin, Record, Reply, RunId, State, ToolCall,
};
use crate::wire::WireFormat;

impl Talks {
    /// Takes up the conversations of the past.
    pub fn take_up(&mut self, past: &[Record]) {
        let state = State::fold(past);
        for (run, known) in &state.runs {
            let Some(guest) = &known.guest else { continue };
            let Some(format) = WireFormat::named(&guest.wire) else { continue };
            let calls: Vec<_> =
                state.model_calls.iter().filter(|call| state.run_of(call.task) == *run).collect();
            let mut talk = Talk::new(*run);
            take_decisions(&mut talk, &state, past);
            take_turns(&mut talk, &state, &calls);
            talk.task = state.at_work.tasks().find(|task| state.run_of(*task) == *run);
            let steps = calls.iter().filter(|call| Some(call.task) == talk.task).count();
            talk.step = u32::try_from(steps).unwrap_or(u32::MAX);
            if let Some(last) =
                calls_of(&state, *run).filter(|it| Some(it.task) == talk.task).last()
            {
                talk.at = last.tool.clone();
            }
            let last = calls.last();
            talk.last = last.map(|call| call.id);
            let messages = last.map_or_else(Messages::default, |call| as_sent(&state, *run, call));
            let replies: Vec<Reply> =
                calls.iter().filter_map(|call| as_given(&state, *run, call)).collect();
            let letter = Letter {
                format,
                session: guest.session.as_deref(),
                messages: &messages,
                previous: None,
                is_retry: false,
            };
            let is_answered = last.is_some_and(|call| call.reply().is_some());
            self.conversations.restore(letter, &replies, is_answered);
            self.join(talk);
        }
    }
}

/// Restores what the model of this conversation reads in place of the agent's messages.
fn take_decisions(talk: &mut Talk, state: &State, past: &[Record]) {
    for call in calls_of(state, talk.run) {
        let Some(id) = &call.wire_id else { continue };
        let is_made = matches!(call.origin, Origin::Injected | Origin::Person);
        let is_decided = call.withheld.is_some() || (is_made && call.phase.is_over());
        if let Some(text) = call.observation().filter(|_| is_decided) {
            let (text, failed) =
                (text.to_owned(), !matches!(call.phase, ToolCallPhase::Done { .. }));
            talk.decided.result(id.to_string(), Decision { text, failed });
        }
        if let Some(own) = call.own.as_ref().filter(|_| call.shows_own) {
            talk.decided.own_arguments(id.to_string(), own.clone());
        }
    }
    for record in past {
        if let Event::Edit(EditEvent::CallEdited { effect, edit, was, .. }) = &record.event
            && let (Edit::Messages(read), Edit::Messages(sent)) = (&**edit, &**was)
            && state.effect(effect.id).is_some_and(|it| state.run_of(it.task) == talk.run)
        {
            talk.decided.messages(sent, &mut read.iter());
        }
    }
}

/// Restores the turns that the agent does not know.
fn take_turns(talk: &mut Talk, state: &State, calls: &[&ModelCallState]) {
    let run = talk.run;
    let (mut turns, mut sent) = (Vec::new(), None);
    for call in calls {
        let Some(reply) = call.reply() else {
            // The agent repeats its whole request.
            (turns, sent) = (Vec::new(), None);
            continue;
        };
        let asked = sent.take().unwrap_or_else(|| as_sent(state, run, call));
        let is_skipped =
            |it: &ToolCall| call_of(state, run, &it.id).is_some_and(|it| it.is_skipped);
        if !reply.calls.is_empty() && reply.calls.iter().all(is_skipped) {
            turns.extend(turn_of(reply, |id| call_of(state, run, id)));
            sent = Some(asked);
        } else if !turns.is_empty()
            && let Some(given) = as_given(state, run, call)
        {
            talk.decided.turns(&asked, &given, std::mem::take(&mut turns));
        }
    }
}

fn calls_of(state: &State, run: RunId) -> impl Iterator<Item = &ToolCallState> {
    state.tool_calls.iter().filter(move |call| state.run_of(call.task) == run)
}

fn call_of<'a>(state: &'a State, run: RunId, id: &str) -> Option<&'a ToolCallState> {
    calls_of(state, run).find(|call| call.wire_id.as_deref() == Some(id))
}

/// The messages of a request as the agent sent them.
fn as_sent(state: &State, run: RunId, call: &ModelCallState) -> Messages {
    let is_skipped = |id: &str| call_of(state, run, id).is_some_and(|it| it.is_skipped);
    let is_own = |message: &&Message| match message {
        Message::Tool { id, .. } => !is_skipped(id),
        Message::Assistant { calls, .. } => !calls.iter().any(|it| is_skipped(&it.id)),
        Message::System { .. } | Message::User { .. } => true,
    };
    let mut messages: Messages = call.request.messages.iter().filter(is_own).cloned().collect();
    for at in 0..messages.len() {
        let changed = match messages.get(at) {
            Some(Message::Tool { id, .. }) => {
                call_of(state, run, id).and_then(|call| call.withheld.clone())
            }
            _ => None,
        };
        if let Some(told) = changed
            && let Message::Tool { text, .. } = &mut messages[at]
        {
            text.clone_from(&told.text);
        }
    }
    messages
}

/// An answer as the agent got it.
fn as_given(state: &State, run: RunId, call: &ModelCallState) -> Option<Reply> {
    let reply = call.reply()?;
    let as_given = |call: &ToolCall| {
        let known = call_of(state, run, &call.id);
        let arguments = known.map_or_else(|| call.arguments.clone(), |it| it.arguments.clone());
        ToolCall { arguments, ..call.clone() }
    };
    let calls = reply.calls.iter().map(as_given).collect();
    Some(Reply { calls, ..reply.clone() })
}
