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
use toolyard_wire as wire;

use futures::future::join_all;

use tokio::sync::mpsc::UnboundedReceiver;

use crate::domain::{Command, Outcome as TaskOutcome, RunId, SessionEvent, State, TaskEvent};
use crate::store::journal::JournalError;

mod actor;
mod beginning;
mod commands;
mod context;
mod effect;
mod embedding;
mod fault_choice;
mod faults;
mod guest;
mod handle;
mod manual_calls;
mod memory;
mod observer;
mod programs;
mod providers;
mod ranker;
mod reading;
mod recorded;
mod resumption;
mod run;
mod session;
mod setup;
mod station;

pub use self::station::{Passage, Passing, Station, StationVerdict, now};
pub use self::{
    beginning::{Beginning, ForkPoint, Past, RecordSource, Rest},
    guest::{Again, GuestFork, Inbox, SpecOf, Varies},
    memory::Memory,
    observer::{
        breakpoints::KeepBreakpoints,
        classes::{ClassBook, KeptClasses},
        learned::Keep,
        schemas::{KeptSchemas, SchemaBook},
    },
    ranker::{Query, Ranker, Scored, on_this_machine},
    resumption::{Division, is_kept, resumable, without_end},
    session::Listener,
    setup::Setup,
    station::{CommonPurse, DOLLARS_REACHED, MODEL_UNUSABLE, PurseShare, SharedPurse, UNPRICED},
};
use self::{handle::Handle, session::Session};

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
    let taken = setup.taken.take();
    let inbox = setup.inbox.take();
    let past = setup.beginning.past().filter(|_| inbox.is_some());
    let past = past.map_or_else(Vec::new, |past| past.held().to_vec());
    let providers = std::mem::take(&mut setup.providers);
    let listed = providers::list_all(providers, setup.awaits_tools).await;
    let handle = session::open(setup, listed, listener);
    if inbox.is_some() {
        handle.write(Session::watch);
    }
    let why = {
        // Everything that is still running when the session ends is dropped with it.
        let runs: Vec<RunId> = handle.read(|session| session.state().all_runs().collect());
        let work = |run| run::work(handle.clone(), run, stay, keep_going, taken.clone());
        let works = runs.into_iter().map(work);
        let work = async {
            match inbox {
                Some(inbox) => guest::serve(handle.clone(), inbox, past).await,
                None => drop(join_all(works).await),
            }
        };
        let mut work = std::pin::pin!(work);
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
                () = &mut work => break "all tasks are done".to_owned(),
                () = handle.flush_after_all() => {}
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
        session.abandon_all(resumption::STOPPED);
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
