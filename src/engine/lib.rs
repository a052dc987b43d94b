//! The engine: it alone makes events. It handles commands at any time, works through the queue of
//! tasks, and takes every model and tool call through the same stations.
//!
//! Everything here runs on one thread: the loop, the strategy and its calls are futures that take
//! turns. So state needs no locks, and nothing changes between two awaits.

use toolyard_domain as domain;
use toolyard_model as model;
use toolyard_net as net;
use toolyard_papers as papers;
use toolyard_program as program;
use toolyard_store as store;
use toolyard_strategy as strategy;
use toolyard_tool as tool;

use std::{cell::Cell, collections::BTreeMap, rc::Rc};

use tokio::sync::mpsc::UnboundedReceiver;
use tokio_util::sync::CancellationToken;

use crate::domain::{
    Boundary, BreakpointSpec, By, Command, FaultEvent, FaultSpec, GraphEvent, Lane, Opening,
    Outcome as TaskOutcome, Record, SessionEvent, State, Strategy, Task, TaskEvent, TaskId,
    TaskList, ToolGraph, ToolName, state::Keeps,
};
use crate::model::Model;
use crate::store::experience::{Same, SharedExperience};
use crate::store::journal::{Journal, JournalError};
use crate::strategy::{Ending, Sought};
use crate::tool::{ToolBox, provider::Provider};

mod actor;
mod breaking;
mod breakpoints;
mod budget;
mod budgeting;
mod by_hand;
mod classes;
mod commands;
mod context;
mod edit;
mod effect;
mod embedding;
mod fault_choice;
mod faults;
mod handle;
mod intervene;
mod lanes;
mod observer;
mod programs;
mod queue;
mod ranker;
mod reading;
mod recorded;
mod recording;
mod resuming;
mod session;
mod station;
mod tools;

use self::observer::{
    Observer, breakpoints::KeptBreakpoints, experience::Remembered, in_text::InText,
    journal::Writer, learned::Learned, loops::Loops, offered::Offered, pairs::Pairs,
    schemas::Schemas, unfed::Unfed,
};
pub use self::station::{Passage, Passing, Verdict, now};
use self::{context::Context, recorded::Recorded, tools::ProviderListing};
use self::{handle::Handle, session::Session};
pub use self::{
    observer::{
        breakpoints::KeepBreakpoints,
        classes::{ClassBook, KeptClasses},
        learned::Keep,
        schemas::{KeptSchemas, SchemaBook},
    },
    ranker::{LocalReading, Query, Ranker, Scored},
    resuming::{Interrupted, resumable},
    session::Listener,
    station::{DOLLARS_REACHED, MODEL_UNUSABLE, Station},
};

/// Access to the experience of earlier sessions.
pub struct Memory {
    pub store: SharedExperience,
    /// Whether past uses of the identical task count.
    pub same: Same,
    /// Its [`Model::embedder`] computes embeddings of tasks; without one, tasks are compared by
    /// their words.
    pub embedder: Option<Rc<dyn Model>>,
}

/// The contents of a session.
pub struct Setup {
    pub opening: Opening,
    pub models: Vec<Rc<dyn Model>>,
    /// Tools that do not depend on a provider.
    pub tools: ToolBox,
    /// Sources of further tools. Of two tools with one name, that of the earlier provider is used.
    pub providers: Vec<Rc<dyn Provider>>,
    pub graph: ToolGraph,
    pub scores: BTreeMap<ToolName, f64>,
    /// Queued in parts, so that a list of any length costs no memory before it is worked on.
    pub tasks: TaskList,
    pub faults: Vec<FaultSpec>,
    /// Set from the start, and whether each is on.
    pub breakpoints: Vec<(BreakpointSpec, bool)>,
    /// Saves the breakpoints beyond the session; called when they change.
    pub keep_breakpoints: Option<KeepBreakpoints>,
    pub journal: Option<Journal>,
    /// Wait for more tasks when the queue is empty, instead of ending the session.
    pub stay: bool,
    /// Without a person, go on with the next task when a model cannot be used.
    pub keep_going: bool,
    /// The experience of earlier sessions, to which this one adds.
    pub memory: Option<Memory>,
    /// Ranks tools for texts by more than their words.
    pub ranker: Option<Rc<dyn Ranker>>,
    /// The tool classes of earlier sessions.
    pub classes: Option<ClassBook>,
    /// The learned schemas of earlier sessions.
    pub schemas: SchemaBook,
    /// Notices for the user at the start.
    pub notices: Vec<String>,
    /// Saves the learned knowledge beyond the session; called after every task and at the end.
    pub keep: Option<Keep>,
    /// Stations after the engine's own.
    pub stations: Vec<Rc<dyn Station>>,
    /// Records of an earlier session whose effects and interventions are used as long as they fit.
    pub recorded: Vec<Record>,
    /// What the state keeps of the tasks that have ended.
    pub keeps: Keeps,
    /// The beginning of this session, which was interrupted and is continued (see [`resumable`]);
    /// empty for a new one.
    pub past: Vec<Record>,
    /// The session goes on after `past` where it was interrupted; `None`: its current task begins again.
    pub resumed: Option<Resumed>,
}

/// How a session goes on where it was interrupted.
#[derive(Clone, Debug, Default)]
pub struct Resumed {
    /// What the task at work had done (see [`Interrupted`]).
    pub rest: Vec<Record>,
    /// Make calls of which nobody knows what they have done again without asking.
    pub repeats_unknown: bool,
}

/// Runs a session to its end and returns its last state.
///
/// # Errors
/// If the journal could not be written: the session ends then, because the screen must not show
/// events that a crash would lose.
pub async fn run(
    mut setup: Setup,
    mut commands: UnboundedReceiver<Command>,
    listener: Listener,
) -> Result<State, JournalError> {
    let (stay, keep_going) = (setup.stay, setup.keep_going);
    let listed = tools::list_all(std::mem::take(&mut setup.providers)).await;
    let handle = open(setup, listed, listener);
    let why = {
        // Everything that has not ended when the session does is dropped with it.
        let mut work = std::pin::pin!(work(&handle, stay, keep_going));
        let mut beside = std::pin::pin!(handle.run_beside());
        loop {
            tokio::select! {
                biased;
                () = handle.read(Session::journal_failed) => {
                    handle.write(Session::sync_beside);
                }
                () = handle.until(Session::is_broken) => {
                    break "the journal cannot be written".to_owned();
                }
                () = handle.until(|session| session.end.because.is_some()) => {
                    break handle.write(|session| session.end.because.take()).unwrap_or_default();
                }
                command = commands.recv() => match command {
                    Some(Command::Stop) => break "stopped by the user".to_owned(),
                    Some(Command::StopBecause { why }) => break why,
                    Some(Command::ProbeModels) => effect::probe_models(&handle),
                    Some(command) => commands::handle(&handle, command),
                    None => break "the source of commands is gone".to_owned(),
                },
                () = &mut beside => {}
                () = &mut work => break "all tasks are done".to_owned(),
            }
        }
    };
    close(&handle, &why);
    match handle.write(Session::take_broken) {
        Some(error) => Err(error),
        None => Ok(handle.write(|session| std::mem::take(&mut session.state))),
    }
}

/// Makes the first events of a session, or restores those of a continued one.
fn open(setup: Setup, mut listed: Vec<ProviderListing>, listener: Listener) -> Handle {
    let journal = Writer::new(setup.journal);
    let mut session = Session::new(setup.tools, setup.models, journal, listener);
    session.breakpoints.has_user = setup.stay;
    session.state = State::keeping(setup.keeps);
    let mut observers: Vec<Box<dyn Observer>> = Vec::new();
    // The uses of a session that goes on are in its store already.
    let mut later: Vec<Box<dyn Observer>> = Vec::new();
    if let Some(Memory { store, same, embedder }) = setup.memory {
        let own = if setup.resumed.is_some() { &mut later } else { &mut observers };
        own.push(Box::new(Pairs(store.clone())));
        own.push(Box::new(Remembered::new(store.clone())));
        session.budgeting.memory = Some(budgeting::Memory { store, same, embedder });
    }
    if let Some(book) = setup.classes {
        observers.push(Box::new(book));
    }
    observers.push(Box::new(Schemas::new(setup.schemas)));
    if let Some(keep) = setup.keep {
        observers.push(Box::new(Learned(keep)));
    }
    observers.push(Box::new(Offered::default()));
    observers.push(Box::new(InText::default()));
    observers.push(Box::new(Loops));
    observers.push(Box::new(Unfed::default()));
    session.log.observers = observers;
    let is_again = !setup.recorded.is_empty();
    let mut paid = 0.0;
    let rest = setup.resumed.iter().flat_map(|resumed| &resumed.rest);
    let records = setup.recorded.iter().chain(&setup.past).chain(rest);
    session.kit.ranker = setup.ranker.or_else(|| reading::of_record(records));
    session.recorded = Recorded::new(setup.recorded);
    let unlisted = session.take_lists(&mut listed);
    if setup.past.is_empty() && setup.resumed.is_none() {
        session.emit(SessionEvent::SessionOpened { opening: Box::new(setup.opening) });
        let scores = setup.scores.into_iter().map(|(tool, score)| (tool, score.into())).collect();
        session.emit(GraphEvent::GraphLoaded { graph: setup.graph, scores });
        session.join_all();
        for text in unlisted.into_iter().chain(setup.notices) {
            session.emit(SessionEvent::Noticed { text });
        }
        session.queue.tasks = setup.tasks;
        session.queue_part();
        // If a session runs again, its record contains its faults.
        for spec in setup.faults.into_iter().filter(|_| !is_again) {
            let fault = session.next_fault();
            session.emit(FaultEvent::FaultArmed { fault, spec, by: By::User });
        }
        for (spec, on) in setup.breakpoints.into_iter().filter(|_| !is_again) {
            session.begin_with(spec, on);
        }
        // Those that it begins with are kept already.
        if let Some(keep) = setup.keep_breakpoints {
            session.log.observers.push(Box::new(KeptBreakpoints(keep)));
        }
    } else {
        session.queue.tasks = setup.tasks;
        session.take_up(setup.past);
        // Calls by hand need not end with a task.
        session.abandon_all("toolyard ended before the call did");
        session.tell_difference();
        for text in unlisted {
            session.emit(SessionEvent::Noticed { text });
        }
        session.log.observers.extend(later);
        if let Some(resumed) = setup.resumed {
            paid = session.go_on(resumed, setup.opening.paused);
        }
        if let Some(keep) = setup.keep_breakpoints {
            session.log.observers.push(Box::new(KeptBreakpoints(keep)));
        }
    }
    session.sync();
    // Last, since a screen can show the tools meanwhile.
    session.index_all();
    let handle = Handle::new(session, station::stations(setup.stations, setup.stay, paid));
    listed.into_iter().for_each(|listed| tools::watch(&handle, listed));
    by_hand::watch(&handle);
    reading::watch(&handle);
    handle.spawn(faults::end_in_time(handle.clone()));
    handle
}

/// Works through the queue.
async fn work(handle: &Handle, stay: bool, keep_going: bool) {
    loop {
        handle.write(|session| {
            if session.state.next_task().is_none() {
                session.queue_part();
            }
        });
        if stay {
            handle.until(|session| session.state.next_task().is_some()).await;
        }
        let next = handle.read(|session| session.state.next_task().map(|task| task.id));
        let Some(task) = next else { return };
        handle.write(|session| session.lanes.open());
        handle.checkpoint(Lane::Agent, Boundary::BeforeTask).await;
        work_on(handle, task).await;
        handle.write(|session| {
            session.lanes.close();
            session.settle();
            let outcome = session.state.task(task).and_then(|task| task.outcome());
            let is_lost = outcome != Some(TaskOutcome::Answered);
            let why = session.end.unusable.take().filter(|_| is_lost && !keep_going);
            session.end.because = why.or(session.end.because.take());
        });
        // A task without any wait must not keep a command waiting, nor the end of the session.
        tokio::task::yield_now().await;
    }
}

/// Works on one task, from `TaskStarted` to `TaskFinished`.
async fn work_on(handle: &Handle, id: TaskId) {
    let skip = CancellationToken::new();
    let found = handle.write(|session| {
        session.queue.skip = skip.clone();
        session.emit(TaskEvent::TaskStarted { task: id });
        session.end_faults();
        let task = session.state.task(id)?;
        Some((task.task.clone(), task.strategy?))
    });
    let (ending, correct) = tokio::select! {
        biased;
        () = skip.cancelled() => (Ending::without_answer(TaskOutcome::Stopped), None),
        ended = attempt(handle, id, found) => ended,
    };
    if skip.is_cancelled() {
        handle.write(|session| session.drop_effects("the task was skipped"));
        handle.verdicts().await;
    }
    handle.write(|session| {
        let Ending { outcome, answer, caveats } = ending;
        session.emit(TaskEvent::TaskFinished { task: id, outcome, answer, correct, caveats });
        session.sync_beside();
    });
}

/// Works on a task up to its end, and says whether the answer is right. A task that does not exist has nothing to
/// run.
async fn attempt(
    handle: &Handle,
    id: TaskId,
    found: Option<(Task, Strategy)>,
) -> (Ending, Option<bool>) {
    let Some((task, strategy)) = found else {
        return (Ending::without_answer(TaskOutcome::Failed), None);
    };
    if strategy.btp {
        reading::read(handle, id, &task.sought(), Sought::Task).await;
        embedding::embed(handle, id).await;
        handle.write(|session| session.plan_task(id));
    }
    let context = Context { handle: handle.clone(), task: id, empty: Cell::default() };
    let ending = strategy::perform(&context, strategy, &task).await;
    strategy::grade::grade(&context, &task, &ending).await;
    // Every result is judged before its task ends.
    handle.verdicts().await;
    let correct = handle.read(|session| ending.is_correct(&session.state, &task));
    (ending, correct)
}

/// Ends the session and records the effects that were in flight as ended.
fn close(handle: &Handle, why: &str) {
    handle.write(|session| {
        session.let_all_go();
        session.abandon_all(resuming::STOPPED);
        if let Some(task) = session.state.current_task().map(|task| task.id) {
            let (outcome, answer, correct) = (TaskOutcome::Stopped, None, None);
            let caveats = Vec::new();
            session.emit(TaskEvent::TaskFinished { task, outcome, answer, correct, caveats });
        }
        session.close_observers();
        let totals = Some(Box::new(session.state.totals()));
        session.emit(SessionEvent::SessionEnded { why: why.to_owned(), totals });
        session.sync();
    });
}
