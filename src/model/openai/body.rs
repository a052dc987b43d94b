//! The body of a chat completion request.

use serde_json::{Map, Value, json};

use super::names::Names;
use crate::domain::{Message, Request, ToolCall, ToolDef};
use crate::model::http::Endpoint;

/// The whole body; the endpoint's extra fields come last and take precedence.
pub(super) fn body(endpoint: &Endpoint, request: &Request, names: &Names) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), endpoint.model.as_str().into());
    let messages: Vec<Value> =
        request.messages.iter().map(|message| self::message(message, names)).collect();
    body.insert("messages".into(), messages.into());
    if !request.tools.is_empty() {
        let tools: Vec<Value> = request.tools.iter().map(|def| tool(def, names)).collect();
        body.insert("tools".into(), tools.into());
    }
    if endpoint.allowed_tools && !request.allowed.is_empty() {
        body.insert("tool_choice".into(), allowed(request, names));
    }
    if let Some(temperature) = request.temperature {
        body.insert("temperature".into(), temperature.into());
    }
    if let Some(share) = request.top_p {
        body.insert("top_p".into(), share.into());
    }
    if let Some(seed) = request.seed {
        body.insert("seed".into(), seed.into());
    }
    if let Some(tokens) = request.max_tokens {
        body.insert(endpoint.max_tokens_field.clone(), tokens.into());
    }
    if !request.stop.is_empty() {
        body.insert("stop".into(), request.stop.clone().into());
    }
    if let Some(schema) = &request.schema {
        let format = json!({"name": "answer", "strict": true, "schema": schema});
        let format = json!({"type": "json_schema", "json_schema": format});
        body.insert("response_format".into(), format);
    }
    if endpoint.stream {
        body.insert("stream".into(), true.into());
        body.insert("stream_options".into(), json!({"include_usage": true}));
    }
    body.extend(endpoint.extra.clone());
    Value::Object(body)
}

fn tool(def: &ToolDef, names: &Names) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": names.out(&def.name),
            "description": def.description,
            "parameters": def.parameters,
        },
    })
}

/// The tools that may be called now. The array of tools stays as it is, and with it the prompt cache.
fn allowed(request: &Request, names: &Names) -> Value {
    let tool = |name| json!({"type": "function", "function": {"name": names.out(name)}});
    let tools: Vec<Value> = request.allowed.iter().map(tool).collect();
    json!({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": tools}})
}

fn message(message: &Message, names: &Names) -> Value {
    match message {
        Message::System { text } => json!({"role": "system", "content": text}),
        Message::User { text } => json!({"role": "user", "content": text}),
        Message::Assistant { text, calls } if calls.is_empty() => {
            json!({"role": "assistant", "content": text})
        }
        Message::Assistant { text, calls } => {
            let content = if text.is_empty() { Value::Null } else { text.as_str().into() };
            let calls: Vec<Value> = calls.iter().map(|asked| call(asked, names)).collect();
            json!({"role": "assistant", "content": content, "tool_calls": calls})
        }
        Message::Tool { id, text, .. } => {
            json!({"role": "tool", "tool_call_id": id, "content": text})
        }
    }
}

fn call(call: &ToolCall, names: &Names) -> Value {
    let arguments = match &call.arguments {
        // Servers parse past arguments when they fill the model's template, and fail on anything
        // but an object; so a model's broken JSON is sent back inside one.
        Value::String(raw) => json!({"not_valid_json": raw}).to_string(),
        arguments => arguments.to_string(),
    };
    json!({
        "id": call.id,
        "type": "function",
        "function": {"name": names.out(&call.tool), "arguments": arguments},
    })
}
