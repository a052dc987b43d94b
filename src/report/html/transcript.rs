//! The transcript: one entry for each line on the screen, with the whole texts.

use super::page::{element, escaped};
use crate::domain::state::{TranscriptLine, What};
use crate::domain::words::counted;
use crate::domain::{
    By, ModelCallPhase, ModelCallState, Role, State, StepState, TaskId, TaskState, ToolCallPhase,
    ToolCallState,
};
use crate::ui::panes::budget_words;
use crate::ui::{marks, wording};

/// The entries of a task; `None`: those without a task.
pub fn lines(state: &State, task: Option<TaskId>) -> String {
    let own = state.transcript.iter().filter(|line: &&TranscriptLine| line.task == task);
    own.filter_map(|line| entry(state, line)).collect()
}

fn entry(state: &State, line: &TranscriptLine) -> Option<String> {
    let task = line.task.and_then(|task| state.task(task));
    Some(match &line.what {
        // The heading shows this already.
        What::TaskStarted => return None,
        What::TryStarted { number } => row("", &format!("attempt {number}"), ""),
        What::Step { index } => step(task?.steps.get(*index as usize)?),
        What::ModelCall { call } => model_call(state, state.model_call(*call)?),
        What::ToolCall { call } => tool_call(state, state.tool_call(*call)?),
        What::Evaluated { learned } => evaluated(task?, *learned),
        What::TaskFinished => finished(task?),
        What::BudgetPlanned { why, plan, .. } => {
            row("", "budget plan", &format!("{why}: {}", budget_words::uses(plan)))
        }
        What::Plan { plan } => row("", "plan", &plan.to_string()),
        What::Told { event } => {
            let who = match event.by() {
                None => "note",
                Some(By::User) => "you",
                Some(By::Engine) => "engine",
                Some(By::Undo(_)) => "undone",
                Some(By::Redo(_)) => "redone",
            };
            row("", who, &wording::told(event))
        }
        What::Newer { fields } => row("", "note", &wording::newer(fields)),
    })
}

/// Formats an entry: its speaker or kind, and its text.
fn row(class: &str, head: &str, text: &str) -> String {
    format!(
        "<div class=\"entry\">{}{}</div>\n",
        element("span", "dim", head),
        element("pre", class, text)
    )
}

fn step(step: &StepState) -> String {
    const SHOWN: usize = 30;
    let shown = step.menu.iter().take(SHOWN).map(|item| match item.weight {
        Some(weight) => format!("{} {weight:.2}", item.tool),
        None => item.tool.to_string(),
    });
    let mut shown: Vec<_> = shown.collect();
    let more = step.menu.len().saturating_sub(SHOWN);
    shown.extend((more > 0).then(|| format!("and {more} more")));
    let head = format!("{} at {}", step.step, step.from);
    row("dim", &head, &format!("menu: {}", shown.join(" · ")))
}

fn model_call(state: &State, call: &ModelCallState) -> String {
    let head = call.role.to_string();
    let used = call.usage().map_or(String::new(), |usage| {
        let retried = match call.retries {
            0 => String::new(),
            retries => format!(", {}", counted(retries, "retry")),
        };
        let about = if usage.estimated { "about " } else { "" };
        format!(
            "\n[{}: {about}{} tokens in, {} out{retried}]",
            call.model, usage.tokens_in, usage.tokens_out
        )
    });
    let marks = state.marks(call.id).into_iter();
    let used = marks.fold(used, |used, mark| format!("{used}\n[{}]", marks::long(&mark)));
    match &call.phase {
        ModelCallPhase::Requested | ModelCallPhase::Running => row("dim", &head, "did not end"),
        ModelCallPhase::Failed { error } => {
            row("bad", &head, &format!("failed: {}{used}", error.text))
        }
        ModelCallPhase::Done { reply } => {
            let calls = reply.without_text();
            let said = match call.role {
                // Its verdicts have entries of their own.
                Role::Evaluator => "judged",
                _ if reply.said().is_empty() => &calls,
                _ => reply.said(),
            };
            row("", &head, &format!("{said}{used}"))
        }
    }
}

fn tool_call(state: &State, call: &ToolCallState) -> String {
    let (class, result) = match &call.phase {
        ToolCallPhase::Requested | ToolCallPhase::Running => ("dim", "did not end".to_owned()),
        ToolCallPhase::Refused { why, reason } => ("bad", format!("{}: {why}", reason.name())),
        ToolCallPhase::Failed { error } => ("bad", format!("failed: {}", error.text)),
        ToolCallPhase::Done { output } => ("", format!("= {}", output.text)),
    };
    let injected = call.injected.map_or(String::new(), |fault| {
        format!("\n[injected {}, fault {fault}]", state.fault_kind(fault))
    });
    let helpful = match call.helpful {
        Some(true) => "\n[helped]",
        Some(false) => "\n[did not help]",
        None => "",
    };
    let by = if call.is_by_hand() { "you call" } else { "calls" };
    let head = call.evidence.map_or(by.to_owned(), |evidence| evidence.mark());
    let text = format!("{}({})\n{result}{helpful}{injected}", call.tool, call.arguments);
    row(class, &head, &text)
}

fn evaluated(task: &TaskState, learned: bool) -> String {
    let verdicts: Vec<_> = task
        .verdicts
        .iter()
        .map(|verdict| format!("{} {:+}: {}", verdict.tool, verdict.score, verdict.reason))
        .collect();
    let frozen = if learned { "" } else { "\nlearning is frozen: no score changed" };
    row("", "scores", &format!("{}{frozen}", verdicts.join("\n")))
}

fn finished(task: &TaskState) -> String {
    let answer = task.answer.as_deref().unwrap_or("(no answer)");
    let expected = match (task.task.expected(), task.correct) {
        (Some(expected), Some(false)) => format!("\nexpected: {expected}"),
        _ => String::new(),
    };
    let class = match (task.correct, task.is_solved()) {
        (Some(true), _) | (None, true) => "good",
        (Some(false), _) | (None, false) => "bad",
    };
    let head = element("span", "dim", &task.ended_as().unwrap_or_default());
    let answer = escaped(&format!("{answer}{expected}"));
    format!("<div class=\"entry\">{head}<pre class=\"{class}\"><b>{answer}</b></pre></div>\n")
}
