//! An answer for a client, whole or as a stream of lines.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::Answering;
use crate::domain::{Finish, Reply};

/// The place of the text in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// `message.content`, of a chat.
    Message,
    /// `response`, of a completion.
    Response,
}

/// The whole body of an answer.
pub(super) fn write_reply(reply: &Reply, answering: &Answering<'_>, place: Place) -> String {
    let calls = calls(reply, answering);
    let mut body = object(answering, place, [&reply.text, &reply.reasoning], calls);
    end(reply, &mut body);
    Value::Object(body).to_string()
}

/// All lines of a streamed answer: thoughts, text, calls, and the end with the usage.
pub(super) fn write_stream(reply: &Reply, answering: &Answering<'_>, place: Place) -> String {
    let line = |texts: [&str; 2], calls: Vec<Value>| {
        let mut object = object(answering, place, texts, calls);
        object.insert("done".into(), false.into());
        format!("{}\n", Value::Object(object))
    };
    let (mut lines, calls) = (String::new(), calls(reply, answering));
    if !reply.reasoning.is_empty() {
        lines += &line(["", &reply.reasoning], Vec::new());
    }
    if !reply.text.is_empty() || calls.is_empty() {
        lines += &line([&reply.text, ""], Vec::new());
    }
    if !calls.is_empty() {
        lines += &line(["", ""], calls);
    }
    let mut last = object(answering, place, ["", ""], Vec::new());
    end(reply, &mut last);
    lines + &format!("{}\n", Value::Object(last))
}

/// The body of a failure.
pub(super) fn write_error(message: &str) -> String {
    json!({ "error": message }).to_string()
}

/// An object with a text and thoughts.
fn object(
    answering: &Answering<'_>,
    place: Place,
    [text, thoughts]: [&str; 2],
    calls: Vec<Value>,
) -> Map<String, Value> {
    let created = Timestamp::from_second(answering.created).unwrap_or_default();
    let mut object = Map::new();
    object.insert("model".into(), answering.model.into());
    object.insert("created_at".into(), created.to_string().into());
    let mut message = Map::new();
    let is_chat = place == Place::Message;
    if is_chat {
        message.insert("role".into(), "assistant".into());
    }
    message.insert(if is_chat { "content" } else { "response" }.into(), text.into());
    if !thoughts.is_empty() {
        message.insert("thinking".into(), thoughts.into());
    }
    if is_chat && !calls.is_empty() {
        message.insert("tool_calls".into(), calls.into());
    }
    match place {
        Place::Message => _ = object.insert("message".into(), message.into()),
        Place::Response => object.extend(message),
    }
    object
}

fn calls(reply: &Reply, answering: &Answering<'_>) -> Vec<Value> {
    let call = |(index, call): (usize, &crate::domain::ToolCall)| {
        let name = answering.names.out(&call.tool);
        let function = json!({"index": index, "name": name, "arguments": call.arguments});
        json!({"id": call.id, "function": function})
    };
    reply.calls.iter().enumerate().map(call).collect()
}

/// Adds the end. No time was measured here.
fn end(reply: &Reply, object: &mut Map<String, Value>) {
    let reason = match &reply.finish {
        Finish::Length => "length",
        Finish::Other(reason) => reason,
        Finish::Stop | Finish::Calls | Finish::Judged | Finish::Refused | Finish::Filtered => {
            "stop"
        }
    };
    object.insert("done".into(), true.into());
    object.insert("done_reason".into(), reason.into());
    for name in ["total_duration", "load_duration", "prompt_eval_duration", "eval_duration"] {
        object.insert(name.into(), 0.into());
    }
    object.insert("prompt_eval_count".into(), reply.usage.tokens_in.into());
    object.insert("eval_count".into(), reply.usage.tokens_out.into());
}
