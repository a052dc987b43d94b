//! `toolyard watch --scenario`: a watched agent, checked against the expectations of a file.

use super::WatchArgs;
use crate::domain::{Event, ModelCallEvent, Record, RunEvent, SessionEvent, State, ToolCallEvent};
use crate::engine::{DOLLARS_REACHED, UNPRICED};
use crate::net::known::without_known;
use crate::scenario::{Observed, ScenarioFile, ScenarioVerdict, check, junit};
use crate::session::{JournalChoice, SessionSpec};
use crate::shell::out::{expect_place, warn};
use crate::shell::trouble::Trouble;
use crate::store::import::write_private;
use crate::ui::text::clean;

/// Reads the scenario, if there is one.
///
/// # Errors
/// All problems of the scenario, or the place of the JUnit XML file cannot be written to.
pub fn load(args: &WatchArgs) -> Result<Option<ScenarioFile>, Trouble> {
    args.junit.as_deref().map_or(Ok(()), expect_place)?;
    let Some(path) = &args.scenario else {
        return match &args.junit {
            Some(_) if !args.again.fails_on_drift() => {
                Err(Trouble::usage("--junit needs --scenario FILE or --fail-on drift"))
            }
            _ => Ok(None),
        };
    };
    let file = ScenarioFile::load(path).map_err(Trouble::usage)?;
    file.watched().map_err(Trouble::usage)?;
    Ok(Some(file))
}

/// Whether the scenario runs over a record.
pub fn has_record(file: Option<&ScenarioFile>) -> bool {
    file.is_some_and(|file| file.scenario.session.recorded.is_some())
}

/// Completes the options with the settings of the scenario file.
pub fn complete(spec: SessionSpec, file: &ScenarioFile) -> SessionSpec {
    let own = &file.scenario.session;
    SessionSpec {
        config: spec.config.or_else(|| own.config.clone()),
        faults: own.faults.iter().cloned().chain(spec.faults).collect(),
        breakpoints: own.breakpoints.iter().cloned().chain(spec.breakpoints).collect(),
        max_dollars: spec.max_dollars.or(own.max_dollars),
        recorded: spec.recorded.or_else(|| own.recorded.clone()),
        seed: own.seed,
        journal: match spec.journal {
            JournalChoice::Configured => own.journal.clone(),
            given => given,
        },
        ..spec
    }
}

/// Observations of a session for the check of its scenario.
#[derive(Debug, Default)]
pub struct Trial {
    observed: Observed,
    /// Whether a call of the agent was seen.
    has_asked: bool,
    /// The reason why the agent ended early, if it did.
    ended_early: Option<String>,
}

impl Trial {
    pub fn of(file: &ScenarioFile) -> Self {
        Self { observed: Observed::new(&file.scenario.expect), has_asked: false, ended_early: None }
    }

    /// Takes in the next record. `is_new`: it is not one of the past that the session continues.
    pub fn take(&mut self, state: &State, record: &Record, is_new: bool) {
        self.observed.take(state, record);
        match &record.event {
            Event::ModelCall(ModelCallEvent::ModelCallRequested { .. })
            | Event::ToolCall(ToolCallEvent::ToolCallRequested { .. }) => self.has_asked = true,
            Event::Run(event) => self.run(event),
            Event::Session(
                SessionEvent::SessionEnded { why: text, .. } | SessionEvent::Noticed { text },
            ) if is_new => self.told(text),
            _ => {}
        }
    }

    /// Why the agent ended early, if it did.
    pub fn ended_early(&self) -> Option<&str> {
        self.ended_early.as_deref()
    }

    /// Takes in an event of the agent's run.
    fn run(&mut self, event: &RunEvent) {
        let why = match event {
            RunEvent::RunParted { refused: true, field, .. } => {
                format!("{field} is not as recorded, and that is refused")
            }
            RunEvent::AgentEnded { code: None } => "a signal ended the agent".to_owned(),
            _ => return,
        };
        self.ended_early.get_or_insert(why);
    }

    /// Takes in the reason for the session's end, or a notice: what the limit of dollars kept from being sent.
    fn told(&mut self, text: &str) {
        if text.starts_with(DOLLARS_REACHED) || text.starts_with(UNPRICED) {
            self.ended_early.get_or_insert_with(|| text.to_owned());
        }
    }

    /// Whether the expectations are met, at the last state.
    pub fn verdict(&mut self, file: &ScenarioFile, state: &State) -> ScenarioVerdict {
        let checked = check(&file.scenario.expect, state, &self.observed);
        let name = (file.name(), file.path.display().to_string());
        let seconds = state.at as f64 / 1e6;
        if !self.has_asked {
            self.ended_early
                .get_or_insert_with(|| "no request of the agent was understood".to_owned());
        }
        ScenarioVerdict::new(name, self.ended_early.take(), checked, seconds)
            .with_idle_faults(state)
    }
}

/// Whether the session is as the scenario expects it, or without one, whether its tools return what is recorded.
///
/// # Errors
/// The file cannot be written.
pub fn judge(
    trial: Option<(Trial, &ScenarioFile)>,
    state: &State,
    args: &WatchArgs,
) -> Result<bool, Trouble> {
    if let Some((mut trial, file)) = trial {
        return finish(("scenario ", trial.verdict(file, state)), state, args);
    }
    if !args.again.fails_on_drift() {
        return Ok(true);
    }
    let name = ("drift".to_owned(), args.title());
    let verdict = ScenarioVerdict::new(name, None, Vec::new(), state.at as f64 / 1e6);
    finish(("", verdict), state, args)
}

/// Prints the verdict with a word for its kind, and writes the requested JUnit XML. Returns whether all is as expected.
fn finish(
    (kind, mut verdict): (&str, ScenarioVerdict),
    state: &State,
    args: &WatchArgs,
) -> Result<bool, Trouble> {
    if args.again.fails_on_drift() {
        verdict = verdict.with_drift(state);
    }
    tell(kind, &verdict);
    if let Some(path) = &args.junit {
        let xml = junit(std::slice::from_ref(&verdict)).map_err(Trouble::failed)?;
        write_private(path, &without_known(&xml)).map_err(Trouble::failed)?;
    }
    Ok(verdict.passed)
}

/// Prints the verdict on standard error, since standard output is the agent's.
fn tell(kind: &str, verdict: &ScenarioVerdict) {
    for (end, expected, found) in verdict.cases() {
        warn(&clean(&format!("{}: {expected}: {found}", end.word())));
    }
    let word = if verdict.passed { "passed" } else { "FAILED" };
    warn(&format!("{kind}{} {word}: {}", clean(&verdict.name), verdict.counts()));
}
