//! Budget plans in words: uses of each tool, changes, and the value of more budget.

use super::format::{credits, worth};
use super::glyph::signed;
use crate::domain::state::{Overrun, budget::CENT};
use crate::domain::words::{self, counted};
use crate::domain::{BudgetPlan, Knob, Marginal, State, TaskState, ToolName};

/// A line shows a few dozen tools at most; a plan may hold thousands.
const TOOLS: usize = 60;

/// The uses that the plan needs, and the spare ones: `search_web×2 calculator×1 · 3 spare`.
pub fn uses(plan: &BudgetPlan) -> String {
    let mut planned = plan.tools.iter().filter(|tool| tool.needed() > 0);
    let shown = planned.by_ref().take(TOOLS);
    let mut words: Vec<_> = shown.map(|tool| format!("{}×{}", tool.tool, tool.needed())).collect();
    match (words.is_empty(), planned.count()) {
        (true, _) => words.push("no tool".to_owned()),
        (false, 0) => {}
        (false, more) => words.push(format!("and {more} more")),
    }
    let spare: u32 = plan.tools.iter().map(|tool| tool.uses - tool.needed()).sum();
    if spare > 0 {
        words.push(format!("· {spare} spare"));
    }
    words.join(" ")
}

/// Why no plan can pay for a task, if none can.
pub fn beyond(state: &State, task: &TaskState) -> Option<String> {
    let (cheapest, budget) = (state.cheapest_way(&task.task)?, state.knobs.get(Knob::Budget));
    let budget = task.budget.plan.as_ref().map_or(budget, |plan| *plan.budget);
    (cheapest > budget + CENT).then(|| {
        let (cheapest, budget) = (credits(cheapest), credits(budget));
        format!("no plan can pay: the cheapest known way costs {cheapest} of {budget} credits")
    })
}

/// Cost of what the plan needs, its spare credits, the value, the gap to the best plan, and both sums of the previous
/// plan, if there was one.
pub fn sums(plan: &BudgetPlan, before: Option<&BudgetPlan>) -> String {
    let (value, cost) = (worth(*plan.value), credits(plan.needed().1));
    let free = credits(plan.free());
    let spare = match plan.spare() {
        (0, _) => String::new(),
        (_, spare) => format!(", +{} spare", credits(spare)),
    };
    let was = before.map_or_else(String::new, |before| {
        format!(" (before: {}, {})", credits(before.needed().1), worth(*before.value))
    });
    let within =
        plan.gap.map_or_else(String::new, |gap| format!(", {}", words::within(f64::from(gap))));
    format!("{cost} of {free} credits{spare}, value {value}{within}{was}")
}

/// The tools to which another plan gives a different number of uses: `search_web 3→2`.
pub fn changes(before: &BudgetPlan, plan: &BudgetPlan) -> String {
    fn planned(plan: &BudgetPlan) -> impl Iterator<Item = &ToolName> {
        plan.tools.iter().filter(|tool| tool.uses > 0).take(TOOLS).map(|tool| &tool.tool)
    }
    let uses =
        |plan: &BudgetPlan, tool: &ToolName| plan.tool(tool.as_str()).map_or(0, |it| it.uses);
    // Only tools with planned uses, now or before, can have changed.
    let gone = planned(before).filter(|tool| uses(plan, tool) == 0);
    let all = planned(plan).chain(gone).map(|tool| (tool, uses(before, tool), uses(plan, tool)));
    let changed = all.filter(|(_, old, new)| old != new);
    changed.map(|(tool, old, new)| format!("{tool} {old}→{new}")).collect::<Vec<_>>().join(" ")
}

/// The call that took a task over its budget, with what was planned for its tool and spent on it: `search_web (call 7)
/// exceeded the budget: 12 of 10 credits; planned 1 use for 3, spent 9 on 3`.
pub fn overrun(state: &State, task: &TaskState) -> Option<String> {
    let Overrun { effect, spent, budget, .. } = task.budget.overrun?;
    let sums = format!("exceeded the budget: {} of {} credits", credits(*spent), credits(*budget));
    if let Some(call) = state.tool_call(effect) {
        let tool = call.tool.as_str();
        let planned = task.budget.first.as_ref().map(|plan| {
            let planned = plan.tool(tool);
            let (uses, cost) =
                planned.map_or((0, 0.0), |it| (it.needed(), *it.cost * f64::from(it.needed())));
            format!("planned {} for {}, ", counted(uses, "use"), credits(cost))
        });
        let used = task.budget.tools.get(tool).map(|ledger| {
            let on = credits(ledger.spent.total());
            format!("spent {on} on {}", counted(ledger.uses, "use"))
        });
        let detail = planned.unwrap_or_default() + &used.unwrap_or_default();
        return Some(format!("{tool} (call {effect}) {sums}; {detail}"));
    }
    let call = state.model_call(effect)?;
    Some(format!("{} as {} (call {effect}) {sums}", call.model, call.role.name()))
}

/// The value of more credits: `with 1.50 more credits: value +0.40 (search_web +1)`.
pub fn marginal(marginal: Option<&Marginal>) -> String {
    let Some(Marginal { credits: more, value, changes }) = marginal else {
        return "more budget would not help".to_owned();
    };
    let changes = changes.iter().take(TOOLS);
    let changes = changes.map(|(tool, by)| format!("{tool} {}", signed(*by as f64)));
    let changes = changes.collect::<Vec<_>>().join(", ");
    let (more, value) = (credits(f64::from(*more)), worth(f64::from(*value)));
    let unit = if more == "1" { "credit" } else { "credits" };
    format!("with {more} more {unit}: value +{value} ({changes})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::event::PlannedTool;

    fn plan(uses: &[(&str, u32)]) -> BudgetPlan {
        let tools = uses.iter().map(|(tool, uses)| PlannedTool {
            tool: (*tool).into(),
            cost: 2.0.into(),
            value: 0.5.into(),
            limit: 3,
            uses: *uses,
            experience: 1,
            set: false,
            why: String::new(),
        });
        let count: u32 = uses.iter().map(|(_, uses)| uses).sum();
        BudgetPlan {
            budget: 20.0.into(),
            spent: 1.0.into(),
            reserve: 1.0.into(),
            tools: tools.collect(),
            known: Vec::new(),
            value: (f64::from(count) * 0.5).into(),
            cost: (f64::from(count) * 2.0).into(),
            gap: None,
            marginal: None,
        }
    }

    #[test]
    fn a_plan_in_words() {
        let (old, new) = (plan(&[("a", 3), ("b", 0), ("c", 1)]), plan(&[("a", 2), ("b", 1)]));
        assert_eq!(uses(&old), "a×3 c×1");
        assert_eq!(uses(&plan(&[("a", 0)])), "no tool");
        let much = plan(&[("a", 10), ("b", 1), ("c", 4)]);
        assert_eq!(uses(&much), "a×3 b×1 c×3 · 8 spare");
        assert_eq!(sums(&much, None), "14 of 18 credits, +16 spare, value 7.50");
        assert_eq!((much.needed(), much.spare()), ((7, 14.0), (8, 16.0)));
        assert_eq!(changes(&old, &new), "a 3→2 b 0→1 c 1→0");
        assert_eq!(sums(&new, Some(&old)), "6 of 18 credits, value 1.50 (before: 8, 2.00)");
        let near = BudgetPlan { gap: Some(0.0002.into()), ..plan(&[("a", 3)]) };
        assert_eq!(sums(&near, None), "6 of 18 credits, value 1.50, within 0.02 % of the best");
        let many: Vec<_> = (0..100).map(|_| ("tool", 1)).collect();
        assert!(uses(&plan(&many)).ends_with("tool×1 and 40 more"));
    }

    #[test]
    fn what_more_would_buy() {
        assert_eq!(marginal(None), "more budget would not help");
        let changes = vec![("a".into(), 1), ("b".into(), -2)];
        let more = Marginal { credits: 1.5.into(), value: 0.4.into(), changes };
        assert_eq!(marginal(Some(&more)), "with 1.50 more credits: value +0.40 (a +1, b −2)");
    }
}
