//! Reads a call's arguments from text: JSON as requested, or what models write instead. Action
//! inputs in text mode and worker inputs in a plan are read alike, so that a model need not learn
//! two ways.

use serde_json::{Map, Value};

/// Reads an input for a tool whose arguments have this schema: JSON, an object as Python prints it,
/// `city="Oslo", days=2`, or a bare value where only one argument can be meant. An unreadable input
/// stays a string; the check against the schema then explains the error.
pub fn read(raw: &str, schema: &Value) -> Value {
    let bare = unfenced(raw);
    if bare.is_empty() || bare.eq_ignore_ascii_case("none") {
        return Value::Object(Map::new());
    }
    match json(bare).or_else(|| single_quoted(bare)) {
        Some(object @ Value::Object(_)) => return object,
        // Text after a list or a quoted word belongs to it: `"Oslo" in winter`.
        Some(value @ (Value::Array(_) | Value::String(_))) if is_whole(bare) => {
            if let Some((name, _)) =
                only(schema).filter(|(_, of)| value.is_string() || !is_text(of))
            {
                return object(name, value);
            }
        }
        // A bare number or word may be text: the schema decides below.
        _ => {}
    }
    if bare.starts_with('{') {
        return Value::String(raw.into());
    }
    if let Some(pairs) = pairs(bare, schema) {
        return Value::Object(pairs);
    }
    match only(schema) {
        Some((name, of)) => object(name, value(bare, of)),
        None => Value::String(raw.into()),
    }
}

/// The text without the code fence or backticks around it.
pub fn unfenced(text: &str) -> &str {
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

/// The first JSON value of a text; the rest is ignored.
pub fn json(text: &str) -> Option<Value> {
    let whole = serde_json::from_str(text).ok();
    // Text after a bare number or word changes its meaning: "3 apples".
    let opens = text.starts_with(['{', '[', '"']);
    whole.or_else(|| {
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        if opens { values.next()?.ok() } else { None }
    })
}

/// Reads objects as Python prints them. Only without double quotes: otherwise a quote's meaning is
/// a guess.
pub(super) fn single_quoted(text: &str) -> Option<Value> {
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
        let text = text[start..end].trim().trim_end_matches([',', ';']).trim_end();
        let of = &schema["properties"][name];
        pairs.insert(name.to_owned(), value(text, of));
    }
    Some(pairs)
}

/// The positions at which each `name=` or `name:` of a known argument and its value begin.
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

/// Reads one value from text as the kind that the schema asks for, without the quotes around it.
pub fn value(text: &str, schema: &Value) -> Value {
    let quoted = ['"', '\''].into_iter().find_map(|quote| {
        let inside = text.strip_prefix(quote)?.strip_suffix(quote)?;
        (!inside.contains(quote)).then_some(inside)
    });
    if let Some(inside) = quoted {
        return serde_json::from_str(text).unwrap_or_else(|_| inside.into());
    }
    let read = if is_text(schema) { None } else { json(text).or_else(|| single_quoted(text)) };
    read.unwrap_or_else(|| text.into())
}

/// Whether the whole text is one JSON value, or a list as Python prints it.
fn is_whole(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() || text.ends_with(']')
}

/// Whether the schema allows only text.
pub fn is_text(schema: &Value) -> bool {
    schema.get("type").is_none_or(|kind| kind == "string")
}

/// The arguments that a schema of an object names.
fn properties(schema: &Value) -> impl Iterator<Item = &String> {
    schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys)
}

/// The argument that a bare text must be meant for: the only one, or the only required one.
fn only(schema: &Value) -> Option<(&str, &Value)> {
    let all = schema.get("properties")?.as_object()?;
    let name = match required(schema).as_slice() {
        [name] => *name,
        _ if all.len() == 1 => all.keys().next()?,
        _ => return None,
    };
    all.get_key_value(name).map(|(name, schema)| (name.as_str(), schema))
}

/// The required arguments of an object's schema.
pub fn required(schema: &Value) -> Vec<&str> {
    let names = schema.get("required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str).collect()
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
        assert_eq!(read("[1, 2]", &of("string")), json!({"x": "[1, 2]"}));
        assert_eq!(read("[1, 2] summed", &of("string")), json!({"x": "[1, 2] summed"}));
        assert_eq!(read("\"Oslo\" in winter", &of("string")), json!({"x": "\"Oslo\" in winter"}));
    }

    #[test]
    fn keywords_and_single_texts_are_taken_from_brackets() {
        let weather = json!({"type": "object", "properties": {
            "city": {"type": "string"}, "unit": {"enum": ["C", "F"]}, "days": {"type": "integer"}},
            "required": ["city", "unit"]});
        let kyoto = json!({"city": "Kyoto", "unit": "C"});
        assert_eq!(read("city=\"Kyoto\", unit='C'", &weather), kyoto);
        assert_eq!(read("city='Kyoto', unit='C', days=3", &weather)["days"], 3);
        let query = json!({"properties": {"query": {"type": "string"}}});
        assert_eq!(
            read("Who founded Acme, given #E1", &query)["query"],
            "Who founded Acme, given #E1"
        );
    }
}
