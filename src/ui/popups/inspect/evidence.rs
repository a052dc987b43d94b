//! A piece of evidence: its step, its text in the plan, its call, its result, and whether the solver sees the
//! result.

use super::{Page, call};
use crate::domain::{
    EvidenceId, ModelCallPhase, State, TaskId, TaskState, ToolCallState, plan::references,
    state::EvidenceSource, words::counted,
};
use crate::text;

pub(super) fn write(state: &State, task: TaskId, id: EvidenceId, page: &mut Page<'_>) {
    let Some(task) = state.task(task) else { return page.not_yet("This task did not exist") };
    let begun = task.work.evidence.get(&id);
    match begun.map(|begun| begun.source) {
        Some(EvidenceSource::Call(call)) => return call::write(state, call, page),
        Some(EvidenceSource::Model(_)) => {}
        Some(EvidenceSource::None) => {
            let nulled = begun.and_then(|begun| begun.nulled.as_ref());
            let why = nulled.map_or_else(String::new, |why| format!("not called: {why}"));
            page.field_in("state", &why, page.theme.warn);
        }
        None => page.field_in("state", "not started", page.theme.warn),
    }
    head(state, task, id, page);
    model(state, task, id, page);
}

/// Writes the evidence that a call looks for, if the call belongs to a plan.
pub(super) fn of_call(state: &State, call: &ToolCallState, page: &mut Page<'_>) {
    let Some((task, id)) = state.task(call.task).zip(call.evidence) else { return };
    let source = task.work.evidence.get(&id).map(|begun| begun.source);
    if source == Some(EvidenceSource::Call(call.id)) {
        head(state, task, id, page);
    } else {
        page.field("evidence", &format!("{} of a replaced plan", id.mark()));
    }
}

fn head(state: &State, task: &TaskState, id: EvidenceId, page: &mut Page<'_>) {
    let Some(plan) = &task.work.plan else { return };
    let Some(written) = plan.get(id) else { return };
    if let Some(plan) = task.work.plan_of(id) {
        page.field("plan", &plan.text);
    }
    page.field("as written", &written.to_string());
    for need in references(&written.input) {
        let text = state.evidence_text(&task.work, need);
        let said = match (text, task.work.is_found(need)) {
            (Some(text), _) => text::start(text, 400).to_owned(),
            (None, true) => "null".to_owned(),
            (None, false) => "not available yet".to_owned(),
        };
        page.field("needs", &format!("{} = {said}", need.mark()));
    }
    let needed = plan.evidence().filter(|other| references(&other.input).contains(&id));
    let needed: Vec<String> = needed.map(|other| other.id.mark()).collect();
    page.field_if_any("needed by", &needed.join(" "));
    let begun = task.work.evidence.get(&id);
    if let Some((begun, nulled)) = begun.and_then(|begun| Some((begun, begun.nulled.as_ref()?))) {
        let saved = counted(begun.saved, "token");
        let said = format!("null, for {nulled}: {saved} saved");
        page.field_in("solver sees", &said, page.theme.warn);
    }
}

/// Writes evidence that a model looks for.
fn model(state: &State, task: &TaskState, id: EvidenceId, page: &mut Page<'_>) {
    let Some(call) = state.evidence_model_call(task, id) else { return };
    page.field("asked", &format!("{}, as {} (v shows the prompt)", call.model, call.role));
    if call.retries > 0 {
        page.field("retries", &call.retries.to_string());
    }
    if let Some(message) = call.request.messages.last() {
        page.section("Question", message.text(), page.theme.text);
    }
    match &call.phase {
        ModelCallPhase::Requested | ModelCallPhase::Running => page.heading("Answer: none yet"),
        ModelCallPhase::Done { reply } => page.section("Answer", &reply.text, page.theme.text),
        ModelCallPhase::Failed { error } => page.section("Failed", &error.text, page.theme.bad),
    }
}
