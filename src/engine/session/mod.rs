//! The engine's data, and the only place where records are made: numbered, dated, journaled, folded, then shown, in this
//! order.

use std::collections::{BTreeMap, HashMap};
use std::{rc::Rc, sync::Arc};

use tokio::sync::OnceCell;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

mod breaking;
pub mod breakpoints;
mod budget;
mod classes;
mod edit;
mod intervene;
mod lane_hold;
pub mod lanes;
mod opening;
mod parts;
mod programs;
mod queue;
mod recording;
mod runs;
mod seats;
mod tools;

use self::{
    breakpoints::Breakpoints,
    intervene::Interventions,
    lanes::{Flight, Lanes, Waits},
    parts::{AgentRun, Log, Models, Queue, Toolkit},
};
pub use self::{opening::open, parts::Listener};
use super::observer::journal::Writer;
use super::{Past, memory::Memory, recorded::Recorded};
use crate::domain::{
    By, ControlEvent, EffectClass, EffectId, Event, FaultId, ModelCallEvent, ModelName, Ranking,
    Record, Reply, RunId, State, TaskEvent, TaskId, ToolCallEvent, ToolName,
    state::{Keeps, next_number},
};
use crate::model::Model;
use crate::net::known;
use crate::store::journal::JournalError;
use crate::tool::ToolBox;

/// The engine's data. Borrowed for moments, never across an await.
pub struct Session {
    state: State,
    kit: Toolkit,
    models: Models,
    lanes: Lanes,
    queue: Queue,
    /// The memory of earlier sessions.
    memory: Option<Memory>,
    runs: BTreeMap<RunId, AgentRun>,
    breakpoints: Breakpoints,
    /// The recorded results of an earlier session.
    recorded: Recorded,
    /// The faults and breakpoints that wait for this event, at which the session forks.
    after_fork: Interventions,
    /// The number of times that each request was made before.
    occurrences: HashMap<u64, u32>,
    /// Why the session must end now.
    end: Option<String>,
    log: Log,
}

/// The most bytes and records that wait to be written and shown together.
const AT_ONCE: usize = 64 << 10;
const UNSHOWN: usize = 64;

impl Session {
    pub fn new(
        tools: ToolBox,
        models: Vec<Rc<dyn Model>>,
        journal: Writer,
        keeps: Keeps,
        listener: Listener,
    ) -> Self {
        let models = models.into_iter().map(|model| (model.spec().name.clone(), model));
        let (observers, opened) = (Vec::new(), Instant::now());
        Self {
            state: State::keeping(keeps),
            kit: Toolkit { tools, index: Default::default(), ranker: None, providers: Vec::new() },
            models: Models { by_name: models.collect(), keys_known: Rc::default() },
            lanes: Lanes::default(),
            queue: Queue::default(),
            memory: None,
            runs: BTreeMap::new(),
            breakpoints: Breakpoints::default(),
            recorded: Recorded::default(),
            after_fork: Interventions::default(),
            occurrences: HashMap::new(),
            end: None,
            log: Log {
                journal,
                observers,
                listener,
                unshown: Vec::new(),
                is_watched: false,
                opened,
                resumed_at: 0,
            },
        }
    }

    pub fn state(&self) -> &State {
        &self.state
    }

    /// Takes the state out at the end of the session.
    pub fn take_state(&mut self) -> State {
        std::mem::take(&mut self.state)
    }

    pub fn kit(&self) -> &Toolkit {
        &self.kit
    }

    pub fn model(&self, name: &ModelName) -> Option<&Rc<dyn Model>> {
        self.models.by_name.get(name)
    }

    /// The cell that is set once the keys of all models are known.
    pub fn keys_known(&self) -> &Rc<OnceCell<()>> {
        &self.models.keys_known
    }

    pub fn lanes(&self) -> &Lanes {
        &self.lanes
    }

    pub fn lanes_mut(&mut self) -> &mut Lanes {
        &mut self.lanes
    }

    /// Notes that an effect of a task was requested; the token cancels it.
    pub fn enter(&mut self, effect: EffectId, task: TaskId, waits: Waits) -> CancellationToken {
        self.lanes.enter(effect, self.state.run_of(task), waits)
    }

    /// Notes that a model begins to judge a result of a task.
    pub fn begin_verdict(&mut self, task: TaskId) {
        self.lanes.begin_verdict(self.state.run_of(task));
    }

    pub fn end_verdict(&mut self, task: TaskId) {
        self.lanes.end_verdict(self.state.run_of(task));
    }

    /// An effect in flight, to change it.
    pub fn flight(&mut self, effect: EffectId) -> Option<&mut Flight> {
        self.lanes.flight_mut(effect)
    }

    pub fn recorded(&self) -> &Recorded {
        &self.recorded
    }

    pub fn recorded_mut(&mut self) -> &mut Recorded {
        &mut self.recorded
    }

    /// The number of times that this request was made, including this time.
    pub fn count_request(&mut self, what: u64) -> u32 {
        let nth = self.occurrences.entry(what).or_default();
        *nth += 1;
        *nth
    }

    /// Notes why the session must end now.
    pub fn end_because(&mut self, why: String) {
        self.end = Some(why);
    }

    /// Notes why the model of a task cannot be used: the first reason counts.
    pub fn note_unusable(&mut self, task: TaskId, why: String) {
        self.run_of(task).unusable.get_or_insert(why);
    }

    /// Notes at the end of a task of this run that the session ends, if a model could not be used and `ends` is set.
    pub fn end_if_unusable(&mut self, run: RunId, ends: bool) {
        let why = self.run(run).unusable.take().filter(|_| ends);
        self.end = why.or(self.end.take());
    }

    pub fn must_end(&self) -> bool {
        self.end.is_some()
    }

    /// Why the session must end.
    pub fn take_reason(&mut self) -> String {
        self.end.take().unwrap_or_default()
    }

    /// Microseconds since the session was opened, without those between its interruption and its continuation.
    pub fn now(&self) -> u64 {
        let elapsed = u64::try_from(self.log.opened.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.log.resumed_at.saturating_add(elapsed)
    }

    /// Removes keys from a record, and folds it; [`Session::flush`] journals and shows it. Returns the observers'
    /// events. A record that cannot be journaled ends the session, because the screen must not show events that a crash
    /// would lose; nothing is written after a line that may be torn.
    pub fn commit(&mut self, record: Record) -> Vec<Event> {
        // Keys are removed here and not at the sources of texts, because every record passes here.
        let (record, json) = known::searched(record, |json| Record::read(json.as_bytes()).ok());
        let Some(waiting) = self.log.journal.add(&record, json.as_deref()) else {
            return Vec::new();
        };
        if let Event::Task(TaskEvent::TasksQueued { tasks, by: By::Engine, .. }) = &record.event {
            self.queue.queued += tasks.len();
        }
        let is_lasting = is_lasting(&record.event) && !self.is_elsewhere(&record.event);
        self.state.apply(&record);
        let observers = self.log.observers.iter_mut();
        let more = observers.flat_map(|observer| observer.on(&record, &self.state)).collect();
        self.log.unshown.push(Arc::new(record));
        if is_lasting {
            self.sync();
        } else if waiting >= AT_ONCE || self.log.unshown.len() >= UNSHOWN {
            self.flush();
        }
        more
    }

    /// Notes that the session is one of watched agents: records are journaled and shown with each change.
    pub fn watch(&mut self) {
        self.log.is_watched = true;
    }

    pub fn flush_if_watched(&mut self) {
        if self.log.is_watched {
            self.flush();
        }
    }

    /// Hands all records to the operating system in one write, and then shows them.
    pub fn flush(&mut self) {
        let unwritten = self.log.journal.flush();
        let written = self.log.unshown.len().saturating_sub(unwritten);
        self.log.unshown.truncate(written);
        for record in self.log.unshown.drain(..) {
            (self.log.listener)(&record);
        }
    }

    /// Whether the event starts a call that a watched agent runs: it happens with or without the record.
    fn is_elsewhere(&self, event: &Event) -> bool {
        let call = event.effect().and_then(|effect| self.state.tool_call(effect.id));
        call.is_some_and(|call| call.wire_id.is_some())
    }

    /// Restores the records of this session's beginning, which include the observers' events.
    pub fn take_up(&mut self, past: Past) {
        self.log.resumed_at = past.state().at;
        let taken = past.each(|record| {
            super::effect::occurrence(self, &record.event);
            let answered = match &record.event {
                Event::ModelCall(ModelCallEvent::ModelCallFinished { effect, reply, .. }) => {
                    Some((effect.id, reply.clone()))
                }
                _ => None,
            };
            self.commit(record);
            answered.into_iter().for_each(|(id, reply)| self.recall(id, &reply));
        });
        if let Err(error) = taken {
            self.end_because(format!("what came before cannot be read: {error}"));
        }
    }

    /// Restores what a model knew after it had given this recorded reply. A reply that a person or a fault gave has no
    /// usage.
    pub fn recall(&self, id: EffectId, reply: &Reply) {
        let call = self.state.model_call(id).filter(|_| reply.usage.tokens_in > 0);
        let model = call.and_then(|call| Some((call, self.models.by_name.get(&call.model)?)));
        if let Some((call, model)) = model {
            model.recall(&call.request);
        }
    }

    /// Starts writing everything so far to the disk, so that a task that ends does not wait for that.
    pub fn sync_beside(&mut self) {
        self.flush();
        self.log.journal.sync_beside();
    }

    /// Waits until everything so far is on the disk.
    pub fn sync(&mut self) {
        self.flush();
        self.log.journal.sync();
    }

    /// Returns when the journal has failed in the background; [`Session::sync_beside`] notes that.
    pub fn journal_failed(&self) -> impl Future<Output = ()> + use<> {
        self.log.journal.failed()
    }

    /// Waits until the journal's copy elsewhere has all that was recorded; `None`: there is no copy.
    pub fn copied(&self) -> Option<impl Future<Output = Result<(), JournalError>> + use<>> {
        self.log.journal.copied()
    }

    /// Notes that the journal or its copy cannot be written.
    pub fn note_unwritten(&mut self, error: JournalError) {
        self.log.journal.note(Err(error));
    }

    pub fn is_broken(&self) -> bool {
        self.log.journal.is_broken()
    }

    pub fn take_broken(&mut self) -> Option<JournalError> {
        self.log.journal.take_broken()
    }

    /// Every model that has a key of its own, including those for embeddings.
    pub fn all_models(&self) -> Vec<Rc<dyn Model>> {
        let memory = self.memory.as_ref();
        let embedder = memory.and_then(|memory| memory.embedder.clone());
        let ranker = self.kit.ranker.as_ref().and_then(|ranker| ranker.endpoint());
        self.models.by_name.values().cloned().chain(embedder).chain(ranker).collect()
    }

    /// Tools that match a text, best first, at most `k`; only tools that may be offered in this task.
    pub fn retrieve(
        &self,
        task: TaskId,
        text: &str,
        ranking: Option<&Ranking>,
        k: usize,
    ) -> Vec<ToolName> {
        let hits = self.kit.index().offered(self.state.in_task(task), text, ranking).take(k);
        hits.map(|(tool, _)| tool.clone()).collect()
    }

    /// The number of the next effect; numbers count from 1 without gaps.
    pub fn next_effect(&self) -> EffectId {
        EffectId(next_number(self.state.effects_requested()))
    }

    pub fn next_task(&self) -> TaskId {
        TaskId(next_number(self.state.tasks.len()))
    }

    pub fn next_fault(&self) -> FaultId {
        FaultId(next_number(self.state.faults.len()))
    }
}

/// Whether an event must be on the disk before anything follows: a tool is about to change something, or a
/// person who sees that the session has stopped may switch the machine off.
fn is_lasting(event: &Event) -> bool {
    match event {
        Event::ToolCall(ToolCallEvent::ToolCallStarted { effect }) => {
            matches!(effect.class, EffectClass::Write | EffectClass::Unknown)
        }
        Event::Control(ControlEvent::Paused { run: None }) => true,
        _ => false,
    }
}
