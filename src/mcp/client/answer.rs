//! The tool result that a call returns to the agent.

use jsonschema::Validator;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

use crate::domain::words::clipped;
use crate::tool::output::{self, MAX_OUTPUT};
use crate::tool::{ToolError, ToolErrorKind, ToolOutput};

/// The result as text: its blocks in their order; without a text, its structured content as JSON.
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
    if let Some(structured) = &result.structured_content
        && text.trim().is_empty()
    {
        text = structured.to_string();
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

    fn result(value: serde_json::Value) -> CallToolResult {
        serde_json::from_value(value).unwrap()
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
