//! Whether the agent runs, and where it is held.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use super::breakpoints::BreakpointStop;
use super::undo::Changes;
use crate::event::{Boundary, Lane, Resume};
use crate::id::{EffectId, RunId};

/// Whether the agent runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "UPPERCASE")]
pub enum Mode {
    /// No command was given yet, so nothing runs that could be paused.
    #[default]
    Opening,
    Running,
    /// Running to the next boundary of one lane.
    Stepping,
    /// Running to the end of the task.
    #[strum(serialize = "TO TASK END")]
    SteppingTask,
    /// Pausing: some lane has not reached a boundary yet.
    Pausing,
    /// Every lane is held.
    Paused,
    Ended,
}

impl From<Resume> for Mode {
    fn from(how: Resume) -> Self {
        match how {
            Resume::Run => Mode::Running,
            Resume::Step => Mode::Stepping,
            Resume::Task => Mode::SteppingTask,
        }
    }
}

impl Mode {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A lane that waits for the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    pub lane: Lane,
    pub boundary: Boundary,
    /// Microseconds since the session was opened.
    pub since: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Control {
    /// The mode of every run without a mode of its own.
    pub mode: Mode,
    /// The modes of the runs that a person has stopped or resumed alone.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub modes: BTreeMap<RunId, Mode>,
    /// In order of arrival.
    pub held: Vec<Hold>,
    /// Lanes that the user holds individually.
    pub paused_lanes: BTreeSet<Lane>,
    /// The breakpoint that has stopped the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<BreakpointStop>,
    /// Calls that wait for a person's consent, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<EffectId>,
    /// Changes that the user can undo and redo.
    #[serde(flatten)]
    pub changes: Changes,
}

impl Control {
    /// Whether this run goes on.
    pub fn mode_of(&self, run: RunId) -> Mode {
        match self.mode {
            Mode::Ended => Mode::Ended,
            mode => self.modes.get(&run).copied().unwrap_or(mode),
        }
    }

    /// Sets the mode of one run, or of all.
    pub(super) fn set_mode(&mut self, run: Option<RunId>, mode: Mode) {
        match run {
            Some(run) => drop(self.modes.insert(run, mode)),
            None => {
                self.mode = mode;
                self.modes.clear();
            }
        }
    }

    pub(super) fn hold(&mut self, lane: Lane, boundary: Boundary, since: u64) {
        self.held.push(Hold { lane, boundary, since });
    }

    /// Releases the lane; `None` if it is not held.
    pub(super) fn release(&mut self, lane: Lane) -> Option<Hold> {
        let at = self.held.iter().position(|hold| hold.lane == lane)?;
        Some(self.held.remove(at))
    }

    /// How this lane is held, if it is.
    pub fn hold_of(&self, lane: Lane) -> Option<&Hold> {
        self.held.iter().find(|hold| hold.lane == lane)
    }

    pub fn is_held(&self, lane: Lane) -> bool {
        self.hold_of(lane).is_some()
    }

    /// Whether a run is held between its effects, at this boundary.
    pub fn is_run_held_at(&self, run: RunId, boundary: Boundary) -> bool {
        self.hold_of(Lane::Run(run)).is_some_and(|hold| hold.boundary == boundary)
    }

    /// Whether any lane is held at this boundary.
    pub fn is_held_at(&self, boundary: Boundary) -> bool {
        self.held.iter().any(|hold| hold.boundary == boundary)
    }
}
