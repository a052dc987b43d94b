//! The messages of a request.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::blocks::{CITATIONS, kind};
use crate::arguments;
use crate::asked::{Spot, SpotForm, Unknown};
use crate::assistant_message::{AssistantMessage, TextParts};
use crate::domain::blocks::{Block, BlockKind};
use crate::domain::{Message, ToolCall, ToolName};
use crate::node::{JsonFields, JsonItem, JsonNode};

/// The place of a block, and that of a block inside a result.
const BLOCK: &str = "messages[].content[]";
const OF_RESULT: &str = "messages[].content[].content[]";
const OF_SYSTEM: &str = "system[]";
/// Fields of a text. The citations of a user's text are not shown.
const TEXT: [&str; 4] = ["type", "text", "cache_control", "citations"];
const RESULT: [&str; 5] = ["type", "tool_use_id", "content", "is_error", "cache_control"];
/// Fields of a call that a [`ToolCall`] has, or that nobody needs.
const CALL: [&str; 5] = ["type", "id", "name", "input", "cache_control"];
/// Fields of a call that go back unchanged.
const BESIDE_CALL: [&str; 1] = ["caller"];

/// The conversation so far.
#[derive(Debug, Default)]
pub(super) struct MessageHistory {
    pub messages: Vec<Message>,
    pub calls: Vec<Spot>,
    pub results: Vec<Spot>,
    pub failures: Vec<Spot>,
    pub unknown: Unknown,
    /// The calls and the results so far.
    called: usize,
    returned: usize,
}

impl MessageHistory {
    /// The instructions on top: one text, or a message for each block.
    pub fn system(&mut self, system: &JsonNode<'_>) {
        for block in content(system) {
            let mut parts = TextParts::default();
            self.part(&block, OF_SYSTEM, &mut parts);
            if !parts.text.is_empty() {
                self.messages.push(Message::System { text: parts.text });
            }
        }
    }

    /// The next message.
    pub fn message(&mut self, message: &JsonItem<'_>) {
        let Some(fields) = &message.fields else {
            self.unknown.add("messages[]");
            return self.user(vec![JsonItem::from(message.node)]);
        };
        self.unknown.fields("messages[].", fields, &["role", "content"]);
        let content = fields.get("content").map(|node| content(&node)).unwrap_or_default();
        match fields.string("role").as_deref() {
            Some("assistant") => self.assistant(content),
            Some("system") => {
                let text = self.parts(content, BLOCK).text;
                self.messages.push(Message::System { text });
            }
            Some("user") => self.user(content),
            role => {
                self.unknown.add(format!("messages[].role={}", role.unwrap_or_default()));
                self.user(content);
            }
        }
    }

    /// Reads a message of the user, which contains results. The rest before, between and after them is the user's own.
    fn user(&mut self, content: Vec<JsonItem<'_>>) {
        let mut own = TextParts::default();
        for block in content {
            match block.fields.as_ref().filter(|fields| is(fields, "tool_result")) {
                Some(result) => {
                    self.end(std::mem::take(&mut own));
                    self.result(result);
                }
                None => self.part(&block, BLOCK, &mut own),
            }
        }
        self.end(own);
    }

    fn end(&mut self, own: TextParts) {
        if !own.blocks.is_empty() {
            let (text, blocks) = own.into_message();
            self.messages.push(Message::User { text, blocks });
        }
    }

    fn result(&mut self, result: &JsonFields<'_>) {
        self.unknown.fields("messages[].content[].", result, &RESULT);
        let id = result.id("tool_use_id");
        let number = self.returned;
        self.returned += 1;
        let (node, failed) = (result.get("content"), result.get("is_error"));
        if let Some(own) = result.get("tool_use_id").map(|own| own.range()) {
            let spot = |field: Option<&JsonNode<'_>>, behind: usize, form| {
                let range = field.map_or(behind..behind, JsonNode::range);
                Spot { number, range, form }
            };
            let content = spot(node.as_ref(), own.end, SpotForm::Content);
            self.failures.push(spot(failed.as_ref(), content.range.end, SpotForm::IsError));
            self.results.push(content);
        }
        let content = node.map(|node| content(&node)).unwrap_or_default();
        let (text, blocks) = self.parts(content, OF_RESULT).into_message();
        let failed = failed.and_then(|failed| failed.bool()).unwrap_or(false);
        // A result does not name its tool.
        self.messages.push(Message::Tool { id, tool: "".into(), text, blocks, failed });
    }

    fn parts(&mut self, content: Vec<JsonItem<'_>>, place: &str) -> TextParts {
        let mut parts = TextParts::default();
        content.iter().for_each(|block| self.part(block, place, &mut parts));
        parts
    }

    /// Adds a block that is neither a call nor a result.
    fn part(&mut self, block: &JsonItem<'_>, place: &str, parts: &mut TextParts) {
        let JsonItem { node, fields } = block;
        match (node.string(), text_of(fields.as_ref())) {
            (Some(text), _) => parts.add(&text),
            (None, Some(text)) => {
                if let Some(fields) = fields {
                    self.unknown.fields(&format!("{place}."), fields, &TEXT);
                }
                parts.add(&text);
            }
            (None, None) => {
                let kind = self.kind(fields.as_ref(), place);
                parts.blocks.push(Block::kept(kind, node.value()));
            }
        }
    }

    /// The kind of a block that is kept. Unknown types are counted.
    fn kind(&mut self, fields: Option<&JsonFields<'_>>, place: &str) -> BlockKind {
        let name = fields.and_then(|fields| fields.string("type")).unwrap_or_default();
        let kind = kind(&name);
        if kind == BlockKind::Unknown {
            self.unknown.add(format!("{place}.type={name}"));
        }
        kind
    }

    fn assistant(&mut self, content: Vec<JsonItem<'_>>) {
        let mut said = AssistantMessage::default();
        for JsonItem { node, fields } in content {
            match (node.string(), text_of(fields.as_ref()), &fields) {
                (Some(text), ..) => said.text(&text, Value::Null),
                (None, Some(text), Some(fields)) => {
                    self.unknown.fields("messages[].content[].", fields, &TEXT);
                    let citations = fields.get("citations").map(|citations| citations.value());
                    said.text(&text, citations.unwrap_or_default());
                }
                (None, None, Some(fields)) if is(fields, "tool_use") => {
                    self.call(fields, &mut said)
                }
                _ => {
                    let kind = self.kind(fields.as_ref(), BLOCK);
                    said.keep(kind, node.value());
                }
            }
        }
        let (text, calls, source) = said.into_parts("", CITATIONS);
        self.messages.push(Message::Assistant { text, calls, source });
    }

    fn call(&mut self, fields: &JsonFields<'_>, said: &mut AssistantMessage) {
        let id = fields.id("id");
        let tool = ToolName::from(fields.string("name").unwrap_or_default().as_ref());
        let input = fields.get("input");
        if let Some(input) = input {
            let (number, range) = (self.called, input.range());
            self.calls.push(Spot { number, range, form: SpotForm::Object });
        }
        self.called += 1;
        // A value that is nested too deeply stays a text.
        let arguments = arguments::read(input.map_or("", |input| input.raw()));
        let known = [&CALL[..], &BESIDE_CALL].concat();
        self.unknown.fields("messages[].content[].", fields, &known);
        let beside = fields.iter().filter(|(name, _)| !CALL.contains(name));
        let beside: Map<_, _> = beside.map(|(name, it)| (name.to_owned(), it.value())).collect();
        said.call(ToolCall { id, tool, arguments }, beside);
    }
}

/// The blocks of a content, which may also be one text.
fn content<'a>(content: &JsonNode<'a>) -> Vec<JsonItem<'a>> {
    content.objects().unwrap_or_else(|| vec![JsonItem::from(*content)])
}

fn is(fields: &JsonFields<'_>, kind: &str) -> bool {
    fields.string("type").as_deref() == Some(kind)
}

/// The text of a text block.
fn text_of<'a>(fields: Option<&JsonFields<'a>>) -> Option<Cow<'a, str>> {
    fields.filter(|fields| is(fields, "text"))?.string("text")
}
