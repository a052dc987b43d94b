//! A whole budget plan: every candidate with its cost, value, and number of uses with the reason, next to the plan that
//! it replaced.

use super::Page;
use crate::domain::{BudgetPlan, PlannedTool, State, TaskId};
use crate::panes::format::{credits, worth};
use crate::symbols::EDITED;
use crate::{panes::budget_words, text};

/// Cells of a tool's name and of a number.
const NAME: usize = 24;
const NUMBER: usize = 8;

pub(super) fn write(state: &State, task: TaskId, page: &mut Page<'_>) {
    let budget = state.task(task).map(|task| &task.budget);
    match budget.and_then(|budget| Some((budget, budget.plan.as_ref()?))) {
        Some((budget, plan)) => self::page(&budget.why, plan, budget.before.as_deref(), page),
        None => page.not_yet("No budget plan existed"),
    }
}

pub(super) fn page(why: &str, plan: &BudgetPlan, before: Option<&BudgetPlan>, page: &mut Page<'_>) {
    page.field("why", why);
    page.field("budget", &credits(*plan.budget));
    page.field("spent", &format!("{} before this plan", credits(*plan.spent)));
    let reserve = credits(*plan.reserve);
    page.field("reserved", &format!("{reserve} for finishing and the closing summary"));
    page.field("available", &credits(plan.free()));
    page.field("uses", &budget_words::uses(plan));
    page.field("value, cost", &budget_words::sums(plan, before));
    if let Some(before) = before {
        let changes = budget_words::changes(before, plan);
        let changes = if changes.is_empty() { "none" } else { &changes };
        page.field("changed", changes);
    }
    page.field("more", &budget_words::marginal(plan.marginal.as_ref()));
    page.heading(&format!("Candidates: {}", plan.tools.len()));
    head(before.is_some(), page);
    // Planned tools come first; a stable sort keeps the order in which ties were decided.
    let mut tools: Vec<&PlannedTool> = plan.tools.iter().collect();
    tools.sort_by_key(|tool| tool.uses == 0);
    for tool in tools {
        candidate(tool, before, page);
    }
}

fn head(with_before: bool, page: &mut Page<'_>) {
    let mut line = text::fit("tool", NAME);
    let columns = ["uses", "was", "limit", "cost", "value", "past"];
    for name in columns.into_iter().filter(|name| with_before || *name != "was") {
        line.push_str(&format!("{name:>NUMBER$}"));
    }
    page.pieces(vec![(line, page.theme.dim)]);
}

fn candidate(tool: &PlannedTool, before: Option<&BudgetPlan>, page: &mut Page<'_>) {
    let theme = page.theme;
    let style = if tool.uses > 0 { theme.text } else { theme.dim };
    let mut numbers = format!("{:>NUMBER$}", tool.uses);
    if let Some(before) = before {
        let was = before.tool(tool.tool.as_str()).map_or(0, |was| was.uses);
        numbers.push_str(&format!("{was:>NUMBER$}"));
    }
    let (cost, value) = (credits(*tool.cost), worth(*tool.value));
    let past = match tool.experience {
        0 => "none".to_owned(),
        uses => uses.to_string(),
    };
    numbers.push_str(&format!(
        "{:>NUMBER$}{cost:>NUMBER$}{value:>NUMBER$}{past:>NUMBER$}",
        tool.limit
    ));
    let set = if tool.set { format!("  {EDITED} set by you") } else { String::new() };
    page.pieces(vec![
        (text::fit(tool.tool.as_str(), NAME), style),
        (numbers, style),
        (set.to_owned(), theme.user),
    ]);
    if !tool.why.is_empty() {
        page.text(&format!("    {}", tool.why), theme.dim);
    }
}
