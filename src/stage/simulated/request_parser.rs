//! The simulated model's parser of requests: it reads what any model would.

use std::{cell::OnceCell, collections::HashMap, sync::LazyLock};

use serde_json::Value;

use crate::domain::markers::{CHOSEN, COSTS, FINISH, OFFER, OTHER_TOOLS, RIVALS, TASK, shortened};
use crate::domain::{Message, Messages, NullFilter, Request, ToolDef, ToolName, chance::canonical};

/// A parsed request.
pub(super) struct PromptReading<'a> {
    pub task: &'a str,
    /// The rest of the message with the task.
    pub account: &'a str,
    /// The offered tools without `Finish`.
    pub menu: Vec<MenuTool<'a>>,
    /// Calls and their results, oldest first: from the conversation, or from the account of it that
    /// evaluators and reflectors receive.
    pub past: Vec<PastCall>,
    /// Whether the instructions say to name a missing capability if nothing on the menu fits.
    pub may_lack: bool,
    /// Earlier choices at this point, if the model must choose something else.
    pub chosen: Vec<PastAction>,
    /// Two decisions to compare.
    pub rivals: Option<[Vec<PastCall>; 2]>,
    /// The account's statement about the answer.
    pub verdict: Option<bool>,
}

/// A tool on the menu.
pub(super) struct MenuTool<'a> {
    pub def: &'a ToolDef,
    /// The displayed weight; `None` if there is none.
    pub weight: Option<f64>,
    /// The cost in credits, from the prompt; `None` if it is not there.
    pub cost: Option<f64>,
}

/// A repeated action, in which long arguments are cut.
pub(super) struct PastAction {
    tool: ToolName,
    arguments: Value,
}

/// A call and its observation.
pub(super) struct PastCall {
    pub tool: ToolName,
    pub arguments: Value,
    pub result: String,
    looks: OnceCell<Looks>,
}

impl<'a> PromptReading<'a> {
    pub fn read(request: &'a Request) -> Self {
        // Examples come before the task.
        let user = user_texts(request).rev().find_map(|text| text.strip_prefix(TASK));
        let user = user.unwrap_or_default();
        let (task, account) = user.split_once("\n\n").unwrap_or((user, ""));
        let costs = costs(request);
        let offers = offers(request);
        let choice = |def| {
            let weight = match &offers {
                Some(offers) => *offers.get(def_name(def))?,
                None => None,
            };
            Some(MenuTool { def, weight, cost: cost(&costs, def) })
        };
        // `Finish` and later entries are actions, not tools.
        let tools = request.tools.iter().take_while(|tool| tool.name.as_str() != FINISH);
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
            menu: tools.filter_map(choice).collect(),
            past,
            may_lack: is_told(request, OTHER_TOOLS),
            chosen: chosen(&request.messages),
            rivals,
            verdict,
        }
    }

    /// Whether this call was chosen at this point before.
    pub fn was_chosen(&self, tool: &str, arguments: &Value) -> bool {
        let told = canonical(&shortened(arguments));
        let is_same = |chosen: &PastAction| canonical(&chosen.arguments) == told;
        self.chosen.iter().any(|chosen| chosen.tool.as_str() == tool && is_same(chosen))
    }

    /// Whether the model has finished at this point before.
    pub fn has_finished(&self) -> bool {
        self.chosen.iter().any(|chosen| chosen.tool.as_str() == FINISH)
    }
}

fn def_name(def: &ToolDef) -> &str {
    def.name.as_str()
}

/// The tools that may be called now, with the displayed weights; `None` for all defined tools.
fn offers(request: &Request) -> Option<HashMap<&str, Option<f64>>> {
    let said =
        user_texts(request).next_back()?.rsplit('\n').find_map(|line| line.strip_prefix(OFFER))?;
    let said = said.strip_suffix('.').unwrap_or(said);
    Some(said.split(", ").map(offer).collect())
}

/// `NAME (weight 37)`, `NAME (new here)` or `NAME`.
fn offer(offer: &str) -> (&str, Option<f64>) {
    let Some((name, mark)) = offer.split_once(" (") else { return (offer, None) };
    let weight = mark.strip_prefix("weight ").and_then(|rest| rest.strip_suffix(')'));
    (name, weight.and_then(|weight| weight.parse().ok()))
}

/// The user's messages, or the prompt's text for the user.
pub(super) fn user_texts(request: &Request) -> impl DoubleEndedIterator<Item = &str> {
    request.messages.iter().filter_map(|message| match message {
        Message::User { text, .. } => Some(text.as_str()),
        Message::System { .. } | Message::Assistant { .. } | Message::Tool { .. } => None,
    })
}

/// Whether the instructions contain this marker.
pub(super) fn is_told(request: &Request, marker: &str) -> bool {
    instructions(request).any(|text| text.contains(marker))
}

/// Instructions of the strategy: the system messages, and the last message if it is from the user.
fn instructions(request: &Request) -> impl Iterator<Item = &str> {
    let last = request.messages.len().saturating_sub(1);
    request.messages.iter().enumerate().filter_map(move |(i, message)| match message {
        Message::System { text } => Some(text.as_str()),
        Message::User { text, .. } if i == last => Some(text.as_str()),
        Message::User { .. } | Message::Assistant { .. } | Message::Tool { .. } => None,
    })
}

/// The costs in the prompt, by tool name.
pub(super) fn costs(request: &Request) -> Vec<(&str, f64)> {
    let told = instructions(request).find_map(|text| text.split_once(COSTS));
    told.into_iter().flat_map(|(_, costs)| costs.split(", ")).map_while(entry).collect()
}

/// `NAME CREDITS`, followed by a full stop if it is the last entry.
fn entry(entry: &str) -> Option<(&str, f64)> {
    let (name, cost) = entry.split_once(' ')?;
    let cost = cost.split(' ').next()?.trim_end_matches('.');
    Some((name, cost.parse().ok()?))
}

pub(super) fn cost(told: &[(&str, f64)], tool: &ToolDef) -> Option<f64> {
    told.iter().find(|(name, _)| *name == tool.name.as_str()).map(|(_, cost)| *cost)
}

/// The account of the calls, and the two decisions after it.
fn apart(account: &str) -> (&str, Option<[Vec<PastCall>; 2]>) {
    // The heading is on its own line: results are given in lines of JSON, and so never form one.
    let [first, second] = RIVALS.map(|rival| format!("\n\n{rival}\n"));
    let parts = account.split_once(&first).and_then(|(done, rivals)| {
        let (first, second) = rivals.split_once(&second)?;
        Some((done, [first, second].map(|rival| rival.lines().filter_map(told).collect())))
    });
    parts.map_or((account, None), |(done, rivals)| (done, Some(rivals)))
}

/// The earlier choices at this point, from the last message.
fn chosen(messages: &Messages) -> Vec<PastAction> {
    let Some(Message::User { text, .. }) = messages.last() else { return Vec::new() };
    let Some((_, list)) = text.rsplit_once(CHOSEN) else { return Vec::new() };
    let chosen = |line: &str| {
        let mut value: Value = serde_json::from_str(line).ok()?;
        let tool = value.get("tool")?.as_str()?.into();
        Some(PastAction { tool, arguments: value.get_mut("arguments")?.take() })
    };
    list.lines().filter_map(chosen).collect()
}

fn conversation(messages: &Messages) -> Vec<PastCall> {
    let mut past = Vec::new();
    let mut asked = &[][..];
    for message in messages {
        match message {
            Message::Assistant { calls, .. } => asked = calls,
            Message::Tool { id, tool, text, .. } => {
                let call = asked.iter().find(|call| call.id == *id);
                let arguments = call.map_or(Value::Null, |call| call.arguments.clone());
                past.push(PastCall::new(tool.clone(), arguments, text.clone()));
            }
            Message::System { .. } | Message::User { .. } => {}
        }
    }
    past
}

/// A line of the account of a trajectory.
fn told(line: &str) -> Option<PastCall> {
    let value: Value = serde_json::from_str(line).ok()?;
    let tool = value.get("tool")?.as_str()?.into();
    Some(PastCall::new(tool, value.get("arguments")?.clone(), value.get("result")?.as_str()?))
}

/// The impression of an observation on a reader without further knowledge. It uses no configuration, as a model would
/// not.
static NULL_FILTER: LazyLock<NullFilter> = LazyLock::new(NullFilter::default);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Looks {
    Useful,
    Failed,
    /// Empty, reports that nothing was found, or is meaningless.
    Useless,
}

impl PastCall {
    pub fn new(tool: ToolName, arguments: Value, result: impl Into<String>) -> Self {
        Self { tool, arguments, result: result.into(), looks: OnceCell::new() }
    }

    pub fn looks(&self) -> Looks {
        *self.looks.get_or_init(|| {
            let text = self.result.trim();
            if text.starts_with("Error:") || text.starts_with("Not called:") {
                return Looks::Failed;
            }
            match NULL_FILTER.nulled(&self.tool, &[], Some(text)) {
                Some(_) => Looks::Useless,
                None => Looks::Useful,
            }
        })
    }
}
