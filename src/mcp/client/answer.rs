//! The tool result that a call returns to the agent.

use jsonschema::Validator;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::domain::words::clipped;
use crate::files::safe_text::visible;
use crate::tool::output::{self, MAX_OUTPUT};
use crate::tool::{ToolError, ToolErrorKind, ToolOutput};

/// The most characters of the name of an unknown kind.
const KIND: usize = 40;
/// The most values of a structure that are looked for in a text.
const VALUES: usize = 1000;

/// Reads a result as servers write it: a part that cannot be read costs that part only.
///
/// # Errors
/// The result itself, if it is of another kind: a question to the client, or a task.
pub fn read(result: Value) -> Result<CallToolResult, Value> {
    let mut fields = match result {
        Value::Object(fields) => fields,
        other => Map::from_iter([("content".to_owned(), other)]),
    };
    let kind = fields.get("resultType").and_then(Value::as_str);
    if kind.is_some_and(|kind| kind != "complete")
        || fields.get("task").is_some_and(Value::is_object)
    {
        return Err(fields.into());
    }
    let mut read = CallToolResult::default();
    read.is_error = fields.remove("isError").map(|it| it == true || it == "true" || it == 1);
    read.structured_content = fields.remove("structuredContent");
    let is_known = read.is_error.is_some() || read.structured_content.is_some();
    let content = fields.remove("content").filter(|content| !content.is_null());
    // Revision 2024-10-07 has `toolResult`.
    let blocks = match content.or_else(|| fields.remove("toolResult")) {
        Some(Value::Array(blocks)) => blocks,
        Some(block) => vec![block],
        None => {
            fields.retain(|field, value| {
                !matches!(&**field, "_meta" | "resultType") && !value.is_null()
            });
            if is_known || fields.is_empty() { Vec::new() } else { vec![fields.into()] }
        }
    };
    read.content = blocks.into_iter().filter_map(kept).collect();
    Ok(read)
}

/// The readable part of a block; `None`: nothing is in it.
fn kept(block: Value) -> Option<ContentBlock> {
    let text = |value: &Value| match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    if !block.is_object() {
        return text(&block).map(ContentBlock::text);
    }
    let mime = block["mimeType"].as_str().unwrap_or_default();
    let kind = match &block["type"] {
        Value::String(kind) => kind,
        _ if block["resource"].is_object() => "resource",
        _ if block["data"].is_string() && mime.starts_with("audio/") => "audio",
        _ if block["data"].is_string() && !mime.is_empty() => "image",
        _ if block["text"].is_null() && block["uri"].is_string() => "resource_link",
        _ if block.get("text").is_none() => {
            return text(&block.to_string().into()).map(ContentBlock::text);
        }
        _ => "text",
    };
    let said = [&block["text"], &block["resource"]["text"], &block["content"], &block["value"]];
    let said = said.into_iter().find_map(text);
    if kind == "text" {
        return said.map(ContentBlock::text);
    }
    let mut typed = block.clone();
    typed["type"] = kind.into();
    ContentBlock::deserialize(&typed).ok().or_else(|| {
        let kind = clipped(&visible(kind), KIND);
        Some(ContentBlock::text(
            said.map_or(format!("[{kind}]"), |said| format!("[{kind}]\n{said}")),
        ))
    })
}

/// The result as text: its blocks in their order, then its structured content as JSON, if that says more.
///
/// # Errors
/// [`ToolErrorKind::Failed`], where the server says that the tool failed, or where the structured content does not fit
/// the schema that the tool declares.
pub fn output(
    result: &CallToolResult,
    schema: Option<&Validator>,
) -> Result<ToolOutput, ToolError> {
    let failed = |text: String| ToolError::new(ToolErrorKind::Failed, text);
    let mut text = result.content.iter().map(block).collect::<Vec<_>>().join("\n");
    if let Some(structured) = &result.structured_content {
        if text.trim().is_empty() {
            text = structured.to_string();
        } else if text.len() < MAX_OUTPUT && says_more(structured, &said(result, &text), &mut 0) {
            text = format!("{text}\n{structured}");
        }
    }
    if result.is_error == Some(true) {
        let text =
            if text.trim().is_empty() { "the tool failed and says no reason" } else { &text };
        return Err(failed(clipped(text, MAX_OUTPUT)));
    }
    if let Some(schema) = schema {
        let fault = match &result.structured_content {
            Some(value) => schema.iter_errors(value).next().map(|error| {
                let at = error.instance_path().to_string();
                format!("at {:?}: {error}", if at.is_empty() { "/" } else { &at })
            }),
            None => Some("it has no structuredContent".to_owned()),
        };
        if let Some(fault) = fault {
            let fault = clipped(&fault, 400);
            return Err(failed(format!(
                "the result does not fit the tool's outputSchema: {fault}"
            )));
        }
    }
    Ok(output::bounded(&text, MAX_OUTPUT))
}

/// The text, and its blocks of JSON once more in the spelling of a structure.
fn said(result: &CallToolResult, text: &str) -> String {
    let texts = result.content.iter().filter_map(ContentBlock::as_text);
    let json = texts.filter_map(|it| serde_json::from_str::<Value>(&it.text).ok());
    json.fold(text.to_owned(), |said, json| format!("{said}\n{json}"))
}

/// Whether the structure has a value that the text lacks; a very large one has.
fn says_more(structured: &Value, said: &str, seen: &mut usize) -> bool {
    *seen += 1;
    let is_more = match structured {
        Value::Null => false,
        Value::Array(items) => items.iter().any(|item| says_more(item, said, seen)),
        Value::Object(fields) => fields.values().any(|value| says_more(value, said, seen)),
        Value::String(text) => {
            let json = structured.to_string();
            !said.contains(text.trim()) && !said.contains(json.trim_matches('"'))
        }
        Value::Bool(_) | Value::Number(_) => {
            let is_part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '+');
            let same = |word: &str| {
                let word = word.trim_end_matches('.');
                let number = || Some(word.parse::<f64>().ok()? == structured.as_f64()?);
                word.eq_ignore_ascii_case(&structured.to_string()) || number() == Some(true)
            };
            !said.split(|c| !is_part(c)).any(same)
        }
    };
    is_more || *seen > VALUES
}

/// A block as a model reads it. A block that is not text is described by its type and size.
fn block(block: &ContentBlock) -> String {
    let named = |kind: &str, mime: &str, base64: &str| {
        format!("[{kind} {mime}, {} bytes]", base64.len() / 4 * 3)
    };
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => named("image", &image.mime_type, &image.data),
        ContentBlock::Audio(audio) => named("audio", &audio.mime_type, &audio.data),
        ContentBlock::Resource(embedded) => match &embedded.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => format!("[{uri}]\n{text}"),
            ResourceContents::BlobResourceContents { uri, blob, .. } => {
                named("resource", uri, blob)
            }
            _ => "[resource of an unknown kind]".to_owned(),
        },
        ContentBlock::ResourceLink(link) => format!("[resource {}: {}]", link.uri, link.name),
        _ => "[content of an unknown kind]".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn result(value: Value) -> CallToolResult {
        read(value).unwrap()
    }

    #[test]
    fn blocks_become_text() {
        let all = result(json!({"content": [
            {"type": "text", "text": "one"},
            {"type": "image", "mimeType": "image/png", "data": "AAAA"},
            {"type": "resource", "resource": {"uri": "file:///a", "text": "two"}},
        ]}));
        let text = output(&all, None).unwrap().text;
        assert_eq!(text, "one\n[image image/png, 3 bytes]\n[file:///a]\ntwo");
        let only = result(json!({"content": [], "structuredContent": {"a": 1}}));
        assert_eq!(output(&only, None).unwrap().text, "{\"a\":1}");
    }

    #[test]
    fn what_can_be_read_of_a_result_is_kept() {
        let sunny = json!({"type": "text", "text": "sunny"});
        for (odd, text) in [
            (json!({"content": [{"type": "widget", "id": 1}, sunny]}), "[widget]\nsunny"),
            (
                json!({"content": [{"type": "chart\u{1b}", "text": "up"}, sunny]}),
                "[chart␛]\nup\nsunny",
            ),
            (json!({"content": [{"type": "text", "text": null}, sunny, null]}), "sunny"),
            (json!({"content": [{"type": "text", "text": 5}, 7, "x"]}), "5\n7\nx"),
            (json!({"content": [{"type": "image"}, sunny]}), "[image]\nsunny"),
            (
                json!({"content": [{"type": "resource", "resource": {"text": "x"}}]}),
                "[resource]\nx",
            ),
            (json!({"content": [{"type": "text", "text": "sunny", "annotations": 5}]}), "sunny"),
            (json!({"content": "sunny"}), "sunny"),
            (json!({"content": sunny}), "sunny"),
            (json!({"content": [{"text": "sunny"}], "_meta": 5}), "sunny"),
            (
                json!({"content": [{"data": "AAAA", "mimeType": "image/png"}]}),
                "[image image/png, 3 bytes]",
            ),
            (json!({"content": [{"rows": 2}]}), "{\"rows\":2}"),
            (json!({"content": null, "structuredContent": {"a": 1}}), "{\"a\":1}"),
            (json!({"content": null}), ""),
            (json!({}), ""),
            (json!({"toolResult": "sunny"}), "sunny"),
            (json!({"toolResult": {"a": 1}}), "{\"a\":1}"),
            (json!({"text": "sunny"}), "sunny"),
            (json!("sunny"), "sunny"),
            (json!([sunny]), "sunny"),
        ] {
            assert_eq!(output(&result(odd.clone()), None).unwrap().text, text, "{odd}");
        }
        let failed = result(json!({"content": "no", "isError": "true"}));
        assert_eq!(output(&failed, None).unwrap_err().text, "no");
        for other in [json!({"resultType": "input_required"}), json!({"task": {"taskId": "1"}})] {
            assert_eq!(read(other.clone()), Err(other));
        }
    }

    #[test]
    fn a_structure_that_says_more_is_read_once() {
        let with = |text: Value, structured: Value| {
            let content: Vec<_> = text.as_array().unwrap().iter().collect();
            let all = json!({"content": content, "structuredContent": structured});
            output(&result(all), None).unwrap().text
        };
        let rows = json!({"rows": ["sunny in Lisbon"]});
        assert_eq!(with(json!(["1 result"]), rows.clone()), format!("1 result\n{rows}"));
        for (texts, structured) in [
            (json!([format!("{rows:#}")]), rows.clone()),
            (json!(["{\"rows\": [\"caf\\u00e9 \\\"x\\\"\"]}"]), json!({"rows": ["café \"x\""]})),
            (json!(["3 lamps"]), json!({"result": "3 lamps"})),
            (
                json!(["It is 22.50 degrees, and sunny."]),
                json!({"degrees": 22.5, "sky": "sunny", "rain": null}),
            ),
            (json!(["a", "b"]), json!({"result": ["a", "b"]})),
            (json!(["True"]), json!({"result": true})),
            (json!(["1 result"]), json!({"rows": [], "count": 1})),
            (json!(["1 result"]), json!(null)),
        ] {
            let texts_only = texts.as_array().unwrap().iter().filter_map(Value::as_str);
            let expected = texts_only.collect::<Vec<_>>().join("\n");
            assert_eq!(with(texts, structured.clone()), expected, "{structured}");
        }
        // A number within another one says nothing of it.
        assert_eq!(with(json!(["10 results"]), json!({"page": 1})), "10 results\n{\"page\":1}");
    }

    #[test]
    fn failures_and_wrong_results_are_failures() {
        let failed = result(json!({"content": [{"type": "text", "text": "no"}], "isError": true}));
        assert_eq!(output(&failed, None).unwrap_err().text, "no");
        let schema = json!({"type": "object", "required": ["a"]});
        let schema = jsonschema::validator_for(&schema).unwrap();
        let wrong = result(json!({"content": [], "structuredContent": {"b": 1}}));
        assert!(output(&wrong, Some(&schema)).unwrap_err().text.contains("outputSchema"));
        let none = result(json!({"content": [{"type": "text", "text": "x"}]}));
        assert!(output(&none, Some(&schema)).is_err());
    }
}
