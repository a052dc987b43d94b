//! A task: its text, its steps, its end, and the evaluator's verdict.

use super::Page;
use crate::domain::{
    Spent, State, TaskId, TaskPhase, TaskState, ToolCallPhase, ToolCallState, words::counted,
};
use crate::panes::budget_words;
use crate::panes::format::{credits, dollars, in_credits};
use crate::papers::calls;
use crate::symbols::{DONE, FAILED, INJECTED};
use crate::{panes::glyph::signed, text};

pub(super) fn write(state: &State, id: TaskId, page: &mut Page<'_>) {
    let Some(task) = state.task(id) else { return page.not_yet("This task did not exist") };
    head(task, page);
    if state.is_bare(id) {
        page.field_in("details", "unavailable: this session has no journal", page.theme.dim);
    }
    page.section("Task", &task.task.text, page.theme.text);
    end(state, task, page);
    for reflection in &task.reflections {
        page.section("Reflection on a failed attempt", reflection, page.theme.text);
    }
    budget(state, task, page);
    steps(state, task, page);
    verdicts(task, page);
}

fn head(task: &TaskState, page: &mut Page<'_>) {
    page.field_if_any("name", &task.task.name);
    let (phase, style) = match task.phase {
        TaskPhase::Queued => ("queued", page.theme.dim),
        TaskPhase::Running => ("running", page.theme.running),
        TaskPhase::Done { outcome } => (outcome.name(), page.theme.text),
    };
    page.field_in("state", phase, style);
    if task.tries > 1 {
        page.field("tries", &task.tries.to_string());
    }
    if let (Some(started), Some(ended)) = (task.started, task.ended) {
        page.field("took", &text::span(ended.saturating_sub(started)));
    }
    page.field(
        "used",
        &format!(
            "{}, {}, {} tokens in, {} out, {}, {}",
            counted(task.model_calls.len(), "model call"),
            counted(task.tool_calls.len(), "call"),
            task.tokens_in,
            task.tokens_out,
            in_credits(task.credits()),
            dollars(*task.dollars, task.unpriced, task.listed)
        ),
    );
}

/// Writes the task's cost beside its budget plan, and the ledger of each tool.
fn budget(state: &State, task: &TaskState, page: &mut Page<'_>) {
    let budget = &task.budget;
    if budget.plan.is_none() && budget.tools.is_empty() {
        return;
    }
    page.heading("Budget, in credits");
    let Spent { tools, models, time } = budget.spent;
    let (tools, models, time) = (credits(*tools), credits(*models), credits(*time));
    let spent = credits(task.credits());
    page.field("spent", &format!("{spent}: tools {tools}, models {models}, time {time}"));
    if let Some(over) = budget_words::overrun(state, task) {
        page.field_in("over", &over, page.theme.bad);
    }
    if let (Some(first), Some(plan)) = (&budget.first, &budget.plan) {
        let (cost, budget_then) = (credits(first.needed().1), credits(*plan.budget));
        page.field("planned", &format!("{cost}, of a budget of {budget_then}"));
        if first.spare().0 > 0 {
            page.field("spare", &credits(first.spare().1));
        }
        if let Some(why) = budget_words::beyond(state, task) {
            page.field_in("beyond", &why, page.theme.warn);
        }
        page.field("plans", &format!("{}, the latest: {}", budget.plans, budget.why));
    }
    if budget.refused > 0 {
        page.field_in("refused", &counted(budget.refused, "call"), page.theme.warn);
    }
    for (tool, ledger) in &budget.tools {
        let uses = counted(ledger.uses, "use");
        let mut words = format!("{uses} for {}", credits(ledger.spent.total()));
        if ledger.judged > 0 {
            words.push_str(&format!(", helped {} of {}", ledger.helpful, ledger.judged));
        }
        if ledger.refused > 0 {
            let last = ledger.refusal.map_or("", |reason| reason.name());
            words.push_str(&format!(", refused {} (last: {last})", ledger.refused));
        }
        page.field(tool.as_str(), &words);
    }
    for (tool, why) in &budget.blacklist {
        page.field_in("blacklisted", &format!("{tool}: {why}"), page.theme.warn);
    }
}

fn end(state: &State, task: &TaskState, page: &mut Page<'_>) {
    let over = task.outcome().is_some();
    if !over && !task.task.can_be_scored() {
        return;
    }
    page.heading("Answer");
    let (mark, style) = match task.correct {
        Some(true) => (format!("{DONE} right"), page.theme.good),
        Some(false) => (format!("{FAILED} wrong"), page.theme.bad),
        None => (String::new(), page.theme.text),
    };
    if over {
        page.field_in("given", task.answer.as_deref().unwrap_or("none"), style);
    }
    if let Some(expected) = task.task.expected() {
        page.field("expected", &expected);
    }
    if let Some(call) = first_failure(state, task) {
        let words = format!(
            "{} {} at step {}: {}",
            call.tool,
            call.effect.lane,
            call.step,
            observed(call, page)
        );
        page.field_in("first failure", &words, page.theme.bad);
    }
    if let Some(score) = calls::of_task(state, task) {
        let words = format!("{} of {} reference calls made", score.right, score.expected);
        page.field("calls", &words);
    }
    if !mark.is_empty() {
        page.field_in("judged", &mark, style);
    }
    if let Some(grading) = &task.grading {
        let (word, style) = match grading.right {
            Some(true) => (format!("{DONE} right"), page.theme.good),
            Some(false) => (format!("{FAILED} wrong"), page.theme.bad),
            None => ("no verdict".to_owned(), page.theme.warn),
        };
        page.field_in("graded", &format!("{word}: {}", grading.why), style);
    }
}

/// The first failed call of a task whose answer is wrong or missing.
fn first_failure<'a>(state: &'a State, task: &TaskState) -> Option<&'a ToolCallState> {
    let has_answer = task.answer.is_some() && task.correct != Some(false);
    if has_answer || task.outcome().is_none() {
        return None;
    }
    let mut calls = task.tool_calls.iter().filter_map(|call| state.tool_call(*call));
    calls.find(|call| matches!(call.phase, ToolCallPhase::Failed { .. }))
}

/// The beginning of the text that the agent sees as a call's result.
fn observed(call: &ToolCallState, page: &Page<'_>) -> String {
    let seen = call.observation().unwrap_or("…");
    text::cut(seen, page.width().saturating_sub(18)).into_owned()
}

fn steps(state: &State, task: &TaskState, page: &mut Page<'_>) {
    if task.tool_calls.is_empty() {
        return;
    }
    page.heading("Calls");
    for call in task.tool_calls.iter().filter_map(|call| state.tool_call(*call)) {
        let injected = match call.injected {
            Some(_) => format!(" {INJECTED} injected"),
            None => String::new(),
        };
        let arguments = text::cut(&call.arguments.to_string(), page.width() / 2).into_owned();
        let what = format!("{} {arguments}{injected}", call.tool);
        page.field(&format!("#{} step {}", call.id, call.step), &what);
        page.field_in("", &observed(call, page), page.theme.dim);
    }
}

fn verdicts(task: &TaskState, page: &mut Page<'_>) {
    if task.verdicts.is_empty() {
        return;
    }
    page.heading("The evaluator's scores");
    for verdict in &task.verdicts {
        let style = match verdict.score {
            ..0 => page.theme.warn,
            0 => page.theme.dim,
            1.. => page.theme.good,
        };
        let text = format!("{}  {}", signed(f64::from(verdict.score)), verdict.reason);
        page.field_in(verdict.tool.as_str(), &text, style);
    }
}
