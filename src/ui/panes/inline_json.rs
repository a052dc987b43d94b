//! Values of any size on one line.

use serde_json::{Map, Value};

use crate::text;

/// The most bytes of a reply that is parsed as JSON in every frame.
const LONGEST: usize = 4096;

/// The arguments of a call as people write them, `query: "first flight", k: 3`, in about `width` cells: text far beyond
/// is never built. Drawing cuts and cleans the rest.
pub fn arguments(arguments: &Value, width: usize) -> String {
    let mut out = String::new();
    match arguments {
        Value::Object(map) => fields(map, (width, width), width * 4, &mut out),
        other => push(other, width, &mut out),
    }
    out
}

/// The values of a call's arguments without their names, `Oslo, 2026-12-04`, in about `width` cells.
pub fn values(arguments: &Value, width: usize) -> String {
    let Value::Object(map) = arguments else { return self::arguments(arguments, width) };
    let mut out = String::new();
    for (i, value) in map.values().enumerate() {
        if out.len() > width * 4 {
            break;
        }
        out.push_str(if i > 0 { ", " } else { "" });
        match value {
            Value::String(text) => out.push_str(start(text, width)),
            other => push(other, width, &mut out),
        }
    }
    out
}

/// A value in about `width` cells.
pub fn value(value: &Value, width: usize) -> String {
    let mut out = String::new();
    push(value, width, &mut out);
    out
}

/// A call's arguments as pairs, `city "Oslo"`, each in about `width` cells; as many as could matter there.
pub fn pairs(arguments: &Value, width: usize) -> Vec<String> {
    let Value::Object(map) = arguments else { return vec![self::arguments(arguments, width)] };
    let pair = |(name, value): (&String, &Value)| {
        let mut out = format!("{} ", start(name, width));
        push(value, width, &mut out);
        out
    };
    map.iter().take(width).map(pair).collect()
}

/// A reply that is one JSON object, in the form of [`arguments`]; `None` for any other text.
pub fn of_text(text: &str, width: usize) -> Option<String> {
    let is_object = text.starts_with('{') && text.ends_with('}') && text.len() <= LONGEST;
    let value: Value = is_object.then(|| serde_json::from_str(text).ok()).flatten()?;
    Some(arguments(&value, width))
}

fn push(value: &Value, width: usize, out: &mut String) {
    match value {
        Value::String(text) => {
            out.push('"');
            out.push_str(start(text, width));
            out.push('"');
        }
        Value::Array(items) if items.len() > width => {
            out.push_str(&format!("[{} items]", items.len()));
        }
        Value::Object(map) if map.len() > width => {
            out.push_str(&format!("{{{} fields}}", map.len()));
        }
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                push(item, width / 2, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            out.push('{');
            fields(map, (width, width / 2), usize::MAX, out);
            out.push('}');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => out.push_str(&value.to_string()),
    }
}

/// Writes keys and values of these widths, until the text has `most` bytes.
fn fields(map: &Map<String, Value>, (key, value): (usize, usize), most: usize, out: &mut String) {
    for (i, (name, field)) in map.iter().enumerate() {
        if out.len() > most {
            break;
        }
        out.push_str(if i > 0 { ", " } else { "" });
        out.push_str(start(name, key));
        out.push_str(": ");
        push(field, value, out);
    }
}

/// The part of a text that can matter for this many cells.
fn start(text: &str, width: usize) -> &str {
    text::start(text, width.saturating_mul(4).saturating_add(8))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_read_like_a_call() {
        let value = json!({"query": "first flight", "k": 3, "tags": ["a", null]});
        assert_eq!(arguments(&value, 40), r#"query: "first flight", k: 3, tags: ["a", null]"#);
        assert_eq!(arguments(&json!("not an object"), 40), r#""not an object""#);
        assert_eq!(arguments(&json!({}), 40), "");
    }

    #[test]
    fn what_cannot_be_seen_is_not_built() {
        let huge = json!({"text": "x".repeat(1 << 20), "list": vec![0; 1 << 16]});
        assert!(arguments(&huge, 40).len() < 500);
    }
}
