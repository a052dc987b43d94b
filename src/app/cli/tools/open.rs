//! A session that only finds out its tools.

use std::sync::Arc;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use super::args::FromArgs;
use crate::cli::{out, trouble::Trouble};
use crate::domain::state::ServerStage;
use crate::domain::{Command, Event, Record, SessionEvent, State, ToolState, words};
use crate::session::{Engine, JournalChoice, SessionHandle, SessionSpec, TaskSource};

/// The session, and its state so far.
pub struct ToolSession {
    pub state: State,
    records: UnboundedReceiver<Arc<Record>>,
    commands: UnboundedSender<Command>,
    engine: Engine,
}

impl ToolSession {
    /// Opens the session, and waits for its tools. Prints remarks on manifests of tools for which `is_meant` holds.
    ///
    /// # Errors
    /// An input of the session is wrong.
    pub fn open(
        from: &FromArgs,
        more: SessionSpec,
        is_meant: impl Fn(&str) -> bool,
    ) -> Result<Self, Trouble> {
        let spec = SessionSpec {
            config: from.config.config.clone(),
            workspace: from.workspace.clone(),
            mcp: from.mcp.clone(),
            sample: from.sample,
            tasks: TaskSource::List(Vec::new()),
            journal: JournalChoice::None,
            fresh: true,
            paused: true,
            stay: true,
            awaits_tools: true,
            ..more
        };
        let prepared = spec.prepare()?;
        let of_tools = prepared.workspace.notices(|tool| is_meant(tool.as_str()));
        prepared.about_servers.iter().chain(&of_tools).for_each(|notice| out::warn(notice));
        let SessionHandle { records, commands, engine, .. } = prepared.spawn()?;
        let mut session = Self { state: State::default(), records, commands, engine };
        session.fold_until(|_, event| {
            matches!(event, Event::Session(SessionEvent::ToolsAdded { .. }))
        })?;
        Ok(session)
    }

    /// Folds events until `holds` is true after one of them.
    ///
    /// # Errors
    /// The session ended before that.
    pub fn fold_until(&mut self, holds: fn(&State, &Event) -> bool) -> Result<(), Trouble> {
        loop {
            let record = self.records.blocking_recv().ok_or_else(ended)?;
            self.state.apply(&record);
            if holds(&self.state, &record.event) {
                return Ok(());
            }
        }
    }

    /// Sends a command.
    ///
    /// # Errors
    /// The session has ended.
    pub fn send(&self, command: Command) -> Result<(), Trouble> {
        self.commands.send(command).map_err(|_| ended())
    }

    /// The tool of this name.
    ///
    /// # Errors
    /// There is no such tool; the error names the existing ones, and why servers have none.
    pub fn tool(&self, name: &str) -> Result<&ToolState, Trouble> {
        self.state.tools.get(name).ok_or_else(|| {
            let known = self.state.tools.keys().map(|name| name.as_str());
            let down = self.state.servers.iter().filter_map(|(key, server)| match &server.stage {
                ServerStage::Down { why, .. } | ServerStage::Off { why } => {
                    Some(format!("\n  the MCP server {key}: {why}"))
                }
                ServerStage::Starting | ServerStage::Ready { .. } => None,
            });
            let expected = match self.state.tools.is_empty() {
                true => "there are no tools at all".to_owned(),
                false => words::expected(name, known),
            };
            let down = down.collect::<String>();
            Trouble::Usage(format!("there is no tool {name}; {expected}{down}"))
        })
    }

    /// Ends the session; returns its last state.
    ///
    /// # Errors
    /// The session failed.
    pub fn end(self) -> Result<State, Trouble> {
        let Self { state, records: _, commands, engine } = self;
        drop(commands);
        engine.join().map_err(Trouble::failed)?;
        Ok(state)
    }
}

fn ended() -> Trouble {
    Trouble::Failed("the session ended before it answered".to_owned())
}
