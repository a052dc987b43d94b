//! The moment of a record at which a watched agent goes its own way, and what changes there. Pure, but for its telling.

use std::sync::Arc;

use super::conversation_data::{RequestPlace, SharedTalks, Talks};
use super::past::{Recalled, RecordedCall, RecordedPast};
use crate::domain::edit::Edit;
use crate::domain::{
    BreakpointSpec, EffectId, Event, FaultSpec, Finish, Messages, Origin, Record, Reply, RunEvent,
    RunId, SessionEvent, State, ToolOutput,
};
use crate::handle::Handle;
use crate::session::Session;

/// How a watched agent leaves the record that it runs over.
#[derive(Clone, Debug, Default)]
pub struct GuestFork {
    /// The number of the last event from which the record answers its conversation.
    pub at: u64,
    /// The changed part of a call of the record, by the call's number there.
    pub edit: Option<(EffectId, Edit)>,
    /// Faults and breakpoints from there on.
    pub faults: Vec<FaultSpec>,
    pub breakpoints: Vec<(BreakpointSpec, bool)>,
}

/// The place of the moment in its conversation.
#[derive(Debug)]
pub(super) struct ForkPoint {
    pub conversation: usize,
    /// The number of requests that the record answers.
    pub requests: usize,
    /// Whether the calls of the last of them come before the moment.
    has_calls: bool,
    /// The changed prompt of the last of them.
    prompt: Option<Messages>,
    /// Whether its conversation has left the record.
    pub is_left: bool,
    /// Whether the session has come there.
    is_past: bool,
}

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
            requests,
            has_calls,
            prompt,
            is_left: false,
            is_past: false,
        });
    }
}

impl super::past::Conversation {
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

impl super::past::RecordedRequest {
    /// Lets a person answer in place of the model.
    fn say(&mut self, reply: Reply) {
        self.said = Ok(Arc::new(reply));
        (self.answer, self.origin) = (None, Origin::Person);
    }
}

impl ForkPoint {
    /// Whether the session comes to the moment here, which happens once: a request of this place in this conversation
    /// arrives, or has its answer; or the conversation has left the record before.
    fn comes(&mut self, place: Option<(usize, usize)>, is_answered: bool) -> bool {
        let is_at =
            |(conversation, next)| conversation == self.conversation && next >= self.requests;
        let is_there = place.is_some_and(is_at) && !(is_answered && self.has_calls);
        let comes = (is_there || self.is_left) && !self.is_past;
        self.is_past |= comes;
        comes
    }
}

/// Lets the session go its own way, if it comes to the moment with this request. `is_answered`: the record has its answer,
/// whose calls come next.
pub(super) fn fork_here(
    handle: &Handle,
    talks: &SharedTalks,
    place: RequestPlace,
    is_answered: bool,
) {
    handle.write(|session| talks.borrow_mut().fork_here(session, place, is_answered));
}

impl Talks {
    pub fn fork_here(&mut self, session: &mut Session, place: RequestPlace, is_answered: bool) {
        let Some(again) = self.again.as_mut() else { return };
        let at = again.past.place_of(place.at);
        let Some(point) = again.past.point.as_mut() else { return };
        if !point.comes(at, is_answered) {
            return;
        }
        let GuestFork { at, faults, breakpoints, .. } = std::mem::take(&mut again.fork);
        let text = match point.is_left {
            true => format!("its conversation has left the record before event {at}"),
            false => format!("event {at} of the record: from here on its conversation is live"),
        };
        session.emit(SessionEvent::Noticed { text });
        session.begin_with_all(faults, breakpoints);
    }

    /// The messages that the model reads in place of those of this request.
    pub fn changed_prompt(&self, place: RequestPlace) -> Option<Messages> {
        let past = &self.again.as_ref()?.past;
        let point = past.point.as_ref()?;
        let (conversation, next) = past.place_of(place.at)?;
        let is_there = conversation == point.conversation && next + 1 == point.requests;
        point.prompt.clone().filter(|_| is_there)
    }
}
