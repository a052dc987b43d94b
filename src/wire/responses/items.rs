//! Reads the items of a request as messages. Consecutive items of the assistant form one message.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::content::{self, ReadPart};
use super::kinds::{self, ClientCallKind};
use super::order;
use super::tools;
use crate::arguments;
use crate::asked::{Spot, SpotForm, Unknown};
use crate::domain::blocks::{Block, BlockKind};
use crate::domain::{Message, ReplySource, ToolCall, ToolDef, ToolName};
use crate::node::{JsonFields, JsonItem, JsonNode};

/// A field by which Codex marks items of its own.
const PASSTHROUGH: &str = "internal_chat_message_metadata_passthrough";
/// Fields of a message.
const OF_MESSAGE: [&str; 8] =
    ["type", "role", "content", "id", "status", "phase", "name", PASSTHROUGH];
/// Fields of a result.
const OF_RESULT: [&str; 15] = [
    PASSTHROUGH,
    "type",
    "id",
    "call_id",
    "output",
    "status",
    "name",
    "namespace",
    "caller",
    "tools",
    "execution",
    "created_by",
    "max_output_length",
    "acknowledged_safety_checks",
    "current_url",
];
/// Fields that some calls have, and that their endpoint wants back.
const OF_SOME_CALLS: [&str; 8] = [
    PASSTHROUGH,
    "namespace",
    "caller",
    "async",
    "environment",
    "execution",
    "created_by",
    "pending_safety_checks",
];

/// The items so far.
#[derive(Default)]
pub(super) struct Items {
    pub messages: Vec<Message>,
    pub calls: Vec<Spot>,
    pub results: Vec<Spot>,
    pub failures: Vec<Spot>,
    pub unknown: Unknown,
    /// Definitions of tools that the model gets with its input.
    pub tools: Vec<ToolDef>,
    /// The calls and the results so far.
    called: usize,
    returned: usize,
    /// The message of the assistant to which items may still be added.
    open: Option<OpenMessage>,
}

/// A message of the assistant.
#[derive(Default)]
struct OpenMessage {
    text: String,
    calls: Vec<ToolCall>,
    source: ReplySource,
    phases: Vec<Value>,
}

impl Items {
    /// The message with all its parts, after the last one.
    pub fn finish(mut self) -> Self {
        self.close();
        self
    }

    /// Adds a message that is not the assistant's.
    pub fn push(&mut self, message: Message) {
        self.close();
        self.messages.push(message);
    }

    pub fn read(&mut self, item: &JsonItem<'_>) {
        let node = item.node;
        let Some(fields) = &item.fields else {
            self.unknown.add("input[]");
            return self.keep(BlockKind::Unknown, node.value());
        };
        let kind = kind_of(fields);
        match kind.as_ref() {
            "message" => self.message(fields, node),
            "additional_tools" => self.define(fields),
            kind => match (ClientCallKind::of_fields(fields), ClientCallKind::of_output(fields)) {
                (Some(call), _) => self.call(call, fields),
                (None, Some(call)) => self.result(call, fields),
                (None, None) => {
                    let what = kinds::of_item(kind);
                    if what == BlockKind::Unknown {
                        self.unknown.add(format!("input[].type={kind}"));
                    }
                    self.keep(what, node.value());
                }
            },
        }
    }

    fn open(&mut self) -> &mut OpenMessage {
        self.open.get_or_insert_with(OpenMessage::default)
    }

    fn keep(&mut self, kind: BlockKind, raw: Value) {
        self.open().source.blocks.push(Block::kept(kind, raw));
    }

    fn close(&mut self) {
        let Some(OpenMessage { text, calls, mut source, phases }) = self.open.take() else {
            return;
        };
        order::note_phases(&mut source, phases);
        source.blocks = order::unless_plain(source.blocks);
        // Its ids go back unchanged, so it has a source even if that has only calls.
        let has_some = !calls.is_empty() || source != ReplySource::default();
        let source = has_some.then(|| Arc::new(source));
        self.messages.push(Message::Assistant { text, calls, source });
    }

    fn message(&mut self, fields: &JsonFields<'_>, node: JsonNode<'_>) {
        self.unknown.fields("input[].", fields, &OF_MESSAGE);
        let role = fields.string("role").unwrap_or_default();
        let content = fields.get("content");
        match role.as_ref() {
            "assistant" => self.said(fields, content),
            "system" | "developer" => {
                let (text, blocks) = content::read(content, &mut self.unknown);
                self.push(Message::system(content::with_labels(text, &blocks)));
            }
            "user" => {
                let (text, blocks) = content::read(content, &mut self.unknown);
                self.push(Message::User { text, blocks });
            }
            other => {
                self.unknown.add(format!("input[].role={other}"));
                self.keep(BlockKind::Unknown, node.value());
            }
        }
    }

    /// A message of the assistant.
    fn said(&mut self, fields: &JsonFields<'_>, content: Option<JsonNode<'_>>) {
        let phase = fields.get(order::PHASE).map(|phase| phase.value()).unwrap_or_default();
        self.open();
        for part in content::parts(content) {
            match part {
                ReadPart::Text(text) if text.is_empty() => {}
                ReadPart::Text(text) => {
                    let open = self.open();
                    open.source.blocks.push(Block::Text { bytes: text.len() });
                    open.phases.push(phase.clone());
                    open.text.push_str(&text);
                }
                ReadPart::Other(kind, node) => {
                    self.unknown.add(format!("input[].content[].type={kind}"));
                    self.keep(BlockKind::Unknown, order::alone(node.value()));
                }
            }
        }
    }

    fn call(&mut self, call: ClientCallKind, fields: &JsonFields<'_>) {
        let is_rest = |name: &str| !call.defines(name);
        for (name, _) in fields.iter().filter(|(name, _)| is_rest(name)) {
            if !OF_SOME_CALLS.contains(&name) {
                self.unknown.add(format!("input[].{name}"));
            }
        }
        let id = id(fields);
        let name = call.tool().map(Cow::from).or_else(|| fields.string("name"));
        let tool = ToolName::from(name.unwrap_or_default().as_ref());
        let input = fields.get(call.input(|name| fields.get(name).is_some()));
        if let Some(node) = input {
            let form = if call.takes_object() { SpotForm::Object } else { SpotForm::Content };
            self.calls.push(Spot { number: self.called, range: node.range(), form });
        }
        self.called += 1;
        let rest = fields.iter().filter(|(name, node)| is_rest(name) && !node.is_null());
        let mut kept: Map<_, _> =
            rest.map(|(name, node)| (name.to_owned(), node.value())).collect();
        if call != ClientCallKind::Function {
            kept.insert("type".into(), call.kind().into());
        }
        let open = self.open();
        if !kept.is_empty() {
            open.source.calls.insert(id.clone(), kept);
        }
        open.source.blocks.push(Block::Call { id: id.clone() });
        open.calls.push(ToolCall { id, tool, arguments: self::input(call, input) });
    }

    fn result(&mut self, call: ClientCallKind, fields: &JsonFields<'_>) {
        self.unknown.fields("input[].", fields, &OF_RESULT);
        let id = id(fields);
        let number = self.returned;
        self.returned += 1;
        let (field, form) = call.result();
        let (output, status) = (fields.get(field), fields.get("status"));
        let behind = fields.get("type").filter(|_| form == SpotForm::Output);
        let behind = behind.map(|node| node.range().end..node.range().end);
        if let Some(range) = output.map(|node| node.range()).or(behind) {
            self.results.push(Spot { number, range, form });
        }
        if let Some(range) = status.filter(|_| form == SpotForm::Output).map(|node| node.range()) {
            self.failures.push(Spot { number, range, form: SpotForm::Status });
        }
        let (text, blocks, failed) = match form {
            SpotForm::Shell => content::of_shell(output),
            SpotForm::Tools => {
                let before = self.tools.len();
                self.define(fields);
                let names: Vec<&str> =
                    self.tools[before..].iter().map(|tool| tool.name.as_str()).collect();
                (names.join(", "), Vec::new(), false)
            }
            _ => {
                let (text, blocks) = content::read(output, &mut self.unknown);
                let status = status.and_then(|status| status.string());
                (text, blocks, form == SpotForm::Output && status.as_deref() == Some("failed"))
            }
        };
        let named = call.tool().map(Cow::from).or_else(|| fields.string("name"));
        let tool = named.unwrap_or_default().as_ref().into();
        self.push(Message::Tool { id, tool, text, blocks, failed });
    }

    /// Takes the tools that an item defines.
    fn define(&mut self, fields: &JsonFields<'_>) {
        let tools = fields.get("tools").and_then(|tools| tools.objects()).unwrap_or_default();
        tools.iter().for_each(|item| tools::read(item, &mut self.tools, &mut self.unknown));
    }
}

/// The type of an item.
fn kind_of<'a>(fields: &JsonFields<'a>) -> Cow<'a, str> {
    fields.string("type").unwrap_or_else(|| {
        // The easy form of a message has no type, and some clients leave it out elsewhere too.
        if fields.get("role").is_some() { "message".into() } else { "".into() }
    })
}

/// Whether an item with these fields is the assistant's. An item without fields counts as one.
pub(crate) fn is_of_assistant(fields: Option<&JsonFields<'_>>) -> bool {
    let Some(fields) = fields else { return true };
    let kind = kind_of(fields);
    match kind.as_ref() {
        "message" => {
            let role = fields.string("role").unwrap_or_default();
            !["system", "developer", "user"].contains(&role.as_ref())
        }
        _ => ClientCallKind::of_output(fields).is_none(),
    }
}

/// The id of a call. Some clients only send that of its item.
fn id(fields: &JsonFields<'_>) -> String {
    fields.id(if fields.get("call_id").is_some() { "call_id" } else { "id" })
}

/// The input of a call, as its tool gets it. Some clients send arguments that are not a text.
fn input(call: ClientCallKind, node: Option<JsonNode<'_>>) -> Value {
    let Some(node) = node else { return json!({}) };
    match (call, node.string()) {
        (ClientCallKind::Custom, Some(text)) => text.into(),
        (_, Some(text)) => arguments::read(&text),
        (_, None) => node.value(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asked::IncomingRequest;

    fn read(items: &Value) -> (String, IncomingRequest) {
        let body = json!({"model": "m", "input": items}).to_string();
        let asked = super::super::read_request(body.as_bytes()).unwrap();
        (body, asked)
    }

    #[test]
    fn what_the_assistant_wrote_in_a_row_is_one_message() {
        let reasoning = json!({"type": "reasoning", "id": "rs_1", "summary": [],
            "encrypted_content": "x"});
        let (body, asked) = read(&json!([
            {"role": "developer", "content": [{"type": "input_text", "text": "Brief."}]},
            {"role": "user", "content": "Weather?"},
            reasoning,
            {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                "phase": "commentary", "content": [
                {"type": "output_text", "text": "I look.", "annotations": []}]},
            {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "weather",
                "arguments": "{\"city\": \"Oslo\"}", "status": "completed", "namespace": "n"},
            {"type": "custom_tool_call", "call_id": "c2", "name": "patch", "input": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "Sun."},
            {"type": "custom_tool_call_output", "call_id": "c2", "output": [
                {"type": "input_text", "text": "See"},
                {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}]}
        ]));
        let messages = &asked.request.messages;
        let first: Vec<&Message> = messages.iter().take(2).collect();
        assert_eq!(first, [&Message::system("Brief."), &Message::user("Weather?")]);
        let Message::Assistant { text, calls, source: Some(source) } = &messages[2] else {
            panic!("{messages:?}")
        };
        assert_eq!((text.as_str(), calls.len()), ("I look.", 2));
        assert_eq!(calls[0].arguments, json!({"city": "Oslo"}));
        assert_eq!(calls[1].arguments, "{}");
        let blocks = [
            Block::kept(BlockKind::Thinking, reasoning),
            Block::Text { bytes: 7 },
            Block::Call { id: "c1".into() },
            Block::Call { id: "c2".into() },
        ];
        assert_eq!(source.blocks, blocks);
        assert_eq!(source.message[order::PHASE], json!(["commentary"]));
        assert_eq!(source.calls["c1"]["namespace"], "n");
        assert_eq!(messages[3], Message::result("c1", "weather".into(), "Sun."));
        assert_eq!((messages[4].text(), messages[4].blocks().len()), ("See", 2));
        assert_eq!(messages.len(), 5);
        assert_eq!(&body[asked.calls[0].range.clone()], r#""{\"city\": \"Oslo\"}""#);
        assert_eq!(&body[asked.results[0].range.clone()], "\"Sun.\"");
        assert!(body[asked.results[1].range.clone()].starts_with("[{"));
        assert_eq!(asked.unknown, [].into());
    }

    #[test]
    fn what_is_not_understood_is_kept_and_counted() {
        let part = json!({"type": "smell", "data": "AAAA"});
        let (_, asked) = read(&json!([
            {"type": "web_search_call", "id": "ws_1"}, {"type": "hologram"}, 7, {},
            {"role": "assistant", "content": [part, {"type": "refusal", "refusal": "No."}]},
            {"role": "jester", "content": "Ha"},
            {"role": "user", "content": [part], "mood": "good"},
            {"role": "system", "content": [part]},
            {"type": "computer_call_output", "call_id": "c9", "output": {"type": "computer_screenshot"}},
            {"type": "function_call_output", "call_id": "none", "name": "n", "output": null}
        ]));
        let messages = &asked.request.messages;
        let kinds: Vec<BlockKind> = messages[0]
            .blocks()
            .iter()
            .filter_map(|block| match block {
                Block::Kept { kind, .. } => Some(*kind),
                Block::Text { .. } | Block::Call { .. } => None,
            })
            .collect();
        let expected = [
            BlockKind::Server,
            BlockKind::Unknown,
            BlockKind::Unknown,
            BlockKind::Unknown,
            BlockKind::Unknown,
        ];
        assert_eq!(kinds[..5], expected);
        assert_eq!(messages[0].text(), "No.");
        assert_eq!(messages[1].blocks(), [Block::kept(BlockKind::Unknown, part)]);
        assert_eq!(messages[2], Message::system("\n[smell, not understood 4 B]"));
        assert!(matches!(&messages[3], Message::Tool { tool, .. } if tool.as_str() == "computer"));
        assert_eq!(messages[4], Message::result("none", "n".into(), ""));
        let counts: Vec<_> = asked.unknown.iter().map(|(what, n)| (what.as_str(), *n)).collect();
        assert_eq!(
            counts,
            [
                ("input[]", 1),
                ("input[].content[].type=smell", 3),
                ("input[].mood", 1),
                ("input[].role=jester", 1),
                ("input[].type=", 1),
                ("input[].type=hologram", 1),
            ]
        );
    }
}
