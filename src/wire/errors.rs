//! Errors inside answers, and errors that a client understands.

use serde_json::Value;

/// Whether a document is an error, or reports one.
pub fn is_error(body: &Value) -> bool {
    let body = body.get(0).unwrap_or(body);
    let is_named = |field: &str| body[field].as_str() == Some("error");
    let is_in_field = match &body["error"] {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Bool(true) | Value::Number(_) => true,
    };
    // MiniMax reports its status beside an answer without choices.
    let status = &body["base_resp"]["status_code"];
    let is_status = status.as_i64().is_some_and(|status| status != 0);
    let is_listed = body["errors"].as_array().is_some_and(|errors| !errors.is_empty());
    is_in_field || is_named("object") || is_named("type") || is_status || is_listed
}
