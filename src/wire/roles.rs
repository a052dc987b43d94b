//! Conversations for models whose template knows users and assistants alone, in turn.

use serde_json::{Map, Value, json};

/// Puts the texts of the system in front of the first message of the user after them, and joins users in a row.
pub fn take_turns(body: &mut Map<String, Value>) {
    let instruction = body.shift_remove("systemInstruction");
    if let Some(instruction) = instruction {
        return in_first_content(body, &instruction["parts"]);
    }
    let field = if body.contains_key("input") { "input" } else { "messages" };
    let mut system: Vec<String> = Vec::new();
    for field in ["system", "instructions"] {
        system.extend(body.shift_remove(field).as_ref().map(text));
    }
    let Some(list) = body.get_mut(field).and_then(Value::as_array_mut) else { return };
    let mut turns: Vec<Value> = Vec::with_capacity(list.len());
    for mut message in std::mem::take(list) {
        match message["role"].as_str() {
            Some("system" | "developer") => {
                system.push(text(&message["content"]));
                continue;
            }
            Some("user") => {}
            _ => {
                turns.push(message);
                continue;
            }
        }
        for before in std::mem::take(&mut system).into_iter().rev() {
            message["content"] = after(before.into(), message["content"].take(), field);
        }
        match turns.last_mut().filter(|last| last["role"] == "user") {
            Some(last) => {
                last["content"] = after(last["content"].take(), message["content"].take(), field);
            }
            None => turns.push(message),
        }
    }
    if !system.is_empty() {
        turns.push(json!({"role": "user", "content": system.join("\n\n")}));
    }
    *list = turns;
}

/// Puts the parts of Gemini's instructions in front of the first content, which is the user's.
fn in_first_content(body: &mut Map<String, Value>, parts: &Value) {
    let first = body.get_mut("contents").and_then(|contents| contents.get_mut(0));
    let own = first.and_then(|first| first["parts"].as_array_mut());
    if let (Some(own), Some(parts)) = (own, parts.as_array()) {
        own.splice(0..0, parts.iter().cloned());
    }
}

/// The texts of a content.
fn text(content: &Value) -> String {
    let parts = content.as_array().into_iter().flatten().filter_map(|part| part["text"].as_str());
    content.as_str().map_or_else(|| parts.collect::<Vec<_>>().join("\n\n"), str::to_owned)
}

/// A content behind another one.
fn after(first: Value, second: Value, field: &str) -> Value {
    let parts = |content: Value| match content {
        Value::Array(parts) => parts,
        text => {
            let kind = if field == "input" { "input_text" } else { "text" };
            vec![json!({"type": kind, "text": text})]
        }
    };
    match (first, second) {
        (Value::String(first), Value::String(second)) => format!("{first}\n\n{second}").into(),
        (first, second) => [parts(first), parts(second)].concat().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(mut body: Value) -> Value {
        take_turns(body.as_object_mut().unwrap());
        body
    }

    #[test]
    fn the_system_is_in_front_of_the_user_and_roles_take_turns() {
        let says = |role: &str, content: Value| json!({"role": role, "content": content});
        let body = json!({"messages": [says("system", "A".into()), says("developer", "B".into()),
            says("user", "C".into()), says("user", "D".into()), says("assistant", "E".into()),
            says("system", "F".into())]});
        let right = json!({"messages": [says("user", "A\n\nB\n\nC\n\nD".into()),
            says("assistant", "E".into()), says("user", "F".into())]});
        assert_eq!(turns(body), right);
        let part = |kind: &str, text: &str| json!({"type": kind, "text": text});
        let body = json!({"system": [part("text", "A"), part("text", "B")],
            "messages": [says("user", json!([part("text", "C")]))]});
        let right =
            json!({"messages": [says("user", json!([part("text", "A\n\nB"), part("text", "C")]))]});
        assert_eq!(turns(body), right);
        let image = json!({"type": "input_image", "image_url": "u"});
        let body = json!({"input": [says("system", "A".into()), says("user", json!([image]))]});
        let right = json!({"input": [says("user", json!([part("input_text", "A"), image]))]});
        assert_eq!(turns(body), right);
    }
}
