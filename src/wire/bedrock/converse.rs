//! A request of Converse in the words of Messages. It is only read, so what has no such word may be missing.

use serde_json::{Map, Value, json};

/// The request; `None` if the body has no list of messages.
pub(super) fn request(body: &Value) -> Option<Value> {
    let messages = body["messages"].as_array()?.iter().map(message).collect();
    // Fields that only some models have, such as Claude's thinking.
    let mut request = body["additionalModelRequestFields"].as_object().cloned().unwrap_or_default();
    request.insert("messages".to_owned(), Value::Array(messages));
    if let Some(system) = body["system"].as_array() {
        request.insert("system".to_owned(), blocks(system));
    }
    let settings = &body["inferenceConfig"];
    for (own, name) in [
        ("maxTokens", "max_tokens"),
        ("temperature", "temperature"),
        ("topP", "top_p"),
        ("stopSequences", "stop_sequences"),
    ] {
        put(&mut request, name, &settings[own]);
    }
    if let Some(tools) = body["toolConfig"]["tools"].as_array() {
        let tools = tools.iter().filter_map(tool).collect();
        request.insert("tools".to_owned(), Value::Array(tools));
    }
    let choice =
        body["toolConfig"]["toolChoice"].as_object().and_then(|choice| choice.iter().next());
    if let Some((kind, choice)) = choice {
        let mut written = Map::from_iter([("type".to_owned(), kind.as_str().into())]);
        put(&mut written, "name", &choice["name"]);
        request.insert("tool_choice".to_owned(), written.into());
    }
    Some(request.into())
}

fn put(fields: &mut Map<String, Value>, name: &str, value: &Value) {
    if !value.is_null() {
        fields.insert(name.to_owned(), value.clone());
    }
}

fn message(message: &Value) -> Value {
    let content = message["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    json!({"role": message["role"], "content": blocks(content)})
}

fn tool(tool: &Value) -> Option<Value> {
    let spec = tool["toolSpec"].as_object()?;
    let mut written = Map::new();
    for name in ["name", "description", "strict"] {
        put(&mut written, name, spec.get(name).unwrap_or(&Value::Null));
    }
    put(&mut written, "input_schema", &tool["toolSpec"]["inputSchema"]["json"]);
    Some(written.into())
}

/// Blocks of a message. A mark for the cache is no content.
pub(super) fn blocks(content: &[Value]) -> Value {
    content.iter().filter(|block| block.get("cachePoint").is_none()).map(block).collect()
}

/// A block, which Converse names by its only field.
fn block(block: &Value) -> Value {
    let Some((kind, value)) = block.as_object().and_then(|fields| fields.iter().next()) else {
        return json!({"type": "unknown", "value": block});
    };
    match kind.as_str() {
        "text" => json!({"type": "text", "text": value}),
        "json" => json!({"type": "text", "text": value.to_string()}),
        "toolUse" => {
            let (id, name) = (&value["toolUseId"], &value["name"]);
            json!({"type": "tool_use", "id": id, "name": name, "input": value["input"]})
        }
        "toolResult" => {
            let content = value["content"].as_array().map(Vec::as_slice).unwrap_or_default();
            let mut result = json!({
                "type": "tool_result",
                "tool_use_id": value["toolUseId"],
                "content": blocks(content),
            });
            if value["status"] == "error" {
                result["is_error"] = true.into();
            }
            result
        }
        "reasoningContent" => match &value["redactedContent"] {
            Value::Null => {
                let said = &value["reasoningText"];
                let (text, signature) = (&said["text"], said["signature"].as_str().unwrap_or(""));
                json!({"type": "thinking", "thinking": text, "signature": signature})
            }
            data => json!({"type": "redacted_thinking", "data": data}),
        },
        "image" => {
            let kind = value["format"].as_str().unwrap_or_default();
            match value["source"]["bytes"].as_str() {
                Some(data) => {
                    let kind = format!("image/{kind}");
                    json!({"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}})
                }
                None => {
                    json!({"type": "image", "source": {"type": "url", "url": value["source"]["s3Location"]["uri"]}})
                }
            }
        }
        kind => json!({"type": kind, "value": value}),
    }
}
