//! The place of a fork in a record, and the record with the change there. Pure.

use std::sync::Arc;

use super::fork_point::{ForkPoint, GuestFork};
use super::past::{Conversation, Recalled, RecordedCall, RecordedPast, RecordedRequest};
use crate::domain::edit::Edit;
use crate::domain::{
    EffectId, Event, Finish, Messages, Origin, Record, Reply, RunEvent, RunId, State, ToolOutput,
};

/// The run of the last event up to this number that is one of a conversation.
fn run_at(records: &[Record], state: &State, at: u64) -> Option<RunId> {
    let before = records.iter().rev().skip_while(|record| record.n > at);
    let mut runs = before.filter_map(|record| match &record.event {
        Event::Run(RunEvent::RunOpened { run, .. }) => Some(*run),
        event => {
            let task = state.effect(event.effect()?.id)?.task;
            Some(state.run_of(task))
        }
    });
    runs.find(|run| state.runs.get(run).is_some_and(|run| run.guest.is_some()))
}

impl RecordedPast {
    /// Changes a part of a call of this record, and finds the moment from which its conversation is live. Nothing happens
    /// where no conversation has begun.
    pub(super) fn fork(&mut self, records: &[Record], fork: &GuestFork) {
        let state = State::fold(records);
        let run = run_at(records, &state, fork.at);
        let place = run.and_then(|run| self.conversations.iter().position(|it| it.run == run));
        let Some(conversation) = place else { return };
        let Some(known) = self.conversations.get_mut(conversation) else { return };
        let requests = known.asked.iter().filter(|asked| asked.place.n <= fork.at).count();
        let last = requests.checked_sub(1).and_then(|last| known.asked.get(last));
        let calls = state.tool_calls.iter().filter(|call| call.n <= fork.at);
        let has_calls = last.is_some_and(|last| {
            calls.filter_map(|call| state.model_call(call.parent?)).any(|it| it.n == last.place.n)
        });
        let prompt = fork.edit.as_ref().and_then(|(call, edit)| known.change(&state, *call, edit));
        self.point = Some(ForkPoint {
            conversation,
            talk: None,
            requests,
            has_calls,
            prompt,
            is_left: false,
            is_past: false,
        });
    }
}

impl Conversation {
    /// Changes a part of a call. Returns the messages, if it is the prompt.
    fn change(&mut self, state: &State, call: EffectId, edit: &Edit) -> Option<Messages> {
        let parent = state.tool_call(call).and_then(|call| call.parent);
        let asked = state.model_call(parent.unwrap_or(call))?.n;
        let answer = self.asked.iter().position(|it| it.place.n == asked)?;
        let of_answer = state.tool_calls.iter().filter(|it| it.parent == parent);
        let nth = of_answer.take_while(|it| it.id != call).count();
        let asked = self.asked.get_mut(answer)?;
        match edit {
            Edit::Messages(messages) => return Some(messages.clone()),
            Edit::Result(text) => {
                let place = RecordedCall { answer, call: nth };
                let is_skipped = self.results.get(&place).is_some_and(|then| then.is_skipped);
                let changed = Recalled::changed(ToolOutput::of(text.clone()), is_skipped);
                self.results.insert(place, changed);
            }
            Edit::Reply { text, calls } => {
                let was = asked.said.as_ref().ok();
                let finish = if calls.is_empty() { Finish::Stop } else { Finish::Calls };
                let calls = calls.clone();
                let usage = was.map(|was| was.usage).unwrap_or_default();
                asked.say(Reply { calls, finish, usage, ..Reply::of_text(text.clone()) });
            }
            Edit::Arguments(arguments) => {
                let mut reply = asked.said.as_ref().ok().map(|said| Reply::clone(said))?;
                reply.calls.get_mut(nth)?.arguments = arguments.clone();
                asked.say(reply);
            }
        }
        None
    }
}

impl RecordedRequest {
    /// Lets a person answer in place of the model.
    fn say(&mut self, reply: Reply) {
        self.said = Ok(Arc::new(reply));
        (self.answer, self.origin) = (None, Origin::Person);
    }
}
