//! Arguments guessed from the words of a task.

use serde_json::{Value, json};

use super::request_parser::MenuTool;

/// Arguments that fit a schema as well as possible: sums for expressions, the task's text for other
/// texts, its first number for numbers.
pub(super) fn guess(choice: &MenuTool<'_>, task: &str) -> Value {
    required(choice).map(|(name, schema)| (name.to_owned(), fitting(name, schema, task))).collect()
}

pub(super) fn required<'c>(choice: &'c MenuTool<'_>) -> impl Iterator<Item = (&'c str, &'c Value)> {
    let properties = choice.def.parameters.get("properties").and_then(Value::as_object);
    let required = choice.def.parameters.get("required").and_then(Value::as_array);
    let names = required.into_iter().flatten().filter_map(Value::as_str);
    names.filter_map(move |name| Some((name, properties?.get(name)?)))
}

pub(super) fn fitting(name: &str, schema: &Value, task: &str) -> Value {
    if let Some(first) = schema.get("enum").and_then(Value::as_array).and_then(|all| all.first()) {
        return first.clone();
    }
    let number = numbers(task).next().unwrap_or(1.0);
    match schema.get("type").and_then(Value::as_str) {
        Some("integer") => json!(number as i64),
        Some("number") => json!(number),
        Some("boolean") => json!(true),
        Some("array") => {
            json!([fitting(name, schema.get("items").unwrap_or(&Value::Null), task)])
        }
        Some("object") => json!({}),
        Some(_) | None if matches!(name, "expression" | "formula") => {
            json!(arithmetic(task).unwrap_or(task))
        }
        Some(_) | None => json!(task),
    }
}

/// The longest stretch of a text that is a sum: numbers with an operator between them.
pub(super) fn arithmetic(text: &str) -> Option<&str> {
    let is_sum = |c: char| c.is_ascii_digit() || " +-*/^().%".contains(c);
    let stretches =
        text.split(|c: char| !is_sum(c)).map(|stretch| stretch.trim_matches([' ', '.']));
    let holds_sum = |stretch: &&str| {
        let digit = |part: &str| part.contains(|c: char| c.is_ascii_digit());
        stretch
            .match_indices(['+', '-', '*', '/', '^'])
            .any(|(at, _)| digit(&stretch[..at]) && digit(&stretch[at + 1..]))
    };
    stretches.filter(holds_sum).max_by_key(|stretch| stretch.len())
}

fn numbers(text: &str) -> impl Iterator<Item = f64> {
    let words = text.split(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-'));
    words.filter_map(|word| word.trim_end_matches('.').parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_found_in_sentences() {
        assert_eq!(arithmetic("What is 12*12?"), Some("12*12"));
        assert_eq!(arithmetic("Add (3 + 4) / 2 to it."), Some("(3 + 4) / 2"));
        assert_eq!(arithmetic("How long is the river in 1902?"), None);
        assert_eq!(arithmetic("a well-known - thing"), None);
    }
}
