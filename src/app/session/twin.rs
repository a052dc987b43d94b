//! A session run again from its start, with one thing changed: same seed, same tasks, and the knowledge it began with.

use std::{fs, path::PathBuf};

use jiff::Timestamp;

use super::{JournalChoice, PreparedSession, SessionError, SessionSpec, TaskSource};
use crate::domain::knob::KNOBS;
use crate::domain::{FaultSpec, FaultState, Knob, State, Target};
use crate::learned::LearnedState;
use crate::store::experience::{Experience, Prune, SharedExperience};

/// The largest file of past uses that is copied into memory, in bytes.
const MOST: u64 = 64 << 20;

/// The state in which a session began.
pub struct Origin {
    pub(super) spec: SessionSpec,
    learned: LearnedState,
    experience: Option<PathBuf>,
    past_uses: Option<SharedExperience>,
    /// Time from which past uses are the session's own.
    since: Timestamp,
}

/// The faults of a session, with the tasks in which they were armed, to arm them again from its start.
pub fn faults_so_far(live: &State) -> Vec<FaultSpec> {
    let counts = |fault: &&FaultState| {
        let is_of_tools = matches!(fault.spec.target, Target::Tool(_) | Target::Class(_));
        fault.armed || fault.is_over || is_of_tools
    };
    let again = live.faults.values().filter(counts).map(|fault| {
        let mut spec = fault.spec.clone();
        // Without this, a fault would be armed from the start.
        spec.trigger.from_task = Some(fault.from.0).filter(|task| *task > 1);
        // A fault that disarmed itself does so again.
        let until = fault.until.filter(|_| !fault.is_over);
        spec.trigger.to_task = until.map(|task| task.0.max(1)).or(spec.trigger.to_task);
        spec
    });
    again.collect()
}

impl PreparedSession {
    /// Returns the state in which the session begins, to run it again.
    ///
    /// # Errors
    /// The past uses cannot be opened.
    pub fn origin(&mut self) -> Result<Origin, SessionError> {
        self.open_past_uses()?;
        Ok(Origin {
            spec: SessionSpec { resumed: None, ..self.spec.clone() },
            learned: self.workspace.learned.clone(),
            experience: self.experience.clone(),
            past_uses: self.past_uses.clone(),
            since: Timestamp::now(),
        })
    }
}

impl Origin {
    /// The session again, with these faults and the tasks queued in `live`; with its present strategy, models and
    /// knobs, except for these knobs. It saves only its journal, which names `parent`.
    ///
    /// # Errors
    /// An input of the session can no longer be read.
    pub fn again(
        &self,
        live: &State,
        faults: Vec<FaultSpec>,
        knobs: &[(Knob, f64)],
        parent: Option<String>,
    ) -> Result<PreparedSession, SessionError> {
        let tasks = live.tasks.iter().map(|task| task.task.clone()).collect();
        let mut spec = SessionSpec {
            tasks: TaskSource::List(tasks),
            faults,
            parent,
            journal: self.spec.journal.beside(),
            ..self.spec_now(live)
        };
        spec.knobs.extend(knobs.iter().copied());
        let mut prepared = spec.prepare()?;
        prepared.workspace.learned = self.learned.clone();
        prepared.learned = None;
        prepared.past_uses = self.copied_past_uses(Some(self.since))?.map(SharedExperience::from);
        Ok(prepared)
    }

    /// The spec of a copy, with the present strategy, models and knobs. It adds no delays and saves nothing.
    pub(super) fn spec_now(&self, live: &State) -> SessionSpec {
        let knobs = KNOBS.iter().map(|spec| (spec.knob, live.knobs.get(spec.knob)));
        SessionSpec {
            seed: Some(live.seed),
            strategy: Some(live.strategy),
            model: None,
            roles: live.models.roles.iter().map(|(role, of)| (*role, of.model.clone())).collect(),
            tasks_limit: None,
            journal: JournalChoice::None,
            knobs: knobs.chain([(Knob::Speed, 0.0)]).collect(),
            ..self.spec.apart()
        }
    }

    /// A copy of the past uses; `before`: only those from before this time.
    pub(super) fn copied_past_uses(
        &self,
        before: Option<Timestamp>,
    ) -> Result<Option<Experience>, SessionError> {
        let Some(store) = &self.past_uses else { return Ok(None) };
        let size = |file: &PathBuf| fs::metadata(file).map_or(0, |data| data.len());
        if let Some(file) = self.experience.as_ref().filter(|file| size(file) > MOST) {
            let text = format!(
                "{}: {} MB of past uses exceed the copy limit of {} MB",
                file.display(),
                size(file) >> 20,
                MOST >> 20
            );
            return Err(SessionError::failed(text));
        }
        let mut copy = store.lock().private_copy().map_err(SessionError::input)?;
        if let Some(since) = before {
            let own = Prune { since: Some(since), ..Prune::default() };
            copy.prune(&own).map_err(SessionError::input)?;
        }
        Ok(Some(copy))
    }
}
