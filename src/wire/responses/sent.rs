//! Items as they are sent: messages, calls and results.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::content;
use super::kinds::{self, ClientCallKind};
use super::order::{self, OrderedPart};
use crate::arguments;
use crate::call_ids::CallIds;
use crate::domain::blocks::Block;
use crate::domain::{Message, ReplySource, Request, ToolCall};
use crate::settings::WireSettings;

/// The items for an endpoint.
pub(crate) fn items(request: &Request, settings: &WireSettings<'_>) -> Vec<Value> {
    let (ids, custom) = (CallIds::default(), HashSet::new());
    let mut sent = Sent { items: Vec::new(), ids, custom, settings };
    request.messages.iter().for_each(|message| sent.add(message));
    sent.items
}

struct Sent<'a> {
    items: Vec<Value>,
    ids: CallIds,
    /// Calls as they were sent whose input is any text: their results have their own type.
    custom: HashSet<String>,
    settings: &'a WireSettings<'a>,
}

impl Sent<'_> {
    fn add(&mut self, message: &Message) {
        match message {
            // Strict servers refuse an empty message.
            Message::System { text } if text.trim().is_empty() => {}
            Message::System { text } => self.items.push(json!({"role": "system", "content": text})),
            Message::User { text, blocks } => {
                let content = content::write(text, blocks);
                self.items.push(json!({"type": "message", "role": "user", "content": content}));
            }
            Message::Assistant { text, calls, source } => {
                let own = source.as_deref().filter(|it| it.endpoint == self.settings.source);
                self.assistant(text, calls, own);
            }
            Message::Tool { id, text, blocks, .. } => self.result(id, text, blocks),
        }
    }

    fn assistant(&mut self, text: &str, calls: &[ToolCall], own: Option<&ReplySource>) {
        if !calls.is_empty() {
            self.ids.begin();
        }
        for part in order::parts(text, calls, own) {
            match part {
                OrderedPart::Text(text, _) if text.trim().is_empty() => {}
                OrderedPart::Text(text, phase) => {
                    let mut item = Map::new();
                    item.insert("role".into(), "assistant".into());
                    item.insert("content".into(), text.into());
                    if let Some(phase) = phase.filter(|_| !self.leaves_out(order::PHASE)) {
                        item.insert(order::PHASE.into(), phase.clone());
                    }
                    self.items.push(item.into());
                }
                OrderedPart::Call(call) => self.call(call, own),
                OrderedPart::Kept(_, raw) => self.items.extend(given_back(raw)),
            }
        }
    }

    fn call(&mut self, call: &ToolCall, own: Option<&ReplySource>) {
        let kind = ClientCallKind::of_call(call, own);
        let id = self.ids.call(call, own.is_some());
        let input = match (kind, &call.arguments) {
            (ClientCallKind::Function, arguments) => arguments::written(arguments),
            (ClientCallKind::Custom, Value::String(input)) => input.clone(),
            (ClientCallKind::Custom, input) => input.to_string(),
        };
        let mut item = Map::new();
        item.insert("type".into(), kind.kind().into());
        item.insert("call_id".into(), id.as_str().into());
        item.insert("name".into(), self.settings.names.out(&call.tool).into());
        item.insert(kind.input().into(), input.into());
        let kept = own.and_then(|own| own.calls.get(&call.id)).into_iter().flatten();
        for (name, value) in kept.filter(|(name, _)| !self.leaves_out(name)) {
            item.entry(name).or_insert_with(|| value.clone());
        }
        if kind == ClientCallKind::Custom {
            self.custom.insert(id);
        }
        self.items.push(item.into());
    }

    fn result(&mut self, id: &str, text: &str, blocks: &[Block]) {
        // An observation is an item of its own.
        if let [Block::Kept { raw, .. }] = blocks
            && raw["type"].as_str().is_some_and(kinds::is_observation)
        {
            return self.items.push(raw.clone());
        }
        let id = self.ids.result(id);
        let call = if self.custom.contains(&id) {
            ClientCallKind::Custom
        } else {
            ClientCallKind::Function
        };
        let output = content::write(text, blocks);
        self.items.push(json!({"type": call.output(), "call_id": id, "output": output}));
    }

    fn leaves_out(&self, field: &str) -> bool {
        self.settings.learned.leaves_out(field)
    }
}

/// An item of the endpoint as it accepts it back: unchanged, except for nulls that it sends but does not accept.
fn given_back(raw: &Value) -> Option<Value> {
    let mut item = raw.as_object()?.clone();
    for field in ["status", "content"] {
        if item.get(field).is_some_and(Value::is_null) {
            item.shift_remove(field);
        }
    }
    Some(item.into())
}
