//! A watched agent without a screen here: it keeps input and output, or has the terminal.

use std::cell::{Cell, RefCell};
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::Arc;

use tokio::sync::{Notify, mpsc};

use super::place::AgentLaunch;
use super::scenario::{self, Trial};
use super::{WatchArgs, agent, begin, folder};
use crate::cli::beside::{self, SessionRow};
use crate::cli::{runtime::runtime, trouble::Trouble};
use crate::domain::breakpoint::BreakpointPlace;
use crate::domain::words::expected;
use crate::domain::{
    Command, Event, ModelCallEvent, Record, RunEvent, SessionEvent, State, TaskEvent,
    ToolCallEvent, ToolName,
};
use crate::domain::{state::Keeps, state::RECENT};
use crate::engine::{DOLLARS_REACHED, UNPRICED};
use crate::net::known::without_known;
use crate::report::{Report, html, live_report::Folded};
use crate::serve::agent::Manner;
use crate::session::PreparedSession;
use crate::shell::out::{self, expect_place, warn};
use crate::shell::runtime::interrupted;
use crate::store::{import::write_private, json_store};
use crate::ui::text::clean;
use crate::ui::wording::told;

/// State and reports that a session without a screen folds from its records.
struct WatchRecords {
    state: State,
    folded: Folded,
    trouble: Option<std::io::Error>,
    /// True if toolyard writes its own lines. They would disturb an agent that has the terminal.
    speaks: bool,
    /// Whether a request was refused since nothing has the price of its model.
    is_unpriced: bool,
    /// The reason why the limit of dollars ends the agent.
    over: Option<String>,
    /// Set when the agent sends a request that is not in the record, or above its limit of dollars, so that it ends.
    is_refused: Rc<RefusalSignal>,
    /// The check of the scenario; `None` without one.
    trial: Option<Trial>,
    /// The first message of the agent.
    first: Option<String>,
    /// Whether a call of the agent was seen.
    has_asked: bool,
}

/// Whether a request was refused, and the notification of that.
#[derive(Default)]
struct RefusalSignal {
    is_so: Cell<bool>,
    notify: Notify,
}

/// Runs the agent and its session to the end of the agent; without an agent, until a signal comes.
pub fn run(args: &WatchArgs, mut place: AgentLaunch) -> Result<ExitCode, Trouble> {
    for path in [&args.report, &args.state, &args.html].into_iter().flatten() {
        expect_place(path)?;
    }
    let scenario = scenario::load(args)?;
    place.has_record |= scenario::has_record(scenario.as_ref());
    let (mut prepared, news) = args.session(false, &place, scenario.as_ref())?;
    prepared.is_attachable = true;
    let is_whole = args.state.is_some() || args.html.is_some();
    prepared.keeps = if is_whole { Keeps::All } else { Keeps::Tasks(RECENT) };
    let manner = if place.wants_terminal { Manner::Terminal } else { Manner::Passed };
    let folded = match args.report {
        Some(_) => Folded::whole().map_err(Trouble::failed)?,
        None => Folded::default(),
    };
    let speaks = manner != Manner::Terminal;
    let refused = Rc::<RefusalSignal>::default();
    let kept = WatchRecords {
        state: State::keeping(prepared.keeps),
        folded,
        trouble: None,
        speaks,
        is_unpriced: false,
        over: None,
        is_refused: Rc::clone(&refused),
        trial: scenario.as_ref().map(Trial::of),
        first: None,
        has_asked: false,
    };
    let kept = Rc::new(RefCell::new(kept));
    let listener = Arc::new(begin(&mut place, &news)?);
    if args.command.is_empty() {
        warn(&place.environment.lines_to_copy(&place.address));
    }
    let (state, code) = runtime()?.block_on(async {
        let (stop, commands) = mpsc::unbounded_channel();
        let session = session(prepared, commands, stop.clone(), Rc::clone(&kept));
        if args.command.is_empty() {
            let signal = async {
                let signal = interrupted().await;
                let _ = stop.send(Command::Stop);
                signal
            };
            let (state, signal) = tokio::join!(session, signal);
            return Ok::<_, Trouble>((state?, Some(128 + signal)));
        }
        let started = agent::start(args, &place, &manner, &news).await?;
        let followed = agent::follow(&started, &place, &news, &listener);
        let signal = async {
            tokio::select! {
                _ = interrupted() => {}
                () = refused.notify.notified() => {}
            }
            started.end();
            std::future::pending::<()>().await;
        };
        let followed = async {
            tokio::select! {
                code = followed => {
                    // The terminal is free again, and there is something to say.
                    let mut kept = kept.borrow_mut();
                    kept.speaks |= !kept.has_asked;
                    code
                }
                () = signal => None,
            }
        };
        let ended = async {
            let ended = session.await;
            // A session that ends by itself ends the agent.
            started.end();
            ended
        };
        let (state, code) = tokio::join!(ended, followed);
        Ok((state?, code))
    })?;
    drop(listener);
    finish(args, &state, &mut kept.borrow_mut())?;
    if let Some(folder) = &args.record {
        let first = kept.borrow_mut().first.take();
        folder::name_by(folder, first.as_deref().unwrap_or("nothing was asked"))?;
    }
    let has_asked = kept.borrow().has_asked;
    let trial = kept.borrow_mut().trial.take();
    let is_passed = scenario::judge(trial.zip(scenario.as_ref()), &state, args)?;
    let is_passed = runtime()?.block_on(args.verify.passes(None))?.unwrap_or(true) && is_passed;
    let is_refused = refused.is_so.get() || kept.borrow().is_unpriced;
    // The exit code of an agent that failed without a request says more than a scenario about it.
    if is_refused || !is_passed && (has_asked || args.command.is_empty()) {
        return Ok(ExitCode::FAILURE);
    }
    if has_asked && code == Some(0) && names_no_tool(&state) {
        return Ok(ExitCode::FAILURE);
    }
    // A shell reports the end by a signal in the same way.
    let code = code.filter(|_| kept.borrow().over.is_none()).unwrap_or(128 + 15);
    Ok(args.exit_code(code, has_asked))
}

/// Whether a fault or a breakpoint is on a tool that no request offered: it was to test something, and a misspelt name
/// tests nothing.
fn names_no_tool(state: &State) -> bool {
    // A call may have a tool that no request defines.
    let faults = state.faults.values().filter(|fault| fault.seen == 0);
    let faults = faults.map(|fault| &fault.spec.target);
    let places =
        state.breakpoints.values().filter(|known| known.hits == 0).filter_map(|known| match &known
            .spec
            .place
        {
            BreakpointPlace::Call(target) => Some(target),
            _ => None,
        });
    let unknown = faults.chain(places).find_map(|target| state.unknown_tool(target));
    unknown.inspect(|tool| {
        let tools = state.tools.keys().map(ToolName::as_str);
        let near = expected(tool.as_str(), tools);
        warn(&format!("no request offered the tool {tool} of a fault or breakpoint; {near}"));
    });
    unknown.is_some()
}

/// Runs the session until its agent has ended.
async fn session(
    prepared: PreparedSession,
    commands: mpsc::UnboundedReceiver<Command>,
    stop: mpsc::UnboundedSender<Command>,
    kept: Rc<RefCell<WatchRecords>>,
) -> Result<State, Trouble> {
    let attached = stop.downgrade();
    let past = prepared.beginning.past().map_or(0, |past| past.state().n);
    let listener = Box::new(move |record: &Arc<Record>| {
        let is_new = record.n > past;
        kept.borrow_mut().take(record, is_new);
        if is_new && matches!(record.event, Event::Run(RunEvent::AgentEnded { .. })) {
            let why = kept.borrow().over.clone();
            let why = why.unwrap_or_else(|| "the agent has ended".to_owned());
            let _ = stop.send(Command::StopBecause { why });
        }
    });
    Ok(prepared.run(commands, Some(attached), listener).await?)
}

impl WatchRecords {
    /// Takes in a record: a new one, or one of the past that the session continues.
    fn take(&mut self, record: &Record, is_new: bool) {
        self.state.apply(record);
        let is_call = matches!(
            record.event,
            Event::ModelCall(ModelCallEvent::ModelCallRequested { .. })
                | Event::ToolCall(ToolCallEvent::ToolCallRequested { .. })
        );
        self.has_asked |= is_new && is_call;
        if let (Event::Task(TaskEvent::TasksQueued { tasks, .. }), None) =
            (&record.event, &self.first)
        {
            self.first = tasks.first().map(|task| task.text.clone());
        }
        if let Some(trial) = &mut self.trial {
            trial.take(&self.state, record, is_new);
        }
        if let Event::Session(SessionEvent::Noticed { text }) = &record.event {
            self.is_unpriced |= is_new && text.starts_with(UNPRICED);
            if is_new && text.starts_with(DOLLARS_REACHED) {
                self.over.get_or_insert_with(|| text.clone());
                self.is_refused.notify.notify_one();
            }
        }
        if let Event::Run(RunEvent::RunParted { refused: true, .. }) = record.event {
            self.is_refused.is_so.set(true);
            self.is_refused.notify.notify_one();
        }
        if let Err(error) = self.folded.take(&self.state, record) {
            self.trouble.get_or_insert(error);
        }
        let is_news = matches!(
            record.event,
            Event::Run(_) | Event::Fault(_) | Event::Breakpoint(_) | Event::Session(_)
        );
        let line = self.state.line(record.n).filter(|_| is_news && is_new && self.speaks);
        if line.is_some() {
            warn(&clean(&told(&record.event)));
        }
    }
}

fn finish(args: &WatchArgs, state: &State, kept: &mut WatchRecords) -> Result<(), Trouble> {
    if let Some(fork) = args.again.fork(args.again.recorded.as_deref())? {
        let row = SessionRow::of("fork", &kept.folded, state)?;
        let rows = [SessionRow::of_journal("recorded", &fork.of)?, row];
        out::tell(beside::table(&rows) + "\n");
    }
    if let Some(error) = kept.trouble.take() {
        return Err(Trouble::failed(error));
    }
    if let Some(path) = &args.state {
        json_store::save(path, state).map_err(Trouble::failed)?;
    }
    if let Some(path) = &args.html {
        let page = html::html(state, &Report::of(state), &args.title());
        write_private(path, &without_known(&page)).map_err(Trouble::failed)?;
    }
    if let Some(path) = &args.report {
        let folded = std::mem::take(&mut kept.folded);
        let report = folded.report(state).map_err(Trouble::failed)?;
        json_store::save(path, &report).map_err(Trouble::failed)?;
    }
    Ok(())
}
