//! Tasks and their steps.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::budget::{CENT, TaskBudget};
use super::{grading::Grading, programs::ProgramState, search::SearchTree, work::PlanProgress};
use crate::event::{BudgetPlan, CacheBreak, Caveat, MenuItem, Outcome, ToolVerdict};
use crate::finite::Finite;
use crate::id::{EffectId, TaskId, ToolName};
use crate::{chat::Role, spec::Task, strategy::Strategy};

fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// The progress of a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskPhase {
    Queued,
    Running,
    Done { outcome: Outcome },
}

/// State of a task, with its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskState {
    pub id: TaskId,
    pub task: Task,
    pub phase: TaskPhase,
    /// The strategy for it; `None` until it starts.
    pub strategy: Option<Strategy>,
    /// The current attempt, from 1.
    pub tries: u32,
    pub reflections: Vec<String>,
    /// The steps of all attempts, in order.
    pub steps: Vec<StepState>,
    /// The tools that the agent's requests define; `None` before its first menu.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub array: Option<Arc<[ToolName]>>,
    /// All tools that the requests define, if they begin with the definitions of earlier tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defined: Option<Arc<[ToolName]>>,
    /// Number of times that the array changed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_breaks: u32,
    /// The number of steps in the plans of all attempts.
    pub plans: u64,
    #[serde(rename = "asks")]
    pub model_calls: Vec<EffectId>,
    #[serde(rename = "calls")]
    pub tool_calls: Vec<EffectId>,
    pub answer: Option<String>,
    pub correct: Option<bool>,
    /// Caveats about the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub caveats: Vec<Caveat>,
    /// Verdict of the grader on the answer; `None` if no grader was called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grading: Option<Grading>,
    pub verdicts: Vec<ToolVerdict>,
    /// Microseconds since the session was opened.
    pub started: Option<u64>,
    pub ended: Option<u64>,
    /// When the agent was held between effects: from and until, in microseconds since the session was opened.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<(u64, u64)>,
    pub tokens_in: u64,
    /// Part of `tokens_in` that endpoints had in their cache.
    pub cached: u64,
    pub tokens_out: u64,
    pub budget: TaskBudget,
    /// A planner's plan and its evidence; empty for strategies without a planner.
    pub work: PlanProgress,
    /// The programs that were written; empty for strategies that write none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<ProgramState>,
    /// The search tree; empty for strategies that do not search.
    pub search: SearchTree,
    /// US dollars of the model calls with a known price.
    pub dollars: Finite,
    /// Model calls without a known price; if above 0, `dollars` is a lower bound.
    pub unpriced: u32,
    /// Whether any of `dollars` is by list prices.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub listed: bool,
    /// Whether the task's details are gone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_bare: bool,
    /// The place of its first line in the transcript.
    #[serde(default)]
    pub first_line: usize,
    /// The bytes of the texts that the task and its calls hold.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub text_bytes: u32,
    /// The event that ended it; 0 before.
    #[serde(default)]
    pub ended_by: u64,
}

/// Decision of the agent: its position and its choices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepState {
    /// From 1 within its attempt; a search continues the count over all attempts, so that it names
    /// a node.
    pub step: u32,
    pub from: ToolName,
    pub menu: Arc<[MenuItem]>,
    /// The model call that decides.
    #[serde(rename = "ask")]
    pub model_call: Option<EffectId>,
    /// The chosen tool call; of several, the last.
    pub call: Option<EffectId>,
}

impl TaskState {
    pub(super) fn new(id: TaskId, task: Task) -> Self {
        Self {
            id,
            task,
            phase: TaskPhase::Queued,
            strategy: None,
            tries: 0,
            reflections: Vec::new(),
            steps: Vec::new(),
            array: None,
            defined: None,
            cache_breaks: 0,
            plans: 0,
            model_calls: Vec::new(),
            tool_calls: Vec::new(),
            answer: None,
            correct: None,
            caveats: Vec::new(),
            grading: None,
            verdicts: Vec::new(),
            started: None,
            ended: None,
            held: Vec::new(),
            tokens_in: 0,
            cached: 0,
            tokens_out: 0,
            budget: TaskBudget::default(),
            work: PlanProgress::default(),
            programs: Vec::new(),
            search: SearchTree::default(),
            dollars: 0.0.into(),
            unpriced: 0,
            listed: false,
            is_bare: false,
            first_line: 0,
            text_bytes: 0,
            ended_by: 0,
        }
    }

    pub(super) fn start(&mut self, at: u64, strategy: Strategy) {
        self.phase = TaskPhase::Running;
        self.strategy = Some(strategy);
        self.started = Some(at);
        self.tries = 1;
    }

    pub(super) fn retry(&mut self, number: u32, reflections: &[String]) {
        self.tries = number;
        self.reflections = reflections.to_vec();
        self.budget.closing = false;
        self.search = SearchTree::default();
        self.work = PlanProgress::default();
        self.programs.clear();
    }

    pub(super) fn step(&mut self, step: u32, from: &ToolName, menu: &Arc<[MenuItem]>) {
        let (from, menu) = (from.clone(), Arc::clone(menu));
        self.steps.push(StepState { step, from, menu, model_call: None, call: None });
    }

    pub(super) fn set_array(
        &mut self,
        tools: &Arc<[ToolName]>,
        defined: Option<Arc<[ToolName]>>,
        lost: Option<&CacheBreak>,
    ) {
        (self.array, self.defined) = (Some(Arc::clone(tools)), defined);
        self.cache_breaks += u32::from(lost.is_some());
    }

    pub(super) fn add_model_call(&mut self, role: Role, call: EffectId) {
        self.model_calls.push(call);
        if let (Role::Actor, Some(step)) = (role, self.steps.last_mut()) {
            // Other model calls of an actor may follow, such as the closing summary.
            step.model_call.get_or_insert(call);
        }
    }

    pub(super) fn add_tool_call(&mut self, call: EffectId) {
        self.tool_calls.push(call);
        if let Some(step) = self.steps.last_mut() {
            step.call = Some(call);
        }
    }

    /// The step of a node of a search, by the node's number.
    pub fn step_of(&self, node: u32) -> Option<&StepState> {
        self.steps.iter().rfind(|step| step.step == node)
    }

    pub(super) fn finish(
        &mut self,
        at: u64,
        outcome: Outcome,
        answer: Option<&str>,
        correct: Option<bool>,
    ) {
        self.phase = TaskPhase::Done { outcome };
        self.ended = Some(at);
        self.answer = answer.map(str::to_owned);
        self.correct = correct;
    }

    /// The task without its details, as a list of tasks shows it.
    pub(super) fn bared(&self) -> Self {
        let of = |plan: &Arc<BudgetPlan>| Arc::new(plan.without_tools());
        let steps =
            self.steps.iter().map(|step| StepState { menu: Arc::default(), ..step.clone() });
        let budget = TaskBudget {
            first: self.budget.first.as_ref().map(of),
            plan: self.budget.plan.as_ref().map(of),
            plans: self.budget.plans,
            spent: self.budget.spent,
            overrun: self.budget.overrun,
            refused: self.budget.refused,
            ..TaskBudget::default()
        };
        Self {
            is_bare: true,
            text_bytes: 0,
            array: None,
            defined: None,
            task: self.task.clone(),
            answer: self.answer.clone(),
            caveats: self.caveats.clone(),
            model_calls: self.model_calls.clone(),
            tool_calls: self.tool_calls.clone(),
            steps: steps.collect(),
            reflections: Vec::new(),
            held: Vec::new(),
            verdicts: Vec::new(),
            grading: self.grading.clone(),
            budget,
            work: PlanProgress::default(),
            programs: Vec::new(),
            search: SearchTree::default(),
            phase: self.phase.clone(),
            ..*self
        }
    }

    /// How it ended, if it has.
    pub fn outcome(&self) -> Option<Outcome> {
        match self.phase {
            TaskPhase::Done { outcome } => Some(outcome),
            TaskPhase::Queued | TaskPhase::Running => None,
        }
    }

    /// How it ended, in words: `answered without evidence`.
    pub fn ended_as(&self) -> Option<String> {
        let caveats: Vec<&str> = self.caveats.iter().map(|caveat| caveat.name()).collect();
        let outcome = self.outcome()?.name();
        if caveats.is_empty() {
            return Some(outcome.to_owned());
        }
        Some(format!("{outcome} {}", caveats.join(", ")))
    }

    /// Whether the task ended with an answer that is not known to be wrong.
    pub fn is_solved(&self) -> bool {
        self.outcome() == Some(Outcome::Answered) && self.correct != Some(false)
    }

    /// Steps as papers count them: the decisions of an agent, or for a planner the plans and the
    /// answer of each attempt.
    pub fn steps_taken(&self) -> u64 {
        self.plans.saturating_add(self.steps.len() as u64)
    }

    /// Credits spent so far.
    pub fn credits(&self) -> f64 {
        self.budget.spent.total()
    }

    /// Whether more than this budget was spent.
    pub fn is_over(&self, budget: f64) -> bool {
        self.credits() > budget + CENT
    }

    pub fn tokens(&self) -> u64 {
        self.tokens_in.saturating_add(self.tokens_out)
    }
}
