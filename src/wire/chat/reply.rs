//! Writes answers in an endpoint's place, as the vendor's clients read them.

use serde_json::{Map, Value, json};

use super::calls::{self, OLD};
use crate::answering::Answering;
use crate::arguments;
use crate::domain::{Finish, Reply, ToolCall, Usage};

/// The whole body of an answer.
pub fn write_reply(reply: &Reply, answering: &Answering<'_>) -> String {
    let mut calls: Vec<Value> = reply.calls.iter().map(|it| call(it, answering)).collect();
    let mut message = Map::new();
    message.insert("role".into(), "assistant".into());
    let is_refused = reply.finish == Finish::Refused;
    let has_text = !reply.text.is_empty() && !is_refused;
    message
        .insert("content".into(), if has_text { reply.text.as_str().into() } else { Value::Null });
    message.insert(
        "refusal".into(),
        if is_refused { reply.text.as_str().into() } else { Value::Null },
    );
    thoughts(reply, &mut message);
    let is_old = is_old(reply);
    if let ([call], true) = (&mut calls[..], is_old) {
        message.insert(OLD.into(), call["function"].take());
    } else if !calls.is_empty() {
        message.insert("tool_calls".into(), calls.into());
    }
    let choice = json!({"index": 0, "message": message, "logprobs": null,
        "finish_reason": finish(&reply.finish, is_old)});
    let mut body = head(answering, "chat.completion", vec![choice]);
    body.insert("usage".into(), usage(&reply.usage));
    Value::Object(body).to_string()
}

/// All frames of a streamed answer: thoughts, text, calls, the finish, the usage, the end.
pub fn write_stream(reply: &Reply, answering: &Answering<'_>) -> String {
    let mut frames = String::new();
    let mut push = |delta: Value, finish: Value| {
        let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish});
        frames += &frame(head(answering, "chat.completion.chunk", vec![choice]).into());
    };
    push(json!({"role": "assistant", "content": ""}), Value::Null);
    let mut thought = Map::new();
    thoughts(reply, &mut thought);
    if !thought.is_empty() {
        push(thought.into(), Value::Null);
    }
    let said = if reply.finish == Finish::Refused { "refusal" } else { "content" };
    if !reply.text.is_empty() {
        push(json!({said: reply.text}), Value::Null);
    }
    let is_old = is_old(reply);
    for (index, it) in reply.calls.iter().enumerate() {
        let mut whole = call(it, answering);
        whole["index"] = index.into();
        let text = whole["function"]["arguments"].take();
        // The vendor sends the name first, and then its arguments.
        whole["function"]["arguments"] = "".into();
        let more = json!({"index": index, "function": {"arguments": text}});
        for mut piece in [whole, more] {
            let delta = match is_old {
                true => json!({OLD: piece["function"].take()}),
                false => json!({"tool_calls": [piece]}),
            };
            push(delta, Value::Null);
        }
    }
    push(json!({}), finish(&reply.finish, is_old));
    let mut last = head(answering, "chat.completion.chunk", Vec::new());
    last.insert("usage".into(), usage(&reply.usage));
    frames + &frame(last.into()) + "data: [DONE]\n\n"
}

/// The body of a refusal with this status.
pub fn write_error(status: u16, message: &str) -> String {
    error(status, message).to_string()
}

/// The body of the refusal of a prompt that is too long, in all formats of OpenAI.
pub fn write_overflow(message: &str) -> String {
    let error = json!({"message": message, "type": "invalid_request_error",
        "param": null, "code": "context_length_exceeded"});
    json!({ "error": error }).to_string()
}

/// An error inside a stream.
pub fn write_error_event(status: u16, message: &str) -> String {
    frame(error(status, message))
}

fn error(status: u16, message: &str) -> Value {
    let kind = match status {
        401 => "authentication_error",
        403 => "permission_error",
        429 => "rate_limit_error",
        400..=499 => "invalid_request_error",
        _ => "server_error",
    };
    json!({"error": {"message": message, "type": kind, "param": null, "code": status.to_string()}})
}

fn frame(data: Value) -> String {
    format!("data: {data}\n\n")
}

fn head(answering: &Answering<'_>, object: &str, choices: Vec<Value>) -> Map<String, Value> {
    let mut head = Map::new();
    head.insert("id".into(), format!("chatcmpl-{}", answering.id).into());
    head.insert("object".into(), object.into());
    head.insert("created".into(), answering.created.into());
    head.insert("model".into(), answering.model.into());
    head.insert("choices".into(), choices.into());
    head
}

/// Adds to the message the fields that its endpoint expects to get back, or only the reasoning if there are none.
fn thoughts(reply: &Reply, message: &mut Map<String, Value>) {
    let kept = reply.source.as_deref().map(|source| &source.message);
    match kept.filter(|kept| !kept.is_empty()) {
        Some(kept) => message.extend(kept.clone()),
        None if reply.reasoning.is_empty() => {}
        None => {
            message.insert("reasoning_content".into(), reply.reasoning.as_str().into());
        }
    }
}

fn call(call: &ToolCall, answering: &Answering<'_>) -> Value {
    let arguments = match &call.arguments {
        // Arguments that are not JSON arrived like that.
        Value::String(raw) => raw.clone(),
        arguments => arguments::written(arguments),
    };
    json!({"id": call.id, "type": "function",
        "function": {"name": answering.names.out(&call.tool), "arguments": arguments}})
}

/// Whether the only call of a reply came in the form before tools.
fn is_old(reply: &Reply) -> bool {
    matches!(&reply.calls[..], [call] if calls::is_old(call, reply.source.as_deref()))
}

fn finish(finish: &Finish, is_old: bool) -> Value {
    match finish {
        Finish::Calls if is_old => OLD.into(),
        Finish::Calls => "tool_calls".into(),
        Finish::Length => "length".into(),
        Finish::Filtered => "content_filter".into(),
        Finish::Stop | Finish::Refused | Finish::Judged => "stop".into(),
        Finish::Other(reason) => reason.as_str().into(),
    }
}

fn usage(usage: &Usage) -> Value {
    json!({
        "prompt_tokens": usage.tokens_in,
        "completion_tokens": usage.tokens_out,
        "total_tokens": usage.tokens_in + usage.tokens_out,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
    })
}
