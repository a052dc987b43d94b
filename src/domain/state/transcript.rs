//! The session as a person reads it: one line for each thing worth a line, in order. Lines point at
//! tasks, asks and calls instead of copying them, so that a line shows how a call stands *now*.

use std::sync::Arc;

use serde::Serialize;

use super::State;
use crate::domain::{
    error::ModelError,
    event::{BudgetPlan, By, Classed, Event, NodeEnd, Record},
    id::{EffectId, TaskId},
    plan::Plan,
};

/// A line of the transcript.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// The event that made it.
    pub n: u64,
    /// Microseconds since the session was opened.
    pub at: u64,
    /// The task at work at that moment.
    pub task: Option<TaskId>,
    pub what: What,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    TaskStarted,
    TryStarted {
        number: u32,
    },
    /// The place of the step in its task's list.
    Step {
        index: u32,
    },
    Ask {
        ask: EffectId,
    },
    Call {
        call: EffectId,
    },
    /// The verdicts are in the task.
    Evaluated {
        learned: bool,
    },
    TaskFinished,
    /// What the planner wants called.
    Plan {
        plan: Arc<Plan>,
    },
    /// How often each tool may be used from here on, and what was planned before.
    BudgetPlanned {
        why: String,
        plan: Arc<BudgetPlan>,
        before: Option<Arc<BudgetPlan>>,
    },
    /// Somebody changed something: what, in words.
    Intervention {
        text: String,
        by: By,
    },
    Notice {
        text: String,
    },
}

impl State {
    pub(super) fn transcribe(&mut self, record: &Record) {
        let Some((task, what)) = self.line(&record.event) else { return };
        let task = task.or_else(|| self.current_task().map(|task| task.id));
        self.transcript.push(Line { n: record.n, at: record.at, task, what });
    }

    fn line(&self, event: &Event) -> Option<(Option<TaskId>, What)> {
        let intervention =
            |by: &By, text: String| Some((None, What::Intervention { text, by: *by }));
        let notice = |text: String| Some((None, What::Notice { text }));
        match event {
            Event::TaskStarted { task } => Some((Some(*task), What::TaskStarted)),
            Event::TryStarted { task, number, .. } => {
                Some((Some(*task), What::TryStarted { number: *number }))
            }
            Event::StepStarted { task, .. } => {
                let steps = self.task(*task).map_or(0, |task| task.steps.len());
                let index = u32::try_from(steps.saturating_sub(1)).unwrap_or(u32::MAX);
                Some((Some(*task), What::Step { index }))
            }
            Event::ModelCallRequested { ask, task, .. } => {
                Some((Some(*task), What::Ask { ask: *ask }))
            }
            Event::ToolCallRequested { call, task, .. } => {
                Some((Some(*task), What::Call { call: *call }))
            }
            Event::Evaluated { task, learned, .. } => {
                Some((Some(*task), What::Evaluated { learned: *learned }))
            }
            Event::TaskFinished { task, .. } => Some((Some(*task), What::TaskFinished)),

            Event::BudgetPlanned { task, why, plan } => {
                let before = self.task(*task).and_then(|task| task.budget.before.clone());
                let (why, plan) = (why.clone(), Arc::clone(plan));
                Some((Some(*task), What::BudgetPlanned { why, plan, before }))
            }
            Event::ToolBlacklisted { tool, why, .. } => {
                notice(format!("{tool} is blacklisted for this task: {why}"))
            }
            Event::SummaryStarted { why, .. } => notice(format!("closing: {why}")),
            Event::NodeClosed { node, how, .. } if *how != NodeEnd::Answered => {
                notice(format!("step {node} leads nowhere: {}", how.name()))
            }
            Event::UsesSet { tool, uses, was, by, .. } => {
                intervention(by, format!("uses left of {tool}: {was} → {uses}"))
            }

            Event::ToolsClassified { tools } => {
                let said: Vec<_> =
                    tools.iter().map(|(tool, class)| format!("{tool} {}", class.class)).collect();
                notice(format!("sorted into classes: {}", said.join(", ")))
            }
            Event::ToolClassSet { tool, class, by, .. } => {
                let class = class.as_ref().map_or_else(|| "none".to_owned(), Classed::name);
                intervention(by, format!("class of {tool}: {class}"))
            }
            Event::PlanWritten { task, plan } => {
                Some((Some(*task), What::Plan { plan: Arc::clone(plan) }))
            }
            Event::PlanRefused { why, .. } => notice(format!("the plan could not be used: {why}")),
            Event::EvidenceFound { evidence, nulled: Some(nulled), saved, .. } => notice(format!(
                "{evidence} reaches the solver as null ({nulled}), {saved} tokens saved"
            )),
            Event::LanePaused { lane, by } => intervention(by, format!("{lane} stopped")),
            Event::LaneResumed { lane, by } => intervention(by, format!("{lane} may go on")),
            Event::ScoreSet { tool, score, was, by } => {
                intervention(by, format!("score of {tool}: {was} → {score}"))
            }
            Event::WeightPinned { from, to, weight, by, .. } => {
                intervention(by, format!("weight {from} → {to} pinned at {weight:.2}"))
            }
            Event::WeightUnpinned { from, to, by, .. } => {
                intervention(by, format!("weight {from} → {to} no longer pinned"))
            }
            Event::KnobTurned { knob, value, was, by } => {
                let spec = knob.spec();
                intervention(
                    by,
                    format!("{}: {} → {}", spec.name, spec.show(*was), spec.show(*value)),
                )
            }
            Event::RoleBound { role, model, was, by } => {
                intervention(by, format!("{role}: {was} → {model}"))
            }
            Event::StrategyChosen { strategy, was, by } => {
                intervention(by, format!("strategy: {was} → {strategy}"))
            }
            Event::ToolSwitched { tool, on, by } => {
                let how = if *on { "back on the menu" } else { "off the menu" };
                intervention(by, format!("{tool} {how}"))
            }
            Event::FaultArmed { fault, spec, by } => {
                intervention(by, format!("fault {fault} armed: {spec}"))
            }
            Event::FaultDisarmed { fault, by } => {
                intervention(by, format!("fault {fault} disarmed"))
            }
            Event::TasksQueued { tasks, by: by @ By::User, .. } if tasks.len() == 1 => {
                intervention(by, "a task was queued".to_owned())
            }
            Event::EdgeExplored { from, to } => notice(format!("new edge {from} → {to}")),
            Event::EvaluationRefused { why, .. } => notice(format!("evaluation refused: {why}")),
            Event::CommandRefused { command, why } => notice(format!("cannot {command}: {why}")),
            Event::Noticed { text } => notice(text.clone()),
            Event::SessionEnded { why } => notice(format!("session ended: {why}")),
            Event::ModelCallRetried { attempt, wait_ms, why, .. } => {
                notice(format!("try {attempt} failed ({why}); again in {wait_ms} ms"))
            }
            Event::EmbeddingFinished { model, usage, .. } => {
                notice(format!("{model} read the task, {} tokens", usage.tokens_in))
            }
            Event::EmbeddingFailed { model, error, .. } => notice(not_read(model, error)),
            Event::Unknown { kind, .. } => {
                notice(format!("event of unknown kind {kind} (a newer version wrote this journal)"))
            }
            Event::ToolsAdded { .. }
            | Event::ToolsRemoved { .. }
            | Event::TasksQueued { .. }
            | Event::Judged { .. }
            | Event::EvidenceAsked { .. }
            | Event::EvidenceFound { .. }
            | Event::NodeOpened { .. }
            | Event::NodeEntered { .. }
            | Event::NodesRanked { .. }
            | Event::NodeClosed { .. }
            | Event::SessionOpened(_)
            | Event::GraphLoaded { .. }
            | Event::PairsLoaded { .. }
            | Event::ModelsProbed { .. }
            | Event::ModelReached { .. }
            | Event::EmbeddingStarted { .. }
            | Event::ModelCallStarted { .. }
            | Event::ModelCallProgressed { .. }
            | Event::ModelCallFinished { .. }
            | Event::ModelCallFailed { .. }
            | Event::ToolCallRefused { .. }
            | Event::ToolCallStarted { .. }
            | Event::FaultFired { .. }
            | Event::ToolCallFinished { .. }
            | Event::ToolCallFailed { .. }
            | Event::Resumed { .. }
            | Event::PauseRequested { .. }
            | Event::Paused
            | Event::Held { .. }
            | Event::Released { .. } => None,
        }
    }
}

/// What a person is told of an embedding model that failed.
pub fn not_read(model: &str, error: &ModelError) -> String {
    format!("{model} did not read the task ({error}); past tasks are compared by their words")
}
