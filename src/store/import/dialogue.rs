//! A dialogue of API-Bank: what the user and the assistant said, and the calls in between.
//!
//! A file holds one, a line a turn, told apart by `role`: `User` and `AI` have a `text`; `API` has the
//! call's `api_name` and `param_dict`, and in `result` its `output` and `exception`.

use serde_json::{Map, Value};

use super::{error::ImportError, record::Record};
use crate::domain::ToolName;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Dialogue {
    pub turns: Vec<Turn>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Turn {
    User(String),
    /// What the assistant says is never the task's: it is what an agent would have to find itself.
    Assistant,
    Api(Call),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Call {
    pub tool: ToolName,
    pub arguments: Map<String, Value>,
    /// The result as text; an error's text where the call failed.
    pub result: Result<String, String>,
}

impl Dialogue {
    pub fn parse(file: &str, text: &str) -> Result<Self, ImportError> {
        let turns = Record::each(file, text).map(|record| turn(&record?));
        Ok(Self { turns: turns.collect::<Result<_, _>>()? })
    }

    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.turns.iter().filter_map(|turn| match turn {
            Turn::Api(call) => Some(call),
            Turn::User(_) | Turn::Assistant => None,
        })
    }

    /// All that the user said up to the last call. What comes after asks for nothing, and what comes
    /// before has the arguments of the calls in it, though often bit by bit.
    pub fn request(&self) -> String {
        let last = self.turns.iter().rposition(|turn| matches!(turn, Turn::Api(_)));
        let said = self.turns[..last.unwrap_or(0)].iter().filter_map(|turn| match turn {
            Turn::User(text) => Some(text.trim()),
            Turn::Assistant | Turn::Api(_) => None,
        });
        said.collect::<Vec<_>>().join("\n")
    }
}

fn turn(record: &Record<'_>) -> Result<Turn, ImportError> {
    match record.text("role")? {
        "User" => Ok(Turn::User(record.text("text")?.to_owned())),
        "AI" => record.text("text").map(|_| Turn::Assistant),
        "API" => Ok(Turn::Api(call(record)?)),
        other => {
            let problem = format!("expected \"User\", \"AI\" or \"API\", found {other:?}");
            Err(record.problem("role", problem))
        }
    }
}

fn call(record: &Record<'_>) -> Result<Call, ImportError> {
    let result = record.object("result")?;
    let result = match (result.get("output"), result.get("exception")) {
        (Some(output), None | Some(Value::Null)) => Ok(plain(output)),
        (_, Some(exception)) if !exception.is_null() => Err(plain(exception)),
        (output, _) => return Err(record.expected("result.output", "a value", output)),
    };
    Ok(Call {
        tool: record.tool("api_name", record.get("api_name"))?,
        arguments: record.object("param_dict")?.clone(),
        result,
    })
}

/// Text as it is, anything else as compact JSON.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
