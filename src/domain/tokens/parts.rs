//! A request part by part, each with its tokens.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, Weak};

use serde::Serialize;
use serde_json::Value;

use super::count;
use crate::blocks::Block;
use crate::chat::{Message, Request, ToolCall, ToolDef};
use crate::id::ToolName;

/// Tokens that the chat format adds around one message, and before the answer (measured by OpenAI
/// for its own models; others differ little).
const FRAME: u64 = 3;
/// The most definitions whose parts a thread remembers.
const DEFINITIONS: usize = 16_384;

/// Part of a request, as the prompt inspector lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptPart {
    /// Kind of the part: `system`, `user`, `assistant`, `observation of NAME`, `tool NAME`, `framing`.
    pub label: String,
    /// Exactly the text that is sent, before the endpoint's own template.
    pub text: String,
    pub tokens: u64,
}

/// A part like [`PromptPart`] that may borrow from its request.
pub struct PromptPiece<'a> {
    pub label: Cow<'a, str>,
    pub text: Cow<'a, str>,
    /// The count, if it was made before.
    known: Option<u64>,
}

impl PromptPiece<'_> {
    /// The number of its tokens, counted here unless it is known.
    pub fn tokens(&self) -> u64 {
        self.known.unwrap_or_else(|| count(&self.text))
    }
}

/// The number of tokens of a request: the sum over [`parts`].
pub fn count_request(request: &Request) -> u64 {
    let mut tokens = framing(request);
    each(request, |piece| tokens += piece.tokens());
    tokens
}

/// The tokens of definitions, which are part of [`count_request`].
pub fn count_tools(tools: &[ToolDef]) -> u64 {
    tools.iter().map(|tool| part(tool).tokens).sum()
}

/// A request part by part, in sending order; the last part is the chat format itself.
pub fn parts(request: &Request) -> Vec<PromptPart> {
    let mut parts = Vec::new();
    each(request, |piece| {
        let tokens = piece.tokens();
        parts.push(PromptPart {
            label: piece.label.into_owned(),
            text: piece.text.into_owned(),
            tokens,
        });
    });
    let tokens = framing(request);
    parts.push(PromptPart { label: "framing".into(), text: String::new(), tokens });
    parts
}

/// The tokens of the chat format itself.
pub fn framing(request: &Request) -> u64 {
    FRAME * (request.messages.len() as u64 + 1)
}

/// Calls `take` with each of the [`parts`], without the chat format. The tokens of messages are not counted here.
pub fn each(request: &Request, mut take: impl FnMut(PromptPiece<'_>)) {
    for tool in request.tools.iter() {
        let part = part(tool);
        let (label, text) = (Cow::from(&*part.label), Cow::from(&*part.text));
        take(PromptPiece { label, text, known: Some(part.tokens) });
    }
    for message in &request.messages {
        of_message(message, &mut |label, text| take(PromptPiece { label, text, known: None }));
    }
}

/// A definition as it was seen last, and its part.
struct CachedDefinition {
    /// Parameters of the definition. Their address is not reused as long as this pointer exists.
    parameters: Weak<Value>,
    description: String,
    part: Arc<PromptPart>,
}

/// The part of a definition. Menus change with each step, and the definitions in them share their parameters.
pub(super) fn part(tool: &ToolDef) -> Arc<PromptPart> {
    thread_local! {
        static KNOWN: RefCell<HashMap<(usize, ToolName), CachedDefinition>> = RefCell::default();
    }
    let address = Arc::as_ptr(&tool.parameters) as usize;
    KNOWN.with_borrow_mut(|known| {
        let key = (address, tool.name.clone());
        if let Some(known) = known.get(&key)
            && known.description == tool.description
            && known.parameters.strong_count() > 0
        {
            return Arc::clone(&known.part);
        }
        if known.len() >= DEFINITIONS {
            known.retain(|_, of| of.parameters.strong_count() > 0);
            if known.len() >= DEFINITIONS {
                known.clear();
            }
        }
        let (text, description) = (of_tool(tool), tool.description.clone());
        let (label, tokens) = (format!("tool {}", tool.name), count(&text));
        let part = Arc::new(PromptPart { label, text, tokens });
        let parameters = Arc::downgrade(&tool.parameters);
        known.insert(key, CachedDefinition { parameters, description, part: Arc::clone(&part) });
        part
    })
}

/// The text of a definition.
pub(super) fn of_tool(tool: &ToolDef) -> String {
    #[derive(Serialize)]
    struct DefinitionText<'a> {
        name: &'a str,
        description: &'a str,
        parameters: &'a Value,
    }
    let (name, description) = (tool.name.as_str(), tool.description.as_str());
    let shown = DefinitionText { name, description, parameters: &tool.parameters };
    serde_json::to_string(&shown).unwrap_or_default()
}

/// Calls `take` with the kind and the text of each part of a message.
pub fn of_message<'a>(message: &'a Message, take: &mut impl FnMut(Cow<'a, str>, Cow<'a, str>)) {
    match message {
        Message::System { text } => take("system".into(), text.into()),
        Message::User { text, .. } => take("user".into(), text.into()),
        Message::Assistant { text, calls, .. } => {
            if !text.is_empty() || calls.is_empty() {
                take("assistant".into(), text.into());
            }
            for ToolCall { tool, arguments, .. } in calls {
                take(format!("call of {tool}").into(), format!("{tool} {arguments}").into());
            }
        }
        Message::Tool { tool, text, .. } => {
            take(format!("result of {tool}").into(), text.into());
        }
    }
    // A person sees parts other than text by kind and size.
    for label in message.blocks().iter().filter_map(Block::label) {
        take("part".into(), label.into());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::chat::Role;

    fn tools(name: &str) -> Arc<[ToolDef]> {
        let parameters = json!({"type": "object"}).into();
        [ToolDef { name: name.into(), description: "Computes.".into(), parameters }].into()
    }

    #[test]
    fn parts_add_up_and_hold_the_text() {
        let request = Request {
            tools: tools("calculator"),
            ..Request::new(
                Role::Actor,
                vec![
                    Message::system("Answer."),
                    Message::user("2+2?"),
                    Message::Assistant {
                        text: String::new(),
                        calls: vec![ToolCall {
                            id: "1".into(),
                            tool: "calculator".into(),
                            arguments: json!({"expression": "2+2"}),
                        }],
                        source: None,
                    },
                    Message::result("1", "calculator".into(), "4"),
                ],
            )
        };
        let parts = parts(&request);
        let labels: Vec<&str> = parts.iter().map(|part| part.label.as_str()).collect();
        let expected = [
            "tool calculator",
            "system",
            "user",
            "call of calculator",
            "result of calculator",
            "framing",
        ];
        assert_eq!(labels, expected);
        assert_eq!(parts.iter().map(|part| part.tokens).sum::<u64>(), count_request(&request));
        assert!(parts[3].text.contains(r#""expression":"2+2""#));
    }

    #[test]
    fn a_definition_is_read_once_and_never_taken_for_another() {
        let first = tools("first");
        assert!(Arc::ptr_eq(&part(&first[0]), &part(&first[0].clone())));
        for n in 0..100 {
            // Each schema may have the address of the one before.
            let name = format!("t{n}");
            assert_eq!(part(&tools(&name)[0]).label, format!("tool {name}"));
        }
        let other = ToolDef { description: "Does not.".into(), ..first[0].clone() };
        assert!(part(&other).text.contains("Does not.") && !part(&first[0]).text.contains("not"));
        let named = ToolDef { name: "named".into(), ..first[0].clone() };
        assert_eq!(part(&named).label, "tool named");
    }
}
