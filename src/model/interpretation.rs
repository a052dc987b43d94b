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
    let mut reply = without_thoughts(reply);
    if let Some(text) = markup::without_end(&reply.text) {
        reply.text.truncate(text.len());
    }
    if meant.tools.is_empty() {
        return reply;
    }
    let called = |reply| match mode {
        ToolMode::Native => from_markup(meant, reply),
        ToolMode::Text => text::from_text(meant, reply),
    };
    let mut reply = called(reply);
    // A server that finds no end of the thoughts takes the call after them for one.
    let is_blank = reply.text.trim().is_empty() && reply.finish == Finish::Stop;
    if reply.calls.is_empty() && is_blank {
        let thought = called(Reply { text: reply.reasoning.clone(), ..reply.clone() });
        if !thought.calls.is_empty() {
            reply = Reply { reasoning: thought.text, text: String::new(), ..thought };
        }
    }
    let said = if is_blank { &reply.reasoning } else { &reply.text };
    if reply.calls.is_empty()
        && let MarkupText::Unread(from) = markup::find(said, &meant.tools)
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

/// Texts that stand for missing arguments.
const NOTHING: [&str; 5] = ["", "null", "None", "undefined", "[]"];

/// Reads the name and the arguments of a call as they were meant.
fn repaired(call: &mut ToolCall, tools: &[ToolDef]) -> Vec<Repair> {
    let mut repairs = Vec::new();
    if let Some(tool) = offered(call.tool.as_str(), tools).filter(|tool| tool.name != call.tool) {
        let from = std::mem::replace(&mut call.tool, tool.name.clone());
        repairs.push(Repair::Name { from: clipped(from.as_str(), SHOWN), to: tool.name.clone() });
    }
    match &call.arguments {
        Value::Null => call.arguments = Map::new().into(),
        // An empty object, as PHP writes it.
        Value::Array(none) if none.is_empty() => call.arguments = Map::new().into(),
        Value::String(raw) if NOTHING.contains(&raw.trim()) => {
            call.arguments = Map::new().into();
        }
        Value::String(raw) => {
            // Spaces and a byte order mark have no meaning.
            let raw = raw.trim_start_matches(['\u{FEFF}', ' ', '\n']);
            if let Ok(fields) = serde_json::from_str(raw) {
                call.arguments = Value::Object(fields);
            } else if let Some((fields, wrong)) = lenient::object(raw) {
                call.arguments = fields.into();
                repairs.push(Repair::Arguments { tool: call.tool.clone(), wrong });
            }
        }
        Value::Object(_) | Value::Array(_) | Value::Bool(_) | Value::Number(_) => {}
    }
    repairs
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::Role;

    fn request() -> Request {
        let weather = ToolDef {
            name: "weather".into(),
            description: String::new(),
            parameters: json!({"type": "object", "properties": {"city": {"type": "string"}}})
                .into(),
        };
        let mut request = Request::new(Role::Actor, Vec::new());
        request.tools = vec![weather].into();
        request
    }

    fn called(tool: &str, arguments: Value) -> (Value, usize) {
        let call = ToolCall { id: "c1".into(), tool: tool.into(), arguments };
        let reply = Reply { calls: vec![call], ..Reply::of_text(String::new()) };
        let reply = understood(ToolMode::Native, &request(), reply);
        assert_eq!(reply.calls[0].tool.as_str(), "weather");
        (reply.calls[0].arguments.clone(), reply.repairs.len())
    }

    #[test]
    fn texts_for_missing_arguments_are_none() {
        for raw in ["", " ", "null", "None", "undefined", "[]"] {
            assert_eq!(called("weather", raw.into()), (json!({}), 0), "{raw}");
        }
        for none in [json!([]), json!(null)] {
            assert_eq!(called("weather", none), (json!({}), 0));
        }
        let lisbon = json!({"city": "Lisbon"});
        let marked = "\u{FEFF}{\"city\": \"Lisbon\"}";
        assert_eq!(called("weather", marked.into()), (lisbon.clone(), 0));
        assert_eq!(called("weather()", lisbon.clone()), (lisbon, 1));
        assert_eq!(called("weather", "Nothing".into()), (json!("Nothing"), 0));
    }

    #[test]
    fn a_call_in_the_thoughts_of_an_empty_answer_is_called() {
        let markup = "I look.\n<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Lisbon\"}}\n</tool_call>";
        let labels = "Thought: I look.\nAction: weather\nAction Input: {\"city\": \"Lisbon\"}";
        for (mode, thoughts) in [(ToolMode::Native, markup), (ToolMode::Text, labels)] {
            let reply = Reply { reasoning: thoughts.into(), ..Reply::of_text("\n".to_owned()) };
            let read = understood(mode, &request(), reply.clone());
            assert_eq!(read.calls[0].arguments, json!({"city": "Lisbon"}), "{mode:?}");
            assert!(read.text.is_empty() && read.reasoning.contains("I look."), "{read:?}");
            let cut = Reply { finish: Finish::Length, ..reply.clone() };
            assert_eq!(understood(mode, &request(), cut).calls, []);
            let answered = Reply { text: "Sunny.".into(), ..reply };
            assert_eq!(understood(mode, &request(), answered).text, "Sunny.");
        }
    }

    #[test]
    fn half_a_character_in_arguments_is_a_replacement() {
        let text = "<tool_call>{\"name\": \"weather\", \"arguments\": {\"city\": \"Lisbon \\ud83c\"}}</tool_call>";
        let read = understood(ToolMode::Native, &request(), Reply::of_text(text.to_owned()));
        assert_eq!(read.calls[0].arguments, json!({"city": "Lisbon \u{FFFD}"}));
    }

    #[test]
    fn tokens_that_end_a_turn_are_no_part_of_an_answer() {
        for tools in [true, false] {
            let request = if tools { request() } else { Request::new(Role::Actor, Vec::new()) };
            let reply = Reply::of_text("<think>\nHm.\n</think>\n\nSunny.<|im_end|>\n".to_owned());
            let reply = understood(ToolMode::Native, &request, reply);
            assert_eq!((reply.text.as_str(), reply.reasoning.as_str()), ("Sunny.", "Hm."));
        }
    }
}
