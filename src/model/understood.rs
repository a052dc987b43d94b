//! Interpretation of replies: the one place that distinguishes calls, answers and mere thoughts.
//!
//! Servers leave thoughts and calls in the text that they should have removed. Models write names and arguments that
//! are nearly right. A text with only one meaning is read accordingly; the reply records each repair. Nothing is
//! guessed.

use serde_json::{Map, Value};

use super::markup::{self, MarkupText, offered};
use super::text;
use crate::domain::repair::Repair;
use crate::domain::words::clipped;
use crate::domain::{Finish, Reply, Request, ToolCall, ToolDef, ToolMode, lenient};
use crate::wire::ids::FreeIds;

/// The most characters of an unreadable call that are shown.
const SHOWN: usize = 80;

/// The reply of a model that takes tools in this way. `meant`: the request with its menu, which a text request no
/// longer has.
pub fn understood(mode: ToolMode, meant: &Request, reply: Reply) -> Reply {
    let reply = without_thoughts(reply);
    if meant.tools.is_empty() {
        return reply;
    }
    let mut reply = match mode {
        ToolMode::Native => from_markup(meant, reply),
        ToolMode::Text => text::from_text(meant, reply),
    };
    if reply.calls.is_empty()
        && let MarkupText::Unread(from) = markup::find(&reply.text, &meant.tools)
    {
        reply.repairs.push(Repair::Unread { excerpt: clipped(from, SHOWN) });
    }
    for call in &mut reply.calls {
        reply.repairs.extend(repaired(call, &meant.tools));
    }
    reply
}

fn without_thoughts(mut reply: Reply) -> Reply {
    let Some((thoughts, rest)) = markup::without_thoughts(&reply.text) else { return reply };
    let rest = rest.to_owned();
    if !reply.reasoning.is_empty() && !thoughts.is_empty() {
        reply.reasoning.push('\n');
    }
    reply.reasoning.push_str(&thoughts);
    Reply { text: rest, ..reply }
}

/// The reply with the calls that its server left in the text.
fn from_markup(meant: &Request, mut reply: Reply) -> Reply {
    if !reply.calls.is_empty() {
        return reply;
    }
    let (text, calls) = match markup::find(&reply.text, &meant.tools) {
        MarkupText::Text | MarkupText::Unread(_) => return reply,
        MarkupText::Calls { before, calls, .. } => (before.to_owned(), calls),
    };
    let tools = calls.iter().map(|call| call.tool.clone()).collect();
    let mut free = FreeIds::of(meant, "text");
    let call =
        |markup::MarkupCall { tool, arguments }| ToolCall { id: free.take(), tool, arguments };
    let calls = calls.into_iter().map(call).collect();
    reply.repairs.push(Repair::FromText { tools });
    Reply { text, calls, finish: Finish::Calls, ..reply }
}

/// Reads the name and the arguments of a call as they were meant.
fn repaired(call: &mut ToolCall, tools: &[ToolDef]) -> Vec<Repair> {
    let mut repairs = Vec::new();
    if let Some(tool) = offered(call.tool.as_str(), tools).filter(|tool| tool.name != call.tool) {
        let from = std::mem::replace(&mut call.tool, tool.name.clone());
        repairs.push(Repair::Name { from: clipped(from.as_str(), SHOWN), to: tool.name.clone() });
    }
    match &call.arguments {
        Value::Null => call.arguments = Map::new().into(),
        Value::String(raw) => {
            if let Some((fields, wrong)) = lenient::object(raw) {
                call.arguments = fields.into();
                repairs.push(Repair::Arguments { tool: call.tool.clone(), wrong });
            }
        }
        Value::Object(_) | Value::Array(_) | Value::Bool(_) | Value::Number(_) => {}
    }
    repairs
}
