//! The structured form, for models with native structured output.

use serde_json::{Value, json};

use super::reading::{LONGEST, MOST, Unreadable, spelled};
use crate::domain::schema::object_schema;
use crate::domain::{Evidence, EvidenceId, Plan, PlanStep, words};

/// Characters up to which an error is shown.
const SHOWN: usize = 300;

/// The JSON Schema of a plan that calls these tools, as narrow as endpoints accept: all fields
/// required, no others allowed, no bounds (which strict endpoints refuse). [`parse_json`] checks
/// the bounds.
pub fn schema<'t>(tools: impl IntoIterator<Item = &'t str>) -> Value {
    let tools: Vec<&str> = tools.into_iter().collect();
    let text = |description: &str| json!({"type": "string", "description": description});
    let mut tool = text("the tool that is called");
    // An empty list of choices is not a valid schema.
    if !tools.is_empty() {
        tool["enum"] = json!(tools);
    }
    let evidence = object_schema(json!({
        "id": text("E1, E2, … in order, each once"),
        "tool": tool,
        "input": text("the tool's input: its only argument, or all as JSON; may name other evidence as #E1"),
    }));
    let step = object_schema(json!({
        "text": text("what is to be done in this step"),
        "evidence": {"type": "array", "description": "the calls of this step", "items": evidence},
    }));
    object_schema(json!({"plans": {"type": "array", "items": step}}))
}

/// Reads the structured form. Also accepts the output of models that do not follow the schema: a bare list of plans,
/// `plan` for `text`, arguments as an object.
///
/// # Errors
/// The text is something else, too large or without plans.
pub fn parse_json(text: &str) -> Result<Plan, Unreadable> {
    if text.len() > LONGEST {
        return Err(Unreadable::TooLong { bytes: text.len() });
    }
    from_value(serde_json::from_str(text).map_err(refused)?)
}

/// The value of a text that ends too early, with its lists and objects closed after the last whole object, and the rest
/// of the text.
pub(super) fn closed(text: &str) -> Option<(Value, &str)> {
    let (mut open, mut is_text, mut is_escaped) = (Vec::new(), false, false);
    let mut whole = None;
    for (at, sign) in text.bytes().enumerate() {
        match sign {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            _ if is_text => {}
            b'{' => open.push('}'),
            b'[' => open.push(']'),
            b'}' | b']' => {
                open.pop()?;
                whole = Some((at + 1, open.clone()));
            }
            _ => {}
        }
    }
    let (end, open) = whole?;
    let text_to_there = text[..end].chars().chain(open.into_iter().rev()).collect::<String>();
    Some((serde_json::from_str(&text_to_there).ok()?, &text[end..]))
}

pub(super) fn from_value(value: Value) -> Result<Plan, Unreadable> {
    let (list, at) = match &value {
        Value::Array(list) => (list, "plans"),
        Value::Object(_) => match get(&value, &PLANS) {
            Some((Value::Array(list), name)) => (list, name),
            Some((_, name)) => return Err(refused(format!("{name}: expected a list"))),
            None => return Err(refused("missing field `plans`")),
        },
        _ => return Err(refused("expected an object or a list")),
    };
    if list.len() > MOST {
        return Err(Unreadable::TooMany { what: "plans" });
    }
    let mut steps = Vec::new();
    let mut last = 0u32;
    for (n, step) in list.iter().enumerate() {
        let text = get(step, &TEXT).and_then(|(text, _)| text.as_str()).unwrap_or_default();
        let words: Vec<&str> = text.split_whitespace().collect();
        let calls = calls_of(step).map_err(|why| refused(format!("{at}[{n}]{why}")))?;
        let mut evidence = Vec::new();
        for (id, tool, input) in calls {
            let id = id.unwrap_or(EvidenceId(last.saturating_add(1)));
            last = id.0;
            evidence.push(Evidence { id, tool, input });
        }
        steps.push(PlanStep { text: words.join(" "), evidence });
    }
    if steps.iter().map(|step| step.evidence.len()).sum::<usize>() > MOST {
        return Err(Unreadable::TooMany { what: "calls" });
    }
    if steps.iter().all(|step| step.text.is_empty() && step.evidence.is_empty()) {
        return Err(Unreadable::NoPlan);
    }
    Ok(spelled(Plan { steps }))
}

fn refused(error: impl std::fmt::Display) -> Unreadable {
    Unreadable::Json { why: words::clipped(&error.to_string(), SHOWN) }
}

/// The names that models give to the fields.
const PLANS: [&str; 4] = ["plans", "plan", "steps", "tasks"];
const TEXT: [&str; 10] = [
    "text",
    "plan",
    "description",
    "thought",
    "reasoning",
    "step",
    "task",
    "instruction",
    "goal",
    "purpose",
];
const CALLS: [&str; 5] = ["evidence", "calls", "tool_calls", "actions", "tools"];
const TOOL: [&str; 6] = ["tool", "tool_name", "action", "function", "name", "api"];
const INPUT: [&str; 11] = [
    "input",
    "arguments",
    "args",
    "tool_input",
    "action_input",
    "parameters",
    "params",
    "query",
    "inputs",
    "kwargs",
    "argument",
];
const ID: [&str; 8] = [
    "id",
    "evidence",
    "evidence_id",
    "output",
    "variable",
    "store_as",
    "result",
    "evidence_variable",
];

type JsonCall = (Option<EvidenceId>, String, String);

/// The first of these fields that an object has.
fn get<'v>(value: &'v Value, names: &[&'static str]) -> Option<(&'v Value, &'static str)> {
    names.iter().find_map(|name| Some((value.get(name).filter(|value| !value.is_null())?, *name)))
}

/// The calls of a step: a list of calls, or the step itself is one.
fn calls_of(step: &Value) -> Result<Vec<JsonCall>, String> {
    let list = CALLS.iter().find_map(|name| Some((step.get(name)?.as_array()?, *name)));
    let Some((list, name)) = list else {
        return match get(step, &TOOL) {
            Some((Value::String(tool), _)) if is_nothing(tool) => Ok(Vec::new()),
            Some((Value::String(_) | Value::Object(_), _)) => Ok(vec![call(step)?]),
            None if tool_of(step).is_some() => Ok(vec![call(step)?]),
            Some(_) | None => Ok(Vec::new()),
        };
    };
    list.iter()
        .enumerate()
        .map(|(n, item)| call(item).map_err(|why| format!(".{name}[{n}]{why}")))
        .collect()
}

/// The name of the tool that is called. Some models call it a task: `{"task": "search_web", "args": {…}}`.
fn tool_of(call: &Value) -> Option<&str> {
    if let Some(tool) = get(call, &TOOL) {
        return tool.0.as_str();
    }
    let task = call.get("task")?.as_str().filter(|task| !task.trim().contains(char::is_whitespace));
    task.filter(|task| !is_nothing(task) && get(call, &INPUT).is_some())
}

fn is_nothing(tool: &str) -> bool {
    matches!(tool.trim().to_lowercase().as_str(), "" | "none" | "null" | "n/a" | "-")
}

fn call(value: &Value) -> Result<JsonCall, String> {
    // `{"function": {"name": …, "arguments": …}}`, as endpoints write calls.
    let inner = value.get("function").filter(|inner| inner.is_object());
    let of = inner.unwrap_or(value);
    let Some(tool) = tool_of(of) else {
        return Err(": missing field `tool`".to_owned());
    };
    let id = match get(value, &ID) {
        Some((written, name)) => match serde_json::from_value::<EvidenceId>(written.clone()) {
            Ok(id) => Some(id),
            // The endpoint's own name of a call, or a sentence about the result.
            Err(_) if name != "id" || inner.is_some() => None,
            Err(why) => return Err(format!(".id: {why}")),
        },
        None => None,
    };
    let input = match get(of, &INPUT) {
        Some((Value::String(text), _)) => text.trim().to_owned(),
        Some((other, _)) => other.to_string(),
        None => String::new(),
    };
    Ok((id, tool.trim().to_owned(), input))
}

/// Whether a value is a plan: an object or a list with steps.
pub(super) fn is_plan(value: &Value) -> bool {
    let has_steps = |value: &Value| {
        let list = value.as_array();
        let called = |step: &Value| {
            get(step, &TOOL).is_some() || get(step, &CALLS).is_some() || tool_of(step).is_some()
        };
        list.is_some_and(|list| list.iter().all(Value::is_object) && list.iter().any(called))
    };
    has_steps(value) || get(value, &PLANS).is_some_and(|(list, _)| has_steps(list))
}

/// The calls that a value in a text makes: one, or a list of them.
pub(super) fn calls(value: &Value) -> Option<Vec<JsonCall>> {
    match value {
        Value::Array(list) => list.iter().map(single).collect(),
        _ => Some(vec![single(value)?]),
    }
}

fn single(value: &Value) -> Option<JsonCall> {
    let inner = value.get("function").filter(|inner| inner.is_object()).unwrap_or(value);
    let named = tool_of(inner).is_some();
    let given = get(inner, &INPUT).is_some();
    if named && given { call(value).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_schema_takes_is_read_and_its_choices_are_the_tools() {
        let schema = schema(["Wikipedia", "Calculator"]);
        let validator = jsonschema::validator_for(&schema).unwrap();
        let step = |tool: &str| json!({"plans": [{"text": "a", "evidence": [{"id": "E1", "tool": tool, "input": "x"}]}]});
        assert!(validator.is_valid(&step("Calculator")));
        assert!(!validator.is_valid(&step("Google")));
        assert!(!validator.is_valid(&json!({"plans": [{"text": "a"}]})));
        let plan = parse_json(&step("Calculator").to_string()).unwrap();
        assert_eq!(serde_json::to_value(&plan.steps).unwrap(), step("Calculator")["plans"]);
        assert!(super::schema([])["properties"]["plans"]["items"].is_object());
    }

    fn calls(step: &Value) -> Vec<String> {
        let plan = from_value(json!({ "plans": [step] })).unwrap();
        plan.evidence()
            .map(|found| format!("{} {} {}", found.id, found.tool, found.input))
            .collect()
    }

    #[test]
    fn a_step_calls_the_tool_that_it_names() {
        assert_eq!(calls(&json!({"text": "a", "tool": "f", "input": " x "})), ["E1 f x"]);
        assert_eq!(calls(&json!({"task": "f", "args": {"x": 1}})), ["E1 f {\"x\":1}"]);
        for none in ["", "none", "N/A", "-"] {
            assert_eq!(calls(&json!({"text": "a", "tool": none})), Vec::<String>::new(), "{none}");
            assert_eq!(
                calls(&json!({"text": "a", "task": none, "args": "x"})),
                Vec::<String>::new()
            );
        }
        assert_eq!(
            calls(&json!({"text": "a", "task": "look it up", "args": "x"})),
            Vec::<String>::new()
        );
        assert_eq!(calls(&json!({"text": "a", "task": "sum"})), Vec::<String>::new(), "no input");
    }

    #[test]
    fn as_many_calls_as_are_allowed_are_read() {
        let many = |calls: usize| {
            let calls = vec![json!({"tool": "f", "input": "x"}); calls];
            from_value(json!({"plans": [{"text": "a", "evidence": calls}]}))
        };
        assert_eq!(many(MOST).unwrap().evidence().count(), MOST);
        let why = many(MOST + 1).unwrap_err().to_string();
        assert!(why.contains("more than 256 calls"), "{why}");
    }
}
