//! The body of a request.

use serde_json::{Map, Value, json};

use super::contents::contents;
use crate::domain::{Message, Request};
use crate::settings::{WireSettings, given};

/// The whole body; the endpoint's extra fields come last and take precedence.
pub(super) fn write_request(request: &Request, settings: &WireSettings<'_>) -> Value {
    let is_instruction = |message: &&Message| matches!(message, Message::System { .. });
    let texts = request.messages.iter().take_while(is_instruction).map(Message::text);
    let system: Vec<Value> =
        texts.filter(|text| !text.trim().is_empty()).map(|text| json!({ "text": text })).collect();
    let mut body = Map::new();
    body.insert("contents".into(), contents(request, settings).into());
    if !system.is_empty() {
        body.insert("systemInstruction".into(), json!({ "parts": system }));
    }
    let tools = settings.tools(request);
    let allowed = settings.allowed(request, &tools);
    let functions = tools.into_iter().map(|(def, schema)| {
        let name = settings.names.out(&def.name);
        json!({"name": name, "description": def.description, "parametersJsonSchema": schema})
    });
    let functions: Vec<Value> = functions.collect();
    if !functions.is_empty() {
        body.insert("tools".into(), json!([{ "functionDeclarations": functions }]));
    }
    if !allowed.is_empty() {
        let names: Vec<&str> = allowed.iter().map(|name| settings.names.out(name)).collect();
        let choice = json!({"mode": "VALIDATED", "allowedFunctionNames": names});
        body.insert("toolConfig".into(), json!({ "functionCallingConfig": choice }));
    }
    let stop = (!request.stop.is_empty()).then(|| request.stop.clone().into());
    let settings_of_answer: Map<String, Value> = given([
        ("temperature", request.temperature.map(Value::from)),
        ("topP", request.top_p.map(Value::from)),
        ("seed", request.seed.map(Value::from)),
        ("maxOutputTokens", request.max_tokens.map(Value::from)),
        ("stopSequences", stop),
        ("responseMimeType", request.schema.as_ref().map(|_| "application/json".into())),
        ("responseJsonSchema", request.schema.clone()),
    ])
    .collect();
    if !settings_of_answer.is_empty() {
        body.insert("generationConfig".into(), settings_of_answer.into());
    }
    settings.finish(body)
}
