//! Plans (BTP, algorithm 1): what is known of the tools that suit a task becomes how often each may be
//! used within the budget; again whenever that changes, before the agent takes its next step.

use std::{cell::RefCell, rc::Rc, sync::Arc};

use super::session::Session;
use crate::{
    domain::{
        chat::Role,
        event::{BudgetEvent, BudgetPlan, Marginal, PlannedTool, SessionEvent},
        id::{TaskId, ToolName},
        knob::Knob,
        state::{TaskBudget, budget::CENT},
        strategy::{Decides, StrategySpec},
    },
    engine::candidates::{self, Past},
    model::Model,
    papers::btp::{self, Candidate, Estimate, Why},
    store::experience::{Experience, ExperienceError, History, Same},
};

/// What earlier sessions are remembered by.
pub(super) struct Memory {
    pub store: Rc<RefCell<Experience>>,
    /// Whether the past of the very task at work counts.
    pub same: Same,
    /// Its [`Model::embedder`] says what tasks mean; without one they are compared by their words.
    pub embedder: Option<Rc<dyn Model>>,
}

/// What is known of a tool for the task at work, for as long as it is.
#[derive(Debug)]
pub(super) struct Known {
    pub tool: ToolName,
    pub history: Option<History>,
    /// Uses beyond what is expected to make sense, since it has helped and is lacking.
    pub more: u32,
    /// The agent seems to mean this when it says what it lacks; it had used it so often then.
    pub lacked: Option<u32>,
}

/// A candidate on its way into the plan.
struct Item {
    tool: ToolName,
    cost: f64,
    estimate: Estimate,
    /// The user said how often.
    set: Option<u32>,
    /// The agent may lack this.
    is_lacked: bool,
}

impl Session {
    /// Makes the first plan of a task that is to be held to one.
    pub fn plan_task(&mut self, task: TaskId) {
        let Some(text) = self.state.task(task).map(|task| task.task.text.clone()) else { return };
        self.known = if self.has_candidates(task) { self.look_up(&text) } else { Vec::new() };
        let plan = self.make_plan(task);
        let uses = plan.uses();
        self.say(task, "planned", plan);
        if uses == 0 && !self.known.is_empty() {
            self.widen(&text, "nothing that suits is of use");
        }
    }

    /// Makes the plan of the task at work again for what is left, if it has one, and says so.
    pub fn replan(&mut self, why: &str) {
        if let Some(task) = self.budgeted().map(|(task, _)| task.id) {
            let plan = self.make_plan(task);
            self.say(task, why, plan);
        }
    }

    /// The same, but says nothing where it changes nothing.
    pub fn replan_quietly(&mut self, why: &str) {
        let Some((task, budget)) = self.budgeted() else { return };
        let task = task.id;
        let plan = self.make_plan(task);
        if !says_the_same(budget, &plan) {
            self.say(task, why, plan);
        }
    }

    /// Makes the plan again if what is left no longer pays for it: things cost more than was thought.
    pub fn check_plan(&mut self) {
        let Some((_, budget)) = self.budgeted() else { return };
        let Some(plan) = budget.plan.as_ref().filter(|_| !budget.closing) else { return };
        let uses = plan.tools.iter().map(|planned| {
            let left = f64::from(budget.left(planned.tool.as_str()).unwrap_or(0));
            if left > 0.0 { left * self.state.use_cost(&planned.tool, self.decides()) } else { 0.0 }
        });
        let ahead: f64 = uses.sum();
        // Finishing is not kept back here: while there is enough for the summary, the plan may stand.
        if ahead > 0.0 && ahead + self.reserve() > self.state.credits_left() + CENT {
            self.replan_quietly("it costs more than was thought");
        }
    }

    pub fn say(&mut self, task: TaskId, why: &str, plan: BudgetPlan) {
        self.emit(BudgetEvent::BudgetPlanned { task, why: why.to_owned(), plan: Arc::new(plan) });
    }

    fn task_spec(&self, task: TaskId) -> Option<&'static StrategySpec> {
        Some(self.state.task(task)?.strategy?.base.spec())
    }

    /// Whether there are tools that this task could be planned with.
    pub(super) fn has_candidates(&self, task: TaskId) -> bool {
        self.task_spec(task).is_some_and(|spec| spec.calls_tools)
    }

    /// What the loop of the task at work is declared to be; between tasks, that of the next.
    fn spec_at_work(&self) -> &'static StrategySpec {
        let spec = self.state.at_work.and_then(|task| self.task_spec(task));
        spec.unwrap_or_else(|| self.state.strategy.base.spec())
    }

    /// When the agent at work decides on its uses of tools.
    pub(super) fn decides(&self) -> Decides {
        self.spec_at_work().decides
    }

    /// Who makes the answer of what was found.
    pub(super) fn sums_up(&self) -> Role {
        self.spec_at_work().closes
    }

    /// The tools that this task is planned with, and what is known of them for a task like it. A store
    /// that cannot be read is said, and counts as empty.
    fn look_up(&mut self, text: &str) -> Vec<Known> {
        let helped = self
            .past(text, |past| past.helped(&self.state, self.state.knobs.count(Knob::Candidates)));
        let helped = self.said_if_lost(helped);
        let tools = candidates::candidates(&self.state, &self.index, text, helped);
        self.what_is_known(text, tools)
    }

    /// What is known of these tools for a task like this.
    pub(super) fn what_is_known(&mut self, text: &str, tools: Vec<ToolName>) -> Vec<Known> {
        let histories = self.past(text, |past| past.history(&tools));
        let mut histories = self.said_if_lost(histories).into_iter().map(Some);
        let known =
            |tool| Known { tool, history: histories.next().flatten(), more: 0, lacked: None };
        tools.into_iter().map(known).collect()
    }

    /// Looks the past of a task up; nothing where nothing is remembered.
    fn past<T: Default>(
        &self,
        text: &str,
        look: impl FnOnce(Past<'_>) -> Result<T, ExperienceError>,
    ) -> Result<T, ExperienceError> {
        let Some(Memory { store, same, .. }) = &self.memory else { return Ok(T::default()) };
        let store = &*store.borrow();
        let query = store.query(text);
        let query = match &self.meaning {
            Some(meaning) => query.with_embedding(meaning.clone()),
            None => query,
        };
        look(Past { store, query: &query, same: *same })
    }

    fn said_if_lost<T: Default>(&mut self, read: Result<T, ExperienceError>) -> T {
        read.unwrap_or_else(|error| {
            self.emit(SessionEvent::Noticed { text: format!("past uses were not read: {error}") });
            T::default()
        })
    }

    /// The best plan for what is left (BTP, eq. 5 to 7). The user's own settings come first.
    pub fn make_plan(&self, task: TaskId) -> BudgetPlan {
        let state = &self.state;
        let (total, spent) =
            (state.knobs.get(Knob::Budget), state.task(task).map_or(0.0, |t| t.credits()));
        let reserve = self.beside_uses(task);
        let free = (total - spent - reserve).max(0.0);
        let items = self.items(task);
        let fixed = settle_fixed(&items, free);
        let fixed_cost: f64 =
            items.iter().zip(&fixed).map(|(item, uses)| item.cost * f64::from(*uses)).sum();
        // A remainder of decimals may be a hair short of what it should be.
        let rest = (free - fixed_cost).max(0.0) + CENT;
        let open: Vec<Candidate> = items
            .iter()
            .zip(&fixed)
            .map(|(item, fixed)| Candidate {
                cost: item.cost,
                value: item.estimate.value,
                limit: match item.set {
                    Some(_) => 0,
                    None => item.estimate.limit - fixed,
                },
            })
            .collect();
        // Costs and values are finite and not negative: rates are, and an average of them is.
        let Ok(solved) = btp::plan(&open, rest) else {
            return BudgetPlan::empty(total, spent, reserve);
        };
        let whys = btp::why(&open, rest, &solved);
        let marginal =
            btp::marginal(&open, rest).ok().and_then(|marginal| worth_saying(marginal, &items));
        let mut tools: Vec<PlannedTool> = Vec::with_capacity(items.len());
        for (i, item) in items.into_iter().enumerate() {
            let why = match item.set {
                Some(_) => "set by the user".to_owned(),
                None if fixed[i] > 0 => "the agent said that it lacks this".to_owned(),
                None => self.why(task, &item, whys[i]),
            };
            tools.push(PlannedTool {
                cost: item.cost,
                value: item.estimate.value,
                limit: item.estimate.limit,
                uses: fixed[i].saturating_add(solved.uses[i]),
                experience: item.estimate.experience,
                set: item.set.is_some(),
                why,
                tool: item.tool,
            });
        }
        let fixed_value: f64 =
            tools.iter().zip(&fixed).map(|(planned, uses)| planned.value * f64::from(*uses)).sum();
        BudgetPlan {
            budget: total,
            spent,
            reserve,
            value: fixed_value + solved.value,
            cost: fixed_cost + solved.cost,
            tools,
            marginal,
        }
    }

    /// The paper's c_s: what is asked besides the uses of tools. Once there is a plan, its planner is paid
    /// for.
    pub(super) fn beside_uses(&self, task: TaskId) -> f64 {
        let is_planned = self.state.task(task).is_some_and(|task| task.work.plan.is_some());
        let asked = self.task_spec(task).map_or(&[][..], |spec| spec.besides);
        let ahead = asked.iter().filter(|(role, _)| !(is_planned && *role == Role::Planner));
        ahead.map(|(role, times)| f64::from(*times) * self.state.ask_cost(*role)).sum()
    }

    fn items(&self, task: TaskId) -> Vec<Item> {
        let Some(ledger) = self.state.task(task).map(|task| &task.budget) else {
            return Vec::new();
        };
        let known = self.known.iter().map(|known| (&known.tool, Some(known)));
        let set_besides =
            ledger.set.keys().filter(|tool| self.known.iter().all(|known| known.tool != **tool));
        known
            .chain(set_besides.map(|tool| (tool, None)))
            .map(|(tool, known)| {
                let history = known.and_then(|known| known.history.as_ref());
                let mut estimate = candidates::estimate(&self.state.knobs, history);
                let used = ledger.tools.get(tool).map_or(0, |ledger| ledger.uses);
                let barred = ledger.blacklist.contains_key(tool)
                    || !self.state.tools.get(tool).is_some_and(|tool| tool.is_offered());
                let more = known.map_or(0, |known| known.more);
                let limit = estimate.limit.saturating_add(more).saturating_sub(used);
                // What is below tau has no use, however much it is missed.
                let none = barred || estimate.limit == 0;
                estimate.limit = if none { 0 } else { limit };
                let set = ledger.set.get(tool).copied().filter(|_| !barred);
                let is_lacked = known.is_some_and(|known| known.lacked == Some(used));
                let (tool, cost) = (tool.clone(), self.state.use_cost(tool, self.decides()));
                Item { tool, cost, estimate, set, is_lacked }
            })
            .collect()
    }

    /// In words, and what the plan itself cannot know: uses that are behind, and what did not help.
    fn why(&self, task: TaskId, item: &Item, why: Why) -> String {
        let ledger = self.state.task(task).map(|task| &task.budget);
        if ledger.is_some_and(|ledger| ledger.blacklist.contains_key(&item.tool)) {
            return "blacklisted: its result did not help".to_owned();
        }
        if !self.state.tools.get(&item.tool).is_some_and(|tool| tool.is_offered()) {
            return "not offered: it is gone or switched off".to_owned();
        }
        let used =
            ledger.and_then(|ledger| ledger.tools.get(&item.tool)).map_or(0, |tool| tool.uses);
        if used > 0 && item.estimate.limit == 0 {
            return format!("used up: {used} of {used}");
        }
        why.from_estimate(&item.estimate).to_string()
    }
}

/// Uses that come before what is worth most, as far as the money goes: those that the user set, then
/// one of what the agent lacks. Of several tools that it may mean, that is the one that has helped best.
fn settle_fixed(items: &[Item], free: f64) -> Vec<u32> {
    let mut left = free;
    let mut fix = |item: &Item, wanted: u32| {
        let most = if item.cost > 0.0 { ((left + CENT) / item.cost).floor() } else { f64::MAX };
        let uses = f64::from(wanted).min(most);
        left -= uses * item.cost;
        uses as u32
    };
    let mut fixed: Vec<u32> =
        items.iter().map(|item| item.set.map_or(0, |set| fix(item, set))).collect();
    let may_be_lacked =
        |i: &usize| items[*i].is_lacked && items[*i].set.is_none() && items[*i].estimate.limit > 0;
    let mut lacked: Vec<usize> = (0..items.len()).filter(may_be_lacked).collect();
    lacked
        .sort_by(|one, other| items[*other].estimate.value.total_cmp(&items[*one].estimate.value));
    for i in lacked {
        fixed[i] = fix(&items[i], 1);
        if fixed[i] > 0 {
            break;
        }
    }
    fixed
}

/// The fewest credits that buy something, with the tools' names.
fn worth_saying(marginal: btp::Marginal, items: &[Item]) -> Option<Marginal> {
    let step = marginal.next?;
    let changes = step.changes.iter().filter_map(|change| {
        let item = items.get(change.candidate)?;
        Some((item.tool.clone(), i64::from(change.after) - i64::from(change.before)))
    });
    let credits = (step.credits * 1e6).round() / 1e6;
    Some(Marginal { credits, value: step.value, changes: changes.collect() })
}

/// Whether a new plan changes nothing about the one in force: the same uses are left of every tool,
/// for the same budget.
fn says_the_same(now: &TaskBudget, plan: &BudgetPlan) -> bool {
    let Some(old) = &now.plan else { return false };
    old.budget == plan.budget
        && old.tools.len() == plan.tools.len()
        && plan.tools.iter().all(|planned| {
            let before = old.tool(planned.tool.as_str());
            now.left(planned.tool.as_str()) == Some(planned.uses)
                && before.is_some_and(|before| before.limit.min(1) == planned.limit.min(1))
        })
}
