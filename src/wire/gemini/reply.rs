//! An answer for a client, whole or as a stream of events, and errors as such a client understands them.

use serde_json::{Map, Value, json};

use super::parts::{SIGNATURE, SIGNATURES, is_known};
use crate::Answering;
use crate::domain::{Finish, Reply, Usage};
use crate::ids::is_given_here;
use crate::message_layout::{LayoutBlock, parts};

/// The whole body of an answer.
pub(super) fn write_reply(reply: &Reply, answering: &Answering<'_>) -> String {
    let mut candidate = candidate(written(reply, answering));
    candidate["finishReason"] = reason(&reply.finish).into();
    answer(candidate, reply.usage, answering).to_string()
}

/// All events of a streamed answer. Each part comes in one, and the end in another.
pub(super) fn write_stream(reply: &Reply, answering: &Answering<'_>) -> String {
    let no_output = Usage { tokens_out: 0, ..reply.usage };
    let mut parts = written(reply, answering);
    if parts.is_empty() {
        parts.push(json!({ "text": "" }));
    }
    let events = parts.into_iter().map(|part| answer(candidate(vec![part]), no_output, answering));
    let mut last = candidate(vec![json!({ "text": "" })]);
    last["finishReason"] = reason(&reply.finish).into();
    let last = answer(last, reply.usage, answering);
    events.chain([last]).map(|event| frame(&event)).collect()
}

/// The body of a refusal with this status.
pub(super) fn write_error(status: u16, message: &str) -> String {
    error(status, message).to_string()
}

/// The body of the refusal of a prompt that is too long.
pub(super) fn write_overflow(message: &str) -> String {
    let text =
        format!("The input token count exceeds the maximum number of tokens allowed: {message}");
    write_error(400, &text)
}

/// An error inside a stream.
pub(super) fn write_error_event(status: u16, message: &str) -> String {
    frame(&error(status, message))
}

fn error(status: u16, message: &str) -> Value {
    let word = match status {
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        409 => "ABORTED",
        429 => "RESOURCE_EXHAUSTED",
        499 => "CANCELLED",
        501 => "UNIMPLEMENTED",
        502 | 503 | 529 => "UNAVAILABLE",
        408 | 504 => "DEADLINE_EXCEEDED",
        400..=499 => "INVALID_ARGUMENT",
        _ => "INTERNAL",
    };
    json!({"error": {"code": status, "message": message, "status": word}})
}

fn frame(event: &Value) -> String {
    format!("data: {event}\r\n\r\n")
}

fn answer(candidate: Value, usage: Usage, answering: &Answering<'_>) -> Value {
    let Usage { tokens_in, tokens_out, cached, .. } = usage;
    let mut counts = Map::new();
    counts.insert("promptTokenCount".into(), tokens_in.into());
    if tokens_out > 0 {
        counts.insert("candidatesTokenCount".into(), tokens_out.into());
    }
    counts.insert("totalTokenCount".into(), (tokens_in + tokens_out).into());
    if cached > 0 {
        counts.insert("cachedContentTokenCount".into(), cached.into());
    }
    json!({
        "candidates": [candidate],
        "usageMetadata": counts,
        "modelVersion": answering.model,
        "responseId": answering.id,
    })
}

fn candidate(parts: Vec<Value>) -> Value {
    json!({"content": {"parts": parts, "role": "model"}, "index": 0})
}

/// The parts of a reply. Reasoning that is in none of them becomes a thought.
fn written(reply: &Reply, answering: &Answering<'_>) -> Vec<Value> {
    let source = reply.source.as_deref();
    let blocks = parts(&reply.text, &reply.calls, source, SIGNATURES);
    let part = |block: LayoutBlock<'_>| match block {
        LayoutBlock::Text("", None) => None,
        LayoutBlock::Text(text, signature) => {
            let mut part = json!({ "text": text });
            if let Some(signature) = signature {
                part[SIGNATURE] = signature.clone();
            }
            Some(part)
        }
        LayoutBlock::Call(call, beside) => {
            let mut function = Map::new();
            if !is_given_here(call, source) {
                function.insert("id".into(), call.id.as_str().into());
            }
            function.insert("name".into(), answering.names.out(&call.tool).into());
            function.insert("args".into(), call.arguments.clone());
            let mut part = json!({ "functionCall": function });
            if let Some(signature) = beside.and_then(|beside| beside.get(SIGNATURE)) {
                part[SIGNATURE] = signature.clone();
            }
            Some(part)
        }
        LayoutBlock::Kept(_, raw) => is_known(raw).then(|| raw.clone()),
    };
    let mut parts: Vec<Value> = blocks.into_iter().filter_map(part).collect();
    if !reply.reasoning.is_empty() && !parts.iter().any(|part| part["thought"] == true) {
        parts.insert(0, json!({"text": reply.reasoning, "thought": true}));
    }
    parts
}

/// The reason to send. There is none for calls.
fn reason(finish: &Finish) -> &str {
    match finish {
        Finish::Stop | Finish::Calls | Finish::Judged => "STOP",
        Finish::Length => "MAX_TOKENS",
        Finish::Filtered => "SAFETY",
        Finish::Refused => "PROHIBITED_CONTENT",
        Finish::Other(reason) => reason,
    }
}
