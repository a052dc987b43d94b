//! The conversations of a session that continues after its past: their places, and the changes to their pasts.

use std::collections::HashMap;

use super::answers::{Answers, FoundCalls};
use super::conversation_data::{Talk, Talks};
use super::conversations::Letter;
use super::digest;
use super::past_changes::Decision;
use super::skipped_calls::turn_of;
use crate::domain::edit::Edit;
use crate::domain::state::model_calls::ModelCallState;
use crate::domain::state::tool_calls::{ToolCallPhase, ToolCallState};
use crate::domain::{EditEvent, EffectId, Event, Message, Messages, Origin, Record, Reply, State};
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
            let read = Read::of(&state, &calls);
            take_decisions(&mut talk, &read, past);
            take_answers(&mut talk, &read, &calls);
            talk.task = state.at_work.tasks().find(|task| state.run_of(*task) == *run);
            let steps = calls.iter().filter(|call| Some(call.task) == talk.task).count();
            talk.step = u32::try_from(steps).unwrap_or(u32::MAX);
            let of_task = |it: &&ToolCallState| Some(it.task) == talk.task;
            if let Some(last) = state.tool_calls.iter().rfind(of_task) {
                talk.at = last.tool.clone();
            }
            let last = calls.last();
            talk.last = last.map(|call| call.id);
            let messages = last.map_or_else(Messages::default, |call| read.as_sent(call));
            let replies: Vec<Reply> = calls.iter().filter_map(|call| read.as_given(call)).collect();
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

/// A conversation as its model has read it.
struct Read<'a> {
    state: &'a State,
    /// The tool calls of each model call, in the order of its answer.
    of: HashMap<EffectId, Vec<&'a ToolCallState>>,
    answers: Answers,
}

impl<'a> Read<'a> {
    fn of(state: &'a State, calls: &[&ModelCallState]) -> Self {
        let mut of: HashMap<_, Vec<_>> = HashMap::new();
        for call in state.tool_calls.iter().filter(|call| call.wire_id.is_some()) {
            call.parent.into_iter().for_each(|parent| of.entry(parent).or_default().push(call));
        }
        let mut read = Self { state, of, answers: Answers::default() };
        for call in calls {
            let Some(reply) = call.reply() else { continue };
            let reply = read.with_arguments(call, reply, ToolCallState::shown_arguments);
            let messages = &call.request.messages;
            let digests = digest::of_messages(messages);
            read.answers.returned(messages, &digests);
            let past = digest::of_past(&digests);
            let effects: Vec<EffectId> = read.calls_of(call.id).map(|it| it.id).collect();
            read.answers.given(past, &reply, None, &effects);
        }
        read
    }

    /// The tool calls of an answer.
    fn calls_of(&self, answer: EffectId) -> impl Iterator<Item = &'a ToolCallState> {
        self.of.get(&answer).into_iter().flatten().copied()
    }

    fn found(&self, messages: &Messages) -> FoundCalls {
        self.answers.find(messages, &digest::of_messages(messages), None)
    }

    fn tool_call(&self, effect: Option<EffectId>) -> Option<&'a ToolCallState> {
        self.state.tool_call(effect?)
    }

    /// An answer with these arguments of its calls.
    fn with_arguments(
        &self,
        call: &ModelCallState,
        reply: &Reply,
        of: impl Fn(&ToolCallState) -> &serde_json::Value,
    ) -> Reply {
        let mut reply = reply.clone();
        for (call, known) in reply.calls.iter_mut().zip(self.calls_of(call.id)) {
            call.arguments = of(known).clone();
        }
        reply
    }

    /// An answer as the agent got it.
    fn as_given(&self, call: &ModelCallState) -> Option<Reply> {
        Some(self.with_arguments(call, call.reply()?, |known| &known.arguments))
    }

    /// The messages of a request as the agent sent them.
    fn as_sent(&self, call: &ModelCallState) -> Messages {
        let messages = &call.request.messages;
        let found = self.found(messages);
        let mut number = 0;
        let sent = messages.iter().enumerate().filter_map(|(at, message)| match message {
            Message::Tool { .. } => {
                let mut message = message.clone();
                let known = self.tool_call(found.returned_at(at));
                if let (Message::Tool { text, .. }, Some(known)) = (&mut message, known) {
                    known.withheld.iter().for_each(|own| text.clone_from(&own.text));
                }
                (!known.is_some_and(|known| known.is_skipped)).then_some(message)
            }
            Message::Assistant { calls, .. } => {
                let first = number;
                number += calls.len();
                let mut message = message.clone();
                let mut is_skipped = false;
                if let Message::Assistant { calls, .. } = &mut message {
                    for (nth, call) in calls.iter_mut().enumerate() {
                        let Some(known) = self.tool_call(found.called(first + nth)) else {
                            continue;
                        };
                        is_skipped |= known.is_skipped;
                        call.arguments.clone_from(&known.arguments);
                    }
                }
                (!is_skipped).then_some(message)
            }
            Message::System { .. } | Message::User { .. } => Some(message.clone()),
        });
        sent.collect()
    }
}

/// Restores what the model of this conversation reads in place of the agent's messages.
fn take_decisions(talk: &mut Talk, read: &Read<'_>, past: &[Record]) {
    for call in read.of.values().flatten().filter(|it| read.state.run_of(it.task) == talk.run) {
        let is_made = matches!(call.origin, Origin::Injected | Origin::Person);
        let is_decided = call.withheld.is_some() || (is_made && call.phase.is_over());
        if let Some(text) = call.observation().filter(|_| is_decided) {
            let (text, failed) =
                (text.to_owned(), !matches!(call.phase, ToolCallPhase::Done { .. }));
            talk.decided.result(call.id, Decision { text, failed });
        }
        if let Some(own) = call.own.as_ref().filter(|_| call.shows_own) {
            talk.decided.own_arguments(call.id, own.clone());
        }
    }
    for record in past {
        if let Event::Edit(EditEvent::CallEdited { effect, edit, was, .. }) = &record.event
            && let (Edit::Messages(new), Edit::Messages(sent)) = (&**edit, &**was)
            && read.state.effect(effect.id).is_some_and(|it| read.state.run_of(it.task) == talk.run)
        {
            talk.decided.messages(sent, &read.found(sent), &mut new.iter());
        }
    }
}

/// Restores the answers that the agent has, and the turns before them that it does not know.
fn take_answers(talk: &mut Talk, read: &Read<'_>, calls: &[&ModelCallState]) {
    let (mut turns, mut sent) = (Vec::new(), None);
    for call in calls {
        let Some(reply) = call.reply() else {
            // The agent repeats its whole request.
            (turns, sent) = (Vec::new(), None);
            continue;
        };
        let asked = sent.take().unwrap_or_else(|| read.as_sent(call));
        let own: Vec<_> = read.calls_of(call.id).collect();
        if !own.is_empty() && own.iter().all(|it| it.is_skipped) {
            turns.extend(turn_of(reply, |at| own.get(at).copied()));
            sent = Some(asked);
            continue;
        }
        let Some(given) = read.as_given(call) else { continue };
        let digests = digest::of_messages(&asked);
        talk.answers.returned(&asked, &digests);
        let past = digest::of_past(&digests);
        let effects: Vec<EffectId> = own.iter().map(|it| it.id).collect();
        talk.answers.given(past, &given, None, &effects);
        if !turns.is_empty() {
            talk.decided.turns(&asked, &given, std::mem::take(&mut turns));
        }
    }
}
