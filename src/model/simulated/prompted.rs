//! What the simulated model reads out of a request: what any model would.

use serde_json::Value;

use crate::{
    chat::{Message, Request, ToolDef},
    id::ToolName,
    strategy::{
        judge,
        prompt::{FINISH, TASK},
    },
};

/// A request as it was understood.
pub(super) struct Prompted<'a> {
    pub task: &'a str,
    /// The tools on offer but for `Finish`.
    pub menu: Vec<Choice<'a>>,
    /// Calls and what came of them, oldest first: from the conversation, or from the account of it
    /// that evaluators and reflectors are given.
    pub past: Vec<Past>,
    /// What the account says of the answer.
    pub verdict: Option<bool>,
}

/// A tool on the menu.
pub(super) struct Choice<'a> {
    pub def: &'a ToolDef,
    /// As shown; `None` where none is.
    pub weight: Option<f64>,
}

/// A call and its observation.
pub(super) struct Past {
    pub tool: ToolName,
    pub arguments: Value,
    pub result: String,
}

impl<'a> Prompted<'a> {
    pub fn read(request: &'a Request) -> Self {
        let user = request.messages.iter().find_map(|message| match message {
            Message::User { text } => text.strip_prefix(TASK),
            Message::System { .. } | Message::Assistant { .. } | Message::Tool { .. } => None,
        });
        let user = user.unwrap_or_default();
        let (task, account) = user.split_once("\n\n").unwrap_or((user, ""));
        let menu = request
            .tools
            .iter()
            .filter(|tool| tool.name.as_str() != FINISH)
            .map(|def| Choice { def, weight: shown_weight(&def.description) })
            .collect();
        let mut past = conversation(&request.messages);
        past.extend(account.lines().filter_map(told));
        let verdict = if account.ends_with("is right.") {
            Some(true)
        } else if account.ends_with("is wrong.") {
            Some(false)
        } else {
            None
        };
        Self { task, menu, past, verdict }
    }
}

/// The weight at the beginning of a description.
fn shown_weight(description: &str) -> Option<f64> {
    description.strip_prefix("[weight ")?.split_once(']')?.0.parse().ok()
}

fn conversation(messages: &[Message]) -> Vec<Past> {
    let mut past = Vec::new();
    let mut asked = &[][..];
    for message in messages {
        match message {
            Message::Assistant { calls, .. } => asked = calls,
            Message::Tool { id, tool, text } => {
                let call = asked.iter().find(|call| call.id == *id);
                let arguments = call.map_or(Value::Null, |call| call.arguments.clone());
                past.push(Past { tool: tool.clone(), arguments, result: text.clone() });
            }
            Message::System { .. } | Message::User { .. } => {}
        }
    }
    past
}

/// A line of the account of a trajectory.
fn told(line: &str) -> Option<Past> {
    let value: Value = serde_json::from_str(line).ok()?;
    Some(Past {
        tool: value.get("tool")?.as_str()?.into(),
        arguments: value.get("arguments")?.clone(),
        result: value.get("result")?.as_str()?.to_owned(),
    })
}

/// What an observation looks like to a reader who does not know better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Looks {
    Useful,
    Failed,
    /// Empty, or says that nothing was found, or means nothing.
    Useless,
}

impl Past {
    pub fn looks(&self) -> Looks {
        let text = self.result.trim();
        if text.starts_with("Error:") || text.starts_with("Not called:") {
            return Looks::Failed;
        }
        if judge::useless(text).is_some() { Looks::Useless } else { Looks::Useful }
    }
}
