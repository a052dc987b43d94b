//! The fold of budget events: plans, uses, and what calls cost (BTP).

use std::sync::Arc;

use super::Family;
use crate::event::{BudgetEvent, Record, Refusal};
use crate::id::{EffectId, TaskId, ToolName};
use crate::knob::Knob;
use crate::state::budget::CENT;
use crate::state::{Landmark, Overrun, Spent, State, TaskBudget, What};

impl State {
    fn apply_budget(&mut self, event: &BudgetEvent) {
        match event {
            BudgetEvent::BudgetPlanned { task, why, plan } => {
                let Some(budget) = self.budget_mut(*task) else { return };
                budget.before = budget.plan.replace(Arc::clone(plan));
                budget.first.get_or_insert_with(|| Arc::clone(plan));
                budget.why.clone_from(why);
                budget.plans += 1;
                budget.used.clear();
            }
            BudgetEvent::UsesSet { task, tool, uses, .. } => {
                if let Some(budget) = self.budget_mut(*task) {
                    budget.set.insert(tool.clone(), *uses);
                }
            }
            BudgetEvent::ToolBlacklisted { task, tool, why } => {
                if let Some(budget) = self.budget_mut(*task) {
                    budget.blacklist.insert(tool.clone(), why.clone());
                }
            }
            BudgetEvent::SummaryStarted { task, .. } => {
                if let Some(budget) = self.budget_mut(*task) {
                    budget.closing = true;
                }
            }
            BudgetEvent::Judged { call, helpful, .. } => self.judge(*call, *helpful),
        }
    }

    fn judge(&mut self, call: EffectId, helpful: bool) {
        let Some(call) = self.tool_call_mut(call) else { return };
        call.helpful = Some(helpful);
        let (task, tool) = (call.task, call.tool.clone());
        let Some(budget) = self.budget_mut(task) else { return };
        let ledger = budget.tool(&tool);
        ledger.judged += 1;
        ledger.helpful += u32::from(helpful);
        if helpful {
            budget.helped.insert(tool);
        }
    }

    /// A call of this tool starts: its own cost is due, regardless of the outcome.
    pub(super) fn charge_call(&mut self, task: TaskId, tool: &ToolName, credits: f64) {
        self.control.changes.keep_used(task, tool);
        let Some(budget) = self.budget_mut(task) else { return };
        let cost = Spent { tools: credits.into(), ..Spent::default() };
        *budget.used.entry(tool.clone()).or_default() += 1;
        if let Some(set) = budget.set.get_mut(tool) {
            *set = set.saturating_sub(1);
        }
        let ledger = budget.tool(tool);
        ledger.uses += 1;
        ledger.spent += cost;
        budget.spent += cost;
    }

    /// A call took this long.
    pub(super) fn charge_call_time(&mut self, task: TaskId, tool: &ToolName, micros: u64) {
        if self.reads_on(tool) {
            return;
        }
        let time = Spent { time: self.rates.time(micros).into(), ..Spent::default() };
        let Some(budget) = self.budget_mut(task) else { return };
        budget.tool(tool).spent += time;
        budget.spent += time;
    }

    pub(super) fn charge_model_call(&mut self, task: TaskId, credits: f64, micros: u64) {
        let cost = Spent {
            tools: 0.0.into(),
            models: credits.into(),
            time: self.rates.time(micros).into(),
        };
        if let Some(budget) = self.budget_mut(task) {
            budget.spent += cost;
        }
    }

    /// Notes the call that takes a task over its budget, which only the sums show.
    pub(super) fn note_overrun(&mut self, record: &Record) {
        let Some(effect) = record.event.effect() else { return };
        let budget = self.knobs.get(Knob::Budget);
        let task = self.effect(effect.id).map(|known| known.task);
        let Some(ledger) = task.and_then(|task| self.budget_mut(task)) else { return };
        let allowed = ledger.plan.as_ref().map_or(budget, |plan| *plan.budget);
        let spent = ledger.spent.total();
        if ledger.overrun.is_some() || spent <= allowed + CENT {
            return;
        }
        let (event, effect) = (record.n, effect.id);
        ledger.overrun =
            Some(Overrun { event, effect, spent: spent.into(), budget: allowed.into() });
        self.landmarks.add(Landmark::Over, event);
    }

    pub(super) fn refuse(&mut self, task: TaskId, tool: &ToolName, reason: Refusal) {
        let Some(budget) = self.budget_mut(task).filter(|_| reason.is_budget()) else { return };
        budget.refused += 1;
        let ledger = budget.tool(tool);
        ledger.refused += 1;
        ledger.refusal = Some(reason);
    }

    fn budget_mut(&mut self, task: TaskId) -> Option<&mut TaskBudget> {
        self.task_mut(task).map(|task| &mut task.budget)
    }
}

impl Family for BudgetEvent {
    fn fold(&self, state: &mut State, _at: u64) {
        state.apply_budget(self);
    }

    fn line(&self, state: &State) -> Option<(Option<TaskId>, What)> {
        match self {
            BudgetEvent::BudgetPlanned { task, why, plan } => {
                let before = state.task(*task).and_then(|task| task.budget.before.clone());
                let (why, plan) = (why.clone(), Arc::clone(plan));
                Some((Some(*task), What::BudgetPlanned { why, plan, before }))
            }
            BudgetEvent::ToolBlacklisted { .. }
            | BudgetEvent::SummaryStarted { .. }
            | BudgetEvent::UsesSet { .. } => What::told(self.clone()),
            BudgetEvent::Judged { .. } => None,
        }
    }
}
