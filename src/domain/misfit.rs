//! Arguments that break the schema of their tool, for calls that somebody else's agent checks itself. Pure, and only
//! what is certain: missing and unknown names, and values of another type. Everything else of a schema fits.

use serde_json::Value;

use crate::arguments::required;
use crate::words::clipped;

/// The most characters of a name and of a value.
const SHOWN: usize = 40;

/// The first argument that breaks the schema, with the reason; `None` if all seem to fit.
pub fn misfit(schema: &Value, arguments: &Value) -> Option<String> {
    let properties = schema.get("properties")?.as_object()?;
    let Some(given) = arguments.as_object() else {
        return Some("expected a JSON object".to_owned());
    };
    let of = |name: &str, why: &str| format!("{}: {why}", clipped(name, SHOWN));
    if let Some(name) = required(schema).into_iter().find(|name| !given.contains_key(*name)) {
        return Some(of(name, "missing"));
    }
    let is_closed =
        schema["additionalProperties"] == false && schema.get("patternProperties").is_none();
    given.iter().find_map(|(name, value)| match properties.get(name) {
        Some(property) => expected(property, value).map(|why| of(name, &why)),
        None => is_closed.then(|| of(name, "not a parameter")),
    })
}

/// The reason why a value does not fit the schema of its property.
fn expected(schema: &Value, value: &Value) -> Option<String> {
    // Other words beside a reference count only in new drafts.
    if schema.get("$ref").is_some() || (value.is_null() && schema["nullable"] == true) {
        return None;
    }
    let kinds: Vec<&str> = match schema.get("type")? {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        kind => kind.as_str().into_iter().collect(),
    };
    if !kinds.is_empty() && !kinds.iter().any(|kind| is_of(kind, value)) {
        let got = match value {
            Value::Object(_) => "an object".to_owned(),
            Value::Array(_) => "a list".to_owned(),
            value => format!("{:?}", clipped(value.as_str().unwrap_or(&value.to_string()), SHOWN)),
        };
        return Some(clipped(&format!("expected {}, got {got}", kinds.join(" or ")), 3 * SHOWN));
    }
    let choices = schema.get("enum").and_then(Value::as_array).filter(|all| !all.is_empty())?;
    let given = value.as_str().filter(|_| choices.iter().all(Value::is_string))?;
    (!choices.contains(value))
        .then(|| format!("not one of the choices: {:?}", clipped(given, SHOWN)))
}

/// Whether a value has this type of JSON Schema. An unknown type stands for any value.
fn is_of(kind: &str, value: &Value) -> bool {
    match kind {
        "string" => value.is_string(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "null" => value.is_null(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_certainly_breaks_a_schema_is_named() {
        let schema = json!({"type": "object", "required": ["city"], "additionalProperties": false,
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"},
                "unit": {"type": "string", "enum": ["C", "F"]}, "when": {"type": "datetime"},
                "more": {"type": ["array", "null"]}, "any": {"$ref": "#/$defs/x", "type": "string"}}});
        for fits in [
            json!({"city": "Oslo", "days": 2.0, "unit": "C", "when": 7, "more": null, "any": 1}),
            json!({"city": ""}),
        ] {
            assert_eq!(misfit(&schema, &fits), None, "{fits}");
        }
        for (arguments, why) in [
            (json!({"days": 2}), "city: missing"),
            (json!({"city": 7}), "city: expected string, got \"7\""),
            (json!({"city": "Oslo", "days": 2.5}), "days: expected integer, got \"2.5\""),
            (json!({"city": "Oslo", "unit": "K"}), "unit: not one of the choices: \"K\""),
            (json!({"city": "Oslo", "more": {}}), "more: expected array or null, got an object"),
            (json!({"city": "Oslo", "town": 1}), "town: not a parameter"),
            (json!("{\"city"), "expected a JSON object"),
        ] {
            assert_eq!(misfit(&schema, &arguments).as_deref(), Some(why), "{arguments}");
        }
        for none in [json!({}), json!(null), json!({"$ref": "#/$defs/x"}), json!({"properties": 1})]
        {
            assert_eq!(misfit(&none, &json!("patch")), None, "{none}");
        }
        let huge = json!({"city": {"x": "y".repeat(1 << 20)}, "z".repeat(1 << 20): 1});
        assert!(misfit(&schema, &huge).unwrap().len() < 300);
    }
}
