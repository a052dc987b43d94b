//! Prompt texts about the budget, word for word (BTP, appendix A.2, in our own words).

use crate::domain::{InTask, Knob, MenuItem, MenuReason, Prompt, ToolName};

/// The most names in a list: a prompt is paid for by its length.
const MOST: usize = 40;

/// The tools forbidden by the plan, with the reasons; empty without a plan. Three parts: tools
/// without planned uses; tools that did not help; no uses left at all.
pub(super) fn forbidden(state: &InTask<'_>, menu: &[MenuItem]) -> String {
    let Some(budget) = state.current_task().map(|task| &task.budget) else { return String::new() };
    let Some(plan) = &budget.plan else { return String::new() };
    let planned = plan.tools.iter().map(|planned| &planned.tool);
    let no_use = planned.filter(|tool| {
        budget.left(tool.as_str()) == Some(0) && !budget.blacklist.contains_key(*tool)
    });
    let mut text = String::new();
    let mut tell = |prompt: Prompt, tools: Vec<&ToolName>| {
        if !tools.is_empty() {
            super::add(&mut text, &state.prompts.filled(prompt, &[("{tools}", &names(&tools))]));
        }
    };
    tell(Prompt::BudgetNoUse, no_use.collect());
    tell(Prompt::BudgetBlacklist, budget.blacklist.keys().collect());
    let may_lack = state.may_widen();
    if menu.iter().all(|item| item.why == MenuReason::Finish) {
        let prompt = if may_lack { Prompt::BudgetFinishOrLack } else { Prompt::BudgetFinish };
        super::add(&mut text, state.prompts.text(prompt));
    }
    if may_lack {
        super::add(&mut text, state.prompts.text(Prompt::ActorLack));
    }
    text
}

/// The costs of the tools on the menu and the rest of the budget (BTP's baseline `+Prompt`).
pub(super) fn told(state: &InTask<'_>, menu: &[MenuItem]) -> String {
    let costs = menu.iter().filter_map(|item| {
        let spec = &state.tools.get(&item.tool)?.spec;
        Some(format!("{} {:.2}", spec.name, state.rates.tool(spec.cost)))
    });
    let costs: Vec<_> = costs.take(MOST).collect();
    let costs = if costs.is_empty() { "nothing is offered".to_owned() } else { costs.join(", ") };
    let credits = |credits: f64| format!("{credits:.2}");
    let (budget, left) = (credits(state.knobs.get(Knob::Budget)), credits(state.credits_left()));
    let values = [("{costs}", &*costs), ("{budget}", &*budget), ("{left}", &*left)];
    state.prompts.filled(Prompt::Budget, &values)
}

fn names(tools: &[&ToolName]) -> String {
    let shown: Vec<_> = tools.iter().take(MOST).map(|tool| tool.as_str()).collect();
    match tools.len().saturating_sub(MOST) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
