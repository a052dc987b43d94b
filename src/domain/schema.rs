//! JSON Schemas that constrain models.

use serde_json::{Value, json};

/// The schema of an object with exactly these fields, as narrow as strict endpoints need it: all are required, and no
/// others are allowed.
pub fn object_schema(properties: Value) -> Value {
    let names: Vec<&String> =
        properties.as_object().into_iter().flat_map(|all| all.keys()).collect();
    json!({
        "type": "object",
        "required": names,
        "additionalProperties": false,
        "properties": properties,
    })
}
