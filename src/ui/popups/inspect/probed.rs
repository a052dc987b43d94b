//! The results of probing a tool: the question, the program, the response, and the schema with each result's
//! contribution.

use super::{Page, program::numbered};
use crate::domain::probe::{KnownSchema, Merged, ProbeEnd, SchemaSource};
use crate::domain::result_schema::SchemaMode;
use crate::domain::state::ProgramState;
use crate::domain::{State, StepState, ToolName, words::counted};
use crate::strategy::prompt::program::failure;
use crate::symbols::{DONE, FAILED, REFUSED};

/// The most differences that are shown for one result.
const BROUGHT: usize = 12;

pub(super) fn write(state: &State, name: &ToolName, page: &mut Page<'_>) {
    let row = state.probing.as_ref().and_then(|probing| probing.rows.get(name));
    let tried = tried(state, name);
    page.field_in("tool", name.as_str(), page.theme.accent);
    if let Some(tool) = state.tools.get(name) {
        page.field_if_any("does", tool.spec.description.lines().next().unwrap_or_default());
    }
    if let Some(known) = state.tools.get(name).and_then(|tool| tool.learned.as_ref()) {
        return learned(known, tried, page);
    }
    match row.map(|row| (row, &row.end, &row.refused)) {
        Some((_, _, Some(why))) => {
            page.field_in("state", &format!("{REFUSED} not probed: {why}"), page.theme.warn);
        }
        Some((row, Some(ProbeEnd::Failed(why) | ProbeEnd::Skipped(why)), _)) => {
            let what = format!("{FAILED} no answer in pass {}: {why}", row.pass);
            page.field_in("state", &what, page.theme.warn);
            let programs = counted(row.samples as usize, "program");
            page.field("took", &format!("{programs}, {} tokens", row.tokens));
            let helpers: Vec<&str> = row.helpers.iter().map(ToolName::as_str).collect();
            page.field_if_any("helpers", &helpers.join(", "));
        }
        Some((_, Some(ProbeEnd::Answered), _)) => page.field("state", "it answered"),
        Some((_, None, _)) => page.field("state", "not tried yet"),
        None => page.field("state", "not probed: p probes it"),
    }
    if let Some(program) = tried {
        page.heading("Its last probing program");
        match program.error() {
            Some(error) => page.text(&failure(&program.text, error), page.theme.text),
            None => page.text(&numbered(&program.text), page.theme.text),
        }
        calls(state, program, page);
    }
}

/// The last program of the last probing that was written for this tool.
fn tried<'a>(state: &'a State, name: &ToolName) -> Option<&'a ProgramState> {
    let task = state.tasks.iter().rfind(|task| task.task.probe.is_some())?;
    let is_for = |step: &&StepState| step.menu.first().is_some_and(|item| item.tool == *name);
    let step = task.steps.iter().rfind(is_for)?;
    state.program(task.id, step.step)
}

fn calls(state: &State, program: &ProgramState, page: &mut Page<'_>) {
    let calls = program.calls.iter().filter_map(|id| state.tool_call(*id));
    for (i, call) in calls.enumerate() {
        if i == 0 {
            page.heading("Its calls");
        }
        let said = call.observation().unwrap_or("no answer yet");
        let said = said.lines().next().unwrap_or_default();
        page.field(call.tool.as_str(), &format!("{} → {said}", call.arguments));
    }
}

fn learned(known: &KnownSchema, tried: Option<&ProgramState>, page: &mut Page<'_>) {
    let learned = &known.learned;
    let fields = counted(learned.schema.size(), "field");
    let from = match known.source {
        SchemaSource::Probed => "",
        SchemaSource::Kept => ", by an earlier session",
    };
    let state = format!("{DONE} learned in pass {}: {fields}{from}", learned.pass);
    page.field_in("state", &state, page.theme.good);
    let programs = counted(learned.samples as usize, "program");
    page.field("took", &format!("{programs}, {} tokens", learned.tokens));
    let after: Vec<&str> = learned.after.iter().map(ToolName::as_str).collect();
    page.field_if_any("after", &after.join(", "));
    for drift in &known.drift {
        page.field_in("differs", &drift.to_string(), page.theme.warn);
    }
    page.heading("Question");
    match learned.question.is_empty() {
        true => page.text("none kept", page.theme.dim),
        false => page.text(&learned.question, page.theme.text),
    }
    page.heading("Program");
    match (learned.program.is_empty(), tried.filter(|_| known.source == SchemaSource::Probed)) {
        (false, _) => page.text(&numbered(&learned.program), page.theme.text),
        (true, Some(program)) => page.text(&numbered(&program.text), page.theme.text),
        (true, None) => page.text("none kept: p probes the tool again", page.theme.dim),
    }
    page.heading("Call");
    page.json(&learned.arguments);
    page.heading("Response");
    match serde_json::from_str(&learned.response) {
        _ if learned.response.is_empty() => {
            page.text("none kept: p probes the tool again", page.theme.dim);
        }
        Ok(value) => page.json(&value),
        Err(_) => page.text(&learned.response, page.theme.text),
    }
    schema(known, page);
}

fn schema(known: &KnownSchema, page: &mut Page<'_>) {
    let learned = &known.learned;
    let from = match learned.mode {
        SchemaMode::Paper => "the first element of the first result".to_owned(),
        SchemaMode::Merged => match learned.merged.len() {
            0 => "merged".to_owned(),
            results => format!("merged from {}", counted(results, "result")),
        },
    };
    page.section(&format!("Schema: {from}"), &learned.schema.to_text(), page.theme.text);
    for (i, Merged { arguments, fields, brought }) in learned.merged.iter().enumerate() {
        if i == 0 {
            page.heading("Merged results");
        }
        let fields = counted(*fields, "field");
        page.field(&format!("result {}", i + 1), &format!("{fields}, for {arguments}"));
        for drift in brought.iter().take(BROUGHT) {
            page.field_in("", &drift.to_string(), page.theme.accent);
        }
        let more = brought.len().saturating_sub(BROUGHT);
        if more > 0 {
            page.field_in("", &format!("and {more} more"), page.theme.dim);
        }
        if i > 0 && brought.is_empty() {
            page.field_in("", "nothing new", page.theme.dim);
        }
    }
}
