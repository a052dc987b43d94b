//! The body of a chat completion request.

use serde_json::{Map, Value, json};

use super::messages::messages;
use crate::domain::{Request, ToolDef, ToolName};
use crate::names::FunctionNames;
use crate::settings::{WireSettings, given};

/// The whole body; the endpoint's extra fields come last and take precedence.
pub fn write_request(request: &Request, settings: &WireSettings<'_>) -> Value {
    let names = settings.names;
    let mut body = Map::new();
    body.insert("model".into(), settings.model.into());
    body.insert("messages".into(), messages(request, settings).into());
    let tools = settings.tools(request);
    let allowed = settings.allowed(request, &tools);
    if !tools.is_empty() {
        let tools = tools.into_iter().map(|(def, schema)| tool(def, schema, names));
        body.insert("tools".into(), tools.collect());
    }
    if !allowed.is_empty() {
        body.insert("tool_choice".into(), choice(&allowed, names));
    }
    body.extend(given([
        ("temperature", request.temperature.map(Value::from)),
        ("top_p", request.top_p.map(Value::from)),
        ("seed", request.seed.map(Value::from)),
        (settings.max_tokens_field, request.max_tokens.map(Value::from)),
    ]));
    if !request.stop.is_empty() {
        body.insert("stop".into(), request.stop.clone().into());
    }
    if let Some(schema) = &request.schema {
        let format = json!({"name": "answer", "strict": true, "schema": schema});
        let format = json!({"type": "json_schema", "json_schema": format});
        body.insert("response_format".into(), format);
    }
    if settings.streams {
        body.insert("stream".into(), true.into());
        body.insert("stream_options".into(), json!({"include_usage": true}));
    }
    settings.finish(body)
}

fn tool(def: &ToolDef, schema: Value, names: &FunctionNames) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": names.out(&def.name),
            "description": def.description,
            "parameters": schema,
        },
    })
}

/// The tools that may be called now. The array of tools never changes, so the prompt cache stays valid.
fn choice(allowed: &[&ToolName], names: &FunctionNames) -> Value {
    let tool =
        |name: &&ToolName| json!({"type": "function", "function": {"name": names.out(name)}});
    let tools: Vec<Value> = allowed.iter().map(tool).collect();
    json!({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": tools}})
}
