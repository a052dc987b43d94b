//! What strict endpoints refuse.

use std::collections::HashSet;

use serde_json::Value;

use super::endpoint::Given;

/// The first of these words in the schema of a tool, and the tool's place. Names of properties are no words.
pub(super) fn word(body: &Value, words: &[&'static str]) -> Option<(usize, &'static str)> {
    fn find(schema: &Value, words: &[&'static str]) -> Option<&'static str> {
        let own = words.iter().copied().find(|word| schema.get(*word).is_some());
        let named = schema["properties"].as_object().into_iter().flatten().map(|(_, value)| value);
        let lists = ["anyOf", "oneOf"].map(|word| schema[word].as_array());
        let listed = lists.into_iter().flatten().flatten();
        let all = named.chain(listed).chain(schema.get("items"));
        own.or_else(|| all.into_iter().find_map(|schema| find(schema, words)))
    }
    let tools = body["tools"].as_array().into_iter().flatten().enumerate();
    tools
        .into_iter()
        .find_map(|(at, tool)| Some((at, find(&tool["function"]["parameters"], words)?)))
}

/// What strict endpoints refuse in a request.
pub(super) fn faults(body: &Value, given: &Given, letter: char) -> Vec<String> {
    let mut faults = Vec::new();
    let known = [
        "model",
        "messages",
        "tools",
        "temperature",
        "top_p",
        "seed",
        "stop",
        "max_tokens",
        "max_completion_tokens",
        "response_format",
        "stream",
        "stream_options",
    ];
    let fields = body.as_object().unwrap().keys();
    faults.extend(
        fields.filter(|it| !known.contains(&it.as_str())).map(|it| format!("{it} is unknown")),
    );
    if body.get("tools").is_some_and(|tools| tools.as_array().is_none_or(Vec::is_empty)) {
        faults.push("tools is empty".to_owned());
    }
    let is_name = |name: &str| {
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        (1..=64).contains(&name.len()) && name.chars().all(fits)
    };
    for tool in body["tools"].as_array().into_iter().flatten() {
        let function = &tool["function"];
        if !is_name(function["name"].as_str().unwrap_or_default()) {
            faults.push(format!("the name of {function}"));
        }
        if function["parameters"]["type"] != "object" || function["description"] == "" {
            faults.push(format!("the parameters or description of {function}"));
        }
    }
    let (mut ids, mut open) = (HashSet::new(), Vec::<String>::new());
    let mut before = "";
    for (at, message) in body["messages"].as_array().unwrap().iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        let mut fault = |text: &str| {
            faults.push(format!("message {at} ({role} after {before}): {text}: {message}"))
        };
        let content = message["content"].as_str().unwrap_or_default();
        let calls: &[Value] = message["tool_calls"].as_array().map_or(&[], Vec::as_slice);
        let allowed: &[&str] = match role {
            "system" | "user" => &["role", "content"],
            "assistant" => &["role", "content", "tool_calls", "reasoning_content"],
            "tool" => &["role", "content", "tool_call_id"],
            _ => &[],
        };
        if message.as_object().unwrap().keys().any(|name| !allowed.contains(&name.as_str())) {
            fault("an unknown field");
        }
        if role != "tool" && !open.is_empty() {
            fault("a call has no result");
        }
        let is_turn = match role {
            "system" => before.is_empty(),
            "user" => matches!(before, "" | "system" | "assistant" | "tool"),
            "assistant" => matches!(before, "user" | "tool"),
            "tool" => matches!(before, "assistant" | "tool"),
            _ => false,
        };
        if !is_turn {
            fault("the order of roles");
        }
        match role {
            "tool" => {
                let id = message["tool_call_id"].as_str().unwrap_or_default();
                match open.iter().position(|call| call == id) {
                    Some(at) => drop(open.remove(at)),
                    None => fault("a result without its call"),
                }
            }
            "assistant" if !calls.is_empty() => {
                if !message["content"].is_null() && content.trim().is_empty() {
                    fault("blank content beside calls");
                }
                for call in calls {
                    let id = call["id"].as_str().unwrap_or_default().to_owned();
                    if id.len() != 9 || !id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
                        fault("an id is not nine letters and digits");
                    }
                    let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
                    if serde_json::from_str::<serde_json::Map<String, Value>>(arguments).is_err() {
                        fault("arguments are no object");
                    }
                    if !is_name(call["function"]["name"].as_str().unwrap_or_default()) {
                        fault("a call's name");
                    }
                    let known = ["id", "type", "function", "extra_content"];
                    if call.as_object().unwrap().keys().any(|name| !known.contains(&name.as_str()))
                    {
                        fault("an unknown field of a call");
                    }
                    let null = (Value::Null, Value::Null);
                    let is_own =
                        id.starts_with(letter) && id[1..].bytes().all(|byte| byte.is_ascii_digit());
                    let kept = given.get(&id).unwrap_or(&null);
                    let sent = [&message["reasoning_content"], &call["extra_content"]];
                    if is_own && sent != [&kept.0, &kept.1] {
                        fault("what was given does not come back");
                    }
                    if !ids.insert(id.clone()) {
                        fault("an id comes twice");
                    }
                    open.push(id);
                }
            }
            _ if content.trim().is_empty() => fault("nothing is said"),
            _ => {}
        }
        before = role;
    }
    if !open.is_empty() || !matches!(before, "user" | "tool") {
        faults
            .push(format!("the last message is one of {before}, calls without results: {open:?}"));
    }
    faults
}
