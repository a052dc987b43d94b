//! Runs of a scenario with faults, several at once.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use super::{Seen, Trials};
use crate::domain::{By, Event, FaultSpec, Record, Target, ToolCallEvent, ToolName};
use crate::runner::Runner;
use crate::scenario::{QuietRun, ScenarioFile, TaskSums};
use crate::session::{JournalChoice, SessionError, SessionSpec};

/// Runs a scenario with faults. Each run begins fresh, and keeps no journal.
pub struct ScenarioTrials<'a> {
    pub file: &'a ScenarioFile,
    /// The changes of the command line to the scenario.
    pub change: &'a (dyn Fn(&mut SessionSpec) + Sync),
    /// Seed of the first run of each set.
    pub seed: u64,
    /// Runs several at once, with US dollars for all of them.
    pub runner: &'a Runner,
    /// Runs of each set, with other seeds. It fails if most of them do.
    pub times: u32,
    /// Hears of each batch.
    pub tell: &'a (dyn Fn(usize) + Sync),
}

/// The reasons for which a search ends.
#[derive(Debug)]
pub enum TrialError {
    Session(SessionError),
    Scenario(String),
    Stopped,
    /// A session ended for want of money or of a model.
    Lacks(String),
}

impl Trials for ScenarioTrials<'_> {
    type Error = TrialError;

    fn outcomes(&mut self, sets: &[Vec<FaultSpec>]) -> Result<Vec<Seen>, TrialError> {
        several(sets, self.times, self.runner, self.tell, |set, apart| {
            self.run(set, apart).map(|ran| ran.seen)
        })
    }
}

/// The outcomes of sets, each of which runs so many `times`: `one` gets the number of the run, from 0.
///
/// # Errors
/// The first error of a run.
pub fn several<E: Send>(
    sets: &[Vec<FaultSpec>],
    times: u32,
    runner: &Runner,
    tell: &(dyn Fn(usize) + Sync),
    one: impl Fn(&[FaultSpec], u64) -> Result<Seen, E> + Sync,
) -> Result<Vec<Seen>, E> {
    let times = times.max(1) as usize;
    let mut ran = Vec::new();
    let work = |at: usize| one(&sets[at / times], (at % times) as u64);
    runner.each(sets.len() * times, work, |seen| ran.push(seen))?;
    tell(sets.len());
    Ok(ran.chunks(times).map(most).collect())
}

/// The outcome of most of these runs of one set.
fn most(ran: &[Seen]) -> Seen {
    let failed = ran.iter().filter(|seen| !seen.passed).count();
    let passed = 2 * failed <= ran.len();
    let union = |of: fn(&Seen) -> &BTreeSet<ToolName>| ran.iter().flat_map(of).cloned().collect();
    let said = ran.iter().find(|seen| !seen.passed).filter(|_| !passed);
    Seen {
        passed,
        called: union(|seen| &seen.called),
        fired: union(|seen| &seen.fired),
        failed: said.map(|seen| seen.failed.clone()).unwrap_or_default(),
        times: (failed as u32, ran.len() as u32),
    }
}

/// A run that has ended.
#[derive(Debug)]
pub struct TrialRun {
    pub seen: Seen,
    /// Whether a given fault hit a call.
    pub was_hit: bool,
    pub tasks: usize,
    pub sums: TaskSums,
    pub is_simulated: bool,
}

impl ScenarioTrials<'_> {
    /// Runs the scenario with these faults, and with the seed that lies so many behind the first one.
    ///
    /// # Errors
    /// The session cannot run, or the runs are to end.
    pub fn run(&self, faults: &[FaultSpec], apart: u64) -> Result<TrialRun, TrialError> {
        let stop = &self.runner.stop;
        if stop.is_stopped() {
            return Err(TrialError::Stopped);
        }
        let prepared = self.file.prepare(|spec| {
            (self.change)(spec);
            (spec.journal, spec.fresh) = (JournalChoice::None, true);
            spec.seed = Some(self.seed.wrapping_add(apart));
            spec.faults.extend(faults.iter().cloned());
        });
        let mut prepared =
            prepared.map_err(|problems| TrialError::Scenario(problems.to_string()))?;
        let share = self.runner.purse.as_ref().map(|purse| purse.share(0.0));
        prepared.purse.clone_from(&share);
        let expect = &self.file.scenario.expect;
        let called = Rc::new(RefCell::new(BTreeSet::new()));
        let tools = Rc::clone(&called);
        let hear = move |record: &Record| {
            if let Event::ToolCall(ToolCallEvent::ToolCallRequested {
                tool, by: By::Engine, ..
            }) = &record.event
            {
                tools.borrow_mut().insert(tool.clone());
            }
        };
        let ran = QuietRun::of(prepared, expect, self.runner, hear).map_err(TrialError::Session)?;
        let Some(ran) = ran else { return Err(TrialError::Stopped) };
        if stop.is_stopped() {
            return Err(TrialError::Stopped);
        }
        if let Some(why) = ran.lacked() {
            return Err(TrialError::Lacks(why.to_owned()));
        }
        let state = &ran.state;
        share.inspect(|share| share.settle(state.dollars_spent()));
        let verdict = ran.verdict((self.file.name(), String::new()), expect);
        let missed = verdict.cases().filter(|case| case.0.word() == "FAILED");
        let failed = missed.map(|(_, expected, found)| format!("{expected}: {found}")).collect();
        let hit =
            state.faults.values().filter(|fault| fault.fired > 0 && faults.contains(&fault.spec));
        let tool = |target: &Target| match target {
            Target::Tool(tool) => Some(tool.clone()),
            _ => None,
        };
        let seen = Seen {
            passed: verdict.passed,
            called: called.take(),
            fired: hit.clone().filter_map(|fault| tool(&fault.spec.target)).collect(),
            failed,
            times: (u32::from(!verdict.passed), 1),
        };
        Ok(TrialRun {
            seen,
            was_hit: hit.count() > 0,
            tasks: state.tasks.len(),
            sums: ran.sums(),
            is_simulated: state.models.any_simulated(),
        })
    }
}
