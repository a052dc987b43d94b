//! The data of each conversation besides the state.

use std::collections::BTreeSet;
use std::{cell::RefCell, rc::Rc, sync::Arc};

use bytes::Bytes;

use super::answers::{Answers, FoundCalls};
use super::calls::OpenCall;
use super::conversations::{Conversations, How, Letter};
use super::facts::{Models, SpecOf, Tools};
use super::past_changes::{Decided, Decision};
use super::person_words::words_of_person;
use super::prefix::{self, Reads};
use super::recorded_answers::{self, Again};
use super::tool_wire::next_run;
use crate::domain::{
    By, EffectId, GraphEvent, Guest, Knob, LostPrefix, Message, Messages, ModelCallState, Outcome,
    RunEvent, RunId, SessionEvent, Task, TaskEvent, TaskId, ToolDef, ToolName,
};
use crate::model::relay::{Arrival, Relay};
use crate::session::Session;
use crate::strategy::scoring;
use crate::wire::IncomingRequest;

/// The shortest text by which a sub-agent is recognised in its parent's call.
const TELLING: usize = 12;

/// The text of a task whose request asks for no answer, as Codex begins a websocket.
const PREPARES: &str = "(prepares the next answer)";

/// The conversations, as every request in flight shares them.
pub type SharedTalks = Rc<RefCell<Talks>>;

/// All conversations.
pub struct Talks {
    pub conversations: Conversations,
    pub models: Models,
    /// The record that agents run over again.
    pub again: Option<recorded_answers::AgentRecord>,
    talks: Vec<Talk>,
    /// The tools and the agent of the last conversation. Most have the same ones, so that they share them.
    last_tools: Tools,
    last_guest: Option<Arc<Guest>>,
    /// Copies of answers that are still to come.
    pub copies: usize,
    /// Parts of requests that were not understood, each reported once.
    pub told: BTreeSet<String>,
}

/// A conversation with a watched agent.
pub struct Talk {
    pub run: RunId,
    pub tools: Tools,
    /// Calls whose results the agent has not sent.
    pub open: Vec<OpenCall>,
    pub answers: Answers,
    pub decided: Decided,
    /// The answer with which the task at work ends next.
    pub answer: Option<String>,
    /// Requests without an answer, each with its body as it came.
    pub pending: Vec<(Bytes, Rc<Relay>)>,
    pub task: Option<TaskId>,
    pub step: u32,
    /// The text of the model when its endpoint paused, if no request went on from there.
    pub paused: Option<String>,
    /// The tool that was called last.
    pub at: ToolName,
    /// The model call that failed last.
    pub failed: Option<EffectId>,
    /// The model call that was made last.
    pub last: Option<EffectId>,
}

/// The place of a request: its conversation, and whether it repeats a failed one.
#[derive(Clone, Copy, Debug)]
pub struct RequestPlace {
    pub at: usize,
    pub is_again: bool,
    /// The change to the past, if the request continues a different one.
    pub rewritten: Option<Rewrite>,
}

/// The number of messages that stayed at the beginning of a past, and the number of those after them.
#[derive(Clone, Copy, Debug)]
pub struct Rewrite {
    kept: u32,
    dropped: u32,
}

impl Talks {
    pub fn new(spec_of: SpecOf, again: Option<Again>) -> Self {
        Self {
            conversations: Conversations::default(),
            models: Models::new(spec_of),
            again: again.map(recorded_answers::AgentRecord::new),
            talks: Vec::new(),
            last_tools: Tools::default(),
            last_guest: None,
            copies: 0,
            told: BTreeSet::new(),
        }
    }

    /// Number of conversations.
    pub fn len(&self) -> usize {
        self.talks.len()
    }

    pub fn talk(&mut self, place: RequestPlace) -> Option<&mut Talk> {
        self.talks.get_mut(place.at)
    }

    /// Takes the tools of a request. Returns whether they differ from those before in its conversation.
    pub fn take_tools(
        &mut self,
        place: RequestPlace,
        session: &mut Session,
        defined: &Arc<[ToolDef]>,
    ) -> bool {
        let Some(talk) = self.talks.get_mut(place.at) else { return false };
        let are_other = !talk.tools.are(defined);
        if are_other {
            if !self.last_tools.are(defined) {
                self.last_tools.take(session, defined);
            }
            talk.tools = self.last_tools.clone();
        }
        are_other
    }

    /// The calls whose results the agents have not sent, in the order in which they were decided.
    pub fn open_calls(&mut self) -> impl Iterator<Item = &mut OpenCall> {
        self.talks.iter_mut().flat_map(|talk| &mut talk.open)
    }

    /// The tasks that agents have plainly left, although their last answers ask for more: of more than `most` at work,
    /// those without a request or an answer in the last `idle` ones. Their calls are given up.
    pub fn lose_idle(
        &mut self,
        (most, idle): (usize, u64),
        mut lose: impl FnMut(TaskId, &mut Talk) -> bool,
    ) -> Vec<TaskId> {
        let since = |at| self.conversations.idle(at);
        let at_work = self.talks.iter_mut().enumerate().filter(|(_, talk)| talk.task.is_some());
        let mut at_work: Vec<_> = at_work.map(|(at, talk)| (since(at), talk)).collect();
        at_work.sort_unstable_by_key(|(since, _)| *since);
        let beyond = at_work.into_iter().skip(most);
        let left = beyond.filter(|(since, _)| *since >= idle);
        left.filter_map(|(_, talk)| talk.task.filter(|task| lose(*task, talk))).collect()
    }

    /// Forgets the answers of ended conversations where nothing was changed and nobody can change anything: the session
    /// has forgotten their calls. They are looked for in a past only to change it again.
    pub fn forget_answers(&mut self, is_gone: impl Fn(EffectId) -> bool) {
        for talk in self.talks.iter_mut().filter(|talk| talk.task.is_none()) {
            let is_over = talk.open.is_empty() && talk.pending.is_empty();
            if is_over && talk.decided.is_empty() && talk.last.is_some_and(&is_gone) {
                talk.answers = Answers::default();
                talk.last = None;
            }
        }
    }

    /// Gives up the calls whose results no agent will send any more. Returns the tasks at work.
    pub fn lose_results(&mut self, mut lose: impl FnMut(&mut Talk)) -> Vec<TaskId> {
        self.talks.iter_mut().for_each(&mut lose);
        let pending = self.talks.iter().flat_map(|talk| &talk.pending);
        pending.for_each(|(_, relay)| relay.give_up());
        self.talks.iter().filter_map(|talk| talk.task).collect()
    }

    /// Whether an answer has come that its request has not got yet: a task may end with it.
    pub fn has_answer_to_give(&self) -> bool {
        let mut pending = self.talks.iter().flat_map(|talk| &talk.pending);
        pending.any(|(_, relay)| relay.came().is_some() && relay.ungiven().is_none())
    }

    /// The conversation that works on this task.
    pub fn at_work_on(&mut self, task: TaskId) -> Option<&mut Talk> {
        self.talks.iter_mut().find(|talk| talk.task == Some(task))
    }

    /// Finds the conversation of a request, or opens one; and the calls of its past.
    pub fn place(
        &mut self,
        session: &mut Session,
        arrival: &Arrival,
    ) -> (RequestPlace, FoundCalls) {
        let Arrival { format, asked, caller, .. } = arrival;
        let placed = self.conversations.place(Letter {
            format: *format,
            session: caller.session.as_deref(),
            messages: &asked.request.messages,
            previous: asked.previous.as_deref(),
            is_retry: caller.retries > 0,
        });
        if placed.how == How::New {
            self.open(session, arrival);
            self.again.iter_mut().for_each(|again| again.open(placed.at, arrival));
        }
        for what in asked.unknown.keys() {
            if self.told.insert(what.clone()) {
                let text = format!("not understood in requests, passed on as it came: {what}");
                session.emit(SessionEvent::Noticed { text });
            }
        }
        let rewritten = match placed.how {
            How::Rewritten { kept, dropped } => {
                Some(Rewrite { kept: number(kept), dropped: number(dropped) })
            }
            How::New | How::Continued | How::Again => None,
        };
        let place = RequestPlace { at: placed.at, is_again: placed.how == How::Again, rewritten };
        let digests = self.conversations.asked(place.at);
        let found = self.talks.get_mut(place.at).map(|talk| {
            talk.answers.take(&asked.request.messages, digests, asked.previous.as_deref())
        });
        (place, found.unwrap_or_default())
    }

    fn open(&mut self, session: &mut Session, arrival: &Arrival) {
        let run = next_run(session);
        let patience = arrival.caller.patience;
        let guest = Guest {
            parent: self.parent_of(&arrival.asked.request.messages),
            wire: arrival.format.to_string(),
            endpoint: arrival.caller.endpoint.clone(),
            session: arrival.caller.session.clone(),
            patience_ms: patience.and_then(|patience| u64::try_from(patience.as_millis()).ok()),
        };
        let guest = match &self.last_guest {
            Some(last) if **last == guest => Arc::clone(last),
            _ => Arc::new(guest),
        };
        self.last_guest = Some(Arc::clone(&guest));
        let guest = Some(guest);
        session.emit(RunEvent::RunOpened { run, strategy: None, guest });
        self.talks.push(Talk::new(run));
    }

    /// Adds a conversation from an earlier part of the session.
    pub fn join(&mut self, talk: Talk) {
        self.talks.push(talk);
    }

    /// Takes the results that a person has changed after their models read them.
    pub fn take_edits(&mut self, session: &mut Session) {
        for id in session.lanes_mut().take_past() {
            let state = session.state();
            let Some(call) = state.tool_call(id) else { continue };
            let (run, text) = (state.run_of(call.task), call.observation().unwrap_or_default());
            let talk = self.talks.iter_mut().find(|talk| talk.run == run);
            if let Some(talk) = talk {
                let decision = Decision { text: text.to_owned(), failed: false };
                talk.decided.result(id, decision);
            }
        }
    }

    /// The run with an open call that has the first text of these messages in its arguments.
    fn parent_of(&self, messages: &Messages) -> Option<RunId> {
        let first = messages.iter().find(|message| matches!(message, Message::User { .. }))?;
        let first = first.text().trim();
        let has = |value: &str| {
            let value = value.trim();
            value.len().min(first.len()) >= TELLING
                && (value.contains(first) || first.contains(value))
        };
        let calls = |talk: &Talk| talk.open.iter().any(|open| any_text(&open.call.arguments, &has));
        self.talks.iter().rev().find(|talk| calls(talk)).map(|talk| talk.run)
    }
}

fn reads(call: &ModelCallState) -> Reads<'_> {
    Reads { model: call.model.as_str(), request: &call.request }
}

fn number(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

fn any_text(value: &serde_json::Value, has: &dyn Fn(&str) -> bool) -> bool {
    match value {
        serde_json::Value::String(text) => has(text),
        serde_json::Value::Array(items) => items.iter().any(|item| any_text(item, has)),
        serde_json::Value::Object(fields) => fields.values().any(|item| any_text(item, has)),
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => {
            false
        }
    }
}

impl Talk {
    pub fn new(run: RunId) -> Self {
        Self {
            run,
            tools: Tools::default(),
            open: Vec::new(),
            answers: Answers::default(),
            decided: Decided::default(),
            answer: None,
            pending: Vec::new(),
            task: None,
            step: 0,
            paused: None,
            at: ToolName::start(),
            failed: None,
            last: None,
        }
    }

    /// The task that a request belongs to: the one at work, or a new one.
    pub fn task(&mut self, session: &mut Session, asked: &IncomingRequest) -> TaskId {
        let messages = &asked.request.messages;
        let asks = matches!(messages.last(), Some(Message::User { .. }));
        let paused = self.paused.take().filter(|_| asks);
        if let Some(answer) = self.answer.take().or(paused) {
            self.finish(session, Outcome::Answered, Some(answer));
        }
        if let Some(task) = self.task.filter(|task| session.state().at_work.contains(*task)) {
            return task;
        }
        let is_user = |message: &&Message| matches!(message, Message::User { .. });
        let text = messages.iter().rfind(is_user).or(messages.last()).map_or("", Message::text);
        let text = if asked.prepares { PREPARES } else { words_of_person(text) };
        let task = Task { run: self.run, ..Task::from_text(text) };
        let first = session.next_task();
        session.emit(TaskEvent::TasksQueued { first, tasks: vec![task], by: By::Engine });
        session.emit(TaskEvent::TaskStarted { task: first });
        (self.task, self.step, self.at) = (Some(first), 0, ToolName::start());
        first
    }

    /// Follows up a requested model call: reports where it differs from the one before. `has_other_tools`: its tools
    /// differ from those of the one before.
    pub fn follow(
        &mut self,
        session: &mut Session,
        call: EffectId,
        rewritten: Option<Rewrite>,
        has_other_tools: bool,
    ) {
        let (run, last) = (self.run, self.last.replace(call));
        let state = session.state();
        let calls = last.and_then(|last| Some((state.model_call(last)?, state.model_call(call)?)));
        let mut events = Vec::new();
        if let Some(Rewrite { kept, dropped }) = rewritten {
            let gone = calls.map(|(before, now)| prefix::gone(&before.request, &now.request));
            let is_of_system = gone.as_ref().is_some_and(|(_, gone)| prefix::is_of_system(gone));
            if !is_of_system {
                let dropped = gone.as_ref().map_or(dropped, |(n, _)| number(*n));
                let (call, gone) = (Some(call), gone.map(|(_, gone)| Arc::new(gone)));
                events.push(RunEvent::HistoryRewritten { run, kept, dropped, call, gone });
            }
        }
        let is_other = |(before, now): &(&ModelCallState, &ModelCallState)| {
            rewritten.is_some() || has_other_tools || before.model != now.model
        };
        if let Some((before, now)) = calls.filter(is_other) {
            let lost = prefix::lost(reads(before), reads(now)).map(|found| LostPrefix {
                after: before.id,
                field: found.field,
                was: found.recorded,
                now: found.asked,
            });
            let lost = lost.map(Arc::new);
            events.extend(lost.map(|lost| RunEvent::PrefixLost { run, call, lost }));
        }
        events.into_iter().for_each(|event| session.emit(event));
    }

    /// Ends the task at work with this answer.
    pub fn finish(&mut self, session: &mut Session, outcome: Outcome, answer: Option<String>) {
        // An agent may take what was said before a pause for the whole answer.
        let (outcome, answer) = match (self.paused.take(), outcome) {
            (Some(said), Outcome::Stopped) => (Outcome::Answered, Some(said)),
            (_, outcome) => (outcome, answer),
        };
        let task = self.task.take().filter(|task| session.state().at_work.contains(*task));
        if let Some(task) = task {
            let scores = session.state().knobs.is_on(Knob::Scores) && outcome == Outcome::Answered;
            if let Some(answer) = answer.as_deref().filter(|_| scores) {
                let (state, learned) = (session.state(), true);
                let known = state.task(task);
                let verdicts = known.map(|known| scoring::of_watched(state, known, answer));
                let verdicts = verdicts.filter(|verdicts| !verdicts.is_empty());
                let event =
                    verdicts.map(|verdicts| GraphEvent::Evaluated { task, verdicts, learned });
                event.into_iter().for_each(|event| session.emit(event));
            }
            let (correct, caveats) = (None, Vec::new());
            session.emit(TaskEvent::TaskFinished { task, outcome, answer, correct, caveats });
            session.sync_beside();
        }
    }
}
