//! The engine's part in a task's budget: it looks up the past of matching tools, asks the
//! [`Policy`], and makes the events. The plan is recomputed whenever its inputs change, before the
//! agent takes its next step.

use std::{rc::Rc, sync::Arc};

use super::Session;
use crate::domain::{
    BudgetEvent, BudgetPlan, By, EffectId, Embedding, Event, Knob, KnownTool, SessionEvent,
    TaskBudget, TaskId, ToolName,
};
use crate::papers::btp::candidates;
use crate::papers::btp::policy::Policy;
use crate::store::experience::{Experience, ExperienceError, Query, Same};
use crate::{effect::EmbeddingCall, memory::Memory};

impl Session {
    /// Whether tasks can be compared by their embeddings.
    pub fn can_embed(&self) -> bool {
        self.memory.as_ref().is_some_and(|memory| memory.embedder.is_some())
    }

    /// The current budget of a task.
    pub fn policy(&self, task: TaskId) -> Policy<'_> {
        let allotted = self.lanes.allotted(self.state.run_of(task));
        Policy { state: self.state.in_task(task), known: self.known_of(task), allotted }
    }

    /// Makes the first plan of a task with an enforced budget.
    pub fn plan_task(&mut self, task: TaskId) {
        let Some(text) = self.state.task(task).map(|task| task.task.sought().into_owned()) else {
            return;
        };
        let has_candidates = self.policy(task).has_candidates(task);
        let known = if has_candidates { self.look_up(task, &text) } else { Vec::new() };
        self.run_of(task).known = known;
        let plan = self.policy(task).make_plan(task);
        let uses = plan.uses();
        self.say(task, "planned", plan);
        if uses == 0 && !self.known_of(task).is_empty() {
            self.widen(task, &[&text], None, "no matching tool is useful");
        }
    }

    /// Replans each task at work for the rest of its budget, if it has a plan, and records the new plan.
    pub fn replan(&mut self, why: &str) {
        for task in self.budgeted() {
            let plan = self.policy(task).make_plan(task);
            self.say(task, why, plan);
        }
    }

    /// Replans in the same way, but records a plan only if it differs.
    pub fn replan_quietly(&mut self, why: &str) {
        self.budgeted().into_iter().for_each(|task| self.replan_task_quietly(task, why));
    }

    fn replan_task_quietly(&mut self, task: TaskId, why: &str) {
        let policy = self.policy(task);
        let plan = policy.budgeted().map(|(task, _)| policy.make_plan(task.id));
        if let Some(plan) = plan.filter(|plan| policy.is_news(plan)) {
            self.say(task, why, plan);
        }
    }

    /// The tasks at work whose budgets are enforced.
    fn budgeted(&self) -> Vec<TaskId> {
        let has_plan = |task: &TaskId| self.policy(*task).budgeted().is_some();
        self.state.at_work.tasks().filter(has_plan).collect()
    }

    fn say(&mut self, task: TaskId, why: &str, plan: BudgetPlan) {
        self.emit(BudgetEvent::BudgetPlanned { task, why: why.to_owned(), plan: Arc::new(plan) });
    }

    /// Replans after an effect that ended and was charged, if the rest of the budget no longer pays for the plan.
    pub fn settle_budget(&mut self, effect: EffectId) {
        if let Some(flight) = self.lanes.flight_mut(effect) {
            flight.allotted = 0.0;
        }
        let Some(task) = self.task_of(effect) else { return };
        if self.policy(task).falls_short() {
            self.replan_task_quietly(task, "cost exceeded the estimate");
        }
    }

    /// The most seconds that this call may run, from here on; `None` if the budget does not bound
    /// it.
    pub fn allot_time(&mut self, call: EffectId) -> Option<f64> {
        let task = self.task_of(call)?;
        let credits = self.policy(task).call_time(call)?;
        if let Some(flight) = self.lanes.flight_mut(call) {
            flight.allotted = credits;
        }
        Some(self.policy(task).seconds(credits))
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
        let Some(made) = self.state.tool_call(call) else { return };
        let (tool, of) = (made.tool.clone(), made.task);
        if let Some(task) = self.policy(of).banned_from(&tool) {
            self.emit(BudgetEvent::ToolBlacklisted { task, tool: tool.clone(), why });
        }
        self.replan_task_quietly(of, &format!("{tool} did not help"));
    }

    /// Sets how often a tool may still be used, for the user.
    pub fn set_uses(&self, tool: ToolName, uses: u32, by: By) -> Result<Event, String> {
        let shown = self.state.at_work.shown().unwrap_or_default();
        let (task, was) = self.policy(shown).may_set(&tool, uses)?;
        Ok(BudgetEvent::UsesSet { task, tool, uses, was, by }.into())
    }

    /// Changes how often a tool may still be used, for the user.
    pub fn add_uses(&self, tool: ToolName, more: i32, by: By) -> Result<Event, String> {
        let shown = self.state.at_work.shown().unwrap_or_default();
        let budget = self.policy(shown).budgeted().map(|(_, budget)| budget);
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
    /// The paper plans once over the tools that come with a query. Here the first choice of tools may miss the right
    /// one, and the agent would give up with credits left. Tools that it was offered and did not call make room for
    /// others until its next call. A matching tool that has helped gets one more use: its limit was an estimate, but
    /// its help is a fact. `kept`: the offered tools that the agent still needs; `None` if it does not say.
    pub fn widen(
        &mut self,
        id: TaskId,
        needs: &[&str],
        kept: Option<&[ToolName]>,
        why: &str,
    ) -> bool {
        let budgeted = self.policy(id).budgeted();
        let budgeted = budgeted.filter(|_| self.state.in_task(id).may_widen());
        let Some(text) = budgeted.map(|(task, _)| task.task.sought().into_owned()) else {
            return false;
        };
        if let Some(kept) = kept {
            self.note(id, |known, budget| known.note_offer(budget, kept));
        }
        for need in needs {
            let had = |tool: &ToolName| self.policy(id).had(tool);
            let meant = candidates::meant(self.state.in_task(id), self.kit.index(), need, had);
            self.note(id, |known, budget| known.add_use(budget, &meant));
            self.know(id, &text, meant.clone());
            self.note(id, |known, budget| known.note_lack(budget, &meant, need));
        }
        let known = self.known_of(id);
        let is_known = |tool: &ToolName| known.iter().any(|known| known.tool == *tool);
        let state = self.state.in_task(id);
        let others = candidates::others(state, self.kit.index(), needs, &text, is_known);
        for more in [Vec::new()].into_iter().chain(others) {
            self.know(id, &text, more);
            let plan = self.policy(id).make_plan(id);
            if self.policy(id).offers_more(&plan) {
                self.say(id, why, plan);
                return true;
            }
        }
        false
    }

    /// Applies a note to each candidate of the task.
    fn note(&mut self, task: TaskId, note: impl Fn(&mut KnownTool, &TaskBudget)) {
        let Some(budget) = self.state.task(task).map(|task| task.budget.clone()) else { return };
        self.run_of(task).known.iter_mut().for_each(|known| note(known, &budget));
    }

    /// Adds candidates to those of this task.
    fn know(&mut self, task: TaskId, text: &str, mut tools: Vec<ToolName>) {
        let run = self.run_of(task);
        tools.retain(|tool| !run.is_known(tool));
        let known = self.what_is_known(task, text, tools);
        self.run_of(task).known.extend(known);
    }

    /// The candidates of this task, with their past in similar tasks.
    fn look_up(&mut self, task: TaskId, text: &str) -> Vec<KnownTool> {
        let (k, state) = (self.state.knobs.count(Knob::Candidates), self.state.in_task(task));
        let helped = self.past(task, text, |store, query, same| {
            store.helped(query, k, same, |tool| state.offers(tool))
        });
        let helped = self.said_if_lost(helped);
        let state = self.state.in_task(task);
        let tools = candidates::candidates(state, self.kit.index(), text, helped);
        self.what_is_known(task, text, tools)
    }

    /// The past of these tools in tasks like this.
    fn what_is_known(&mut self, task: TaskId, text: &str, tools: Vec<ToolName>) -> Vec<KnownTool> {
        let histories =
            self.past(task, text, |store, query, same| store.history(query, &tools, same));
        let mut histories = self.said_if_lost(histories).into_iter();
        let sharpness = self.state.knobs.get(Knob::Sharpness);
        let known = |tool| {
            let past = histories.next().map(|history| history.past).unwrap_or_default();
            KnownTool::new(tool, candidates::past(&past, sharpness))
        };
        tools.into_iter().map(known).collect()
    }

    /// Reports a store that cannot be read, which then counts as empty.
    fn said_if_lost<T: Default>(&mut self, read: Result<T, ExperienceError>) -> T {
        read.unwrap_or_else(|error| {
            self.emit(SessionEvent::Noticed { text: format!("could not load past uses: {error}") });
            T::default()
        })
    }

    /// The task that an effect belongs to.
    fn task_of(&self, effect: EffectId) -> Option<TaskId> {
        self.state.effect(effect).map(|effect| effect.task)
    }

    /// Looks up the past of a task; empty without a memory.
    fn past<T: Default>(
        &self,
        task: TaskId,
        text: &str,
        look: impl FnOnce(&Experience, &Query, Same) -> Result<T, ExperienceError>,
    ) -> Result<T, ExperienceError> {
        let Some(Memory { store, same, .. }) = &self.memory else { return Ok(T::default()) };
        let store = store.lock();
        let query = store.query(text);
        let meaning = self.runs.get(&self.state.run_of(task)).and_then(|run| run.meaning.clone());
        let query = match meaning {
            Some(meaning) => query.with_embedding(meaning),
            None => query,
        };
        look(&store, &query, *same)
    }

    /// Notes the embedding of a task.
    pub fn take_meaning(&mut self, task: TaskId, meaning: Option<Embedding>) {
        self.run_of(task).meaning = meaning;
    }

    /// The call that embeds this task; `None` without an embedder, or if the embedding is known.
    pub fn unknown_meaning(&mut self, task: TaskId) -> Option<EmbeddingCall> {
        self.run_of(task).meaning = None;
        if !self.policy(task).has_candidates(task) {
            return None;
        }
        let memory = self.memory.as_ref()?;
        let model = Rc::clone(memory.embedder.as_ref()?);
        let store = memory.store.lock();
        let query = store.query(&self.state.task(task)?.task.text);
        // An unreadable store is reported when the plan is made.
        let known = store.embedding(query.text(), model.embedder()?.model()).ok().flatten();
        let text = query.text().to_owned();
        drop(store);
        let is_unknown = known.is_none() && !text.is_empty();
        self.run_of(task).meaning = known;
        is_unknown.then_some(EmbeddingCall { model, text })
    }
}
