//! An answer of Converse in the words of Messages, and back: a whole one, and the events of a stream.

use serde_json::{Map, Value, json};

use super::converse::blocks;

/// Names of numbers in a usage: of Converse, and of Messages.
const USAGE: [(&str, &str); 4] = [
    ("inputTokens", "input_tokens"),
    ("outputTokens", "output_tokens"),
    ("cacheReadInputTokens", "cache_read_input_tokens"),
    ("cacheWriteInputTokens", "cache_creation_input_tokens"),
];

/// The message of a whole answer; `None` if it has none.
pub(super) fn message(answer: &Value) -> Option<Value> {
    let content = answer["output"]["message"]["content"].as_array()?;
    Some(json!({
        "type": "message",
        "role": "assistant",
        "content": blocks(content),
        "stop_reason": reason(&answer["stopReason"]),
        "usage": renamed(&answer["usage"], |(own, name)| (own, name)),
    }))
}

/// The whole answer with this message; `None` if it is none.
pub(super) fn answer(message: &Value) -> Option<Value> {
    let content = message["content"].as_array()?;
    let content: Vec<Value> = content.iter().filter_map(closed_block).collect();
    Some(json!({
        "metrics": {"latencyMs": 0},
        "output": {"message": {"content": content, "role": "assistant"}},
        "stopReason": message["stop_reason"],
        "usage": usage(&message["usage"]),
    }))
}

/// The events of Messages for an event of this name.
pub(super) fn opened(name: &str, event: &Value) -> Vec<Value> {
    let index = &event["contentBlockIndex"];
    match name {
        "messageStart" => {
            let message = json!({"type": "message", "role": "assistant", "content": []});
            vec![json!({"type": "message_start", "message": message})]
        }
        "contentBlockStart" => {
            let call = &event["start"]["toolUse"];
            let (id, name) = (&call["toolUseId"], &call["name"]);
            let block = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
            vec![json!({"type": "content_block_start", "index": index, "content_block": block})]
        }
        "contentBlockDelta" => {
            let delta = opened_delta(&event["delta"]);
            vec![json!({"type": "content_block_delta", "index": index, "delta": delta})]
        }
        "contentBlockStop" => vec![json!({"type": "content_block_stop", "index": index})],
        "messageStop" => {
            let reason = reason(&event["stopReason"]);
            vec![json!({"type": "message_delta", "delta": {"stop_reason": reason}})]
        }
        "metadata" => {
            let usage = renamed(&event["usage"], |(own, name)| (own, name));
            let delta = json!({"type": "message_delta", "delta": {}, "usage": usage});
            vec![delta, json!({"type": "message_stop"})]
        }
        _ => Vec::new(),
    }
}

/// The events, with their names, for an event of Messages.
pub(super) fn closed(event: &Value) -> Vec<(&'static str, Value)> {
    let index = &event["index"];
    match event["type"].as_str().unwrap_or_default() {
        // Converse has no event without content, but clients take this one at any time.
        "message_start" | "ping" => vec![("messageStart", json!({"role": "assistant"}))],
        "content_block_start" if event["content_block"]["type"] == "tool_use" => {
            let call = &event["content_block"];
            let start = json!({"toolUse": {"name": call["name"], "toolUseId": call["id"]}});
            vec![("contentBlockStart", json!({"contentBlockIndex": index, "start": start}))]
        }
        "content_block_delta" => {
            let delta = closed_delta(&event["delta"]);
            let event = delta.map(|delta| json!({"contentBlockIndex": index, "delta": delta}));
            event.map(|event| ("contentBlockDelta", event)).into_iter().collect()
        }
        "content_block_stop" => vec![("contentBlockStop", json!({"contentBlockIndex": index}))],
        "message_delta" => {
            let reason = &event["delta"]["stop_reason"];
            let stop = reason.is_string().then(|| ("messageStop", json!({"stopReason": reason})));
            let has_usage = event["usage"].is_object();
            let numbers = || json!({"metrics": {"latencyMs": 0}, "usage": usage(&event["usage"])});
            stop.into_iter().chain(has_usage.then(|| ("metadata", numbers()))).collect()
        }
        _ => Vec::new(),
    }
}

fn opened_delta(delta: &Value) -> Value {
    let thought = &delta["reasoningContent"];
    if let Some(text) = delta["text"].as_str() {
        json!({"type": "text_delta", "text": text})
    } else if let Some(piece) = delta["toolUse"]["input"].as_str() {
        json!({"type": "input_json_delta", "partial_json": piece})
    } else if let Some(text) = thought["text"].as_str() {
        json!({"type": "thinking_delta", "thinking": text})
    } else if let Some(signature) = thought["signature"].as_str() {
        json!({"type": "signature_delta", "signature": signature})
    } else {
        json!({"type": "unknown_delta", "value": delta})
    }
}

fn closed_delta(delta: &Value) -> Option<Value> {
    Some(match delta["type"].as_str()? {
        "text_delta" => json!({"text": delta["text"]}),
        "input_json_delta" => json!({"toolUse": {"input": delta["partial_json"]}}),
        "thinking_delta" => json!({"reasoningContent": {"text": delta["thinking"]}}),
        "signature_delta" => json!({"reasoningContent": {"signature": delta["signature"]}}),
        "unknown_delta" => delta["value"].clone(),
        _ => return None,
    })
}

fn closed_block(block: &Value) -> Option<Value> {
    Some(match block["type"].as_str()? {
        "text" => json!({"text": block["text"]}),
        "tool_use" => {
            let (id, name) = (&block["id"], &block["name"]);
            json!({"toolUse": {"input": block["input"], "name": name, "toolUseId": id}})
        }
        "thinking" => {
            let said = json!({"text": block["thinking"], "signature": block["signature"]});
            json!({"reasoningContent": {"reasoningText": said}})
        }
        "redacted_thinking" => json!({"reasoningContent": {"redactedContent": block["data"]}}),
        kind => json!({kind: block.get("value")?}),
    })
}

/// The reason of an end. Most are called the same.
fn reason(reason: &Value) -> Value {
    match reason.as_str() {
        Some("content_filtered" | "guardrail_intervened") => "refusal".into(),
        _ => reason.clone(),
    }
}

fn usage(usage: &Value) -> Value {
    let mut usage = renamed(usage, |(own, name)| (name, own));
    let fields = usage.as_object().into_iter().flatten();
    let total: u64 = fields.filter_map(|(_, tokens)| tokens.as_u64()).sum();
    usage["totalTokens"] = total.into();
    usage
}

type Names = (&'static str, &'static str);

/// A usage whose numbers have other names.
fn renamed(usage: &Value, from_to: impl Fn(Names) -> Names) -> Value {
    let mut renamed = Map::new();
    for (from, to) in USAGE.map(from_to) {
        if let Some(number) = usage.get(from) {
            renamed.insert(to.to_owned(), number.clone());
        }
    }
    renamed.into()
}
