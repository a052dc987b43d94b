//! Where a request does not begin with the one before it, and which messages of that one are gone. Pure.

use std::collections::HashMap;

use super::compare::{Compare, role, said, tools};
use super::digest;
use super::volatile_parts::Varies;
use crate::domain::difference::{Difference, of_texts};
use crate::domain::{Gone, GoneMessage, Message, Request, ToolDef};

/// The most messages that are listed; of further ones, only the number and the bytes are kept.
const LISTED: usize = 50;
/// Characters of the beginning of a message.
const BEGINS: usize = 80;

/// A model and its input.
#[derive(Clone, Copy, Debug)]
pub struct Reads<'a> {
    pub model: &'a str,
    pub request: &'a Request,
}

/// The first part in which a request differs from the one before it, in the order in which endpoints cache: the model,
/// its tools, the messages. A request that is only shorter has no such part. `asked` is the new value.
pub fn lost(before: Reads<'_>, now: Reads<'_>) -> Option<Difference> {
    of_texts("model", now.model, before.model)
        .or_else(|| of_tools(&now.request.tools, &before.request.tools))
        .or_else(|| of_messages(now.request, before.request))
}

fn of_tools(now: &[ToolDef], before: &[ToolDef]) -> Option<Difference> {
    if now == before {
        return None;
    }
    let found = tools(now, before)?;
    let same = now.iter().zip(before).take_while(|(now, before)| now == before).count();
    let tool = before.get(same).or(now.get(same)).map(|tool| tool.name.as_str());
    let name: String = tool.unwrap_or_default().chars().take(BEGINS).collect();
    let field = match found.field.split_once("].") {
        Some((place, part)) => format!("{place}] {name}: {part}"),
        None => format!("{} {name}", found.field),
    };
    Some(Difference { field, ..found })
}

fn of_messages(now: &Request, before: &Request) -> Option<Difference> {
    let varies = Varies::default();
    // A cache compares what is sent.
    let mut compare = Compare::with_ids(&varies);
    let both = now.messages.iter().zip(before.messages.iter()).enumerate();
    let (at, found) = both
        .into_iter()
        .find_map(|(at, (one, other))| Some((at, compare.message(at, one, other)?)))?;
    let is_system = |request: &Request| {
        let mut all = request.messages.iter().take(at + 1);
        all.all(|message| matches!(message, Message::System { .. }))
    };
    let field = match at == 0 && is_system(now) && is_system(before) {
        true => found.field.replacen("messages[0].content", "system", 1),
        false => found.field,
    };
    Some(Difference { field, ..found })
}

/// The messages of a request that a later one no longer has, with their number.
pub fn gone(before: &Request, now: &Request) -> (usize, Gone) {
    // Equal messages at the same place need no digest: only the instructions may differ.
    let is_same = |at: usize| before.messages.get(at) == now.messages.get(at);
    let mut left: HashMap<u64, usize> = HashMap::new();
    for (_, message) in now.messages.iter().enumerate().filter(|(at, _)| !is_same(*at)) {
        *left.entry(digest::of_message(message)).or_default() += 1;
    }
    let is_gone = |message: &&Message| match left.get_mut(&digest::of_message(message)) {
        Some(n) if *n > 0 => {
            *n -= 1;
            false
        }
        _ => true,
    };
    let other = before.messages.iter().enumerate().filter(|(at, _)| !is_same(*at));
    let all: Vec<&Message> = other.map(|(_, message)| message).filter(is_gone).collect();
    let bytes = all.iter().map(|message| bytes(message)).sum();
    let messages = all.iter().take(LISTED).map(|message| told(message)).collect();
    (all.len(), Gone { messages, bytes })
}

/// Whether only instructions are gone.
pub fn is_of_system(gone: &Gone) -> bool {
    gone.messages.iter().all(|message| message.role == "system")
}

fn told(message: &Message) -> GoneMessage {
    let (role, said) = (role(message), said(message));
    let begins = said.strip_prefix(role).and_then(|said| said.strip_prefix(": ")).unwrap_or(&said);
    let begins: String = begins.trim_start().chars().take(BEGINS).collect();
    GoneMessage { role: role.to_owned(), begins, bytes: bytes(message) }
}

fn bytes(message: &Message) -> u64 {
    let of_calls = match message {
        Message::Assistant { calls, .. } => {
            calls.iter().map(|call| call.arguments.to_string().len()).sum()
        }
        _ => 0,
    };
    (message.text().len() + of_calls) as u64
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::domain::Role;

    fn request(messages: &[Message]) -> Request {
        Request::new(Role::Actor, messages.to_vec())
    }

    fn tool(name: &str, description: &str) -> ToolDef {
        let parameters = Arc::new(json!({"type": "object"}));
        ToolDef { name: name.into(), description: description.into(), parameters }
    }

    fn with_tools(tools: &[ToolDef]) -> Request {
        Request { tools: tools.into(), ..request(&[Message::user("hello")]) }
    }

    fn found(before: &Request, now: &Request) -> Option<(String, String, String)> {
        let of = |request| Reads { model: "gpt", request };
        lost(of(before), of(now)).map(|it| (it.field, it.recorded, it.asked))
    }

    fn told(field: &str, was: &str, now: &str) -> Option<(String, String, String)> {
        Some((field.to_owned(), was.to_owned(), now.to_owned()))
    }

    #[test]
    fn a_clock_in_the_instructions_is_named() {
        let asked = |time: &str, more: &[Message]| {
            let system = Message::system(format!("You help. It is {time}."));
            request(&[&[system, Message::user("hello")], more].concat())
        };
        let more = [Message::assistant("hi"), Message::user("more")];
        let before = asked("12:00", &[]);
        assert_eq!(found(&before, &asked("12:00", &more)), None, "it goes on");
        assert_eq!(
            found(&before, &asked("12:01", &more)),
            told("system", "You help. It is 12:00.", "You help. It is 12:01.")
        );
        assert_eq!(found(&asked("12:00", &more), &before), None, "a shorter one is in the cache");
        let [one, other] =
            ["12:00", "12:01"].map(|time| request(&[Message::system(format!("Hi.\n{time}"))]));
        assert_eq!(found(&one, &other).unwrap().0, "system, line 2");
        let other = [Message::assistant("hi"), Message::user("less")];
        assert_eq!(
            found(&asked("12:00", &more), &asked("12:00", &other)),
            told("messages[3].content", "more", "less")
        );
    }

    #[test]
    fn a_tool_that_differs_is_named_before_any_message() {
        let [search, other] =
            ["Finds pages.", "Finds pages. Now 12:01."].map(|it| tool("search", it));
        let map = tool("map", "");
        let deep = |min: u32| {
            let parameters = json!({"anyOf": [{"properties": {"at": {"minimum": min}}}]});
            with_tools(&[ToolDef { parameters: Arc::new(parameters), ..map.clone() }])
        };
        let field = "tools[0] map: parameters.anyOf[0].properties.at.minimum";
        assert_eq!(found(&deep(1), &deep(2)), told(field, "1", "2"));
        let before = with_tools(&[map.clone(), search.clone()]);
        assert_eq!(found(&before, &before.clone()), None);
        assert_eq!(
            found(&before, &with_tools(&[map.clone(), other])),
            told("tools[1] search: description", "Finds pages.", "Finds pages. Now 12:01.")
        );
        assert_eq!(
            found(&before, &with_tools(&[map.clone(), search.clone(), tool("new", "")])),
            told("tools[2] new", "", "new")
        );
        assert_eq!(
            found(&before, &with_tools(&[search, map])),
            told("tools[0] map: name", "map", "search")
        );
        let now = Reads { model: "small", request: &before };
        let lost = lost(Reads { model: "gpt", ..now }, now).unwrap();
        assert_eq!((&*lost.field, &*lost.recorded, &*lost.asked), ("model", "gpt", "small"));
    }

    #[test]
    fn messages_that_went_are_listed_with_their_size() {
        let [first, more] = ["How is it in Oslo?", "And now?"].map(Message::user);
        let before = request(&[
            Message::system("You help."),
            first.clone(),
            Message::assistant("Fine."),
            Message::result("a", "weather".into(), "rain, ".repeat(100)),
            more.clone(),
        ]);
        let now = request(&[
            Message::system("You help."),
            first,
            Message::assistant("In short: rain."),
            more,
            Message::user("Go on."),
        ]);
        let (dropped, gone) = gone(&before, &now);
        assert_eq!((dropped, gone.bytes), (2, 605));
        let listed: Vec<_> = gone.messages.iter().map(|it| (&*it.role, it.bytes)).collect();
        assert_eq!(listed, [("assistant", 5), ("tool", 600)]);
        assert!(gone.messages[1].begins.starts_with("rain, rain"));
        assert_eq!(gone.messages[1].begins.chars().count(), BEGINS);
        assert!(!is_of_system(&gone));
        let other = request(&[Message::system("You do not.")]);
        assert!(is_of_system(&super::gone(&request(&[Message::system("You help.")]), &other).1));
    }
}
