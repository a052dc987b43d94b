//! The one place where events are made: numbered, dated, folded, journaled, then shown, in this order.

use std::{cell::RefCell, collections::HashMap, rc::Rc, sync::Arc};

use tokio::{sync::Notify, time::Instant};
use tokio_util::sync::CancellationToken;

use super::{
    classes::ClassBook,
    lanes::Lanes,
    meaning::Reading,
    planning::{Known, Memory},
};
use crate::{
    domain::{
        embedding::Embedding,
        event::{Event, Record},
        id::{EffectId, FaultId, ModelName, TaskId},
        retrieve::Lexical,
        state::{Learning, State, next_number},
    },
    model::Model,
    store::journal::{Journal, JournalError},
    tool::{ToolBox, manifest::Manifest},
};

/// Who is shown every record, in order.
pub type Listener = Box<dyn FnMut(&Arc<Record>)>;

/// Keeps what was learned beyond the session.
pub type Keep = Box<dyn FnMut(&Learning) -> Result<(), String>>;

/// Reads the tools' manifests again.
pub type Reload = Box<dyn Fn() -> Result<Vec<Manifest>, String>>;

/// What the engine knows and owns. Borrowed for moments, never across an await.
pub(super) struct Core {
    pub state: State,
    pub tools: ToolBox,
    pub index: Lexical,
    pub models: HashMap<ModelName, Rc<dyn Model>>,
    pub lanes: Lanes,
    /// What ends each effect in flight early.
    pub cancels: HashMap<Effect, CancellationToken>,
    /// How often each tool was called with the same arguments.
    pub occurrences: HashMap<u64, u32>,
    pub memory: Option<Memory>,
    pub classes: Option<ClassBook>,
    /// What is known of the candidates of the task at work.
    pub known: Vec<Known>,
    /// Credits of the time that each running call may still take, where seconds cost any.
    pub allotted: HashMap<EffectId, f64>,
    /// What the task at work means, where that was read.
    pub meaning: Option<Embedding>,
    /// What an embedding model reads at this moment.
    pub reading: Option<Reading>,
    /// Judged calls that the memory has not got yet.
    pub judged: Vec<EffectId>,
    /// How many of the tasks that have ended are in the memory.
    pub runs_kept: usize,
    pub keep: Option<Keep>,
    pub reload: Option<Reload>,
    journal: Option<Journal>,
    listener: Listener,
    opened: Instant,
    /// Microseconds that the session had lasted when it was taken up again.
    pub resumed_at: u64,
    /// The journal could not be written; the session must end.
    broken: Option<JournalError>,
}

/// An effect in flight that a user may cancel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Effect {
    Ask(EffectId),
    Call(EffectId),
}

/// The engine's core, shared by the loop and the context of the one task at work. Single-threaded.
#[derive(Clone)]
pub(super) struct Shared {
    core: Rc<RefCell<Core>>,
    /// Something changed that a waiting lane may have waited for.
    changed: Rc<Notify>,
}

impl Core {
    pub fn new(
        tools: ToolBox,
        models: Vec<Rc<dyn Model>>,
        journal: Option<Journal>,
        listener: Listener,
    ) -> Self {
        let models = models.into_iter().map(|model| (model.spec().name.clone(), model)).collect();
        Self {
            state: State::default(),
            tools,
            index: Lexical::new([]),
            models,
            lanes: Lanes::default(),
            cancels: HashMap::new(),
            occurrences: HashMap::new(),
            memory: None,
            classes: None,
            known: Vec::new(),
            allotted: HashMap::new(),
            meaning: None,
            reading: None,
            judged: Vec::new(),
            runs_kept: 0,
            keep: None,
            reload: None,
            journal,
            listener,
            opened: Instant::now(),
            resumed_at: 0,
            broken: None,
        }
    }

    /// Makes an event. What is journaled is folded and shown; what cannot be journaled ends the
    /// session, since a screen must not show what a crash would lose; nothing is written behind a
    /// line that may be torn.
    pub fn emit(&mut self, event: Event) {
        if self.is_broken() {
            return;
        }
        let elapsed = u64::try_from(self.opened.elapsed().as_micros()).unwrap_or(u64::MAX);
        let at = self.resumed_at.saturating_add(elapsed);
        self.put_down(Record { n: self.state.n + 1, at, event });
    }

    /// Journals, folds and shows what happened.
    pub(super) fn put_down(&mut self, record: Record) {
        if let Some(journal) = &mut self.journal
            && let Err(error) = journal.append(&record)
        {
            self.broken.get_or_insert(error);
            return;
        }
        self.state.apply(&record);
        (self.listener)(&Arc::new(record));
    }

    /// Waits until everything so far is on the disk.
    pub fn sync(&mut self) {
        if let Some(journal) = &mut self.journal
            && let Err(error) = journal.sync()
        {
            self.broken.get_or_insert(error);
        }
    }

    pub fn is_broken(&self) -> bool {
        self.broken.is_some()
    }

    pub fn take_broken(&mut self) -> Option<JournalError> {
        self.broken.take()
    }

    /// The number of the next ask; numbers count from 1 without gaps.
    pub fn next_ask(&self) -> EffectId {
        EffectId(next_number(self.state.asks.len()))
    }

    pub fn next_call(&self) -> EffectId {
        EffectId(next_number(self.state.calls.len()))
    }

    pub fn next_task(&self) -> TaskId {
        TaskId(next_number(self.state.tasks.len()))
    }

    pub fn next_fault(&self) -> FaultId {
        FaultId(next_number(self.state.faults.len()))
    }
}

impl Shared {
    pub fn new(core: Core) -> Self {
        Self { core: Rc::new(RefCell::new(core)), changed: Rc::new(Notify::new()) }
    }

    /// Looks at the core.
    pub fn read<T>(&self, look: impl FnOnce(&Core) -> T) -> T {
        look(&self.core.borrow())
    }

    /// Changes the core, and lets every waiting lane look whether that is what it waited for.
    pub fn write<T>(&self, change: impl FnOnce(&mut Core) -> T) -> T {
        let out = change(&mut self.core.borrow_mut());
        self.changed.notify_waiters();
        out
    }

    pub fn emit(&self, event: Event) {
        self.write(|core| core.emit(event));
    }

    /// Waits forever if the journal is broken. Nothing may be done that cannot be recorded, and a
    /// strategy that went on with a state that stands still might never end.
    pub async fn stays_sound(&self) {
        self.until(|core| !core.is_broken()).await;
    }

    /// Waits until this holds. Everything runs on one thread, so nothing can change between the look
    /// and the wait.
    pub async fn until(&self, holds: impl Fn(&Core) -> bool) {
        while !self.read(&holds) {
            self.changed.notified().await;
        }
    }
}
