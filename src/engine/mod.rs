//! The engine: it alone makes events. It handles commands at any time, works through the queue of
//! tasks, and takes every model and tool call through the same stations.
//!
//! Everything here runs on one thread: the loop, the strategy and its calls are futures that take
//! turns. So state needs no locks, and nothing changes between two awaits.

use std::{collections::BTreeMap, rc::Rc};

use futures::future::join_all;

use tokio::sync::mpsc::UnboundedReceiver;

use crate::domain::{
    BreakpointSpec, Command, FaultSpec, Opening, Outcome as TaskOutcome, Record, RunId,
    SessionEvent, State, Strategy, TaskEvent, TaskList, ToolGraph, ToolName, state::Keeps,
};
use crate::model::Model;
use crate::store::experience::{Same, SharedExperience};
use crate::store::journal::{Journal, JournalError};
use crate::tool::{ToolBox, provider::Provider};

mod actor;
mod by_hand;
mod commands;
mod context;
mod effect;
mod embedding;
mod fault_choice;
mod faults;
mod handle;
mod observer;
mod programs;
mod ranker;
mod reading;
mod recorded;
mod resuming;
mod run;
mod session;
mod station;

#[cfg(feature = "inside")]
pub use self::station::{Passage, Passing, Verdict, now};
use self::{handle::Handle, session::Session};
pub use self::{
    observer::{
        breakpoints::KeepBreakpoints,
        classes::{ClassBook, KeptClasses},
        learned::Keep,
        schemas::{KeptSchemas, SchemaBook},
    },
    ranker::{Query, Ranker, Scored, on_this_machine},
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
    /// The runs beside the first, each with its own strategy or that of the session.
    pub runs: Vec<Option<Strategy>>,
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
    let listed = session::list_all(std::mem::take(&mut setup.providers)).await;
    let handle = session::open(setup, listed, listener);
    let why = {
        // Everything that has not ended when the session does is dropped with it.
        let runs: Vec<RunId> = handle.read(|session| session.state().all_runs().collect());
        let works = runs.into_iter().map(|run| run::work(handle.clone(), run, stay, keep_going));
        let mut work = std::pin::pin!(join_all(works));
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
                () = handle.until(|session| session.must_end()) => {
                    break handle.write(Session::take_reason);
                }
                command = commands.recv() => match command {
                    Some(Command::Stop) => break "stopped by the user".to_owned(),
                    Some(Command::StopBecause { why }) => break why,
                    Some(Command::ProbeModels) => effect::probe_models(&handle),
                    Some(command) => commands::handle(&handle, command),
                    None => break "the source of commands is gone".to_owned(),
                },
                () = &mut beside => {}
                _ = &mut work => break "all tasks are done".to_owned(),
            }
        }
    };
    close(&handle, &why);
    match handle.write(Session::take_broken) {
        Some(error) => Err(error),
        None => Ok(handle.write(|session| session.take_state())),
    }
}

/// Ends the session and records the effects that were in flight as ended.
fn close(handle: &Handle, why: &str) {
    handle.write(|session| {
        session.let_all_go();
        session.abandon_all(resuming::STOPPED);
        for task in session.state().at_work.tasks().collect::<Vec<_>>() {
            let (outcome, answer, correct) = (TaskOutcome::Stopped, None, None);
            let caveats = Vec::new();
            session.emit(TaskEvent::TaskFinished { task, outcome, answer, correct, caveats });
        }
        session.close_observers();
        let totals = Some(Box::new(session.state().totals()));
        session.emit(SessionEvent::SessionEnded { why: why.to_owned(), totals });
        session.sync();
    });
}
