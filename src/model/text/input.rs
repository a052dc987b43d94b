//! The input of an action: JSON as asked for, or what models write instead.

use serde_json::{Map, Value};

use super::schema::{only, properties};

/// Reads an input for a tool whose arguments have this schema. What cannot be read stays a string,
/// for the check against the schema to explain.
pub(super) fn read(raw: &str, schema: &Value) -> Value {
    let bare = unfenced(raw);
    if bare.is_empty() || bare.eq_ignore_ascii_case("none") {
        return Value::Object(Map::new());
    }
    match json(bare).or_else(|| single_quoted(bare)) {
        Some(object @ Value::Object(_)) => return object,
        Some(value @ (Value::Array(_) | Value::String(_))) => {
            if let Some((name, _)) = only(schema) {
                return object(name, value);
            }
        }
        // A bare number or word may be meant as text: the schema decides below.
        Some(Value::Null | Value::Bool(_) | Value::Number(_)) | None => {}
    }
    if bare.starts_with('{') {
        return Value::String(raw.into());
    }
    if let Some(pairs) = pairs(bare, schema) {
        return Value::Object(pairs);
    }
    match only(schema) {
        Some((name, of)) => object(name, scalar(bare, of)),
        None => Value::String(raw.into()),
    }
}

/// The text without the code fence or backticks around it.
pub(super) fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let Some(inside) = text.strip_prefix("```") else {
        return text.strip_prefix('`').and_then(|text| text.strip_suffix('`')).unwrap_or(text);
    };
    let inside = inside.split_once("```").map_or(inside, |(inside, _)| inside);
    match inside.split_once('\n') {
        Some((language, code)) if language.trim().chars().all(char::is_alphanumeric) => code.trim(),
        _ => inside.trim(),
    }
}

/// The first JSON value of a text, whatever follows it.
pub(super) fn json(text: &str) -> Option<Value> {
    let whole = serde_json::from_str(text).ok();
    // After a bare number or word something follows that changes its meaning: "3 apples".
    let opens = text.starts_with(['{', '[', '"']);
    whole.or_else(|| {
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        if opens { values.next()?.ok() } else { None }
    })
}

/// Objects as Python prints them. Only without double quotes: otherwise a quote's meaning is a guess.
fn single_quoted(text: &str) -> Option<Value> {
    if !text.starts_with(['{', '[']) || text.contains('"') {
        return None;
    }
    let words = text.replace('\'', "\"");
    let words = words.replace(": True", ": true").replace(": False", ": false");
    serde_json::from_str(&words.replace(": None", ": null")).ok()
}

/// `city="Oslo", days=2`, or a line `city: Oslo` for each; only with names that the tool knows.
fn pairs(text: &str, schema: &Value) -> Option<Map<String, Value>> {
    let starts = pair_starts(text, schema);
    if starts.first().is_none_or(|first| !text[..first.0].trim().is_empty()) {
        return None;
    }
    let mut pairs = Map::new();
    for (at, &(_, start, name)) in starts.iter().enumerate() {
        let end = starts.get(at + 1).map_or(text.len(), |next| next.0);
        let value = text[start..end].trim().trim_end_matches([',', ';']).trim_end();
        let of = &schema["properties"][name];
        pairs.insert(name.to_owned(), scalar(value, of));
    }
    Some(pairs)
}

/// Where each `name=` or `name:` of a known argument begins and its value begins.
fn pair_starts<'a>(text: &str, schema: &'a Value) -> Vec<(usize, usize, &'a str)> {
    let mut starts = Vec::new();
    for name in properties(schema).filter(|name| !name.is_empty()) {
        for (at, _) in text.match_indices(name.as_str()) {
            let before = text[..at].trim_end_matches([' ', '\t']);
            let rest = text[at + name.len()..].trim_start_matches([' ', '\t']);
            let begins = before.is_empty() || before.ends_with([',', '\n', ';']);
            if let Some(value) = rest.strip_prefix(['=', ':']).filter(|_| begins) {
                starts.push((at, text.len() - value.len(), name.as_str()));
                break;
            }
        }
    }
    starts.sort_unstable();
    starts
}

/// A value without quotes, as the kind that the schema wants.
fn scalar(text: &str, schema: &Value) -> Value {
    let quoted = ['"', '\''].into_iter().find_map(|quote| {
        let inside = text.strip_prefix(quote)?.strip_suffix(quote)?;
        (!inside.contains(quote)).then_some(inside)
    });
    if let Some(inside) = quoted {
        return serde_json::from_str(text).unwrap_or_else(|_| inside.into());
    }
    let wants_text = schema.get("type").is_none_or(|kind| kind == "string");
    let read = if wants_text { None } else { json(text).or_else(|| single_quoted(text)) };
    read.unwrap_or_else(|| text.into())
}

fn object(name: &str, value: Value) -> Value {
    Value::Object(Map::from_iter([(name.to_owned(), value)]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn one() -> Value {
        json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]})
    }

    fn two() -> Value {
        json!({"type": "object", "properties": {
            "city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city", "days"]})
    }

    #[test]
    fn reads_what_models_write() {
        let oslo = json!({"city": "Oslo"});
        let written = [
            r#"{"city": "Oslo"}"#,
            "```json\n{\"city\": \"Oslo\"}\n```",
            "```{\"city\": \"Oslo\"}```",
            "`{\"city\": \"Oslo\"}`",
            r#"{"city": "Oslo"} and then I will see"#,
            "{'city': 'Oslo'}",
            "Oslo",
            "\"Oslo\"",
            "'Oslo'",
            "city=Oslo",
            "city: Oslo",
            "city = \"Oslo\",",
        ];
        for text in written {
            assert_eq!(read(text, &one()), oslo, "{text}");
        }
        let both = json!({"city": "Oslo, Norway", "days": 2});
        for text in [
            "city=\"Oslo, Norway\", days=2",
            "city: Oslo, Norway\ndays: 2",
            "days = 2; city = Oslo, Norway",
        ] {
            assert_eq!(read(text, &two()), both, "{text}");
        }
        assert_eq!(read("", &one()), json!({}));
        assert_eq!(read("None", &one()), json!({}));
    }

    #[test]
    fn keeps_what_it_cannot_read() {
        for text in ["Oslo for 2 days", "{\"city\": \"Oslo", "{city}", "42"] {
            assert_eq!(read(text, &two()), json!(text), "{text}");
        }
    }

    #[test]
    fn a_bare_value_takes_the_kind_that_is_wanted() {
        let of = |kind: &str| json!({"properties": {"x": {"type": kind}}});
        assert_eq!(read("3", &of("integer")), json!({"x": 3}));
        assert_eq!(read("3", &of("string")), json!({"x": "3"}));
        assert_eq!(read("3 apples", &of("string")), json!({"x": "3 apples"}));
        assert_eq!(read("[1, 2]", &of("array")), json!({"x": [1, 2]}));
        assert_eq!(read("it's \"fine\"", &of("string")), json!({"x": "it's \"fine\""}));
    }
}
