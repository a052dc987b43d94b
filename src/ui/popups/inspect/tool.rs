//! A tool: its description, its score, its calls, its faults and its edges.

use super::Page;
use crate::domain::probe::{ProbeEnd, ProbeRow};
use crate::domain::{ClassedBy, EffectClass, HttpRequest, State, ToolName, ToolState, words};
use crate::panes::calls::status::{self, CallStatus};
use crate::panes::format::{self, credits, worth};
use crate::papers::toolnet::Weights;
use crate::symbols::INJECTED;
use crate::{panes::glyph::signed, text};

/// The most calls, score changes and successors that are shown.
const CALLS: usize = 20;
const POINTS: usize = 30;
const EDGES: usize = 12;

pub(super) fn write(state: &State, name: &ToolName, page: &mut Page<'_>) {
    match state.tools.get(name) {
        Some(tool) => about(tool, page),
        None => page.not_yet("This tool did not exist"),
    }
    if let Some(changed) = state.changed_definition(name) {
        page.heading("Changed definition: d accepts it");
        page.text(&changed.difference, page.theme.warn);
    }
    planned(state, name, page);
    score(state, name, page);
    faults(state, name, page);
    calls(state, name, page);
    edges(state, name, page);
    learned(state, name, page);
    if let Some(tool) = state.tools.get(name) {
        page.heading("Parameters");
        page.json(&tool.spec.parameters);
        for example in &tool.spec.examples {
            page.field("answers", example);
        }
        if let Some(returns) = &tool.spec.returns {
            page.heading("Returns");
            page.json(&returns.schema);
            page.field_if_any("such as", &returns.example);
        }
    }
}

/// Writes the results of probing the tool, or the reason for its failure.
fn learned(state: &State, name: &ToolName, page: &mut Page<'_>) {
    let row = state.probing.as_ref().and_then(|probing| probing.rows.get(name));
    if let Some(ProbeRow { end: Some(ProbeEnd::Failed(why)), .. }) = row {
        page.heading("Probing");
        page.field_in("no answer", why, page.theme.warn);
    }
    let Some(known) = state.tools.get(name).and_then(|tool| tool.learned.as_ref()) else { return };
    let learned = &known.learned;
    page.heading("Returns, as learned by probing");
    page.text(&learned.schema.to_text(), page.theme.text);
    page.blank();
    page.field_if_any("question", &learned.question);
    page.field("arguments", &learned.arguments.to_string());
    let after: Vec<&str> = learned.after.iter().map(ToolName::as_str).collect();
    page.field_if_any("after", &after.join(", "));
    let programs = words::counted(learned.samples as usize, "program");
    page.field("took", &format!("{programs}, {} tokens, pass {}", learned.tokens, learned.pass));
    for drift in &known.drift {
        page.field_in("differs", &drift.to_string(), page.theme.warn);
    }
}

/// The request of a tool over HTTP. Environment variables are named, never read.
fn sent(request: &HttpRequest, page: &mut Page<'_>) {
    let query: Vec<_> =
        request.query.iter().map(|(name, value)| format!("{name}={value}")).collect();
    page.field_if_any("query", &query.join("&"));
    page.field_if_any("operation", &request.operation);
    page.field_if_any("its id", &request.operation_id);
}

fn about(tool: &ToolState, page: &mut Page<'_>) {
    let spec = &tool.spec;
    page.text(&spec.description, page.theme.text);
    page.blank();
    if !tool.present {
        page.field_in("gone", "its manifest was removed", page.theme.bad);
    } else if !tool.switched_on {
        page.field_in("switched off", "on no menu until you enable it", page.theme.warn);
    }
    if let Some(why) = &spec.disabled {
        page.field_in("disabled", why, page.theme.warn);
    }
    match &tool.class {
        Some(class) => {
            let said = format!("{}, {}", class.name(), format::said(class.by));
            let style = if class.by == ClassedBy::User { page.theme.user } else { page.theme.text };
            page.field_in("class", &said, style);
        }
        None => page.field_in("class", "none yet: C sets one", page.theme.dim),
    }
    let effect = match spec.effect {
        EffectClass::Read => "reads",
        EffectClass::Idempotent => "changes something; repeating it has no further effect",
        EffectClass::Write => "changes something on each call",
        EffectClass::Unknown => "not declared, treated as a write",
    };
    page.field("effect", effect);
    if let Some(proposed) = spec.proposed.filter(|proposed| *proposed != spec.effect) {
        page.field("proposed", &format!("{} by its server, which is not trusted", proposed.name()));
    }
    let cost = spec.cost.map(|cost| words::credits(*cost) + " a call");
    page.field("cost", cost.as_deref().unwrap_or("not declared"));
    let timeout = match spec.timeout_ms {
        0 => "known to the agent alone".to_owned(),
        ms => text::span(ms.saturating_mul(1000)),
    };
    page.field("timeout", &timeout);
    page.field("source", &spec.source);
    if let Some(request) = &spec.request {
        sent(request, page);
    }
    let mean = tool.mean_micros().unwrap_or(0);
    if tool.started > 0 {
        let mean = tool.credits / f64::from(tool.started);
        let said = format!("{} a call, {} in all", credits(mean), credits(*tool.credits));
        page.field("measured", &said);
    }
    let ToolState { started, succeeded, failed, refused, .. } = tool;
    let counts =
        format!("{started} started, {succeeded} succeeded, {failed} failed, {refused} refused");
    page.field("calls", &format!("{counts}, {} on average", text::span(mean)));
}

/// Writes the tool's entry in the latest budget plan of the running task, or of the last one.
fn planned(state: &State, name: &ToolName, page: &mut Page<'_>) {
    let Some(task) = state.shown_task() else { return };
    let plan = task.budget.plan.as_ref();
    let Some(planned) = plan.and_then(|plan| plan.tool(name.as_str())) else { return };
    page.heading(&format!("In the plan of task {}", task.id));
    let left = task.budget.left_of(planned);
    let limit = match planned.limit {
        limit if planned.uses > limit => format!(", more than its limit of {limit}"),
        limit => format!(" of {limit} at most"),
    };
    let uses = format!("{} planned{limit}, {left} left", planned.uses);
    page.field("uses", &uses);
    let (cost, value) = (credits(*planned.cost), worth(*planned.value));
    let unit = if cost == "1" { "credit" } else { "credits" };
    page.field("one use", &format!("{cost} {unit} for a value of {value}"));
    let past = match planned.experience {
        0 => "no experience: the value is an assumption".to_owned(),
        uses => words::counted(uses, "past use"),
    };
    page.field("based on", &past);
    if planned.set {
        page.field_in("set", "by you", page.theme.user);
    }
    page.field_if_any("why", &planned.why);
    if let Some(why) = task.budget.blacklist.get(name) {
        page.field_in("blacklisted", why, page.theme.warn);
    }
}

fn score(state: &State, name: &ToolName, page: &mut Page<'_>) {
    page.heading(&format!("Score {}", signed(state.learning.score(name))));
    let Some(history) = state.learning.history.get(name) else {
        page.text("never scored", page.theme.dim);
        return;
    };
    let skipped = history.len().saturating_sub(POINTS);
    if skipped > 0 {
        page.text(&format!("… {skipped} earlier"), page.theme.dim);
    }
    let mut before = skipped.checked_sub(1).and_then(|i| history.get(i)).map_or(0.0, |p| *p.score);
    for point in history.from(skipped) {
        let change = point.score - before;
        let style = if change < 0.0 { page.theme.warn } else { page.theme.good };
        let task = match point.task.0 {
            0 => "at start".to_owned(),
            task => format!("task {task}"),
        };
        let what = format!("{} → {}", signed(change), signed(*point.score));
        page.field_in(&task, &what, style);
        before = *point.score;
    }
}

fn faults(state: &State, name: &ToolName, page: &mut Page<'_>) {
    let Some(aim) = state.tools.get(name).map(ToolState::aim) else { return };
    let faults: Vec<_> =
        state.faults.iter().filter(|(_, fault)| fault.spec.target.matches(&aim)).collect();
    if faults.is_empty() {
        return;
    }
    page.heading("Faults");
    for (id, fault) in faults {
        let armed = if fault.armed { format!("{INJECTED} armed") } else { "disarmed".to_owned() };
        let style = if fault.armed { page.theme.injected } else { page.theme.dim };
        let seen = words::counted(fault.seen, "call");
        let what = format!("{}, hit {} of {seen}", fault.spec, fault.fired);
        page.field_in(&format!("{id} {armed}"), &what, style);
    }
}

fn calls(state: &State, name: &ToolName, page: &mut Page<'_>) {
    let calls: Vec<_> =
        state.tool_calls.iter().rev().filter(|call| call.tool == *name).take(CALLS).collect();
    if calls.is_empty() {
        return;
    }
    page.heading("Latest calls, newest first");
    for call in calls {
        let hold = state.control.hold_of(call.lane);
        let CallStatus { word, style, .. } = status::of_call(call, hold, page.theme);
        let injected = if call.injected.is_some() { INJECTED } else { "" };
        let observation = call.observation().unwrap_or("");
        let by = if call.is_by_hand() { "you: " } else { "" };
        let what = format!("{by}{} → {observation}", call.arguments);
        let what = text::cut(&what, page.width().saturating_sub(16)).into_owned();
        page.field_in(&format!("#{} {word}{injected}", call.id), &what, style);
    }
}

fn edges(state: &State, name: &ToolName, page: &mut Page<'_>) {
    let top = Weights::of(&state.learning, &state.knobs).top(name.as_str(), EDGES);
    if top.is_empty() {
        return;
    }
    page.heading("Possible next tools, heaviest first");
    for choice in top {
        let pinned = if choice.pinned { "  pinned" } else { "" };
        let what = format!(
            "{:.3}  prior {:.3}, seen {}{pinned}",
            choice.weight,
            choice.prior,
            words::counted(choice.count, "time")
        );
        page.field(choice.to.as_str(), &what);
    }
}
