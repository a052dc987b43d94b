//! The first place in which two values or two texts differ: the comparison of requests with recorded ones. Pure.

use serde_json::Value;

/// Characters of an excerpt.
const EXCERPT: usize = 80;
/// Characters of an excerpt before the place that differs.
const BEFORE: usize = 30;

/// The first difference of two things, such as requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub field: String,
    /// The value in the new one; empty if there is none.
    pub asked: String,
    /// The value in the recorded one.
    pub recorded: String,
}

/// The first difference of two values below this path, except of those that are left out.
pub fn of_values(
    path: &mut Vec<String>,
    one: &Value,
    other: &Value,
    is_left_out: &mut dyn FnMut(&[String]) -> bool,
) -> Option<Difference> {
    if one == other || is_left_out(path) {
        return None;
    }
    let keys: Vec<String> = match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let more = other.keys().filter(|key| !one.contains_key(*key));
            one.keys().chain(more).cloned().collect()
        }
        (Value::Array(one), Value::Array(other)) => {
            (0..one.len().max(other.len())).map(|at| at.to_string()).collect()
        }
        _ => return of_texts(&named(path), &shown(one), &shown(other)),
    };
    keys.into_iter().find_map(|key| {
        let [one, other] = [one, other].map(|it| child(it, &key).unwrap_or(&Value::Null));
        path.push(key);
        let found = of_values(path, one, other, is_left_out);
        path.pop();
        found
    })
}

fn child<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    match value {
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        value => value.get(key),
    }
}

/// The difference where one side has more than the other.
pub fn of_lengths(field: String, one: Option<String>, other: Option<String>) -> Option<Difference> {
    if one.is_none() && other.is_none() {
        return None;
    }
    let [asked, recorded] = [one, other].map(|text| excerpt(&text.unwrap_or_default(), 0));
    Some(Difference { field, asked, recorded })
}

/// The smallest difference of two texts: of a value where both are JSON, else the first one, with its line.
pub fn of_texts(field: &str, one: &str, other: &str) -> Option<Difference> {
    if one == other {
        return None;
    }
    if let [Some(own), Some(theirs)] = [one, other].map(structured) {
        let found = of_values(&mut vec![field.to_owned()], &own, &theirs, &mut |_| false);
        if found.is_some() {
            return found;
        }
    }
    let same = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let [asked, recorded] = [one, other].map(|text| excerpt(text, same));
    let line = one.chars().take(same).filter(|it| *it == '\n').count() + 1;
    let has_lines = [one, other].iter().any(|text| text.trim_end().contains('\n'));
    let field = if has_lines { format!("{field}, line {line}") } else { field.to_owned() };
    Some(Difference { field, asked, recorded })
}

/// The object or the list that a text has.
fn structured(text: &str) -> Option<Value> {
    let is_it = text.trim_start().starts_with(['{', '[']);
    if is_it { serde_json::from_str(text).ok() } else { None }
}

/// The part of a text around this character.
fn excerpt(text: &str, around: usize) -> String {
    let from = around.saturating_sub(BEFORE);
    let mut rest = text.chars().skip(from);
    let part: String = rest.by_ref().take(EXCERPT).collect();
    let [before, after] = [from > 0, rest.next().is_some()].map(|cut| if cut { "…" } else { "" });
    format!("{before}{part}{after}")
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// The name of a field, such as `reasoning.effort` or `stop[1]`.
fn named(path: &[String]) -> String {
    let mut name = String::new();
    for part in path {
        match part.parse::<usize>() {
            Ok(at) => name += &format!("[{at}]"),
            Err(_) if name.is_empty() => name += part,
            Err(_) => name += &format!(".{}", excerpt(part, 0)),
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_difference_of_values_is_named_by_its_fields() {
        let one = json!({"a": 1, "b": {"c": [1, {"d": 2}]}, "origin": "Porto"});
        let differs = |other: Value| {
            let found = of_values(&mut Vec::new(), &one, &other, &mut |_| false);
            found.map(|found| found.field)
        };
        let other = |other: Value| differs(other).unwrap();
        assert_eq!(differs(one.clone()), None);
        let more = json!({"a": 1, "b": {"c": [1, {"d": 2}]}, "origin": "Porto", "e": null});
        assert_eq!(differs(more), None);
        assert_eq!(other(json!({"a": 2, "b": 3})), "a");
        assert_eq!(other(json!({"a": 1, "b": {"c": [1, {"d": 3}]}})), "b.c[1].d");
        assert_eq!(other(json!({"a": 1, "b": {"c": [1]}})), "b.c[1]");
        assert_eq!(other(json!({"a": 1, "b": {"c": [1, {"d": 2}]}, "origin": "Faro"})), "origin");
        assert_eq!(other(json!({"a": 1})), "b");
    }

    #[test]
    fn a_field_that_is_left_out_does_not_count() {
        let [one, other] = [1, 2].map(|n| json!({"a": [{"id": n}, {"id": n, "b": n}]}));
        let mut is_id = |path: &[String]| path.last().is_some_and(|last| last == "id");
        let found = of_values(&mut Vec::new(), &one, &other, &mut is_id).unwrap();
        assert_eq!((&*found.field, &*found.asked, &*found.recorded), ("a[1].b", "1", "2"));
    }

    #[test]
    fn of_long_texts_the_smallest_part_that_differs_is_named() {
        let result = |temperature: u32, note: &str| {
            let rows: Vec<Value> = (0..300).map(|n| json!({"n": n, "note": "x"})).collect();
            let mut result = json!({"rows": rows, "raw": format!("{{\"note\":{}}}", json!(note))});
            result["rows"][271]["now"] = json!({"temperature": temperature});
            result.to_string()
        };
        let lines =
            |changed: &str| format!("{}{changed}\n{}", "line\n".repeat(500), "line\n".repeat(500));
        let odd = |text: &str| format!("{{\"a\": 1, \"b\": {text}");
        for (one, other, field, asked, recorded) in [
            (result(21, "a"), result(7, "a"), ".rows[271].now.temperature", "21", "7"),
            // JSON in a text of JSON.
            (
                result(7, "wet\nday"),
                result(7, "wet\nway"),
                ".raw.note, line 2",
                "wet\nday",
                "wet\nway",
            ),
            (lines("a: 1"), lines("a: 2"), ", line 501", "a: 1", "a: 2"),
            // Half a document is a text, and so is one that differs in spaces alone.
            (odd("2"), odd("3"), "", "\"b\": 2", "\"b\": 3"),
            ("{\"a\":1}".into(), "{\"a\": 1}".into(), "", "{\"a\":1}", "{\"a\": 1}"),
            ("[1,2]".into(), "[1]".into(), "[1]", "2", ""),
        ] {
            let found = of_texts("f", &one, &other).unwrap();
            assert_eq!(found.field, format!("f{field}"));
            assert!(found.asked.contains(asked), "{found:?}");
            assert!(
                found.recorded.contains(recorded) && found.asked.chars().count() < 90,
                "{found:?}"
            );
        }
        let long = json!({"k".repeat(100_000): 1}).to_string();
        assert!(of_texts("f", &long, "{}").unwrap().field.len() < 100);
    }
}
