//! What is true now: a fold of events and nothing else. The engine, the screen, a replay and a report
//! each fold the same events with [`State::apply`] and so agree, byte for byte.
//!
//! A fold never fails: an event that names something unknown (a newer journal, a torn one) changes
//! what it can and leaves the rest.

use std::{collections::BTreeMap, sync::Arc};

use indexmap::IndexMap;
use serde::Serialize;

use crate::domain::{
    event::{Event, Record},
    id::{EffectId, FaultId, TaskId, ToolName},
    knob::Knobs,
    pairs::Pairs,
    rates::Rates,
    worker_settings::WorkerSettings,
};

pub mod budget;
pub mod calls;
pub mod control;
mod cost;
pub mod learning;
pub mod models;
mod pairs;
pub mod search;
pub mod tasks;
pub mod tools;
pub mod transcript;
pub mod work;

pub use budget::{Spent, TaskBudget, ToolLedger};
pub use calls::{ModelCallPhase, ModelCallState, ToolCallPhase, ToolCallState};
pub use control::{Control, Hold, Mode, Undoable};
pub use cost::Decides;
pub use learning::{Learning, ScorePoint};
pub use models::{ModelState, Models, Reachable, RoleUse};
pub use search::{NodeState, SearchTree};
pub use tasks::{StepState, TaskPhase, TaskState};
pub use tools::{FaultState, ToolState};
pub use transcript::{Line, What};
pub use work::{EvidenceState, Source, Work};

/// The whole session at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct State {
    /// The last event folded; 0 before the first.
    pub n: u64,
    /// When it happened, in microseconds since the session was opened.
    pub at: u64,
    pub seed: u64,
    pub workspace: String,
    pub strategy: String,
    pub control: Control,
    pub knobs: Knobs,
    pub rates: Rates,
    /// How the calls of plans are made.
    pub workers: WorkerSettings,
    pub models: Models,
    /// What came of whose tasks, in this session and those before.
    pub pairs: Pairs,
    pub tools: IndexMap<ToolName, ToolState>,
    pub learning: Learning,
    /// In the order of their numbers, which count from 1.
    pub tasks: Vec<TaskState>,
    /// The task at work.
    pub at_work: Option<TaskId>,
    /// How many tasks have ended.
    pub tasks_done: usize,
    /// In the order of their numbers, which count from 1.
    pub asks: Vec<ModelCallState>,
    /// In the order of their numbers, which count from 1.
    pub calls: Vec<ToolCallState>,
    pub faults: BTreeMap<FaultId, FaultState>,
    pub transcript: Vec<Line>,
    /// How many events of unknown kind were met.
    pub unknown_events: u64,
}

impl State {
    /// The state after these events.
    pub fn fold<'a>(records: impl IntoIterator<Item = &'a Record>) -> Self {
        let mut state = State::default();
        for record in records {
            state.apply(record);
        }
        state
    }

    /// Folds one event.
    pub fn apply(&mut self, record: &Record) {
        self.n = record.n;
        self.at = record.at;
        let at = record.at;
        match &record.event {
            Event::SessionOpened(opening) => self.open(opening),
            Event::SessionEnded { .. } => {
                self.control.mode = Mode::Ended;
                self.models.stop_probing();
            }

            Event::ToolsAdded { tools } => {
                for spec in tools {
                    self.join(Arc::clone(spec));
                }
            }
            Event::ToolsRemoved { tools } => {
                for tool in tools {
                    self.leave(tool);
                }
            }
            Event::ToolSwitched { tool, on, .. } => {
                if let Some(tool) = self.tools.get_mut(tool) {
                    tool.switched_on = *on;
                }
            }
            Event::GraphLoaded { graph, scores } => self.learning.load(graph, scores),

            Event::TasksQueued { first, tasks, .. } => {
                if is_next(first.0, self.tasks.len()) {
                    for task in tasks {
                        let id = TaskId(next_number(self.tasks.len()));
                        self.tasks.push(TaskState::new(id, task.clone()));
                    }
                }
            }
            Event::TaskStarted { task } => {
                self.at_work = Some(*task);
                let strategy = self.strategy.clone();
                if let Some(task) = self.task_mut(*task) {
                    task.start(at, &strategy);
                }
            }
            Event::TryStarted { task, number, reflections } => {
                if let Some(task) = self.task_mut(*task) {
                    task.retry(*number, reflections);
                }
            }
            Event::StepStarted { task, step, from, menu } => {
                if let Some(task) = self.task_mut(*task) {
                    task.step(*step, from, menu);
                }
            }
            Event::TaskFinished { task, outcome, answer, correct } => {
                self.control.paused_lanes.clear();
                self.at_work = None;
                self.tasks_done += 1;
                if let Some(task) = self.task_mut(*task) {
                    task.finish(at, *outcome, answer.as_deref(), *correct);
                }
                if let Some(tally) = self.pair_tally(*task) {
                    self.pairs.add(&tally);
                }
            }

            Event::ModelCallRequested { .. }
            | Event::ModelCallStarted { .. }
            | Event::ModelCallProgressed { .. }
            | Event::ModelCallRetried { .. }
            | Event::ModelCallFinished { .. }
            | Event::ModelCallFailed { .. } => self.apply_ask(at, &record.event),

            Event::ToolCallRequested { .. }
            | Event::ToolCallRefused { .. }
            | Event::ToolCallStarted { .. }
            | Event::FaultFired { .. }
            | Event::ToolCallFinished { .. }
            | Event::ToolCallFailed { .. } => {
                self.apply_call(at, &record.event);
                self.seek(at, &record.event);
            }

            Event::ToolsClassified { tools } => {
                for (tool, class) in tools {
                    if let Some(tool) = self.tools.get_mut(tool) {
                        tool.classify(class);
                    }
                }
            }
            Event::ToolClassSet { tool, class, .. } => {
                if let Some(tool) = self.tools.get_mut(tool) {
                    tool.class.clone_from(class);
                }
            }
            Event::PlanWritten { .. }
            | Event::PlanRefused { .. }
            | Event::EvidenceAsked { .. }
            | Event::EvidenceFound { .. } => self.apply_work(at, &record.event),

            Event::EmbeddingFinished { task, usage, dollars, micros, .. } => {
                let credits = self.rates.ask(*dollars);
                self.charge_ask(*task, credits, *micros);
                self.count_tokens(*task, *usage, *dollars);
            }
            // What it cost besides time, nobody knows; refused requests cost nothing.
            Event::EmbeddingFailed { task, micros, .. } => self.charge_ask(*task, 0.0, *micros),

            Event::Judged { .. }
            | Event::ToolBlacklisted { .. }
            | Event::BudgetPlanned { .. }
            | Event::UsesSet { .. }
            | Event::SummaryStarted { .. } => self.apply_budget(&record.event),

            Event::NodeOpened { .. }
            | Event::NodeEntered { .. }
            | Event::NodesRanked { .. }
            | Event::NodeClosed { .. } => self.apply_search(&record.event),

            Event::Evaluated { task, verdicts, learned } => {
                if *learned {
                    self.learning.evaluate(*task, verdicts);
                    verdicts.iter().for_each(|verdict| self.control.keep_learned(verdict));
                }
                if let Some(task) = self.task_mut(*task) {
                    task.verdicts.clone_from(verdicts);
                }
            }
            Event::EdgeExplored { from, to } => {
                self.learning.graph.add_edge(from.as_str(), to.as_str());
            }
            Event::ScoreSet { tool, score, .. } => {
                let task = self.shown_task().map(|task| task.id);
                self.learning.set_score(task, tool, *score);
            }
            Event::WeightPinned { from, to, weight, .. } => {
                self.learning.pin(from, to, *weight);
            }
            Event::WeightUnpinned { from, to, .. } => {
                self.learning.pins.remove(from.as_str(), to.as_str());
            }

            Event::KnobTurned { knob, value, .. } => self.knobs.set(*knob, *value),
            Event::PairsLoaded { pairs } => pairs.iter().for_each(|tally| self.pairs.add(tally)),
            Event::ModelsProbed { models } => self.models.probe(at, models),
            Event::ModelReached { model, how, text } => self.models.reach(model, *how, text),
            Event::RoleBound { role, model, .. } => self.models.bind(*role, model),
            Event::StrategyChosen { strategy, .. } => self.strategy.clone_from(strategy),
            Event::FaultArmed { fault, spec, .. } => {
                self.arm(*fault, spec);
            }
            Event::FaultDisarmed { fault, .. } => {
                if let Some(fault) = self.faults.get_mut(fault) {
                    fault.armed = false;
                }
            }

            Event::Resumed { how, .. } => self.control.mode = Mode::from(*how),
            Event::PauseRequested { .. } => self.control.mode = Mode::Pausing,
            Event::Paused => self.control.mode = Mode::Paused,
            Event::Held { lane, boundary } => {
                self.control.hold(*lane, *boundary, at);
            }
            Event::Released { lane } => {
                if let Some(hold) = self.control.release(*lane) {
                    self.charge_hold(hold, at);
                }
            }
            Event::LanePaused { lane, .. } => {
                self.control.paused_lanes.insert(*lane);
            }
            Event::LaneResumed { lane, .. } => {
                self.control.paused_lanes.remove(lane);
            }
            Event::EmbeddingStarted { .. }
            | Event::EvaluationRefused { .. }
            | Event::CommandRefused { .. }
            | Event::Noticed { .. } => {}
            Event::Unknown { .. } => self.unknown_events += 1,
        }
        self.control.remember(record);
        self.transcribe(record);
    }

    fn open(&mut self, opening: &crate::domain::event::Opening) {
        self.seed = opening.seed;
        self.workspace.clone_from(&opening.workspace);
        self.strategy.clone_from(&opening.strategy);
        self.knobs = opening.knobs.clone();
        self.rates = opening.rates;
        self.workers.clone_from(&opening.workers);
        self.models = Models::new(&opening.models, &opening.roles);
        self.control.mode = if opening.paused { Mode::Paused } else { Mode::Running };
    }

    pub fn task(&self, id: TaskId) -> Option<&TaskState> {
        self.tasks.get(index(id.0)?)
    }

    fn task_mut(&mut self, id: TaskId) -> Option<&mut TaskState> {
        self.tasks.get_mut(index(id.0)?)
    }

    pub fn ask(&self, id: EffectId) -> Option<&ModelCallState> {
        self.asks.get(index(id.0)?)
    }

    pub fn call(&self, id: EffectId) -> Option<&ToolCallState> {
        self.calls.get(index(id.0)?)
    }

    /// The task at work, if any.
    pub fn current_task(&self) -> Option<&TaskState> {
        self.task(self.at_work?)
    }

    /// A task is at work or waits for its turn.
    pub fn has_work(&self) -> bool {
        self.at_work.is_some() || self.tasks_done < self.tasks.len()
    }

    /// The task that a person most likely means: the one at work, else the last that was.
    pub fn shown_task(&self) -> Option<&TaskState> {
        // Tasks are taken in order, so as many were started as have ended or are at work.
        let started = self.tasks_done + usize::from(self.at_work.is_some());
        self.tasks.get(started.checked_sub(1)?)
    }

    /// The first task that nobody has started.
    pub fn next_task(&self) -> Option<&TaskState> {
        self.tasks.get(self.tasks_done + usize::from(self.at_work.is_some()))
    }

    /// Calls that run or are held at this moment. Looks at the recent past only.
    pub fn calls_in_flight(&self) -> impl Iterator<Item = &ToolCallState> {
        let first = self.current_task().and_then(|task| task.calls.first());
        let from = first.and_then(|call| index(call.0)).unwrap_or(self.calls.len());
        self.calls[from.min(self.calls.len())..].iter().filter(|call| !call.phase.is_over())
    }

    /// The model request in flight, if any.
    pub fn ask_in_flight(&self) -> Option<&ModelCallState> {
        self.asks.last().filter(|ask| !ask.phase.is_over())
    }

    /// The tools that may be offered now, in order.
    pub fn offered_tools(&self) -> impl Iterator<Item = &ToolState> {
        self.tools.values().filter(|tool| tool.is_offered())
    }

    /// How many faults are armed.
    pub fn faults_armed(&self) -> usize {
        self.faults.values().filter(|fault| fault.armed).count()
    }
}

/// The number of the next thing in a list of this length; numbers count from 1 without gaps.
pub(crate) fn next_number(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX).saturating_add(1)
}

/// Whether something with this number goes at the end of a list of this length. Lists are looked up
/// by number, so what a damaged journal has elsewhere is left out.
fn is_next(number: u32, len: usize) -> bool {
    index(number) == Some(len)
}

/// The place of the thing with this number in its list.
fn index(number: u32) -> Option<usize> {
    number.checked_sub(1).map(|i| i as usize)
}
