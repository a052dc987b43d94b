//! The call that ends a task.

use serde_json::{Map, Value};

/// The content of the call that ends a task.
#[derive(Debug, PartialEq)]
pub enum Finish {
    Answer(String),
    GivenUp,
}

impl Finish {
    /// Reads the arguments of the call; `None` if they state neither an answer nor that there is none.
    pub fn of(arguments: &Value) -> Option<Self> {
        if arguments.get("gave_up").and_then(Value::as_bool).unwrap_or(false) {
            return Some(Finish::GivenUp);
        }
        let answer = match arguments {
            Value::Object(fields) => fields.get("answer").or_else(|| only_text(fields))?,
            other => other,
        };
        let answer = match answer {
            Value::String(text) => text.trim().to_owned(),
            Value::Null => String::new(),
            other => other.to_string(),
        };
        Some(if answer.is_empty() { Finish::GivenUp } else { Finish::Answer(answer) })
    }
}

/// The text of the only field, which some models give another name.
fn only_text(fields: &Map<String, Value>) -> Option<&Value> {
    let mut values = fields.values();
    values.next().filter(|value| value.is_string() && values.next().is_none())
}
