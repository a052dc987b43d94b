//! A model call: the exact prompt, part by part with its tokens, and the reply.

use super::Page;
use super::signature::{arguments, signature};
use crate::domain::tokens::PromptGroup;
use crate::domain::{
    EffectId, Finish, ModelCallPhase, ModelCallState, ModelSpec, Reply, State, ToolCall, ToolDef,
    state::Repeat, tokens, words::counted,
};
use crate::symbols::SPENT;
use crate::{marks as words, text};

/// Cells of a bar for all tokens.
const BAR: u64 = 30;

pub(super) fn write(state: &State, id: EffectId, page: &mut Page<'_>) {
    let Some(call) = state.model_call(id) else {
        return page.not_yet("This model call did not exist");
    };
    head(state, call, page);
    marks(state, call, page);
    let parts = tokens::parts(&call.request);
    let tools = &call.request.tools;
    let (of_tools, messages) = parts.split_at(tools.len().min(parts.len()));
    made_of(state, call, page);
    for part in messages.iter().filter(|part| !part.text.is_empty()) {
        page.heading(&format!("{}  ({} tokens)", part.label, part.tokens));
        page.text(&part.text, page.theme.text);
    }
    answer(call, page);
    if !tools.is_empty() {
        page.heading(&counted(tools.len(), "tool"));
        let folded = "folded here: the model saw each tool's JSON schema, as on the tool's page";
        page.text(folded, page.theme.dim);
    }
    for (tool, part) in tools.iter().zip(of_tools) {
        menu(tool, part.tokens, page);
    }
}

/// Writes what the prompt is made of, with each tool, and what is new since the request before.
fn made_of(state: &State, call: &ModelCallState, page: &mut Page<'_>) {
    let before = state.call_before(call).map(|before| &*before.request);
    let sum = tokens::made_of(&call.request, before, true);
    let total = sum.total();
    page.heading(&format!("Made of {total} tokens by o200k, the model's own count may differ"));
    let mut row = |label: &str, tokens: u64, new: u64| {
        let fill = (tokens * BAR).div_ceil(total.max(1)) as usize;
        page.pieces(vec![
            (text::fit(label, 32), page.theme.text),
            (format!("{tokens:>7} "), page.theme.accent),
            (SPENT.repeat(fill), page.theme.bar_fill),
            (if new > 0 { format!(" {new} new") } else { String::new() }, page.theme.running),
        ]);
    };
    let tools = sum.groups.keys().filter(|group| group.is_tool()).count();
    if tools > 0 {
        row(&counted(tools, "tool"), sum.sum(PromptGroup::is_tool), 0);
    }
    let groups = sum.largest();
    for (group, tokens, _) in groups.iter().filter(|(group, ..)| group.is_tool()) {
        row(&format!("  {}", group.name()), *tokens, 0);
    }
    for (group, tokens, new) in groups.iter().filter(|(group, ..)| !group.is_tool()) {
        row(group.name(), *tokens, *new);
    }
    if before.is_some() {
        page.field("new", &format!("{} tokens of messages since the request before", sum.fresh()));
    }
}

/// Writes a tool of the menu, in the words of its JSON schema.
fn menu(tool: &ToolDef, tokens: u64, page: &mut Page<'_>) {
    page.heading(&format!("tool {}  ({tokens} tokens)", tool.name));
    page.text(&signature(tool.name.as_str(), &tool.parameters), page.theme.accent);
    page.text(&tool.description, page.theme.text);
    for (name, schema) in arguments(&tool.parameters) {
        page.field_if_any(name, schema["description"].as_str().unwrap_or_default());
    }
}

fn head(state: &State, call: &ModelCallState, page: &mut Page<'_>) {
    let spec = state.models.known.get(&call.model).map(|model| &model.spec);
    if spec.is_some_and(|spec| spec.simulated) {
        page.simulated();
    }
    page.field("role", call.role.name());
    let source = spec.map_or("", |spec| spec.source.as_str());
    page.field("model", &format!("{}  {source}", call.model));
    page.field("task", &call.task.to_string());
    let request = &call.request;
    let option = |value: Option<String>| value.unwrap_or_else(|| "the endpoint's own".to_owned());
    page.field("temperature", &option(request.temperature.map(|t| t.to_string())));
    page.field("max tokens", &option(request.max_tokens.map(|n| n.to_string())));
    if !request.stop.is_empty() {
        page.field("stops at", &format!("{:?}", request.stop));
    }
    if let Some(left_out) = request.left_out {
        let told = format!("{left_out}, to fit the context window");
        page.field_in("left out", &told, page.theme.warn);
    }
    if call.retries > 0 {
        page.field_in("retries", &call.retries.to_string(), page.theme.warn);
    }
    if let Some(ended) = call.ended {
        page.field("took", &text::span(call.elapsed(ended)));
    }
    let from = price_from(call, spec);
    let listed = spec.filter(|spec| spec.listed).and_then(|spec| spec.price_from.as_deref());
    let about = if from.is_some() && from == listed { "~" } else { "" };
    let dollars = call.dollars.map(|dollars| format!("{about}${dollars:.6}"));
    page.field("cost", dollars.as_deref().unwrap_or("price unknown"));
    page.field_if_any("price from", from.unwrap_or_default());
    if let Some(Repeat { tokens, of, differs }) = state.repeat(call) {
        let differs = differs.map_or(String::new(), |part| format!("; first difference: {part}"));
        page.field("same prefix", &format!("{tokens} of {of} tokens, cacheable{differs}"));
    }
    page.origin(state, call);
}

/// Writes the notes on this call that the agent does not get.
fn marks(state: &State, call: &ModelCallState, page: &mut Page<'_>) {
    for mark in state.marks(call.id) {
        page.field_in("note", &words::long(&mark), page.theme.warn);
    }
    let rewritten = call.rewritten.as_ref();
    let Some(gone) = rewritten.and_then(|past| past.gone.as_ref()) else { return };
    page.heading("Messages that the agent dropped");
    for message in &gone.messages {
        let (role, what) = words::row(message);
        page.field(&role, &what);
    }
}

/// The source of the call's price.
fn price_from<'a>(call: &ModelCallState, spec: Option<&'a ModelSpec>) -> Option<&'a str> {
    match &call.phase {
        ModelCallPhase::Done { reply } if reply.usage.dollars.is_some() => {
            Some("the endpoint's answer")
        }
        ModelCallPhase::Requested
        | ModelCallPhase::Running
        | ModelCallPhase::Done { .. }
        | ModelCallPhase::Failed { .. } => spec?.price_from.as_deref(),
    }
}

fn answer(call: &ModelCallState, page: &mut Page<'_>) {
    match &call.phase {
        ModelCallPhase::Requested => page.heading("Answer: not requested yet"),
        ModelCallPhase::Running => page.section("Answer so far", &call.partial, page.theme.text),
        ModelCallPhase::Done { reply } => done(reply, page),
        ModelCallPhase::Failed { error } => {
            page.heading("Answer: none");
            page.field_in("failed", &format!("{:?}: {}", error.kind, error.text), page.theme.bad);
            page.field_if_any("received", &error.partial);
        }
    }
}

fn done(reply: &Reply, page: &mut Page<'_>) {
    page.heading("Answer");
    if !reply.reasoning.is_empty() {
        page.field_in("thinking", &reply.reasoning, page.theme.dim);
    }
    page.text(&reply.text, page.theme.text);
    for ToolCall { id, tool, arguments } in &reply.calls {
        page.field("calls", &format!("{tool} {arguments}  (id {id})"));
    }
    for repair in &reply.repairs {
        page.field_in("as sent", &repair.to_string(), page.theme.warn);
    }
    let finish = match &reply.finish {
        Finish::Stop => "stop",
        Finish::Calls => "tool_calls",
        Finish::Length => "token limit reached",
        Finish::Refused => "refused",
        Finish::Filtered => "cut off by a content filter",
        Finish::Judged => "ended by the judge: a call starts here",
        Finish::Other(other) => other,
    };
    page.field("finish", finish);
    let usage = reply.usage;
    let how = if usage.estimated { "estimated here" } else { "counted by the endpoint" };
    let cached =
        if usage.cached > 0 { format!(", {} cached", usage.cached) } else { String::new() };
    let written = if usage.written > 0 {
        format!(", {} written to the cache", usage.written)
    } else {
        String::new()
    };
    let said = format!("{} in{cached}{written}, {} out, {how}", usage.tokens_in, usage.tokens_out);
    page.field("usage", &said);
}
