//! Whether the agent runs, where it is held, and what can be taken back.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::domain::{
    command::Command,
    event::{Boundary, By, Event, Lane, Record, Resume, Verdict},
};

/// Whether the agent runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Nothing was said yet, so nothing runs that could be paused.
    #[default]
    Opening,
    Running,
    /// On its way to the next boundary of one lane.
    Stepping,
    /// On its way to the end of the task.
    SteppingTask,
    /// Asked to pause; some lane has not come to a boundary yet.
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
        match self {
            Mode::Opening => "OPENING",
            Mode::Running => "RUNNING",
            Mode::Stepping => "STEPPING",
            Mode::SteppingTask => "TO TASK END",
            Mode::Pausing => "PAUSING",
            Mode::Paused => "PAUSED",
            Mode::Ended => "ENDED",
        }
    }
}

/// A lane that waits for the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Hold {
    pub lane: Lane,
    pub boundary: Boundary,
    /// Microseconds since the session was opened.
    pub since: u64,
}

/// An intervention that can be taken back.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Undoable {
    /// The event that made it.
    pub n: u64,
    /// The command that takes it back.
    pub back: Command,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Control {
    pub mode: Mode,
    /// In the order in which they came.
    pub held: Vec<Hold>,
    /// Lanes that the user holds back alone.
    pub paused_lanes: BTreeSet<Lane>,
    /// Oldest first.
    pub undo: Vec<Undoable>,
}

impl Control {
    pub(super) fn hold(&mut self, lane: Lane, boundary: Boundary, since: u64) {
        self.held.push(Hold { lane, boundary, since });
    }

    /// Releases the lane; `None` for one that is not held.
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

    /// Whether any lane is held at this boundary.
    pub fn is_held_at(&self, boundary: Boundary) -> bool {
        self.held.iter().any(|hold| hold.boundary == boundary)
    }

    /// The evaluator has added to a score that the user set: taking the edit back must leave that.
    pub(super) fn keep_learned(&mut self, verdict: &Verdict) {
        for undoable in &mut self.undo {
            if let Command::SetScore { tool, score } = &mut undoable.back
                && *tool == verdict.tool
            {
                *score += f64::from(verdict.score);
            }
        }
    }

    /// Notes how to take this event back, or that it took another one back.
    pub(super) fn remember(&mut self, record: &Record) {
        let Some((by, back)) = opposite(&record.event) else { return };
        match by {
            By::User => self.undo.push(Undoable { n: record.n, back }),
            By::Undo(n) => self.undo.retain(|undoable| undoable.n != n),
            By::Engine => {}
        }
    }
}

/// Who made this event, and the command that takes it back; `None` where undoing means nothing.
fn opposite(event: &Event) -> Option<(By, Command)> {
    Some(match event {
        Event::ScoreSet { tool, was, by, .. } => {
            (*by, Command::SetScore { tool: tool.clone(), score: *was })
        }
        Event::WeightPinned { from, to, was, by, .. } => {
            let (from, to) = (from.clone(), to.clone());
            let back = match was {
                Some(weight) => Command::PinWeight { from, to, weight: *weight },
                None => Command::UnpinWeight { from, to },
            };
            (*by, back)
        }
        Event::WeightUnpinned { from, to, was, by } => {
            (*by, Command::PinWeight { from: from.clone(), to: to.clone(), weight: *was })
        }
        Event::KnobTurned { knob, was, by, .. } => {
            (*by, Command::TurnKnob { knob: *knob, value: *was })
        }
        Event::RoleBound { role, was, by, .. } => {
            (*by, Command::BindRole { role: *role, model: was.clone() })
        }
        Event::StrategyChosen { was, by, .. } => {
            (*by, Command::UseStrategy { strategy: was.clone() })
        }
        Event::ToolSwitched { tool, on, by } => {
            (*by, Command::SwitchTool { tool: tool.clone(), on: !on })
        }
        Event::LanePaused { lane, by } => (*by, Command::ResumeLane(*lane)),
        Event::LaneResumed { lane, by } => (*by, Command::PauseLane(*lane)),
        Event::ToolClassSet { tool, was, by, .. } => {
            (*by, Command::SetClass { tool: tool.clone(), class: was.clone() })
        }
        Event::FaultArmed { fault, by, .. } => (*by, Command::DisarmFault { fault: *fault }),
        Event::FaultDisarmed { fault, by } => (*by, Command::RearmFault { fault: *fault }),
        Event::UsesSet { tool, was, by, .. } => {
            (*by, Command::SetUses { tool: tool.clone(), uses: *was })
        }
        Event::SessionOpened(_)
        | Event::SessionEnded { .. }
        | Event::ToolsAdded { .. }
        | Event::ToolsRemoved { .. }
        | Event::GraphLoaded { .. }
        | Event::PairsLoaded { .. }
        | Event::ModelsProbed { .. }
        | Event::ModelReached { .. }
        | Event::TasksQueued { .. }
        | Event::TaskStarted { .. }
        | Event::TryStarted { .. }
        | Event::StepStarted { .. }
        | Event::TaskFinished { .. }
        | Event::ModelCallRequested { .. }
        | Event::ModelCallStarted { .. }
        | Event::ModelCallProgressed { .. }
        | Event::ModelCallRetried { .. }
        | Event::ModelCallFinished { .. }
        | Event::ModelCallFailed { .. }
        | Event::EmbeddingStarted { .. }
        | Event::EmbeddingFinished { .. }
        | Event::EmbeddingFailed { .. }
        | Event::ToolCallRequested { .. }
        | Event::ToolCallRefused { .. }
        | Event::ToolCallStarted { .. }
        | Event::FaultFired { .. }
        | Event::ToolCallFinished { .. }
        | Event::ToolCallFailed { .. }
        | Event::Judged { .. }
        | Event::ToolBlacklisted { .. }
        | Event::BudgetPlanned { .. }
        | Event::SummaryStarted { .. }
        | Event::ToolsClassified { .. }
        | Event::PlanWritten { .. }
        | Event::PlanRefused { .. }
        | Event::EvidenceAsked { .. }
        | Event::EvidenceFound { .. }
        | Event::NodeOpened { .. }
        | Event::NodeEntered { .. }
        | Event::NodesRanked { .. }
        | Event::NodeClosed { .. }
        | Event::Evaluated { .. }
        | Event::EvaluationRefused { .. }
        | Event::EdgeExplored { .. }
        | Event::Resumed { .. }
        | Event::PauseRequested { .. }
        | Event::Paused
        | Event::Held { .. }
        | Event::Released { .. }
        | Event::CommandRefused { .. }
        | Event::Noticed { .. }
        | Event::Unknown { .. } => return None,
    })
}
