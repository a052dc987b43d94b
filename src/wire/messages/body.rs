//! The body of a request.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{marks, turns};
use crate::domain::{Message, Request, ToolDef, ToolName};
use crate::ids::calls;
use crate::learned::Demand;
use crate::settings::{WireSettings, given};

/// The whole body; the endpoint's extra fields come last and take precedence.
pub fn write_request(request: &Request, settings: &WireSettings<'_>) -> Value {
    let is_instruction = |message: &&Message| matches!(message, Message::System { .. });
    let instructions = request.messages.iter().take_while(is_instruction).count();
    let texts = request
        .messages
        .iter()
        .take(instructions)
        .map(Message::text)
        .filter(|text| !text.trim().is_empty());
    let mut system: Vec<Value> = texts.map(text).collect();
    let tools = settings.tools(request);
    let allowed = settings.allowed(request, &tools);
    let mut tools: Vec<Value> =
        tools.into_iter().map(|(def, schema)| tool(def, schema, settings)).collect();
    let is_in_want = tools.is_empty() && settings.learned.demands.contains(&Demand::Tools);
    if is_in_want {
        tools = called(request, settings);
    }
    let mut messages = turns::messages(request.messages.iter().skip(instructions), settings);
    if settings.caches {
        marks::place(settings.model, &mut tools, &mut system, &mut messages);
    }
    let mut body = Map::new();
    body.insert("model".into(), settings.model.into());
    body.insert("max_tokens".into(), request.max_tokens.unwrap_or(settings.longest).into());
    if !system.is_empty() {
        body.insert("system".into(), system.into());
    }
    body.insert("messages".into(), messages.into());
    if !tools.is_empty() {
        body.insert("tools".into(), tools.into());
        body.extend(choice(&allowed, settings, is_in_want).map(|it| ("tool_choice".into(), it)));
    }
    sample(request, &mut body);
    if settings.streams {
        body.insert("stream".into(), true.into());
    }
    settings.finish(body)
}

/// A block of this text.
pub(super) fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// Adds the sampling settings of the answer.
fn sample(request: &Request, body: &mut Map<String, Value>) {
    body.extend(given([
        // Other formats allow up to 2; this one refuses that.
        ("temperature", request.temperature.map(|temperature| temperature.clamp(0.0, 1.0).into())),
        ("top_p", request.top_p.map(Value::from)),
    ]));
    // An endpoint refuses a blank one.
    let stop = request.stop.iter().filter(|text| !text.trim().is_empty());
    let stop: Vec<&str> = stop.map(String::as_str).collect();
    if !stop.is_empty() {
        body.insert("stop_sequences".into(), stop.into());
    }
    if let Some(schema) = &request.schema {
        let format = json!({"type": "json_schema", "schema": schema});
        body.insert("output_config".into(), json!({"format": format}));
    }
}

fn tool(def: &ToolDef, schema: Value, settings: &WireSettings<'_>) -> Value {
    let mut tool = Map::new();
    tool.insert("name".into(), settings.names.out(&def.name).into());
    if !def.description.is_empty() {
        tool.insert("description".into(), def.description.as_str().into());
    }
    tool.insert("input_schema".into(), schema);
    tool.into()
}

/// Definitions of the tools that messages call, for an endpoint that wants them.
fn called(request: &Request, settings: &WireSettings<'_>) -> Vec<Value> {
    let names: BTreeSet<&str> = calls(request).map(|call| settings.names.out(&call.tool)).collect();
    let schema = json!({"type": "object", "properties": {}});
    names.into_iter().map(|name| json!({"name": name, "input_schema": schema})).collect()
}

/// The restriction of the tools that may be called now. This format can only name one tool, or none.
fn choice(allowed: &[&ToolName], settings: &WireSettings<'_>, is_past: bool) -> Option<Value> {
    match allowed {
        _ if is_past => Some(json!({"type": "none"})),
        [only] => Some(json!({"type": "tool", "name": settings.names.out(only)})),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Role, ToolCall};
    use crate::learned::Learned;
    use crate::messages::made;
    use crate::names::FunctionNames;

    #[test]
    fn a_request_says_what_an_endpoint_needs_and_takes() {
        let tool = |name: &str| ToolDef {
            name: name.into(),
            description: String::new(),
            parameters: json!({"properties": {}}).into(),
        };
        let request = Request {
            tools: vec![tool("a.b"), tool("c")].into(),
            temperature: Some(1.5.into()),
            seed: Some(7),
            stop: vec!["\n".into(), "END".into()],
            allowed: vec!["c".into()],
            ..Request::new(
                Role::Actor,
                vec![Message::system(" "), Message::system("S"), Message::user("Hi")],
            )
        };
        let schema = json!({"properties": {}, "type": "object"});
        let name = FunctionNames::of(&request).out(&"a.b".into()).to_owned();
        let expected = json!({
            "model": "claude-sonnet-4-5",
            "max_tokens": 4096,
            "system": [{"type": "text", "text": "S"}],
            "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
            "tools": [{"name": name, "input_schema": schema}, {"name": "c", "input_schema": schema}],
            "tool_choice": {"type": "tool", "name": "c"},
            "temperature": 1.0,
            "stop_sequences": ["END"],
            "stream": true,
        });
        assert_eq!(made::body(&request, true), expected);
        let both = Request { allowed: vec!["c".into(), "a.b".into()], ..request };
        assert_eq!(made::body(&both, true).get("tool_choice"), None);
    }

    #[test]
    fn extra_fields_come_last_and_refused_ones_stay_away() {
        let call = ToolCall { id: "c1".into(), tool: "t".into(), arguments: json!({}) };
        let asks = Message::Assistant { text: String::new(), calls: vec![call], source: None };
        let request = made::request(vec![Message::user("Hi"), asks]);
        let thinking = json!({"type": "enabled", "budget_tokens": 1024});
        let extra = json!({"thinking": thinking, "max_tokens": 9, "top_k": 1});
        let learned = Learned {
            left_out: ["top_k".to_owned()].into(),
            demands: [Demand::Tools].into(),
            ..Learned::default()
        };
        let body = made::body_with(&request, false, extra.as_object().unwrap(), &learned);
        assert_eq!((&body["thinking"], &body["max_tokens"]), (&thinking, &json!(9)));
        assert_eq!(body.get("top_k"), None);
        assert_eq!(
            (&body["tools"][0]["name"], &body["tool_choice"]),
            (&json!("t"), &json!({"type": "none"}))
        );
    }
}
