//! An answer for a client, whole or as a stream of events.

use serde_json::{Map, Value, json};

use super::blocks::{CITATIONS, is_known, kind, type_of};
use super::finish::reason;
use crate::Answering;
use crate::domain::blocks::BlockKind;
use crate::domain::{Reply, Usage};
use crate::message_layout::{LayoutBlock, parts};

/// The whole body of an answer.
pub fn write_reply(reply: &Reply, answering: &Answering<'_>) -> String {
    let blocks = blocks(reply, answering);
    let mut message = message(&blocks, answering, &usage(reply.usage, reply.usage.tokens_out));
    message["stop_reason"] = reason(&reply.finish).into();
    message.to_string()
}

/// All events of a streamed answer. Each block comes in one delta.
pub fn write_stream(reply: &Reply, answering: &Answering<'_>) -> String {
    // An endpoint does not know yet what it will write.
    let message = message(&[], answering, &usage(reply.usage, 0));
    let mut stream = frame(&json!({"type": "message_start", "message": message}));
    for (index, block) in blocks(reply, answering).into_iter().enumerate() {
        let (start, deltas) = pieces(block);
        stream +=
            &frame(&json!({"type": "content_block_start", "index": index, "content_block": start}));
        for delta in deltas {
            stream +=
                &frame(&json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        stream += &frame(&json!({"type": "content_block_stop", "index": index}));
    }
    let end = json!({"stop_reason": reason(&reply.finish), "stop_sequence": null});
    let usage = usage(reply.usage, reply.usage.tokens_out);
    stream += &frame(&json!({"type": "message_delta", "delta": end, "usage": usage}));
    stream + &frame(&json!({"type": "message_stop"}))
}

/// An event, named after its type.
pub(super) fn frame(event: &Value) -> String {
    format!("event: {}\ndata: {event}\n\n", type_of(event))
}

fn message(content: &[Value], answering: &Answering<'_>, usage: &Value) -> Value {
    json!({
        "id": format!("msg_{}", answering.id),
        "type": "message",
        "role": "assistant",
        "model": answering.model,
        "content": content,
        "stop_reason": null,
        "stop_sequence": null,
        "usage": usage,
    })
}

/// The usage. The input of this format does not include the tokens of the cache.
fn usage(usage: Usage, tokens_out: u64) -> Value {
    let Usage { tokens_in, cached, written, .. } = usage;
    json!({
        "input_tokens": tokens_in.saturating_sub(cached).saturating_sub(written),
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": cached,
        "output_tokens": tokens_out,
    })
}

/// The blocks of a reply. Reasoning that is in none of them becomes a block of unsigned thoughts.
fn blocks(reply: &Reply, answering: &Answering<'_>) -> Vec<Value> {
    let parts = parts(&reply.text, &reply.calls, reply.source.as_deref(), CITATIONS);
    let written = parts.into_iter().filter_map(|part| block(part, answering));
    let mut blocks: Vec<Value> = written.collect();
    let is_thinking = |block: &Value| kind(type_of(block)) == BlockKind::Thinking;
    if !reply.reasoning.is_empty() && !blocks.iter().any(is_thinking) {
        let thinking = json!({"type": "thinking", "thinking": reply.reasoning, "signature": ""});
        blocks.insert(0, thinking);
    }
    blocks
}

/// A block; `None` for a block of another format.
fn block(part: LayoutBlock<'_>, answering: &Answering<'_>) -> Option<Value> {
    match part {
        LayoutBlock::Text(text, citations) => {
            let mut block = json!({"type": "text", "text": text});
            if let Some(citations) = citations {
                block["citations"] = citations.clone();
            }
            Some(block)
        }
        LayoutBlock::Call(call, beside) => {
            let mut block = Map::new();
            block.insert("type".into(), "tool_use".into());
            block.insert("id".into(), call.id.as_str().into());
            block.insert("name".into(), answering.names.out(&call.tool).into());
            block.insert("input".into(), call.arguments.clone());
            for (name, value) in beside.into_iter().flatten() {
                block.entry(name).or_insert_with(|| value.clone());
            }
            Some(block.into())
        }
        // Clients skip a block whose type they do not know.
        LayoutBlock::Kept(BlockKind::Unknown, raw) if raw["type"].is_string() => Some(raw.clone()),
        LayoutBlock::Kept(_, raw) => is_known(raw).then(|| raw.clone()),
    }
}

/// A block as it begins, and the deltas that complete it.
fn pieces(mut block: Value) -> (Value, Vec<Value>) {
    let text = |value: Value| value.as_str().unwrap_or_default().to_owned();
    let mut deltas = Vec::new();
    match type_of(&block) {
        "text" => {
            let written = text(std::mem::replace(&mut block["text"], "".into()));
            deltas.push(json!({"type": "text_delta", "text": written}));
            let citations = block.as_object_mut().and_then(|block| block.shift_remove("citations"));
            let citations = citations.as_ref().and_then(Value::as_array).into_iter().flatten();
            deltas.extend(citations.map(|it| json!({"type": "citations_delta", "citation": it})));
        }
        "thinking" => {
            let thinking = text(std::mem::replace(&mut block["thinking"], "".into()));
            let signature = text(std::mem::replace(&mut block["signature"], "".into()));
            deltas.push(json!({"type": "thinking_delta", "thinking": thinking}));
            deltas.push(json!({"type": "signature_delta", "signature": signature}));
        }
        "tool_use" | "server_tool_use" | "mcp_tool_use" if block.get("input").is_some() => {
            let input = match std::mem::replace(&mut block["input"], json!({})) {
                // Such arguments are not JSON and were received as a text.
                Value::String(raw) => raw,
                input => input.to_string(),
            };
            deltas.push(json!({"type": "input_json_delta", "partial_json": input}));
        }
        _ => {}
    }
    (block, deltas)
}
