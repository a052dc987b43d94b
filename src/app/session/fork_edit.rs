//! Changes at the point of a fork, in the form of the command line: `result=TEXT`, `uses:search_web=2`.

use std::{fmt, str::FromStr};

use serde_json::Value;

use crate::domain::edit::Edit;
use crate::domain::{Command, FaultId, ToolName};

/// A change at the point of a fork.
#[derive(Clone, Debug, PartialEq)]
pub enum ForkEdit {
    /// The result of the tool call.
    Result(String),
    /// The text of the model's reply, which then calls no tool.
    Reply(String),
    /// The arguments of the tool call.
    Arguments(Value),
    /// The last message of the user in the request of the model call.
    Prompt(String),
    /// A part of the call as a whole, as a journal has it.
    Call(Box<Edit>),
    /// A tool's score.
    Score(ToolName, f64),
    /// The number of uses that a tool has left in the task.
    Uses(ToolName, u32),
    /// A fixed weight from one tool to another.
    Weight(ToolName, ToolName, f64),
    /// Whether a tool is offered.
    Tool(ToolName, bool),
    /// Whether a fault of the session is armed.
    Fault(FaultId, bool),
}

/// The part of a call that an edit replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EditedPart {
    /// Whether the call is one of a tool, not of a model.
    pub is_of_tool: bool,
    /// Whether it is the outcome, not the input.
    pub is_outcome: bool,
}

const FORMS: &str = "result=TEXT, reply=TEXT, arguments=JSON, prompt=TEXT, score:TOOL=NUMBER, uses:TOOL=COUNT, \
                     weight:TOOL->TOOL=NUMBER, tool:TOOL=on|off or fault:NUMBER=on|off";

impl ForkEdit {
    /// The part of the call at the point that is replaced; `None`: the change is not one of a call.
    pub(super) fn part(&self) -> Option<EditedPart> {
        let part = |is_of_tool, is_outcome| Some(EditedPart { is_of_tool, is_outcome });
        match self {
            Self::Result(_) => part(true, true),
            Self::Reply(_) => part(false, true),
            Self::Arguments(_) => part(true, false),
            Self::Prompt(_) => part(false, false),
            Self::Call(edit) => match **edit {
                Edit::Result(_) => part(true, true),
                Edit::Reply { .. } => part(false, true),
                Edit::Arguments(_) => part(true, false),
                Edit::Messages(_) => part(false, false),
            },
            _ => None,
        }
    }

    /// The new outcome or the new arguments of a call.
    pub(super) fn edit(&self) -> Option<Edit> {
        Some(match self {
            Self::Result(text) => Edit::Result(text.clone()),
            Self::Reply(text) => Edit::Reply { text: text.clone(), calls: Vec::new() },
            Self::Arguments(value) => Edit::Arguments(value.clone()),
            Self::Call(edit) => (**edit).clone(),
            _ => return None,
        })
    }

    /// The tools that it names.
    pub(super) fn tools(&self) -> Vec<&ToolName> {
        match self {
            Self::Score(tool, _) | Self::Uses(tool, _) | Self::Tool(tool, _) => vec![tool],
            Self::Weight(from, to, _) => vec![from, to],
            _ => Vec::new(),
        }
    }

    /// The command for a change that is not one of a call.
    pub(super) fn command(&self) -> Option<Command> {
        Some(match self.clone() {
            Self::Score(tool, score) => Command::SetScore { tool, score },
            Self::Uses(tool, uses) => Command::SetUses { tool, uses },
            Self::Weight(from, to, weight) => Command::PinWeight { from, to, weight },
            Self::Tool(tool, on) => Command::SwitchTool { tool, on },
            Self::Fault(fault, true) => Command::RearmFault { fault },
            Self::Fault(fault, false) => Command::DisarmFault { fault },
            _ => return None,
        })
    }
}

impl fmt::Display for ForkEdit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |on: &bool| if *on { "on" } else { "off" };
        match self {
            Self::Result(text) => write!(f, "result={text}"),
            Self::Reply(text) => write!(f, "reply={text}"),
            Self::Arguments(value) => write!(f, "arguments={value}"),
            Self::Prompt(text) => write!(f, "prompt={text}"),
            Self::Call(edit) => {
                let json = serde_json::to_string(edit).map_err(|_| fmt::Error)?;
                write!(f, "call={json}")
            }
            Self::Score(tool, score) => write!(f, "score:{tool}={score}"),
            Self::Uses(tool, uses) => write!(f, "uses:{tool}={uses}"),
            Self::Weight(from, to, weight) => write!(f, "weight:{from}->{to}={weight}"),
            Self::Tool(tool, on) => write!(f, "tool:{tool}={}", word(on)),
            Self::Fault(fault, on) => write!(f, "fault:{fault}={}", word(on)),
        }
    }
}

impl FromStr for ForkEdit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("expected {FORMS}");
        let (key, value) = text.split_once('=').ok_or_else(wrong)?;
        let switch = |value: &str| match value.trim() {
            "on" => Ok(true),
            "off" => Ok(false),
            other => Err(format!("{key} is on or off, not `{other}`")),
        };
        let number = |value: &str| {
            let number = value.trim().parse::<f64>().ok().filter(|number| number.is_finite());
            number.ok_or_else(|| format!("{key} takes a number, not `{value}`"))
        };
        Ok(match key.split_once(':') {
            None => match key {
                "result" => Self::Result(value.to_owned()),
                "reply" => Self::Reply(value.to_owned()),
                "prompt" => Self::Prompt(value.to_owned()),
                "arguments" => Self::Arguments(arguments(value)?),
                "call" => {
                    let edit = serde_json::from_str(value);
                    Self::Call(edit.map_err(|error| format!("no part of a call: {error}"))?)
                }
                _ => return Err(wrong()),
            },
            Some(("score", tool)) => Self::Score(tool.into(), number(value)?),
            Some(("tool", tool)) => Self::Tool(tool.into(), switch(value)?),
            Some(("uses", tool)) => {
                let uses = value.trim().parse();
                let uses = uses.map_err(|_| format!("{key} takes a count, not `{value}`"))?;
                Self::Uses(tool.into(), uses)
            }
            Some(("weight", edge)) => {
                let (from, to) = edge.split_once("->").ok_or_else(wrong)?;
                Self::Weight(from.trim().into(), to.trim().into(), number(value)?)
            }
            Some(("fault", fault)) => {
                let known = fault.parse().map(FaultId);
                let fault = known.map_err(|_| format!("`{fault}` is not a fault number"))?;
                Self::Fault(fault, switch(value)?)
            }
            Some(_) => return Err(wrong()),
        })
    }
}

fn arguments(text: &str) -> Result<Value, String> {
    let value: Value = serde_json::from_str(text)
        .map_err(|error| format!("the arguments are not JSON: {error}"))?;
    if value.is_object() {
        return Ok(value);
    }
    Err(format!("the arguments are a JSON object, such as {{\"query\": \"Porto\"}}, not {value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_is_read_as_it_is_written() {
        for text in [
            "result=a=b: c",
            "result=",
            "reply=No.",
            "prompt=Where?",
            "arguments={\"n\":1}",
            "score:search_web=-0.5",
            "uses:calculator=0",
            "weight:a->b=0.25",
            "tool:a=off",
            "call={\"result\":\"No.\"}",
            "fault:2=on",
        ] {
            assert_eq!(text.parse::<ForkEdit>().map(|edit| edit.to_string()).as_deref(), Ok(text));
        }
        for (text, why) in [
            ("answer=No", "expected result=TEXT, reply=TEXT,"),
            ("result", "expected result=TEXT,"),
            ("arguments={", "the arguments are not JSON:"),
            ("arguments=[1]", "the arguments are a JSON object, such as"),
            ("score:a=much", "score:a takes a number, not `much`"),
            ("score:a=NaN", "score:a takes a number"),
            ("uses:a=-1", "uses:a takes a count, not `-1`"),
            ("weight:a=1", "expected result="),
            ("tool:a=no", "tool:a is on or off, not `no`"),
            ("fault:x=on", "`x` is not a fault number"),
        ] {
            let told = text.parse::<ForkEdit>().unwrap_err();
            assert!(told.starts_with(why), "{text}: {told}");
        }
    }
}
