//! Parses an answer written as text: the first action, or the final answer, or neither.

use serde_json::Value;

use super::label::{Label, Section, sections};
use crate::domain::{Finish, Reply, Request, ToolCall, ToolDef, ToolName, arguments};
use crate::markup::{MarkupCall, MarkupText, find, offered};
use crate::wire::ids::FreeIds;

/// Names of actions by which a model ends the task.
const FINISH: [&str; 4] = ["finish", "final answer", "final_answer", "finalanswer"];

/// The reply with the call or the answer in its text. `request` is the one with the menu, before
/// [`super::to_text`].
///
/// Only the first action counts: the rest was written without its result. Text of an unknown shape
/// stays a plain reply, as does everything if no tools were offered.
pub fn from_text(request: &Request, reply: Reply) -> Reply {
    if request.tools.is_empty() || !reply.calls.is_empty() {
        return reply;
    }
    let said = read(&reply.text, &request.tools);
    let ActionText { thought, then } = said;
    match then {
        Then::Call { tool, arguments } => {
            let call = ToolCall { id: FreeIds::of(request, "text").take(), tool, arguments };
            Reply { text: thought, calls: vec![call], finish: Finish::Calls, ..reply }
        }
        Then::Answer(text) => {
            let reasoning = joined(&reply.reasoning, &thought);
            Reply { text, reasoning, ..reply }
        }
        Then::Nothing => Reply { text: thought, ..reply },
    }
}

/// The content of an answer: thoughts, then perhaps an action.
struct ActionText {
    thought: String,
    then: Then,
}

enum Then {
    Call { tool: ToolName, arguments: Value },
    Answer(String),
    Nothing,
}

fn read(text: &str, tools: &[ToolDef]) -> ActionText {
    let sections = sections(text);
    let mut thought = String::new();
    for (at, section) in sections.iter().enumerate() {
        match section.label {
            None | Some(Label::Thought) => thought = joined(&thought, section.text),
            Some(Label::Answer) => {
                return ActionText { thought, then: Then::Answer(closed(section.text).into()) };
            }
            Some(Label::Action) => {
                let then = act(section.text, input_after(&sections[at + 1..]), tools, &thought);
                if !matches!(then, Then::Nothing) {
                    return ActionText { thought, then };
                }
            }
            // An input without its action, or an invented observation.
            Some(Label::Input | Label::Observation) => {}
        }
    }
    let then = as_json(text, tools);
    if let (Then::Nothing, MarkupText::Calls { before, calls, .. }) = (&then, find(text, tools))
        && let Some(MarkupCall { tool, arguments }) = calls.into_iter().next()
    {
        return ActionText { thought: before.to_owned(), then: Then::Call { tool, arguments } };
    }
    let thought = match then {
        Then::Call { .. } | Then::Answer(_) => String::new(),
        // No label, or only empty ones: all of it is the reply, unchanged.
        Then::Nothing if sections.len() == 1 || thought.is_empty() => text.trim().into(),
        Then::Nothing => thought,
    };
    ActionText { thought, then }
}

fn input_after<'a>(rest: &[Section<'a>]) -> Option<&'a str> {
    let next = rest.first()?;
    (next.label == Some(Label::Input)).then_some(next.text)
}

/// An action in any of its shapes: a name, `name[input]`, `name(input)`, `name {input}`, or JSON.
fn act(text: &str, input: Option<&str>, tools: &[ToolDef], thought: &str) -> Then {
    let text = arguments::unfenced(text);
    if text.starts_with('{') {
        return arguments::json(text).map_or(Then::Nothing, |value| from_json(&value, tools));
    }
    let (name, own) = split_name(text, tools);
    if name.is_empty() || ["none", "n/a"].iter().any(|none| name.eq_ignore_ascii_case(none)) {
        return Then::Nothing;
    }
    let raw = input.unwrap_or(own);
    let tool = offered(name, tools);
    if ends(name, tool) {
        let answer = answer_of(raw);
        return Then::Answer(if answer.is_empty() { thought.into() } else { answer });
    }
    match tool {
        Some(tool) => {
            let arguments = arguments::read(raw, &tool.parameters);
            Then::Call { tool: tool.name.clone(), arguments }
        }
        // Not on the menu: still a call, so that the model learns its mistake.
        None => {
            let name: String = name.chars().take(128).collect();
            Then::Call { tool: name.into(), arguments: arguments::read(raw, &Value::Null) }
        }
    }
}

/// The name at the start of an action, and the following text as a candidate for its input.
fn split_name<'a>(text: &'a str, tools: &[ToolDef]) -> (&'a str, &'a str) {
    let (line, below) = text.split_once('\n').unwrap_or((text, ""));
    let below = below.trim();
    let below = if below.starts_with(['{', '"', '`']) { below } else { "" };
    let bare = |name: &'a str| name.trim().trim_matches(['`', '*', '"', '\'', '[', ']', '.', ' ']);
    // The whole line first: names may contain spaces, brackets and dots.
    if offered(bare(line), tools).is_some() {
        return (bare(line), below);
    }
    for (open, close) in [('[', ']'), ('(', ')')] {
        let Some((name, rest)) = text.split_once(open).filter(|(name, _)| !name.contains('\n'))
        else {
            continue;
        };
        if !bare(name).is_empty() && !name.trim().contains(' ') {
            let rest = rest.rsplit_once(close).map_or(rest, |(inside, _)| inside);
            return (bare(name), rest.trim());
        }
    }
    match line.trim().split_once([' ', ',', ':']) {
        Some((name, rest))
            if offered(bare(name), tools).is_some() || rest.trim().starts_with('{') =>
        {
            (bare(name), rest.trim())
        }
        _ => (bare(line), below),
    }
}

/// Whether an action of this name ends the task. A real tool may be called `finish`; the menu's own
/// entry for the end is written `Finish`.
fn ends(name: &str, tool: Option<&ToolDef>) -> bool {
    let listed = tool.is_some_and(|tool| tool.name.as_str() == name && name != "Finish");
    !listed && FINISH.iter().any(|word| name.eq_ignore_ascii_case(word))
}

/// The text of an answer given as an input: bare, quoted, or an object with one text in it.
fn answer_of(raw: &str) -> String {
    let raw = arguments::unfenced(raw);
    let value = arguments::read(raw, &Value::Null);
    match &value {
        Value::Object(fields) => {
            let named = fields.get("answer").or_else(|| fields.values().next());
            named.map_or_else(String::new, plain)
        }
        _ => arguments::json(raw).as_ref().map_or_else(|| raw.to_owned(), plain),
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Reads a call as JSON, which models trained on other formats write.
fn as_json(text: &str, tools: &[ToolDef]) -> Then {
    let bare = arguments::unfenced(text);
    if !bare.starts_with('{') {
        return Then::Nothing;
    }
    arguments::json(bare).map_or(Then::Nothing, |value| from_json(&value, tools))
}

fn from_json(value: &Value, tools: &[ToolDef]) -> Then {
    let first = |names: &[&str]| names.iter().find_map(|name| value.get(name));
    let name = first(&["action", "tool", "name"]).and_then(Value::as_str);
    let given = first(&["action_input", "arguments", "input", "parameters"]);
    let Some(name) = name.map(str::trim) else { return Then::Nothing };
    let tool = offered(name, tools);
    if ends(name, tool) {
        return Then::Answer(given.map_or_else(String::new, |given| answer_of(&plain(given))));
    }
    // Without a known name it may be any object, even the answer itself.
    let Some(tool) = tool else { return Then::Nothing };
    let arguments = match given {
        Some(Value::String(raw)) => arguments::read(raw, &tool.parameters),
        Some(given) => given.clone(),
        None => Value::Object(serde_json::Map::new()),
    };
    Then::Call { tool: tool.name.clone(), arguments }
}

/// An answer without the closing fence of one that was opened before its label.
fn closed(text: &str) -> &str {
    let odd = text.matches("```").count() % 2 == 1;
    let bare = if odd { text.trim_end().strip_suffix("```").unwrap_or(text) } else { text };
    bare.trim()
}

fn joined(before: &str, after: &str) -> String {
    let after = after.trim().trim_matches('`').trim();
    match (before.is_empty(), after.is_empty()) {
        (true, _) => after.into(),
        (false, true) => before.into(),
        (false, false) => format!("{before}\n{after}"),
    }
}
