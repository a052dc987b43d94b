//! The plan of a task (BTP, algorithm 1): estimates of the candidates become the number of uses of
//! each within the budget.

use std::collections::HashSet;

use super::Policy;
use crate::btp::{self, Candidate, Estimate, Why, candidates};
use crate::domain::{
    BudgetPlan, Knob, Marginal, PlannedTool, TaskId, ToolName, state::budget::CENT,
};

/// A candidate on its way into the plan.
struct PlanningItem<'p> {
    tool: ToolName,
    cost: f64,
    estimate: Estimate,
    /// The number of uses that the user set.
    set: Option<u32>,
    /// The need that the tool may meet.
    need: Option<&'p str>,
    /// Whether the agent was just offered the tool and did not call it.
    is_declined: bool,
    /// Whether the tool may be used beyond its limit if credits are left.
    goes_on: bool,
}

impl Policy<'_> {
    /// The best plan for the rest of the budget (BTP, eq. 5 to 7). The user's own settings come
    /// first.
    pub fn make_plan(&self, task: TaskId) -> BudgetPlan {
        let state = self.state.state();
        let (total, spent) =
            (state.knobs.get(Knob::Budget), state.task(task).map_or(0.0, |t| t.credits()));
        let reserve = self.beside_uses(task);
        let free = (total - spent - reserve).max(0.0);
        let items = self.items(task);
        let fixed = settle_fixed(&items, free);
        let fixed_cost: f64 =
            items.iter().zip(&fixed).map(|(item, uses)| item.cost * f64::from(*uses)).sum();
        // Rounding can leave the remainder just below its exact value.
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
        // Costs and values are finite and not negative: rates are, and so are their averages.
        let goes_on: Vec<bool> = items.iter().map(|item| item.goes_on).collect();
        let spreads = state.knobs.is_on(Knob::Spread);
        let solved = match spreads {
            true => btp::spread(&open, &goes_on, rest),
            false => btp::plan(&open, rest),
        };
        let Ok(solved) = solved else {
            return BudgetPlan::empty(total, spent, reserve);
        };
        let whys = btp::why(&open, rest, &solved);
        let marginal = match spreads {
            true => btp::spread_marginal(&open, &goes_on, rest, &solved).ok(),
            false => btp::marginal(&open, rest, &solved).ok(),
        };
        let marginal = marginal.and_then(|marginal| worth_saying(marginal, &items));
        let mut tools: Vec<PlannedTool> = Vec::with_capacity(items.len());
        for (i, item) in items.into_iter().enumerate() {
            let why = match item.set {
                Some(_) => "set by the user".to_owned(),
                None if fixed[i] > 0 => "the agent said that it is missing".to_owned(),
                None => self.why(task, &item, whys[i]),
            };
            tools.push(PlannedTool {
                cost: item.cost.into(),
                value: item.estimate.value.into(),
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
            budget: total.into(),
            spent: spent.into(),
            reserve: reserve.into(),
            value: (fixed_value + solved.value).into(),
            cost: (fixed_cost + solved.cost).into(),
            tools,
            known: self.known.to_vec(),
            gap: solved.gap.map(Into::into),
            marginal,
        }
    }

    /// Whether a plan differs from the current one: in its budget, or in a tool's remaining uses.
    pub fn is_news(&self, plan: &BudgetPlan) -> bool {
        let Some((_, now)) = self.budgeted() else { return true };
        let Some(old) = &now.plan else { return true };
        let is_same = old.budget == plan.budget
            && old.tools.len() == plan.tools.len()
            && plan.tools.iter().all(|planned| {
                let before = old.tool(planned.tool.as_str());
                now.left(planned.tool.as_str()) == Some(planned.uses)
                    && before.is_some_and(|before| before.limit.min(1) == planned.limit.min(1))
            });
        !is_same
    }

    /// Whether a plan has a use of a tool that has none left.
    pub fn offers_more(&self, plan: &BudgetPlan) -> bool {
        let Some((_, budget)) = self.budgeted() else { return false };
        plan.tools.iter().any(|planned| planned.uses > 0 && !budget.allows(planned.tool.as_str()))
    }

    /// Whether the rest of the budget no longer pays for the plan: costs exceeded the estimate.
    pub fn falls_short(&self) -> bool {
        let Some((_, budget)) = self.budgeted() else { return false };
        let Some(plan) = budget.plan.as_ref().filter(|_| !budget.closing) else { return false };
        let cost = |planned: &PlannedTool| {
            f64::from(budget.left_of(planned)) * self.use_cost(&planned.tool)
        };
        let ahead: f64 = plan.tools.iter().map(cost).sum();
        // Finishing is not reserved here: while there is enough for the summary, the plan may stay.
        ahead > 0.0 && ahead + self.reserve() > self.state.credits_left() + CENT
    }

    fn items(&self, task: TaskId) -> Vec<PlanningItem<'_>> {
        let Some(ledger) = self.state.task(task).map(|task| &task.budget) else {
            return Vec::new();
        };
        let known = self.known.iter().map(|known| (&known.tool, Some(known)));
        let set_besides =
            ledger.set.keys().filter(|tool| self.known.iter().all(|known| known.tool != **tool));
        known
            .chain(set_besides.map(|tool| (tool, None)))
            .map(|(tool, known)| {
                let past = known.map(|known| known.past).unwrap_or_default();
                let mut estimate = candidates::estimate(&self.state.knobs, &past);
                let used = ledger.tools.get(tool).map_or(0, |ledger| ledger.uses);
                let barred =
                    ledger.blacklist.contains_key(tool) || !self.state.offers(tool.as_str());
                let more = known.map_or(0, |known| known.more);
                let limit = estimate.limit.saturating_add(more).saturating_sub(used);
                let is_declined = known.is_some_and(|known| known.declined == Some(ledger.uses()));
                // A tool below tau gets no use, even if it is missing.
                let none = barred || is_declined || estimate.limit == 0;
                estimate.limit = if none { 0 } else { limit };
                let set = ledger.set.get(tool).copied().filter(|_| !barred);
                let goes_on = !none && set.is_none();
                let lack = known.and_then(|known| known.lacked.as_ref());
                let need = lack.filter(|lack| lack.used == used).map(|lack| lack.need.as_str());
                let (tool, cost) = (tool.clone(), self.use_cost(tool));
                PlanningItem { tool, cost, estimate, set, need, is_declined, goes_on }
            })
            .collect()
    }

    /// The reason in words, including facts that the plan itself cannot know: earlier uses, and
    /// unhelpful results.
    fn why(&self, task: TaskId, item: &PlanningItem<'_>, why: Why) -> String {
        let ledger = self.state.task(task).map(|task| &task.budget);
        if ledger.is_some_and(|ledger| ledger.blacklist.contains_key(&item.tool)) {
            return "blacklisted: its result did not help".to_owned();
        }
        if !self.state.offers(item.tool.as_str()) {
            return "not offered: removed or switched off".to_owned();
        }
        if item.is_declined {
            return "offered, but the agent did not call it".to_owned();
        }
        let used =
            ledger.and_then(|ledger| ledger.tools.get(&item.tool)).map_or(0, |tool| tool.uses);
        if used > 0 && item.estimate.limit == 0 && why != Why::Beyond {
            return format!("used up: {used} of {used}");
        }
        why.by_estimate(&item.estimate).to_string()
    }
}

/// Uses that take precedence over the highest value, as far as the credits allow: those that the
/// user set, then one use of a tool for each need that the agent stated: of several tools that match,
/// the one that has helped best.
fn settle_fixed(items: &[PlanningItem<'_>], free: f64) -> Vec<u32> {
    let mut left = free;
    let mut fix = |item: &PlanningItem<'_>, wanted: u32| {
        // The quotient for a free tool is infinite.
        let most = ((left + CENT) / item.cost).floor();
        let uses = f64::from(wanted).min(most);
        left -= uses * item.cost;
        uses as u32
    };
    let mut fixed: Vec<u32> =
        items.iter().map(|item| item.set.map_or(0, |set| fix(item, set))).collect();
    let meets = |i: &usize| {
        let item = &items[*i];
        item.set.is_none() && item.estimate.limit > 0 && item.need.is_some()
    };
    let mut lacked: Vec<usize> = (0..items.len()).filter(meets).collect();
    lacked
        .sort_by(|one, other| items[*other].estimate.value.total_cmp(&items[*one].estimate.value));
    let mut met = HashSet::new();
    for i in lacked {
        if !met.contains(&items[i].need) {
            fixed[i] = fix(&items[i], 1);
            if fixed[i] > 0 {
                met.insert(items[i].need);
            }
        }
    }
    fixed
}

/// The fewest credits that buy something, with the tools' names.
fn worth_saying(marginal: btp::Marginal, items: &[PlanningItem<'_>]) -> Option<Marginal> {
    let step = marginal.next?;
    let changes = step.changes.iter().filter_map(|change| {
        let item = items.get(change.candidate)?;
        Some((item.tool.clone(), i64::from(change.after) - i64::from(change.before)))
    });
    let credits = (step.credits * 1e6).round() / 1e6;
    Some(Marginal { credits: credits.into(), value: step.value.into(), changes: changes.collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(tool: &str, cost: f64, value: f64) -> PlanningItem<'static> {
        let estimate = Estimate { value, limit: 1, experience: 3 };
        let (set, need, is_declined) = (None, None, false);
        PlanningItem { tool: tool.into(), cost, estimate, set, need, is_declined, goes_on: true }
    }

    fn set(cost: f64, uses: u32) -> PlanningItem<'static> {
        PlanningItem { set: Some(uses), ..item("set", cost, 0.5) }
    }

    fn lacked(value: f64, need: &'static str) -> PlanningItem<'static> {
        PlanningItem { need: Some(need), ..item("lacked", 2.0, value) }
    }

    #[test]
    fn uses_that_the_user_set_are_paid_one_after_another() {
        assert_eq!(settle_fixed(&[set(2.0, 3), set(3.0, 3)], 12.0), [3, 2]);
        assert_eq!(settle_fixed(&[set(2.0, 3), set(3.0, 3)], 5.9), [2, 0]);
        assert_eq!(settle_fixed(&[set(0.0, 9), set(3.0, 1)], 3.0), [9, 1], "free uses fit");
    }

    #[test]
    fn a_need_gets_one_use_of_the_best_tool_that_is_paid_for() {
        let needs = || [lacked(0.3, "a map"), lacked(0.6, "a map"), lacked(0.1, "a clock")];
        assert_eq!(settle_fixed(&needs(), 9.0), [0, 1, 1]);
        assert_eq!(settle_fixed(&needs(), 3.9), [0, 1, 0]);
        let [first, second, clock] = needs();
        assert_eq!(
            settle_fixed(&[first, PlanningItem { cost: 5.0, ..second }, clock], 4.0),
            [1, 0, 1]
        );
        assert_eq!(settle_fixed(&[set(2.0, 1), lacked(0.9, "a map")], 3.9), [1, 0]);
    }

    #[test]
    fn the_credits_that_buy_something_are_said_without_rounding_errors() {
        let change = |candidate, before, after| btp::UseChange { candidate, before, after };
        let step = btp::MarginalStep {
            credits: 0.1 + 0.2,
            value: 0.25,
            changes: vec![change(1, 0, 2), change(0, 3, 1)],
        };
        let marginal = btp::Marginal { one: step.clone(), next: Some(step) };
        let items = [item("a", 1.0, 0.1), item("b", 1.0, 0.2)];
        let said = worth_saying(marginal, &items).unwrap();
        assert_eq!((said.credits, said.value), (0.3.into(), 0.25.into()));
        assert_eq!(said.changes, [("b".into(), 2), ("a".into(), -2)]);
    }
}
