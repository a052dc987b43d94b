//! The simulated model's parser of requests: it reads what any model would.

use std::sync::LazyLock;

use serde_json::Value;

use crate::domain::markers::{CHOSEN, COSTS, FINISH, OTHER_TOOLS, RIVALS, TASK, shortened};
use crate::domain::{Message, NullFilter, Request, ToolDef, ToolName, chance::canonical};

/// A parsed request.
pub(super) struct PromptReading<'a> {
    pub task: &'a str,
    /// The rest of the message with the task.
    pub account: &'a str,
    /// The offered tools without `Finish`.
    pub menu: Vec<Choice<'a>>,
    /// Calls and their results, oldest first: from the conversation, or from the account of it that
    /// evaluators and reflectors receive.
    pub past: Vec<Past>,
    /// It was told to name a missing capability if nothing on the menu fits.
    pub may_lack: bool,
    /// Earlier choices at this point, if it must choose something else.
    pub chosen: Vec<Chosen>,
    /// Two decisions to compare.
    pub rivals: Option<[Vec<Past>; 2]>,
    /// The account's statement about the answer.
    pub verdict: Option<bool>,
}

/// A tool on the menu.
pub(super) struct Choice<'a> {
    pub def: &'a ToolDef,
    /// As shown; `None` if none is.
    pub weight: Option<f64>,
    /// In credits, as told; `None` if it is not.
    pub cost: Option<f64>,
}

/// An action as it is repeated: long arguments are cut.
pub(super) struct Chosen {
    tool: ToolName,
    arguments: Value,
}

/// A call and its observation.
pub(super) struct Past {
    pub tool: ToolName,
    pub arguments: Value,
    pub result: String,
}

impl<'a> PromptReading<'a> {
    pub fn read(request: &'a Request) -> Self {
        // Examples stand before the task.
        let user = user_texts(request).rev().find_map(|text| text.strip_prefix(TASK));
        let user = user.unwrap_or_default();
        let (task, account) = user.split_once("\n\n").unwrap_or((user, ""));
        let tools = request.tools.iter().filter(|tool| tool.name.as_str() != FINISH);
        let costs = costs(request);
        let mut past = conversation(&request.messages);
        let (done, rivals) = apart(account);
        past.extend(done.lines().filter_map(told));
        let verdict = if done.ends_with("is right.") {
            Some(true)
        } else if done.ends_with("is wrong.") {
            Some(false)
        } else {
            None
        };
        Self {
            task,
            account,
            menu: tools.map(|def| Choice { cost: cost(&costs, def), ..Choice::of(def) }).collect(),
            past,
            may_lack: is_told(request, OTHER_TOOLS),
            chosen: chosen(&request.messages),
            rivals,
            verdict,
        }
    }

    /// Whether this was chosen at this point before.
    pub fn was_chosen(&self, tool: &str, arguments: &Value) -> bool {
        let told = canonical(&shortened(arguments));
        let is_same = |chosen: &Chosen| canonical(&chosen.arguments) == told;
        self.chosen.iter().any(|chosen| chosen.tool.as_str() == tool && is_same(chosen))
    }

    /// Whether it has finished at this point before.
    pub fn has_finished(&self) -> bool {
        self.chosen.iter().any(|chosen| chosen.tool.as_str() == FINISH)
    }
}

impl<'a> Choice<'a> {
    /// A tool, with the weight at the beginning of its description.
    pub fn of(def: &'a ToolDef) -> Self {
        let weight = def.description.strip_prefix("[weight ");
        let weight = weight.and_then(|rest| rest.split_once(']')?.0.parse().ok());
        Self { def, weight, cost: None }
    }
}

/// The user's messages, or the prompt's text for the user.
pub(super) fn user_texts(request: &Request) -> impl DoubleEndedIterator<Item = &str> {
    request.messages.iter().filter_map(|message| match message {
        Message::User { text } => Some(text.as_str()),
        Message::System { .. } | Message::Assistant { .. } | Message::Tool { .. } => None,
    })
}

/// Whether the prompt contains this marker.
pub(super) fn is_told(request: &Request, marker: &str) -> bool {
    let told =
        |message: &Message| matches!(message, Message::System { text } if text.contains(marker));
    request.messages.iter().any(told)
}

/// The costs in the prompt, by the names of tools.
pub(super) fn costs(request: &Request) -> Vec<(&str, f64)> {
    let system = request.messages.iter().find_map(|message| match message {
        Message::System { text } => Some(text.split_once(COSTS)?.1),
        Message::User { .. } | Message::Assistant { .. } | Message::Tool { .. } => None,
    });
    system.into_iter().flat_map(|costs| costs.split(", ")).map_while(entry).collect()
}

/// `NAME CREDITS`, before a full stop where it is the last.
fn entry(entry: &str) -> Option<(&str, f64)> {
    let (name, cost) = entry.split_once(' ')?;
    let cost = cost.split(' ').next()?.trim_end_matches('.');
    Some((name, cost.parse().ok()?))
}

pub(super) fn cost(told: &[(&str, f64)], tool: &ToolDef) -> Option<f64> {
    told.iter().find(|(name, _)| *name == tool.name.as_str()).map(|(_, cost)| *cost)
}

/// The account of the calls, and the two decisions after it.
fn apart(account: &str) -> (&str, Option<[Vec<Past>; 2]>) {
    // On a line of its own: results are given in lines of JSON, and so never form one.
    let [first, second] = RIVALS.map(|rival| format!("\n\n{rival}\n"));
    let parts = account.split_once(&first).and_then(|(done, rivals)| {
        let (first, second) = rivals.split_once(&second)?;
        Some((done, [first, second].map(|rival| rival.lines().filter_map(told).collect())))
    });
    parts.map_or((account, None), |(done, rivals)| (done, Some(rivals)))
}

/// The earlier choices at this point, from the last message.
fn chosen(messages: &[Message]) -> Vec<Chosen> {
    let Some(Message::User { text }) = messages.last() else { return Vec::new() };
    let Some(list) = text.strip_prefix(CHOSEN) else { return Vec::new() };
    let chosen = |line: &str| {
        let mut value: Value = serde_json::from_str(line).ok()?;
        let tool = value.get("tool")?.as_str()?.into();
        Some(Chosen { tool, arguments: value.get_mut("arguments")?.take() })
    };
    list.lines().filter_map(chosen).collect()
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

/// How an observation looks to a reader without further knowledge. It knows no configuration, as a
/// model would not.
static NULL_FILTER: LazyLock<NullFilter> = LazyLock::new(NullFilter::default);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Looks {
    Useful,
    Failed,
    /// Empty, reports that nothing was found, or is meaningless.
    Useless,
}

impl Past {
    pub fn looks(&self) -> Looks {
        let text = self.result.trim();
        if text.starts_with("Error:") || text.starts_with("Not called:") {
            return Looks::Failed;
        }
        match NULL_FILTER.nulled(&self.tool, &[], Some(text)) {
            Some(_) => Looks::Useless,
            None => Looks::Useful,
        }
    }
}
