//! `toolyard run`: a session without a screen, or scenarios.

use std::{cell::RefCell, io, path::Path, rc::Rc, sync::Arc};

use rustix::process::Signal;
use tokio::sync::{mpsc, watch};

use self::output::{Output, UNREAD};
use super::beside::{self, SessionRow};
use super::out::{self, accepted, expect_place, warn};
use super::{RunArgs, found_servers, runtime::runtime, spec_trust, trouble::Trouble};
use crate::domain::{Command, Record, State, state::Keeps, state::RECENT};
use crate::report::live_report::Folded;
use crate::scenario::Observed;
use crate::session::{PreparedSession, SessionError, SessionSpec};
use crate::shell::runtime::interrupted;
use crate::store::json_store;

mod output;
mod repeats;
mod scenario;

/// The end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// All tasks ended with an answer.
    Answered,
    /// At least one task ended without an answer.
    NotAnswered,
    /// All scenarios passed.
    AsExpected,
    /// An expectation of a scenario was not met, or its session ended early.
    NotAsExpected,
    /// The next model call would have exceeded the limit of dollars.
    OutOfDollars,
    /// A model could not be used, so a task failed.
    ModelUnusable,
    /// The session was ended by this signal, or because the reader of the output is gone.
    BySignal(i32),
}

/// A session that has run.
struct Ran {
    state: State,
    folded: Folded,
    observed: Option<Observed>,
    /// Why the output stopped.
    lost: Option<io::Error>,
    is_out_of_dollars: bool,
    unusable: Option<String>,
    /// Why the session ended.
    ended: Option<String>,
}

/// Runs the tasks, or the scenarios.
pub fn run(args: &RunArgs) -> Result<RunEnd, Trouble> {
    if !args.scenario.is_empty() {
        return scenario::run(args);
    }
    if let Some(file) = args.words.as_deref().filter(|words| Path::new(words).is_file()) {
        // A file name is not a task, and an answer to it may cost money.
        let text = format!("{file} is a file: to read tasks from it, write --tasks {file}");
        return Err(Trouble::Usage(text));
    }
    let mut spec = args.session.spec(args.words.as_deref().or(args.task.as_deref()))?;
    spec_trust::remember(&spec);
    found_servers::add_that_of_workspace(&mut spec, false)?;
    let prepared = SessionSpec { keep_going: args.keep_going, ..spec }.prepare()?;
    headless(
        prepared,
        &RunOutputs {
            prints: Prints::of(args.json, args.papers),
            report: args.report.as_deref(),
            state: args.state.as_deref(),
        },
    )
}

/// Formats of a run's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prints {
    /// A line for each task, and a summary.
    Lines,
    /// Like `Lines`, with the measures of BTP by their names.
    Papers,
    /// Every event as a line of JSON.
    Json,
}

impl Prints {
    pub fn of(json: bool, papers: bool) -> Self {
        match (json, papers) {
            (true, _) => Self::Json,
            (false, true) => Self::Papers,
            (false, false) => Self::Lines,
        }
    }
}

/// Outputs of a session without a screen: the format on standard output, and the files for report and state.
pub struct RunOutputs<'a> {
    pub prints: Prints,
    pub report: Option<&'a Path>,
    pub state: Option<&'a Path>,
}

/// Runs a session to its end, and writes the requested outputs.
///
/// # Errors
/// The session cannot start, or an output cannot be written.
pub fn headless(mut prepared: PreparedSession, wanted: &RunOutputs<'_>) -> Result<RunEnd, Trouble> {
    // Only the complete final state needs the details of all tasks.
    prepared.is_attachable = true;
    prepared.keeps = if wanted.state.is_some() { Keeps::All } else { Keeps::Tasks(RECENT) };
    for path in [wanted.report, wanted.state].into_iter().flatten() {
        expect_place(path)?;
    }
    let origin = prepared.forked_from().map(Path::to_owned);
    let folded = match wanted.report {
        Some(_) => Folded::whole().map_err(Trouble::failed)?,
        None => Folded::default(),
    };
    let (ran, signal) = runtime()?.block_on(async {
        let signal = signals().await;
        let ran = session(prepared, wanted.prints, folded, None, signal.clone()).await;
        ran.map(|ran| (ran, *signal.borrow()))
    })?;
    let Ran { state, folded, .. } = &ran;
    let answered = folded.sums(state).totals.answered;
    if let Some(path) = wanted.state {
        json_store::save(path, state).map_err(Trouble::failed)?;
    }
    let is_done = answered == state.tasks.len();
    if let Some(origin) = origin.filter(|_| wanted.prints != Prints::Json && ran.lost.is_none()) {
        let row = SessionRow::of("fork", folded, state)?;
        let rows = [SessionRow::of_journal("recorded", &origin)?, row];
        out::print_line(beside::table(&rows))?;
    }
    if let Some(path) = wanted.report {
        let report = ran.folded.report(&ran.state).map_err(Trouble::failed)?;
        json_store::save(path, &report).map_err(Trouble::failed)?;
    }
    if let Some(error) = ran.lost {
        return unread(error);
    }
    if let Some(why) = ran.unusable {
        warn(&format!("{why}. Fix it, or add --keep-going to continue with the next task."));
        return Ok(RunEnd::ModelUnusable);
    }
    Ok(match signal {
        _ if ran.is_out_of_dollars => RunEnd::OutOfDollars,
        0 if is_done => RunEnd::Answered,
        0 => RunEnd::NotAnswered,
        signal => RunEnd::BySignal(signal),
    })
}

/// Output without a reader ends a run; any other failed output is an error.
fn unread(error: io::Error) -> Result<RunEnd, Trouble> {
    accepted(Err(error))?;
    warn(&format!("{UNREAD}: session stopped"));
    Ok(RunEnd::BySignal(Signal::PIPE.as_raw()))
}

/// Receiver of the first signal from now on; 0: none yet. Ctrl-C and SIGTERM must end a session properly.
async fn signals() -> watch::Receiver<i32> {
    let (came, signal) = watch::channel(0);
    tokio::task::spawn(async move {
        came.send_replace(interrupted().await);
        // Later receivers must still find the value.
        came.closed().await;
    });
    // The task listens once it has run, which must be before the session runs.
    tokio::task::yield_now().await;
    signal
}

/// Runs a session to its end, or until a signal comes.
async fn session(
    prepared: PreparedSession,
    prints: Prints,
    folded: Folded,
    observed: Option<Observed>,
    mut signal: watch::Receiver<i32>,
) -> Result<Ran, SessionError> {
    // A script sends no other commands; attached screens send theirs the same way.
    let (stop, commands) = mpsc::unbounded_channel();
    let attached = prepared.is_attachable.then(|| stop.downgrade());
    let out = Rc::new(RefCell::new(Output::new(prints, folded, observed, stop.clone())));
    let listening = tokio::task::spawn(async move {
        if signal.wait_for(|signal| *signal != 0).await.is_ok() {
            let _ = stop.send(Command::Stop);
        }
        std::future::pending::<()>().await;
    });
    let shown = Rc::clone(&out);
    let listener = Box::new(move |record: &Arc<Record>| shown.borrow_mut().show(record));
    let ended = prepared.run(commands, attached, listener).await;
    listening.abort();
    let state = ended?;
    let mut out = out.borrow_mut();
    Ok(Ran {
        state,
        folded: std::mem::take(&mut out.folded),
        observed: out.observed.take(),
        lost: out.lost.take(),
        is_out_of_dollars: out.is_out_of_dollars,
        unusable: out.unusable.take(),
        ended: out.ended.take(),
    })
}
