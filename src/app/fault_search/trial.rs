//! Runs of a scenario with faults, several at once.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};

use super::{Seen, Trials};
use crate::domain::{By, Event, FaultSpec, Record, Target, ToolCallEvent, ToolName};
use crate::files::parallel;
use crate::scenario::{QuietRun, ScenarioFile};
use crate::session::{JournalChoice, SessionError, SessionSpec};
use crate::stopper::SessionStopper;

/// Runs a scenario with faults. Each run begins fresh, and keeps no journal.
pub struct ScenarioTrials<'a> {
    pub file: &'a ScenarioFile,
    /// The changes of the command line to the scenario.
    pub change: &'a (dyn Fn(&mut SessionSpec) + Sync),
    /// Seed of the first run of each set.
    pub seed: u64,
    /// Sessions at the same time.
    pub at_once: usize,
    /// Runs of each set, with other seeds. It fails if most of them do.
    pub times: u32,
    /// US dollars for all runs together; `None`: as each session's own limit has it.
    pub max_dollars: Option<f64>,
    pub spent: Mutex<f64>,
    pub stop: &'a SessionStopper,
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
    OutOfDollars(f64),
}

impl Trials for ScenarioTrials<'_> {
    type Error = TrialError;

    fn outcomes(&mut self, sets: &[Vec<FaultSpec>]) -> Result<Vec<Seen>, TrialError> {
        let times = u64::from(self.times.max(1));
        let runs: Vec<_> =
            sets.iter().flat_map(|set| (0..times).map(move |seed| (set, seed))).collect();
        let ran = parallel::each(&runs, self.at_once, |(set, seed)| self.one(set, *seed));
        let ran = ran.into_iter().collect::<Result<Vec<_>, _>>()?;
        (self.tell)(sets.len());
        Ok(ran.chunks(times as usize).map(most).collect())
    }
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

impl ScenarioTrials<'_> {
    fn one(&self, faults: &[FaultSpec], apart: u64) -> Result<Seen, TrialError> {
        if self.stop.is_stopped() {
            return Err(TrialError::Stopped);
        }
        let spent = *self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let left = self.max_dollars.map(|most| most - spent);
        if let (Some(most), Some(..=0.0)) = (self.max_dollars, left) {
            return Err(TrialError::OutOfDollars(most));
        }
        let prepared = self.file.prepare(|spec| {
            (self.change)(spec);
            (spec.journal, spec.fresh) = (JournalChoice::None, true);
            spec.seed = Some(self.seed.wrapping_add(apart));
            spec.faults.extend(faults.iter().cloned());
        });
        let mut prepared =
            prepared.map_err(|problems| TrialError::Scenario(problems.to_string()))?;
        // Others run at the same time: none of them may take what is left for all.
        let share = left.map(|left| left / self.at_once.max(1) as f64);
        let own = prepared.config.max_dollars;
        prepared.config.max_dollars = own.into_iter().chain(share).reduce(f64::min);
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
        let ran = QuietRun::of(prepared, expect, self.stop, hear).map_err(TrialError::Session)?;
        if self.stop.is_stopped() {
            return Err(TrialError::Stopped);
        }
        if let Some(why) = ran.lacked() {
            return Err(TrialError::Lacks(why.to_owned()));
        }
        let state = &ran.state;
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner) += state.dollars_spent();
        let verdict = ran.verdict((self.file.name(), String::new()), expect);
        let missed = verdict.cases().filter(|case| case.0.word() == "FAILED");
        let failed = missed.map(|(_, expected, found)| format!("{expected}: {found}")).collect();
        let hit =
            state.faults.values().filter(|fault| fault.fired > 0 && faults.contains(&fault.spec));
        let tool = |target: &Target| match target {
            Target::Tool(tool) => Some(tool.clone()),
            _ => None,
        };
        Ok(Seen {
            passed: verdict.passed,
            called: called.take(),
            fired: hit.filter_map(|fault| tool(&fault.spec.target)).collect(),
            failed,
            times: (u32::from(!verdict.passed), 1),
        })
    }
}
