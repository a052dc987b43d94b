//! A dialogue of API-Bank: messages of user and assistant, and the calls in between.
//!
//! A file contains one dialogue, one turn per line, with a `role`: `User` and `AI` have a `text`; `API` has the call's
//! `api_name` and `param_dict`, and in `result` its `output` and `exception`.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::trajectories::{NodeName, Trajectory};
use crate::domain::ToolName;
use crate::files::{json_file, toml_file::Problem};

const EXPECTED: &str = "{\"role\": \"User\" or \"AI\", \"text\": …} or {\"role\": \"API\", \
    \"api_name\": TOOL, \"param_dict\": {…}, \"result\": {\"output\": …, \"exception\": …}}";

#[derive(Clone, Debug, PartialEq)]
pub struct Dialogue {
    pub turns: Vec<DialogueTurn>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum DialogueTurn {
    User(String),
    /// The assistant's text is never part of the task: an agent would have to find it itself.
    Assistant,
    Api(DialogueCall),
}

#[derive(Clone, Debug, PartialEq)]
pub struct DialogueCall {
    pub tool: ToolName,
    pub arguments: Map<String, Value>,
    /// The result as text; an error's text if the call failed.
    pub result: Result<String, String>,
}

impl Dialogue {
    pub fn parse(file: &str, text: &str) -> Result<Self, Problem> {
        let lines = json_file::read_lines::<DialogueLine>(file, text, EXPECTED);
        let turns = lines.map(|(number, line)| {
            let missing = format!("missing; expected {EXPECTED}");
            line?.turn().map_err(|field| Problem::of_line(file, number, field, missing))
        });
        Ok(Self { turns: turns.collect::<Result<_, _>>()? })
    }

    pub fn calls(&self) -> impl Iterator<Item = &DialogueCall> {
        self.turns.iter().filter_map(|turn| match turn {
            DialogueTurn::Api(call) => Some(call),
            DialogueTurn::User(_) | DialogueTurn::Assistant => None,
        })
    }

    /// The request, and the calls made for it.
    pub fn trajectory(&self) -> Trajectory {
        Trajectory {
            task: self.request(),
            tools: self.calls().map(|call| call.tool.clone()).collect(),
        }
    }

    /// The text of the user up to the last call. Later text requests nothing, and earlier text has the arguments of the
    /// calls, though often bit by bit.
    pub fn request(&self) -> String {
        let last = self.turns.iter().rposition(|turn| matches!(turn, DialogueTurn::Api(_)));
        let said = self.turns[..last.unwrap_or(0)].iter().filter_map(|turn| match turn {
            DialogueTurn::User(text) => Some(text.trim()),
            DialogueTurn::Assistant | DialogueTurn::Api(_) => None,
        });
        said.collect::<Vec<_>>().join("\n")
    }
}

/// A line of the file. Its role determines the required fields.
#[derive(Deserialize)]
#[serde(expecting = "struct Line")]
struct DialogueLine {
    role: Role,
    text: Option<String>,
    api_name: Option<NodeName>,
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

impl DialogueLine {
    /// The message or the call; or the missing field.
    fn turn(self) -> Result<DialogueTurn, &'static str> {
        match self.role {
            Role::User => Ok(DialogueTurn::User(self.text.ok_or("text")?)),
            Role::Assistant => self.text.map(|_| DialogueTurn::Assistant).ok_or("text"),
            Role::Api => Ok(DialogueTurn::Api(DialogueCall {
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
