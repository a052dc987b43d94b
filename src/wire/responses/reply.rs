//! Writes answers in an endpoint's place: the items, and the response around them.

use serde_json::{Map, Value, json};

use super::kinds::{self, ClientCallKind};
use super::order::{self, OrderedPart};
use crate::answering::Answering;
use crate::domain::blocks::{Block, BlockKind};
use crate::domain::{Finish, Reply, ReplySource, ToolCall, Usage};
use crate::plan;

/// The whole body of an answer.
pub fn write_reply(reply: &Reply, answering: &Answering<'_>) -> String {
    response(reply, answering, items(reply, answering)).to_string()
}

/// The body of a refusal with this status.
pub fn write_error(status: u16, message: &str) -> String {
    json!({"error": error(status, message)}).to_string()
}

/// An error as the vendor words it.
pub(super) fn error(status: u16, message: &str) -> Value {
    let (kind, code) = match status {
        401 => ("authentication_error", "invalid_api_key"),
        403 => ("permission_error", "permission_denied"),
        404 => ("invalid_request_error", "not_found"),
        429 => ("rate_limit_error", "rate_limit_exceeded"),
        400..=499 => ("invalid_request_error", "invalid_request"),
        _ => ("server_error", "server_error"),
    };
    json!({"message": message, "type": kind, "param": null, "code": code})
}

/// An ended response with these items.
pub(super) fn response(reply: &Reply, answering: &Answering<'_>, items: Vec<Value>) -> Value {
    let mut response = begun(answering);
    let reason = reason(&reply.finish);
    let status = if reason.is_some() { "incomplete" } else { "completed" };
    response.insert("status".into(), status.into());
    if let Some(reason) = reason {
        response.insert("incomplete_details".into(), json!({"reason": reason}));
    }
    response.insert("output".into(), items.into());
    response.insert("usage".into(), usage(&reply.usage));
    response.into()
}

/// A response without items so far. Clients refuse one without these fields.
pub(super) fn begun(answering: &Answering<'_>) -> Map<String, Value> {
    let response = json!({
        "id": format!("resp_{}", answering.id),
        "object": "response",
        "created_at": answering.created,
        "status": "in_progress",
        "error": null,
        "incomplete_details": null,
        "instructions": null,
        "metadata": {},
        "model": answering.model,
        "output": [],
        "parallel_tool_calls": true,
        "previous_response_id": null,
        "store": false,
        "temperature": null,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": null,
        "truncation": "disabled",
        "usage": null,
    });
    match response {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// Why the answer is not complete, if it is not.
fn reason(finish: &Finish) -> Option<&str> {
    match finish {
        Finish::Stop | Finish::Calls | Finish::Refused | Finish::Judged => None,
        Finish::Length => Some("max_output_tokens"),
        Finish::Filtered => Some("content_filter"),
        Finish::Other(reason) => Some(reason),
    }
}

fn usage(usage: &Usage) -> Value {
    let mut written = json!({
        "input_tokens": usage.tokens_in,
        "input_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": usage.written},
        "output_tokens": usage.tokens_out,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.tokens_in.saturating_add(usage.tokens_out),
    });
    if let Some(dollars) = usage.dollars {
        written["cost"] = dollars.into();
    }
    written
}

/// The items of a reply, in their order.
pub(super) fn items(reply: &Reply, answering: &Answering<'_>) -> Vec<Value> {
    let source = reply.source.as_deref();
    let mut items = Vec::new();
    if !reply.reasoning.is_empty() && !source.is_some_and(has_thoughts) {
        let summary = json!([{"type": "summary_text", "text": reply.reasoning}]);
        let id = id("rs", answering, 0);
        items.push(json!({"type": "reasoning", "id": id, "summary": summary}));
    }
    for part in order::parts(&reply.text, &reply.calls, source) {
        let at = items.len();
        match part {
            OrderedPart::Text("", _) => {}
            OrderedPart::Text(text, phase) => {
                let is_refused = reply.finish == Finish::Refused;
                items.push(message(text, phase, is_refused, id("msg", answering, at)));
            }
            OrderedPart::Call(it) => items.push(call(it, source, answering, at)),
            OrderedPart::Kept(kind, raw) if is_item(kind, raw) => items.push(raw.clone()),
            OrderedPart::Kept(..) => {}
        }
    }
    items
}

/// Whether a person can read the thoughts of a reply in the items that its endpoint wrote.
fn has_thoughts(source: &ReplySource) -> bool {
    let has_some = |list: &Value| list.as_array().is_some_and(|list| !list.is_empty());
    source.blocks.iter().any(|block| match block {
        Block::Kept { raw, .. } if raw["type"] == "reasoning" => {
            has_some(&raw["summary"]) || has_some(&raw["content"])
        }
        Block::Kept { .. } | Block::Text { .. } | Block::Call { .. } => false,
    })
}

/// Whether a block of an endpoint is an item of this format. An item of an unknown type may be.
fn is_item(kind: BlockKind, raw: &Value) -> bool {
    raw["type"].as_str().is_some_and(|name| kinds::of_item(name) == kind)
}

fn id(prefix: &str, answering: &Answering<'_>, at: usize) -> String {
    format!("{prefix}_{}_{at}", answering.id)
}

fn message(text: &str, phase: Option<&Value>, is_refused: bool, id: String) -> Value {
    let part = match is_refused {
        true => json!({"type": "refusal", "refusal": text}),
        false => json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []}),
    };
    let mut item = json!({"type": "message", "id": id, "status": "completed", "role": "assistant",
        "content": [part]});
    if let Some(phase) = phase {
        item[order::PHASE] = phase.clone();
    }
    item
}

fn call(
    call: &ToolCall,
    source: Option<&ReplySource>,
    answering: &Answering<'_>,
    at: usize,
) -> Value {
    let kind = ClientCallKind::of_call(call, source);
    let mut item = json!({"type": kind.kind(), "id": id(kind.prefix(), answering, at),
        "call_id": call.id, "status": "completed"});
    if kind.tool().is_none() {
        item["name"] = answering.names.out(&call.tool).into();
    }
    item[kind.input_for(&call.arguments)] = match kind.takes_object() {
        true => call.arguments.clone(),
        // Arguments that are not JSON arrived like that.
        false => plan::text(&call.arguments).into(),
    };
    let kept = source.and_then(|source| source.calls.get(&call.id)).into_iter().flatten();
    for (name, value) in kept.filter(|(name, _)| !kind.defines(name)) {
        item[name] = value.clone();
    }
    item
}
