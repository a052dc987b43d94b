//! The body of a request.

use serde_json::{Map, Value, json};

use crate::arguments;
use crate::call_ids::CallIds;
use crate::domain::blocks::{Block, BlockKind, texts};
use crate::domain::{Message, ReplySource, Request, ToolCall};
use crate::ids::is_given_here;
use crate::settings::{WireSettings, given};

/// The whole body of a chat; the endpoint's extra fields come last and take precedence.
pub fn write_request(request: &Request, settings: &WireSettings<'_>) -> Value {
    let mut body = head(settings);
    body.insert("messages".into(), messages(request, settings).into());
    let tools = settings.tools(request).into_iter().map(|(def, schema)| {
        let name = settings.names.out(&def.name);
        let function = json!({"name": name, "description": def.description, "parameters": schema});
        json!({"type": "function", "function": function})
    });
    let tools: Vec<Value> = tools.collect();
    if !tools.is_empty() {
        body.insert("tools".into(), tools.into());
    }
    finish(request, settings, body)
}

/// The whole body of a completion: the instructions, and all other texts as one prompt.
pub fn write_prompt(request: &Request, settings: &WireSettings<'_>) -> Value {
    let texts = |is_system: bool| -> String {
        let all = request.messages.iter();
        let of = all.filter(|it| matches!(it, Message::System { .. }) == is_system);
        of.map(Message::text).collect::<Vec<_>>().join("\n\n")
    };
    let mut body = head(settings);
    let system = texts(true);
    if !system.is_empty() {
        body.insert("system".into(), system.into());
    }
    body.insert("prompt".into(), texts(false).into());
    finish(request, settings, body)
}

fn head(settings: &WireSettings<'_>) -> Map<String, Value> {
    let mut head = Map::new();
    head.insert("model".into(), settings.model.into());
    head.insert("stream".into(), settings.streams.into());
    head
}

fn finish(request: &Request, settings: &WireSettings<'_>, mut body: Map<String, Value>) -> Value {
    let stop = (!request.stop.is_empty()).then(|| request.stop.clone().into());
    let options: Map<String, Value> = given([
        ("temperature", request.temperature.map(Value::from)),
        ("top_p", request.top_p.map(Value::from)),
        ("seed", request.seed.map(Value::from)),
        ("num_predict", request.max_tokens.map(Value::from)),
        ("stop", stop),
    ])
    .collect();
    if !options.is_empty() {
        body.insert("options".into(), options.into());
    }
    body.extend(request.schema.clone().map(|schema| ("format".to_owned(), schema)));
    settings.finish(body)
}

/// The messages of a chat.
pub(crate) fn messages(request: &Request, settings: &WireSettings<'_>) -> Vec<Value> {
    let mut ids = CallIds::default();
    let written = request.messages.iter().filter_map(|message| match message {
        Message::System { text } if text.trim().is_empty() => None,
        Message::System { text } => Some(json!({"role": "system", "content": text})),
        Message::User { text, blocks } => Some(of_role("user", text, blocks).into()),
        Message::Assistant { text, calls, .. } if text.is_empty() && calls.is_empty() => None,
        Message::Assistant { text, calls, source } => {
            let own = source.as_deref().filter(|source| source.endpoint == settings.source);
            Some(assistant(text, calls, own, (&mut ids, settings)))
        }
        Message::Tool { id, tool, text, blocks, .. } => {
            let mut message = of_role("tool", text, blocks);
            message.insert("tool_name".into(), settings.names.out(tool).into());
            message.insert("tool_call_id".into(), ids.result(id).into());
            Some(message.into())
        }
    });
    written.collect()
}

/// A message with its text and its images. Blocks of another format become labels.
fn of_role(role: &str, text: &str, blocks: &[Block]) -> Map<String, Value> {
    let (mut content, mut images) = (String::new(), Vec::new());
    let mut texts = texts(blocks, text).into_iter();
    for block in blocks {
        match block {
            Block::Text { .. } => content += texts.next().unwrap_or_default(),
            Block::Call { .. } => {}
            Block::Kept { kind: BlockKind::Image, raw } if raw["type"] == "base64" => {
                images.push(raw["data"].clone());
            }
            Block::Kept { .. } => content += &block.label().unwrap_or_default(),
        }
    }
    let content = if blocks.is_empty() { text } else { &content };
    let mut message = Map::new();
    message.insert("role".into(), role.into());
    message.insert("content".into(), content.into());
    if !images.is_empty() {
        message.insert("images".into(), images.into());
    }
    message
}

fn assistant(
    text: &str,
    calls: &[ToolCall],
    own: Option<&ReplySource>,
    (ids, settings): (&mut CallIds, &WireSettings<'_>),
) -> Value {
    let mut message = json!({"role": "assistant", "content": text});
    let thought = |name: &&str| own.and_then(|own| own.message.get(*name));
    if let Some(thought) = ["thinking", "reasoning"].iter().find_map(thought) {
        message["thinking"] = thought.clone();
    }
    if !calls.is_empty() {
        ids.begin();
        let call = |call: &ToolCall| {
            let id = ids.call(call, own.is_some());
            let arguments = arguments::object(&call.arguments);
            let name = settings.names.out(&call.tool);
            let mut written = json!({"function": {"name": name, "arguments": arguments}});
            if !is_given_here(call, own) {
                written["id"] = id.into();
            }
            written
        };
        message["tool_calls"] = calls.iter().map(call).collect();
    }
    message
}
