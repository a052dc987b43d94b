//! Errors of expressions, with their place.

use std::fmt;

use cel::{ExecutionError, Value};

/// Error of an expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ExpressionError {
    text: String,
    /// Position of the error in characters, from 0.
    at: usize,
    why: String,
}

impl ExpressionError {
    pub(super) fn new(text: &str, at: usize, why: impl Into<String>) -> Self {
        let text = text.replace(['\n', '\t'], " ");
        let at = at.min(text.chars().count());
        Self { text, at, why: why.into() }
    }

    /// The reason alone.
    pub fn why(&self) -> &str {
        &self.why
    }

    /// Position of the error in characters, from 0.
    pub fn at(&self) -> usize {
        self.at
    }
}

/// The reason, then the expression with a caret below the place.
impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { text, at, why } = self;
        write!(f, "{why}\n  {text}\n  {:at$}^", "")
    }
}

/// A reason why an expression has no value, in words for a person.
pub(super) fn said(error: &ExecutionError) -> String {
    match error {
        ExecutionError::UndeclaredReference(name) => format!("there is no {name}"),
        ExecutionError::NoSuchKey(key) => format!("the key {key} does not exist"),
        ExecutionError::NoSuchOverload(overload) => {
            let sign = sign(overload.function());
            operands(
                sign,
                &overload.argument_types().iter().map(String::as_str).collect::<Vec<_>>(),
            )
        }
        ExecutionError::UnsupportedBinaryOperator(name, one, other) => {
            let sign = match *name {
                "add" => "+",
                "sub" => "-",
                "mul" => "*",
                "div" => "/",
                "rem" => "%",
                other => other,
            };
            operands(sign, &[of_type(one), of_type(other)])
        }
        ExecutionError::ValuesNotComparable(one, other) => {
            format!("{} cannot be compared with {}", of_type(one), of_type(other))
        }
        ExecutionError::UnexpectedType { got, want } => format!("expected {want}, found {got}"),
        ExecutionError::DivisionByZero(_) | ExecutionError::RemainderByZero(_) => {
            "division by zero".to_owned()
        }
        other => other.to_string(),
    }
}

/// Explains that an operator or a function does not take operands of these types.
fn operands(sign: &str, types: &[&str]) -> String {
    let numbers = ["int", "double"];
    let mixed = types.len() == 2
        && types.iter().all(|one| numbers.contains(one))
        && types.first() != types.last();
    let hint = if mixed { "; write whole numbers as 2.0, or double(step)" } else { "" };
    format!("`{sign}` does not take {}{hint}", types.join(" and "))
}

/// An operator as it is written: `_>_` is `>`.
fn sign(function: &str) -> &str {
    match function {
        "@in" => "in",
        "_[_]" => "[]",
        other => other.trim_matches('_'),
    }
}

/// The type of a value, as the language calls it.
pub(super) fn of_type(value: &Value) -> &'static str {
    match value {
        Value::List(_) => "list",
        Value::Map(_) => "map",
        Value::Int(_) => "int",
        Value::UInt(_) => "uint",
        Value::Float(_) => "double",
        Value::String(_) => "string",
        Value::Bytes(_) => "bytes",
        Value::Bool(_) => "bool",
        Value::Null => "null",
        _ => "another type",
    }
}
