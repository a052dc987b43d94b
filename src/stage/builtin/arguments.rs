//! Reads the arguments of a call. A manifest's schema need not declare everything that a built-in
//! function needs, so each function checks its own arguments, with uniform messages.

use serde_json::Value;

use crate::domain::words::clipped;
use crate::tool::{ToolError, ToolErrorKind};

fn wrong(name: &str, expected: &str, value: Option<&Value>) -> ToolError {
    let text = match value {
        Some(value) => {
            let got = clipped(&value.to_string(), 60);
            format!("arguments.{name}: expected {expected}, got {got}")
        }
        None => format!("arguments.{name}: missing; expected {expected}"),
    };
    ToolError::new(ToolErrorKind::Arguments, text)
}

/// A non-empty text.
///
/// # Errors
/// [`ToolErrorKind::Arguments`], as for all readers here.
pub fn text<'a>(arguments: &'a Value, name: &str) -> Result<&'a str, ToolError> {
    let value = arguments.get(name);
    match value.and_then(Value::as_str).map(str::trim) {
        Some(text) if !text.is_empty() => Ok(text),
        Some(_) | None => Err(wrong(name, "a text", value)),
    }
}

/// A number; models also write it as a text, sometimes with commas.
pub fn number(arguments: &Value, name: &str) -> Result<f64, ToolError> {
    let value = arguments.get(name);
    let number = value.and_then(|value| match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().replace(',', "").parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    });
    number.filter(|number| number.is_finite()).ok_or_else(|| wrong(name, "a number", value))
}

/// A whole number of at most a million either way.
pub fn whole(arguments: &Value, name: &str) -> Result<i64, ToolError> {
    let number = number(arguments, name)?;
    if number.fract() == 0.0 && number.abs() <= 1e6 {
        Ok(number as i64)
    } else {
        Err(wrong(name, "a whole number up to a million", arguments.get(name)))
    }
}

/// A list of 1 to 10,000 numbers.
pub fn numbers(arguments: &Value, name: &str) -> Result<Vec<f64>, ToolError> {
    let value = arguments.get(name);
    let list = value.and_then(Value::as_array).filter(|list| (1..=10_000).contains(&list.len()));
    let numbers = list.and_then(|list| list.iter().map(Value::as_f64).collect::<Option<Vec<_>>>());
    numbers.ok_or_else(|| wrong(name, "a list of numbers", value))
}

/// Reads one of a few words, case-insensitive.
pub fn choice<T: Copy>(
    arguments: &Value,
    name: &str,
    choices: &[(&str, T)],
) -> Result<T, ToolError> {
    let given = text(arguments, name)?;
    choices
        .iter()
        .find(|(word, _)| word.eq_ignore_ascii_case(given))
        .map(|(_, value)| *value)
        .ok_or_else(|| {
            let words: Vec<_> = choices.iter().map(|(word, _)| *word).collect();
            wrong(name, &format!("one of {}", words.join(", ")), arguments.get(name))
        })
}
