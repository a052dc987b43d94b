//! Reads a request, as a client wrote it.

use serde_json::json;

use crate::asked::{IncomingRequest, NotRead, Unknown, list_of};
use crate::body::RequestBody;
use crate::chat::{ChatRequestReader, texts, tool};
use crate::domain::blocks::{Block, BlockKind};
use crate::domain::{Finite, Message, Messages, Request, Role};
use crate::node::JsonFields;

/// Fields of either request. Some do not affect the conversation.
const OF_REQUEST: [&str; 19] = [
    "model",
    "messages",
    "tools",
    "stream",
    "format",
    "options",
    "keep_alive",
    "think",
    "truncate",
    "shift",
    "logprobs",
    "top_logprobs",
    "prompt",
    "suffix",
    "system",
    "template",
    "images",
    "raw",
    "context",
];
/// Fields of messages besides those of OpenAI's chat.
const OF_MESSAGE: [&str; 3] = ["images", "tool_name", "thinking"];

/// Reads the body of a chat.
///
/// # Errors
/// The body is not a JSON object, or has no list of messages.
pub fn chat(bytes: &[u8]) -> Result<IncomingRequest, NotRead> {
    let mut body = RequestBody::read(str::from_utf8(bytes)?)?;
    let messages = body.list("messages");
    let messages = messages.ok_or(NotRead::NoRequest("expected a list `messages`"))?;
    let mut tools = body.list("tools").unwrap_or_default();
    let mut reader = ChatRequestReader::with_fields(&OF_MESSAGE);
    for message in &messages {
        reader.message(message);
        let images = message.fields.as_ref().map(images).unwrap_or_default();
        if let Some(Message::User { text, blocks } | Message::Tool { text, blocks, .. }) =
            reader.messages.last_mut()
            && !images.is_empty()
        {
            if blocks.is_empty() && !text.is_empty() {
                blocks.push(Block::Text { bytes: text.len() });
            }
            blocks.extend(images);
        }
    }
    let mut unknown = reader.unknown;
    let defined = tools.iter_mut().filter_map(|it| tool(it, &mut unknown)).collect();
    let mut asked = settings(&body.fields, reader.messages.into_iter().collect(), unknown);
    asked.request.tools = defined;
    asked.request.messages.name_results();
    (asked.calls, asked.results) = (reader.calls, reader.results);
    asked.list = list_of(&messages);
    Ok(asked)
}

/// Reads the body of a completion. Its prompt is one message.
///
/// # Errors
/// The body is not a JSON object, or has no model. Without a prompt it loads the model.
pub fn generate(bytes: &[u8]) -> Result<IncomingRequest, NotRead> {
    let fields = RequestBody::read(str::from_utf8(bytes)?)?.fields;
    if fields.get("model").is_none() {
        return Err(NotRead::NoRequest("expected a field `model`"));
    }
    let mut messages = Messages::default();
    if let Some(text) = fields.string("system").filter(|text| !text.is_empty()) {
        messages.push(Message::System { text: text.into_owned() });
    }
    let (text, mut blocks) = (fields.string("prompt").unwrap_or_default(), images(&fields));
    if !blocks.is_empty() && !text.is_empty() {
        blocks.insert(0, Block::Text { bytes: text.len() });
    }
    messages.push(Message::User { text: text.into_owned(), blocks });
    Ok(settings(&fields, messages, Unknown::default()))
}

/// A request of these messages, with the settings that both kinds of requests have.
fn settings(fields: &JsonFields<'_>, messages: Messages, mut unknown: Unknown) -> IncomingRequest {
    unknown.fields("", fields, &OF_REQUEST);
    let options = fields.fields("options");
    let option = |name: &str| options.as_ref().and_then(|options| options.get(name));
    let number = |name: &str| option(name).and_then(|node| node.f64()).map(Finite::from);
    let schema = fields.get("format").filter(|format| format.fields().is_some());
    let request = Request {
        temperature: number("temperature"),
        top_p: number("top_p"),
        seed: option("seed").and_then(|node| node.i64()),
        max_tokens: option("num_predict").and_then(|node| u32::try_from(node.u64()?).ok()),
        stop: texts(option("stop")),
        schema: schema.map(|schema| schema.value()),
        messages,
        ..Request::new(Role::Actor, Vec::new())
    };
    IncomingRequest {
        request,
        model: fields.string("model").unwrap_or_default().into_owned(),
        // Without the field the answer is a stream.
        streams: fields.get("stream").and_then(|node| node.bool()).unwrap_or(true),
        forces_call: false,
        prepares: false,
        calls: Vec::new(),
        results: Vec::new(),
        failures: Vec::new(),
        list: 0..0,
        before: 0,
        previous: None,
        unknown: unknown.0,
    }
}

/// The images of a message or of a prompt.
fn images(fields: &JsonFields<'_>) -> Vec<Block> {
    let images = fields.items("images");
    let image = |data: &str| Block::kept(BlockKind::Image, json!({"type": "base64", "data": data}));
    images.iter().filter_map(|node| Some(image(&node.string()?))).collect()
}
