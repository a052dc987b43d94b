//! Items as they are sent: messages, calls and results.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::content;
use super::kinds::ClientCallKind;
use super::order::{self, OrderedPart};
use crate::arguments;
use crate::asked::SpotForm;
use crate::call_ids::CallIds;
use crate::domain::blocks::Block;
use crate::domain::{Message, ReplySource, Request, ToolCall};
use crate::plan;
use crate::settings::WireSettings;

/// The items for an endpoint.
pub(crate) fn items(request: &Request, settings: &WireSettings<'_>) -> Vec<Value> {
    let (ids, kinds) = (CallIds::default(), HashMap::new());
    let mut sent = Sent { items: Vec::new(), ids, kinds, settings };
    request.messages.iter().for_each(|message| sent.add(message));
    sent.items
}

struct Sent<'a> {
    items: Vec<Value>,
    ids: CallIds,
    /// The kinds of calls that are no functions, by their ids as they were sent: their results have their own types.
    kinds: HashMap<String, ClientCallKind>,
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
            Message::Tool { id, text, blocks, failed, .. } => {
                self.result(id, (text, *failed), blocks);
            }
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
            (ClientCallKind::Function, arguments) => arguments::written(arguments).into(),
            (ClientCallKind::Custom, input) => plan::text(input).into(),
            (_, input) => input.clone(),
        };
        let mut item = Map::new();
        item.insert("type".into(), kind.kind().into());
        item.insert("call_id".into(), id.as_str().into());
        if kind.tool().is_none() {
            item.insert("name".into(), self.settings.names.out(&call.tool).into());
        }
        item.insert(kind.input_for(&call.arguments).into(), input);
        let kept = own.and_then(|own| own.calls.get(&call.id)).into_iter().flatten();
        for (name, value) in kept.filter(|(name, _)| !self.leaves_out(name)) {
            item.entry(name).or_insert_with(|| value.clone());
        }
        if kind != ClientCallKind::Function {
            self.kinds.insert(id, kind);
        }
        self.items.push(item.into());
    }

    fn result(&mut self, id: &str, (text, failed): (&str, bool), blocks: &[Block]) {
        let id = self.ids.result(id);
        let call = self.kinds.get(&id).copied().unwrap_or(ClientCallKind::Function);
        let (field, form) = call.result();
        let mut item = json!({"type": call.output(), "call_id": id});
        item[field] = match (form, blocks) {
            (SpotForm::Content, _) => content::write(text, blocks),
            (SpotForm::Screenshot, [Block::Kept { raw, .. }]) => raw.clone(),
            _ => form.value(text, failed),
        };
        match call {
            ClientCallKind::ApplyPatch => item["status"] = SpotForm::Status.value("", failed),
            ClientCallKind::ToolSearch => item["execution"] = "client".into(),
            _ => {}
        }
        self.items.push(item);
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
