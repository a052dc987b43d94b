//! The engine's part in a task's budget: it looks up the past of matching tools, asks the
//! [`Policy`], and makes the events. The plan is recomputed whenever its inputs change, before the
//! agent takes its next step.

use std::sync::Arc;

use super::{Session, budgeting::Budgeting};
use crate::domain::{
    BudgetEvent, BudgetPlan, By, EffectId, Event, Knob, KnownTool, SessionEvent, TaskBudget,
    TaskId, ToolName,
};
use crate::engine::Memory;
use crate::papers::btp::candidates;
use crate::papers::btp::policy::Policy;
use crate::store::experience::{Experience, ExperienceError, Query, Same};

impl Session {
    /// Whether tasks can be compared by their embeddings.
    pub fn can_embed(&self) -> bool {
        self.budgeting.can_embed()
    }

    pub fn policy(&self) -> Policy<'_> {
        let (known, allotted) = (&self.budgeting.known, self.lanes.allotted());
        Policy { state: &self.state, known, allotted }
    }

    /// Makes the first plan of a task with an enforced budget.
    pub fn plan_task(&mut self, task: TaskId) {
        let Some(text) = self.state.task(task).map(|task| task.task.sought().into_owned()) else {
            return;
        };
        let has_candidates = self.policy().has_candidates(task);
        self.budgeting.known = if has_candidates { self.look_up(&text) } else { Vec::new() };
        let plan = self.policy().make_plan(task);
        let uses = plan.uses();
        self.say(task, "planned", plan);
        if uses == 0 && !self.budgeting.known.is_empty() {
            self.widen(&[&text], None, "no matching tool is useful");
        }
    }

    /// Replans the current task for the rest of its budget, if it has a plan, and records the new
    /// plan.
    pub fn replan(&mut self, why: &str) {
        if let Some(task) = self.policy().budgeted().map(|(task, _)| task.id) {
            let plan = self.policy().make_plan(task);
            self.say(task, why, plan);
        }
    }

    /// The same, but records a plan only if it differs.
    pub fn replan_quietly(&mut self, why: &str) {
        let policy = self.policy();
        let Some(task) = policy.budgeted().map(|(task, _)| task.id) else { return };
        let plan = policy.make_plan(task);
        if policy.is_news(&plan) {
            self.say(task, why, plan);
        }
    }

    fn say(&mut self, task: TaskId, why: &str, plan: BudgetPlan) {
        self.emit(BudgetEvent::BudgetPlanned { task, why: why.to_owned(), plan: Arc::new(plan) });
    }

    /// An effect has ended and was charged. Replans if the rest of the budget no longer pays for
    /// the plan.
    pub fn settle_budget(&mut self, effect: EffectId) {
        if let Some(flight) = self.lanes.flight_mut(effect) {
            flight.allotted = 0.0;
        }
        if self.policy().falls_short() {
            self.replan_quietly("cost exceeded the estimate");
        }
    }

    /// The most seconds that this call may run, from here on; `None` if the budget does not bound
    /// it.
    pub fn allot_time(&mut self, call: EffectId) -> Option<f64> {
        let credits = self.policy().call_time(call)?;
        if let Some(flight) = self.lanes.flight_mut(call) {
            flight.allotted = credits;
        }
        Some(self.policy().seconds(credits))
    }

    /// Records whether a result helped; an unhelpful one may ban its tool from the rest of the
    /// task.
    pub fn judged(
        &mut self,
        call: EffectId,
        verdict: Option<EffectId>,
        helpful: bool,
        why: String,
    ) {
        self.emit(BudgetEvent::Judged { call, verdict, helpful, why: why.clone() });
        if helpful {
            return;
        }
        let Some(tool) = self.state.tool_call(call).map(|call| call.tool.clone()) else { return };
        if let Some(task) = self.policy().banned_from(&tool) {
            self.emit(BudgetEvent::ToolBlacklisted { task, tool: tool.clone(), why });
        }
        self.replan_quietly(&format!("{tool} did not help"));
    }

    /// Sets how often a tool may still be used, for the user.
    pub fn set_uses(&self, tool: ToolName, uses: u32, by: By) -> Result<Event, String> {
        let (task, was) = self.policy().may_set(&tool, uses)?;
        Ok(BudgetEvent::UsesSet { task, tool, uses, was, by }.into())
    }

    /// Changes how often a tool may still be used, for the user.
    pub fn add_uses(&self, tool: ToolName, more: i32, by: By) -> Result<Event, String> {
        let budget = self.policy().budgeted().map(|(_, budget)| budget);
        let allowed = budget.map_or(0, |budget| budget.allowed(tool.as_str()));
        let uses = allowed.saturating_add_signed(more);
        if budget.is_some() && uses == allowed {
            return Err(format!("uses left of {tool}: already {uses}"));
        }
        self.set_uses(tool, uses, by)
    }

    /// Replans the current task with tools that match the capability that the agent misses. Returns
    /// whether the new plan allows a tool that the old one did not; `why` is the recorded reason.
    ///
    /// The paper plans once over the tools that come with a query. Here the first choice of tools
    /// may miss the right one, and the agent would give up with credits left. What it had on offer
    /// and did not call makes room for others until its next call. A matching tool that has helped
    /// gets one more use: its limit was an estimate, but its help is a fact.
    /// `kept`: what it needs of its offer all the same; `None` if it does not say.
    pub fn widen(&mut self, needs: &[&str], kept: Option<&[ToolName]>, why: &str) -> bool {
        let budgeted = self.policy().budgeted().filter(|_| self.state.may_widen());
        let Some((id, text)) = budgeted.map(|(task, _)| (task.id, task.task.sought().into_owned()))
        else {
            return false;
        };
        if let Some(kept) = kept {
            self.note(id, |known, budget| known.note_offer(budget, kept));
        }
        for need in needs {
            let had = |tool: &ToolName| self.policy().had(tool);
            let meant = candidates::meant(&self.state, &self.kit.index, need, had);
            self.note(id, |known, budget| known.add_use(budget, &meant));
            self.know(&text, meant.clone());
            self.note(id, |known, budget| known.note_lack(budget, &meant, need));
        }
        let is_known = |tool: &ToolName| self.budgeting.is_known(tool);
        let others = candidates::others(&self.state, &self.kit.index, needs, &text, is_known);
        for more in [Vec::new()].into_iter().chain(others) {
            self.know(&text, more);
            let plan = self.policy().make_plan(id);
            if self.policy().offers_more(&plan) {
                self.say(id, why, plan);
                return true;
            }
        }
        false
    }

    /// Notes something on each candidate of the task.
    fn note(&mut self, task: TaskId, note: impl Fn(&mut KnownTool, &TaskBudget)) {
        let Some(task) = self.state.task(task) else { return };
        self.budgeting.known.iter_mut().for_each(|known| note(known, &task.budget));
    }

    /// Adds candidates to those of the current task.
    fn know(&mut self, text: &str, mut tools: Vec<ToolName>) {
        tools.retain(|tool| !self.budgeting.is_known(tool));
        let known = self.what_is_known(text, tools);
        self.budgeting.known.extend(known);
    }

    /// The candidates of this task, with their past in similar tasks.
    fn look_up(&mut self, text: &str) -> Vec<KnownTool> {
        let (k, state) = (self.state.knobs.count(Knob::Candidates), &self.state);
        let helped = self.budgeting.past(text, |store, query, same| {
            store.helped(query, k, same, |tool| state.offers(tool))
        });
        let helped = self.said_if_lost(helped);
        let tools = candidates::candidates(&self.state, &self.kit.index, text, helped);
        self.what_is_known(text, tools)
    }

    /// The past of these tools in tasks like this.
    fn what_is_known(&mut self, text: &str, tools: Vec<ToolName>) -> Vec<KnownTool> {
        let histories =
            self.budgeting.past(text, |store, query, same| store.history(query, &tools, same));
        let mut histories = self.said_if_lost(histories).into_iter();
        let sharpness = self.state.knobs.get(Knob::Sharpness);
        let known = |tool| {
            let past = histories.next().map(|history| history.past).unwrap_or_default();
            KnownTool::new(tool, candidates::past(&past, sharpness))
        };
        tools.into_iter().map(known).collect()
    }

    /// Reports a store that cannot be read, and treats it as empty.
    fn said_if_lost<T: Default>(&mut self, read: Result<T, ExperienceError>) -> T {
        read.unwrap_or_else(|error| {
            self.emit(SessionEvent::Noticed { text: format!("could not load past uses: {error}") });
            T::default()
        })
    }
}

impl Budgeting {
    /// Whether tasks can be embedded.
    pub fn can_embed(&self) -> bool {
        self.memory.as_ref().is_some_and(|memory| memory.embedder.is_some())
    }

    fn is_known(&self, tool: &ToolName) -> bool {
        self.known.iter().any(|known| known.tool == *tool)
    }

    /// Looks up the past of a task; empty without a memory.
    fn past<T: Default>(
        &self,
        text: &str,
        look: impl FnOnce(&Experience, &Query, Same) -> Result<T, ExperienceError>,
    ) -> Result<T, ExperienceError> {
        let Some(Memory { store, same, .. }) = &self.memory else { return Ok(T::default()) };
        let store = store.lock();
        let query = store.query(text);
        let query = match &self.meaning {
            Some(meaning) => query.with_embedding(meaning.clone()),
            None => query,
        };
        look(&store, &query, *same)
    }
}
