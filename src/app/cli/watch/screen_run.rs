//! A watched agent behind the screen.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

use super::place::AgentLaunch;
use super::{WatchArgs, WatchEnd, agent, begin};
use crate::cli::{live, out, runtime::runtime, save, trouble::Trouble, twin};
use crate::config::UiConfig;
use crate::domain::{Command, state::Keeps, state::RECENT};
use crate::model::relay::ListenerNews;
use crate::net::known::learnt;
use crate::serve::agent::{Manner, Output, Stream};
use crate::serve::watch::Listener;
use crate::session::{PreparedSession, SessionHandle};
use crate::ui::{self, AgentOutput, OutputLine, tour::Tour};

/// The agent of a session on the screen.
pub struct WatchedAgent {
    pub listener: Arc<Listener>,
    /// The agent's output; for agents started elsewhere, the lines that they need.
    pub output: Arc<Output>,
    /// `None` if the agent was started elsewhere.
    pub agent: Option<AgentThread>,
}

/// An agent that this program has started.
pub struct AgentThread {
    /// Dropping it ends the agent.
    pub leave: oneshot::Sender<()>,
    /// The thread, which returns the agent's exit code; `None` if a signal ended the agent.
    pub thread: JoinHandle<Option<i32>>,
}

/// The look of the screen of a watched session, where it is not configured.
#[derive(Default)]
pub struct ScreenLook {
    pub tour: Option<Tour>,
    pub ui: Option<UiConfig>,
}

/// The end of a watched session.
pub struct Ended {
    pub screen: ui::EndReason,
    /// Exit code of the agent, if this program started it.
    pub code: Option<i32>,
}

/// Shows a watched session until the person leaves, which ends the agent. `begin` gets the journal's path, and starts
/// listener and agent once the session runs.
///
/// # Errors
/// The session or the agent cannot be started, or ended early; or there is no terminal.
pub fn show(
    mut prepared: PreparedSession,
    look: ScreenLook,
    begin: impl FnOnce(Option<&Path>) -> Result<WatchedAgent, Trouble>,
) -> Result<Ended, Trouble> {
    live::expect_terminal("add --headless")?;
    prepared.keeps = Keeps::Tasks(RECENT);
    let mut config = prepared.config.clone();
    config.ui = look.ui.unwrap_or(config.ui);
    let origin = twin::origin(&prepared);
    let SessionHandle { opened, title, journal, records, taken, commands, seat, engine } =
        prepared.spawn()?;
    let WatchedAgent { listener, output, agent } = begin(journal.as_deref())?;
    let source = ui::SessionSource {
        opened: Some(opened),
        records: ui::Records::Live(records, taken, Arc::clone(&engine.broken)),
        commands: Some(commands.clone()),
        seat,
        journal: journal.clone(),
        twins: None,
        origin,
        sweeps: None,
        scenarios: save::saver(None, journal.clone()),
        output: Some(Arc::new(OutputReader(output))),
    };
    let screen = live::settings(&config, title, None).map(|mut settings| {
        settings.screen.journal = journal.as_deref().and_then(live::follow);
        settings.screen.address = Some(listener.address().to_string());
        settings.tour = look.tour;
        settings
    });
    let screen = screen.and_then(|settings| ui::run(source, settings).map_err(Trouble::failed));
    // Regardless of how the screen ended, agent and session must end properly.
    let code = agent.and_then(|AgentThread { leave, thread, .. }| {
        drop(leave);
        thread.join().ok().map(|code| code.unwrap_or(128 + 15))
    });
    drop(listener);
    let _ = commands.send(Command::Stop);
    let ended = engine.join();
    let screen = screen?;
    ended?;
    Ok(Ended { screen, code })
}

/// Shows the agent of a command until the person leaves, which ends it.
pub fn run(args: &WatchArgs, mut place: AgentLaunch) -> Result<WatchEnd, Trouble> {
    let (mut prepared, news) = args.session(true, &place, None)?;
    prepared.is_attachable = true;
    let (mut saved, mut understood) = (None, None);
    let Ended { screen, code } = show(prepared, ScreenLook::default(), |journal| {
        saved = journal.map(Path::to_owned);
        let listener = Arc::new(begin(&mut place, &news)?);
        understood = Some(listener.understood());
        if !args.command.is_empty() {
            let (output, agent) = start(args, place, news, &listener, journal)?;
            return Ok(WatchedAgent { listener, output, agent: Some(agent) });
        }
        let output = Output::new(None);
        let lines = place.environment.lines_to_copy(&place.address);
        lines.lines().for_each(|line| output.add(Stream::Toolyard, line.as_bytes()));
        let text = "the lines that make agents send their requests here are in the pane Output";
        // The session may have ended already.
        let _ = news.send(ListenerNews::Noticed(text.to_owned()));
        Ok(WatchedAgent { listener, output: Arc::new(output), agent: None })
    })?;
    let has_asked = || understood.is_some_and(|it| it.load(Ordering::Relaxed));
    saved.map_or(Ok(()), |path| out::print_line(format!("journal: {}", path.display())))?;
    Ok(WatchEnd::Code(match (screen, code) {
        (ui::EndReason::For(next), _) => return Ok(WatchEnd::Next(next)),
        (ui::EndReason::BySignal(signal), _) => exit(128 + signal),
        // The tools of MCP servers may have been called without a request to a model.
        (_, Some(code)) => args.exit_code(code, !args.mcp.is_empty() || has_asked()),
        (_, None) => ExitCode::SUCCESS,
    }))
}

/// Starts the process of the agent, and a thread that follows it.
fn start(
    args: &WatchArgs,
    place: AgentLaunch,
    news: UnboundedSender<ListenerNews>,
    listener: &Arc<Listener>,
    journal: Option<&Path>,
) -> Result<(Arc<Output>, AgentThread), Trouble> {
    let runtime = runtime()?;
    let manner = args.out.clone().map_or(Manner::Captured, Manner::CapturedTo);
    let started = runtime.block_on(agent::start(args, &place, &manner, &news))?;
    let output = started.output();
    let (leave, left) = oneshot::channel::<()>();
    let (listener, saved) = (Arc::clone(listener), journal.map(Path::to_owned));
    let work = move || {
        // The whole value moves here, since dropping it deletes the agent's files.
        let place = place;
        runtime.block_on(async {
            let followed = agent::follow(&started, &place, &news, &listener);
            let mut followed = std::pin::pin!(followed);
            let code = tokio::select! {
                code = &mut followed => code,
                _ = left => {
                    started.end();
                    followed.await
                }
            };
            if let Some(path) = saved {
                let text = format!("recorded in {}", path.display());
                let _ = news.send(ListenerNews::Noticed(text));
            }
            code
        })
    };
    let thread = thread::Builder::new().name("agent".to_owned()).spawn(work);
    Ok((output, AgentThread { leave, thread: thread.map_err(Trouble::failed)? }))
}

fn exit(code: i32) -> ExitCode {
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

/// The output of an agent, for the screen.
#[derive(Debug)]
struct OutputReader(Arc<Output>);

impl AgentOutput for OutputReader {
    fn version(&self) -> u64 {
        self.0.count() + learnt()
    }

    fn lines(&self) -> Vec<OutputLine> {
        let lines = self.0.lines();
        let first = self.0.count().saturating_sub(lines.len() as u64);
        let line = |(n, line): (u64, &Arc<crate::serve::agent::AgentLine>)| OutputLine {
            n,
            text: line.text.clone(),
            stream: match line.stream {
                Stream::Out => ui::agent_output::Stream::Out,
                Stream::Err => ui::agent_output::Stream::Err,
                Stream::Toolyard => ui::agent_output::Stream::Toolyard,
            },
        };
        (first + 1..).zip(&lines).map(line).collect()
    }

    fn changed(&self, seen: u64) -> BoxFuture<'_, ()> {
        let mut changes = self.0.changes();
        async move {
            // Ended output changes no more.
            if changes.wait_for(|count| *count + learnt() != seen).await.is_err() {
                std::future::pending::<()>().await;
            }
        }
        .boxed()
    }
}
