//! Runs of a watched agent with faults, for the search for faults. Each is a process of its own, `toolyard watch --headless`, with
//! a port, a journal and a folder for temporary files of its own.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;
use std::{fs::File, os::fd::AsFd};

use tokio::sync::mpsc;

use super::scenario::Trial;
use crate::domain::state::{Keeps, RECENT, State};
use crate::domain::{Event, FaultSpec, Target, ToolCallEvent};
use crate::engine::{DOLLARS_REACHED, PurseShare, UNPRICED};
use crate::fault_search::{Seen, TrialError, Trials, several};
use crate::process::{Launch, RunningProgram, own};
use crate::runner::{Runner, SessionStopper};
use crate::scenario::ScenarioFile;
use crate::session::SessionError;
use crate::shell::litter;
use crate::shell::runtime::runtime;
use crate::store::journal::JournalReader;

/// The time that an agent has to end by itself after a stop.
const GRACE: Duration = Duration::from_secs(2);

/// Runs a watched agent with faults.
pub struct WatchedTrials<'a> {
    pub file: &'a ScenarioFile,
    /// The agent's command.
    pub command: &'a [String],
    /// The journal whose answers it gets as long as its requests are as recorded.
    pub recorded: Option<&'a Path>,
    pub config: Option<&'a Path>,
    pub runner: &'a Runner,
    /// Runs of each set. It fails if most of them do.
    pub times: u32,
    /// Hears of each batch.
    pub tell: &'a (dyn Fn(usize) + Sync),
}

impl Trials for WatchedTrials<'_> {
    type Error = TrialError;

    fn outcomes(&mut self, sets: &[Vec<FaultSpec>]) -> Result<Vec<Seen>, TrialError> {
        several(sets, self.times, self.runner, self.tell, |set, _| self.one(set))
    }
}

impl WatchedTrials<'_> {
    fn one(&self, faults: &[FaultSpec]) -> Result<Seen, TrialError> {
        let failed = |error: std::io::Error| TrialError::Session(SessionError::failed(error));
        if self.runner.stop.is_stopped() {
            return Err(TrialError::Stopped);
        }
        let folder = litter::folder().map_err(failed)?;
        let journal = folder.path().join("agent.jsonl.zst");
        let share = self.runner.purse.as_ref().map(|purse| purse.share(0.0));
        let errors = folder.path().join("errors");
        let mut command = Command::new(own().map_err(failed)?);
        command.args(["watch", "--headless", "--scenario"]).arg(&self.file.path);
        command.arg("--journal").arg(&journal);
        let options = [("--recorded", self.recorded), ("--config", self.config)];
        for (option, path) in options.into_iter().filter_map(|(name, path)| Some((name, path?))) {
            command.arg(option).arg(path);
        }
        if let Some(left) = share.as_ref().map(PurseShare::left) {
            // A process cannot reserve in the purse: it may have its part of what is left.
            let own = left / self.runner.at_once.max(1) as f64;
            command.args(["--max-dollars", &own.to_string()]);
        }
        for fault in faults {
            command.args(["--fault", &fault.to_string()]);
        }
        command.arg("--").args(self.command);
        command.envs(std::env::vars_os()).env("TMPDIR", folder.path());
        let status = wait(&command, &errors, &self.runner.stop)?;
        if self.runner.stop.is_stopped() {
            return Err(TrialError::Stopped);
        }
        let said = || std::fs::read_to_string(&errors).unwrap_or_default();
        let lacks = |why: String| TrialError::Lacks(format!("{why} ({status}): {}", said().trim()));
        let reader = JournalReader::open(&journal)
            .map_err(|_| lacks("the agent was not watched".to_owned()))?;
        let mut state = State::keeping(Keeps::Tasks(RECENT));
        let mut trial = Trial::of(self.file);
        let mut called = BTreeSet::new();
        for record in reader {
            let record = record.map_err(|error| lacks(error.to_string()))?;
            state.apply(&record);
            trial.take(&state, &record, true);
            if let Event::ToolCall(ToolCallEvent::ToolCallRequested { tool, .. }) = &record.event {
                called.insert(tool.clone());
            }
        }
        share.inspect(|share| share.settle(state.dollars_spent()));
        if let Some(why) = trial.ended_early()
            && (why.starts_with(DOLLARS_REACHED) || why.starts_with(UNPRICED))
        {
            return Err(TrialError::Lacks(why.to_owned()));
        }
        let verdict = trial.verdict(self.file, &state);
        let missed = verdict.cases().filter(|case| case.0.word() == "FAILED");
        let mut failed: Vec<_> =
            missed.map(|(_, expected, found)| format!("{expected}: {found}")).collect();
        if !status.success() && verdict.passed {
            failed.push(format!("the agent ended with {status}"));
        }
        let tool = |target: &Target| match target {
            Target::Tool(tool) => Some(tool.clone()),
            _ => None,
        };
        let hit = state.faults.values().filter(|fault| fault.fired > 0);
        let hit = hit.filter(|fault| faults.contains(&fault.spec));
        let passed = verdict.passed && status.success();
        Ok(Seen {
            passed,
            called,
            fired: hit.filter_map(|fault| tool(&fault.spec.target)).collect(),
            failed,
            times: (u32::from(!passed), 1),
        })
    }
}

/// Runs a program to its end, or until the stop; its errors go to this file.
fn wait(
    command: &Command,
    errors: &PathBuf,
    stop: &SessionStopper,
) -> Result<ExitStatus, TrialError> {
    let failed = |error: std::io::Error| TrialError::Session(SessionError::failed(error));
    let (input, output) = (File::open("/dev/null"), File::create(errors));
    let (input, output) = (input.map_err(failed)?, output.map_err(failed)?);
    let files = [input.as_fd(), output.as_fd(), output.as_fd()];
    let launch = Launch { files, terminal: false, grace: GRACE };
    let runtime = runtime()
        .map_err(|error| TrialError::Session(SessionError::failed(error.text().to_owned())))?;
    let program = RunningProgram::start_with(command, &launch).map_err(failed)?;
    let (stopped, mut stops) = mpsc::unbounded_channel();
    stop.reach(stopped);
    let ended = runtime.block_on(async {
        tokio::select! {
            ended = program.ended() => ended,
            _ = stops.recv() => {
                program.end();
                program.ended().await
            }
        }
    });
    ended.map_err(|why| TrialError::Session(SessionError::failed(why)))
}
