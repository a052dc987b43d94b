//! A dialogue of API-Bank: what the user and the assistant said, and the calls in between.
//!
//! A file holds one, a line a turn, told apart by `role`: `User` and `AI` have a `text`; `API` has the
//! call's `api_name` and `param_dict`, and in `result` its `output` and `exception`.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::trajectories::{Known, Trajectory};
use crate::domain::ToolName;
use crate::files::{json_file, toml_file::Problem};

const EXPECTED: &str = "{\"role\": \"User\" or \"AI\", \"text\": …} or {\"role\": \"API\", \
    \"api_name\": TOOL, \"param_dict\": {…}, \"result\": {\"output\": …, \"exception\": …}}";

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
    pub fn parse(file: &str, text: &str) -> Result<Self, Problem> {
        let lines = json_file::read_lines::<Line>(file, text, EXPECTED);
        let turns = lines.map(|(number, line)| {
            let missing = format!("missing; expected {EXPECTED}");
            line?.turn().map_err(|field| Problem::of_line(file, number, field, missing))
        });
        Ok(Self { turns: turns.collect::<Result<_, _>>()? })
    }

    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.turns.iter().filter_map(|turn| match turn {
            Turn::Api(call) => Some(call),
            Turn::User(_) | Turn::Assistant => None,
        })
    }

    /// What was asked for, and what was called for it.
    pub fn trajectory(&self) -> Trajectory {
        Trajectory {
            task: self.request(),
            tools: self.calls().map(|call| call.tool.clone()).collect(),
        }
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

/// A line of the file. Its role says which of the other fields it needs.
#[derive(Deserialize)]
struct Line {
    role: Role,
    text: Option<String>,
    api_name: Option<Known>,
    param_dict: Option<Map<String, Value>>,
    result: Option<Map<String, Value>>,
}

#[derive(Deserialize)]
enum Role {
    User,
    #[serde(rename = "AI")]
    Assistant,
    #[serde(rename = "API")]
    Api,
}

impl Line {
    /// What was said or called; or the field that is missing.
    fn turn(self) -> Result<Turn, &'static str> {
        match self.role {
            Role::User => Ok(Turn::User(self.text.ok_or("text")?)),
            Role::Assistant => self.text.map(|_| Turn::Assistant).ok_or("text"),
            Role::Api => Ok(Turn::Api(Call {
                tool: self.api_name.ok_or("api_name")?.0,
                arguments: self.param_dict.ok_or("param_dict")?,
                result: result(&self.result.ok_or("result")?)?,
            })),
        }
    }
}

fn result(result: &Map<String, Value>) -> Result<Result<String, String>, &'static str> {
    match (result.get("output"), result.get("exception")) {
        (_, Some(exception)) if !exception.is_null() => Ok(Err(plain(exception))),
        (Some(output), _) => Ok(Ok(plain(output))),
        (None, _) => Err("result.output"),
    }
}

/// Text as it is, anything else as compact JSON.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
