//! The messages of a request as endpoints accept them: none is empty, and each has the fields its endpoint wants back.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::calls::{OLD, is_old};
use crate::arguments;
use crate::call_ids::CallIds;
use crate::domain::blocks::{self, Block};
use crate::domain::{Message, ReplySource, Request, ToolCall};
use crate::learned::Learned;
use crate::names::FunctionNames;
use crate::settings::WireSettings;

/// The messages for an endpoint.
pub(crate) fn messages(request: &Request, settings: &WireSettings<'_>) -> Vec<Value> {
    let (names, learned) = (settings.names, settings.learned);
    let (ids, old) = (CallIds::default(), HashSet::new());
    let mut written = ChatMessages { messages: Vec::new(), ids, old, names, learned, gap: false };
    for message in &request.messages {
        written.add(message, settings.source);
    }
    written.messages
}

struct ChatMessages<'a> {
    messages: Vec<Value>,
    ids: CallIds,
    /// The ids of calls in the form before tools.
    old: HashSet<String>,
    names: &'a FunctionNames,
    learned: &'a Learned,
    /// Whether a message was left out just now.
    gap: bool,
}

impl ChatMessages<'_> {
    fn add(&mut self, message: &Message, endpoint: &str) {
        let is_blank = message.text().trim().is_empty();
        match message {
            // Strict servers refuse an empty message.
            Message::System { .. } if is_blank => {}
            Message::System { text } => self.push("system", text),
            Message::User { text, blocks } if !blocks.is_empty() => self.parts(text, blocks),
            Message::User { text, .. } => self.user(text),
            Message::Assistant { calls, .. } if calls.is_empty() && is_blank => self.gap = true,
            Message::Assistant { text, calls, source } => {
                let own = source.as_deref().filter(|source| source.endpoint == endpoint);
                let content = if is_blank { Value::Null } else { text.as_str().into() };
                self.assistant(content, calls, own);
            }
            Message::Tool { id, tool, text, blocks, .. } => {
                let content = if blocks.is_empty() { json!(text) } else { content(text, blocks) };
                if self.old.remove(id) {
                    let name = self.names.out(tool);
                    return self.put(json!({"role": "function", "name": name, "content": content}));
                }
                let id = self.ids.result(id);
                self.put(json!({"role": "tool", "tool_call_id": id, "content": content}));
            }
        }
    }

    fn put(&mut self, message: Value) {
        self.gap = false;
        self.messages.push(message);
    }

    fn push(&mut self, role: &str, text: &str) {
        self.put(json!({"role": role, "content": text}));
    }

    /// Joins two user messages if an assistant message between them is left out: many servers refuse two in a row.
    fn user(&mut self, text: &str) {
        let last = self.messages.last_mut().filter(|last| self.gap && last["role"] == "user");
        match last {
            Some(last) => {
                let before = last["content"].as_str().unwrap_or_default();
                last["content"] = format!("{before}\n\n{text}").into();
                self.gap = false;
            }
            None => self.push("user", text),
        }
    }

    fn parts(&mut self, text: &str, blocks: &[Block]) {
        self.put(json!({"role": "user", "content": content(text, blocks)}));
    }

    fn assistant(&mut self, content: Value, calls: &[ToolCall], own: Option<&ReplySource>) {
        let mut message = Map::new();
        message.insert("role".into(), "assistant".into());
        message.insert("content".into(), content);
        if let [call] = calls
            && is_old(call, own)
        {
            self.old.insert(call.id.clone());
            let arguments = arguments::written(&call.arguments);
            let function = json!({"name": self.names.out(&call.tool), "arguments": arguments});
            message.insert(OLD.into(), function);
        } else if !calls.is_empty() {
            self.ids.begin();
            let calls: Vec<Value> = calls.iter().map(|call| self.call(call, own)).collect();
            message.insert("tool_calls".into(), calls.into());
        }
        if let Some(own) = own {
            self.give_back(&mut message, &own.message);
        }
        self.learned.complete_message(&mut message);
        self.put(message.into());
    }

    fn call(&mut self, call: &ToolCall, own: Option<&ReplySource>) -> Value {
        let mut function = Map::new();
        function.insert("name".into(), self.names.out(&call.tool).into());
        function.insert("arguments".into(), arguments::written(&call.arguments).into());
        let mut sent = Map::new();
        sent.insert("id".into(), self.ids.call(call, own.is_some()).into());
        sent.insert("type".into(), "function".into());
        if let Some(mut kept) = own.and_then(|own| own.calls.get(&call.id)).cloned() {
            if let Some(Value::Object(kept)) = kept.shift_remove("function") {
                self.give_back(&mut function, &kept);
            }
            sent.insert("function".into(), function.into());
            self.give_back(&mut sent, &kept);
        } else {
            sent.insert("function".into(), function.into());
        }
        self.learned.complete_call(&mut sent);
        sent.into()
    }

    /// Adds fields that the endpoint wrote and does not refuse.
    fn give_back(&self, into: &mut Map<String, Value>, fields: &Map<String, Value>) {
        for (name, value) in fields.iter().filter(|(name, _)| !self.learned.leaves_out(name)) {
            into.entry(name).or_insert_with(|| value.clone());
        }
    }
}

/// Kinds of parts of this format.
const PARTS: [&str; 3] = ["image_url", "input_audio", "file"];

/// A content in parts. A part of another format becomes a label.
fn content(text: &str, blocks: &[Block]) -> Value {
    let mut texts = blocks::texts(blocks, text).into_iter();
    let part = |block: &Block| match block {
        Block::Text { .. } => texts.next().map(|text| json!({"type": "text", "text": text})),
        Block::Call { .. } => None,
        Block::Kept { raw, .. } if PARTS.iter().any(|part| raw["type"] == *part) => {
            Some(raw.clone())
        }
        Block::Kept { .. } => block.label().map(|label| json!({"type": "text", "text": label})),
    };
    blocks.iter().filter_map(part).collect()
}
