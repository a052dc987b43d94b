//! The current state: a fold of events and nothing else. The engine, the screen, a replay and a
//! report each fold the same events with [`State::apply`] and so agree, byte for byte.
//!
//! The files of this folder hold its parts, which know nothing of the whole. `query` reads the whole, and
//! `fold` changes it: a file for each family of events. Neither is used by a part.
//!
//! As JSON it keeps the field names of `replay --json`.
//!
//! A fold never fails: an event that names something unknown (a newer journal, a torn one) is
//! applied as far as possible, and the rest is left out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::finite::Finite;
use crate::id::{BreakpointId, EffectId, FaultId, RunId, TaskId, ToolName};
use crate::role_settings::{FewShot, SamplingOfRoles};
use crate::{
    approval::Approval, knob::Knobs, pairs::Pairs, probe::Probing, prompt::Prompts, rates::Rates,
    strategy::Strategy, worker_settings::WorkerSettings,
};

pub mod breakpoints;
pub mod budget;
pub mod control;
mod current_tasks;
mod effects;
mod embeddings;
mod faults;
mod fold;
pub mod grading;
mod in_task;
mod known_tool;
mod landmarks;
mod laps;
pub mod learning;
pub mod model_calls;
pub mod models;
mod opposite;
mod problems;
pub mod programs;
mod query;
pub mod reader;
mod rolling_list;
mod runs;
pub mod search;
mod servers;
mod successions;
pub mod tasks;
pub mod tool_calls;
pub mod tools;
pub mod transcript;
pub mod undo;
pub mod work;

pub use breakpoints::{BreakpointState, BreakpointStop};
pub use budget::{Overrun, Spent, TaskBudget, ToolLedger};
pub use control::{Control, Hold, Mode};
pub use current_tasks::AtWork;
pub use effects::{EffectIndex, EffectState};
pub use embeddings::EmbeddingState;
pub use faults::FaultState;
pub use grading::Grading;
pub use in_task::InTask;
pub use landmarks::{Landmark, Landmarks};
pub use laps::{Lap, Reaction, ReactionExample, TakenHit, Tried, TriedEnd};
pub use learning::Learning;
pub use model_calls::{ModelCallPhase, ModelCallState, Rewritten};
pub use models::{ModelState, Models, Reachable};
pub use problems::{AgentProblem, AgentProblems, NextMove, ProblemKind};
pub use programs::{Blamed, ProgramState};
pub use query::{CallMark, Cause, ProbingSums, Repeat, Uncached};
pub use reader::ReaderState;
pub use rolling_list::RollingList;
pub use runs::{RunState, Watched};
pub use search::{NodeState, SearchTree};
pub use servers::{ChangedDefinition, ServerStage, ServerState};
pub use successions::{Followed, FollowedEdge, FollowedTask};
pub use tasks::{StepState, TaskPhase, TaskState};
pub use tool_calls::{Relayed, ToolCallPhase, ToolCallState};
pub use tools::ToolState;
pub use transcript::{TranscriptLine, What};
pub use undo::Undoable;
pub use work::{EvidenceSource, EvidenceState, PlanProgress};

/// The whole session at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The last event folded; 0 before the first.
    pub n: u64,
    /// When it happened, in microseconds since the session was opened.
    pub at: u64,
    pub seed: u64,
    pub workspace: String,
    /// The strategy from the next task on.
    pub strategy: Strategy,
    pub control: Control,
    pub knobs: Knobs,
    pub rates: Rates,
    /// How many US dollars the session may cost; `None`: any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_dollars: Option<Finite>,
    /// The settings for calls of plans.
    pub workers: WorkerSettings,
    /// The prompts sent to models.
    pub prompts: Prompts,
    /// How the answers of roles are sampled, where that is configured.
    #[serde(default, skip_serializing_if = "SamplingOfRoles::is_empty")]
    pub sampling: SamplingOfRoles,
    /// Examples that roles see before their task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub few_shots: Vec<FewShot>,
    pub models: Models,
    /// Results per planner/solver pair, in this session and earlier ones.
    pub pairs: Pairs,
    pub tools: IndexMap<ToolName, ToolState>,
    /// The tools that the agent's requests have defined since this list last started again, in this order.
    #[serde(default, skip_serializing_if = "is_no_tool")]
    pub defined: Arc<[ToolName]>,
    /// The servers of tools, by their keys in the configuration.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub servers: BTreeMap<Arc<str>, ServerState>,
    pub learning: Learning,
    /// The last probing of tools, or the one at work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probing: Option<Arc<Probing>>,
    /// The local model that reads along, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reader: Option<ReaderState>,
    #[serde(skip)]
    keeps: Keeps,
    /// Number of leading tasks whose details are gone.
    #[serde(default)]
    bare: usize,
    /// In the order of their numbers, which count from 1.
    pub tasks: RollingList<Arc<TaskState>>,
    /// The tasks that have ended, in short.
    #[serde(default)]
    pub laps: RollingList<Lap>,
    /// The tasks at work.
    pub at_work: AtWork,
    /// The runs beside the first, and how each differs from it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub runs: BTreeMap<RunId, RunState>,
    /// Where watched agents act.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watched: Option<Arc<Watched>>,
    /// Counts of what came after what in the calls of watched agents; empty for an agent of toolyard.
    #[serde(default, skip_serializing_if = "Followed::is_empty")]
    pub followed: Followed,
    /// How many tasks have ended.
    pub tasks_done: usize,
    /// How many of those could be judged, and how many were right.
    #[serde(default)]
    pub tasks_judged: usize,
    #[serde(default)]
    pub tasks_right: usize,
    /// In the order of their numbers, which count from 1 over all effects.
    #[serde(default)]
    effects: RollingList<EffectIndex>,
    /// Effects that wait, are held or run, in the order of their numbers.
    #[serde(default)]
    in_flight: Vec<EffectId>,
    /// Model calls, in the order in which they were requested.
    #[serde(rename = "asks")]
    pub model_calls: RollingList<ModelCallState>,
    /// Tool calls, in the order in which they were requested.
    #[serde(rename = "calls")]
    pub tool_calls: RollingList<ToolCallState>,
    /// The tool calls that a person made, as long as their details are kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_hand: Vec<EffectId>,
    /// In the order in which they were requested.
    pub embeddings: RollingList<EmbeddingState>,
    pub faults: BTreeMap<FaultId, FaultState>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub breakpoints: BTreeMap<BreakpointId, BreakpointState>,
    /// Calls that may have changed something, and ran when the session was interrupted: the tool, and canonical arguments.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub unknown: BTreeSet<(ToolName, String)>,
    /// Rules for the tool calls that need a person's consent.
    #[serde(default)]
    pub approval: Approval,
    /// The number of the newest breakpoint, deleted or not.
    #[serde(default)]
    pub breakpoints_set: u32,
    pub transcript: RollingList<TranscriptLine>,
    /// The events that a person wants to go to.
    #[serde(default, skip_serializing_if = "Landmarks::is_empty")]
    pub landmarks: Landmarks,
    /// The problems of the agents. Details of old tasks are forgotten, and these are not.
    #[serde(default, skip_serializing_if = "AgentProblems::is_empty")]
    pub problems: AgentProblems,
    /// The number of events of unknown kind.
    pub unknown_events: u64,
    /// The number of fields unknown to this version.
    pub unknown_fields: u64,
}

/// How many ended tasks a session keeps in memory with all their details.
pub const RECENT: usize = 32;

/// The most bytes of texts that these tasks may hold. The one that ended last is kept whatever it holds.
pub const TEXTS: usize = 12 << 20;

/// Number of tasks before these that stay in the list of tasks. Others are read back when a person looks at them.
pub const LISTED: usize = 1024;

/// Memory of the tasks that have ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keeps {
    /// All details of all tasks.
    #[default]
    All,
    /// All details of this many last tasks; of some others, the data that a list of tasks shows.
    Details(usize),
    /// All details of this many last tasks; nothing of the others.
    Tasks(usize),
}

fn is_no_tool(tools: &Arc<[ToolName]>) -> bool {
    tools.is_empty()
}

impl State {
    /// A state before the first event.
    pub fn keeping(keeps: Keeps) -> Self {
        Self { keeps, ..Self::default() }
    }

    /// Whether the details of a task are gone.
    pub fn is_bare(&self, id: TaskId) -> bool {
        let is_old = index(id.0).is_some_and(|at| at < self.bare);
        is_old && self.task(id).is_none_or(|task| task.is_bare)
    }

    pub fn task(&self, id: TaskId) -> Option<&TaskState> {
        self.tasks.get(index(id.0)?).map(|task| &**task)
    }

    /// The line of the transcript that this event made.
    pub fn line(&self, n: u64) -> Option<&TranscriptLine> {
        let at = self.transcript.partition_point(|line| line.n < n);
        self.transcript.get(at).filter(|line| line.n == n)
    }

    fn task_mut(&mut self, id: TaskId) -> Option<&mut TaskState> {
        self.tasks.get_mut(index(id.0)?).map(Arc::make_mut)
    }

    /// A program of a task by its number.
    pub fn program(&self, task: TaskId, number: u32) -> Option<&ProgramState> {
        self.task(task)?.programs.iter().find(|program| program.number == number)
    }

    /// Whether a task probes tools.
    pub fn is_probe(&self, task: TaskId) -> bool {
        self.task(task).is_some_and(|task| task.task.probe.is_some())
    }

    /// The task at work whose run was last active.
    pub fn task_at_work(&self) -> Option<&TaskState> {
        self.task(self.at_work.shown()?)
    }

    /// The run of a task; the first run if the task does not exist.
    pub fn run_of(&self, task: TaskId) -> RunId {
        self.task(task).map_or(RunId::FIRST, |task| task.task.run)
    }

    /// The number of effects requested so far.
    pub fn effects_requested(&self) -> usize {
        self.effects.len()
    }

    /// Whether there is a current task or a queued one.
    pub fn has_work(&self) -> bool {
        !self.at_work.is_empty() || self.tasks_done < self.tasks.len()
    }

    /// How many tasks have started: the first ones, since tasks are taken in order.
    pub fn tasks_started(&self) -> usize {
        self.tasks_done + self.at_work.len()
    }

    /// Whether this task waits in the queue.
    pub fn is_queued(&self, id: TaskId) -> bool {
        self.task(id).is_some_and(|task| task.phase == TaskPhase::Queued)
    }

    /// The task that a person most likely means: the one at work, else the last one.
    pub fn shown_task(&self) -> Option<&TaskState> {
        let last = || self.tasks.get(self.tasks_started().checked_sub(1)?).map(|task| &**task);
        self.task_at_work().or_else(last)
    }

    /// The first task that has not started.
    pub fn next_task(&self) -> Option<&TaskState> {
        self.tasks.get(self.tasks_started()).map(|task| &**task)
    }

    /// The first task of this run that has not started.
    pub fn next_task_of(&self, run: RunId) -> Option<&TaskState> {
        let waiting = (self.tasks_started()..self.tasks.len()).filter_map(|at| self.tasks.get(at));
        waiting.map(|task| &**task).find(|task| task.task.run == run)
    }

    /// All runs, in order.
    pub fn all_runs(&self) -> impl Iterator<Item = RunId> {
        let others = self.runs.keys().copied().filter(|run| *run != RunId::FIRST);
        [RunId::FIRST].into_iter().chain(others)
    }

    /// The strategy that a run uses for its next task.
    pub fn strategy_of(&self, run: RunId) -> Strategy {
        self.runs.get(&run).and_then(|run| run.strategy).unwrap_or(self.strategy)
    }

    /// The number of problems so far.
    pub fn problems_count(&self) -> u64 {
        self.problems.count()
    }

    /// How many faults are armed.
    pub fn faults_armed(&self) -> usize {
        self.faults.values().filter(|fault| fault.armed).count()
    }
}

/// The number of the next thing in a list of this length; numbers count from 1 without gaps.
pub fn next_number(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX).saturating_add(1)
}

/// Whether this number is the next one for a list of this length. Lists are looked up by number, so
/// gaps in a damaged journal are left out.
fn is_next(number: u32, len: usize) -> bool {
    index(number) == Some(len)
}

/// The place of the thing with this number in its list.
fn index(number: u32) -> Option<usize> {
    number.checked_sub(1).map(|i| i as usize)
}
