//! A server's definition of a tool, and the tool that it becomes in a session.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::ToolAnnotations;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::words::clipped;
use crate::domain::{EffectClass, Returns, ToolName, ToolSpec};
use crate::files::safe_text::visible;

/// The longest description in characters that a menu offers; the rest is cut.
pub const MAX_DESCRIPTION: usize = 4096;
/// The largest schema of arguments in bytes. A tool with a larger one is disabled: each request would carry it.
pub const MAX_SCHEMA: usize = 64 * 1024;
/// The time that a call may take if the entry does not set it.
const CALL_TIMEOUT: Duration = Duration::from_secs(60);

/// A tool as its server defines it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    /// The server's own name for it.
    pub name: String,
    pub description: String,
    /// JSON Schema of the arguments.
    pub parameters: Value,
    /// JSON Schema of `structuredContent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// Effect class that the server's hints propose.
    pub effect: EffectClass,
}

impl Definition {
    pub(crate) fn of(tool: &rmcp::model::Tool) -> Self {
        let description = tool.description.as_deref().or(tool.title.as_deref());
        Self {
            name: tool.name.to_string(),
            description: description.unwrap_or_default().to_owned(),
            parameters: Value::Object((*tool.input_schema).clone()),
            output: tool.output_schema.as_ref().map(|schema| Value::Object((**schema).clone())),
            effect: tool.annotations.as_ref().map_or(EffectClass::Unknown, effect),
        }
    }

    /// The same definition without texts of its server.
    pub(super) fn without_texts(&self) -> Self {
        Self {
            description: String::new(),
            parameters: serde_json::json!({ "type": "object" }),
            output: None,
            ..self.clone()
        }
    }

    /// The tool of this name in a session. A server's texts are not trusted: control characters become visible, and the
    /// description is cut.
    pub fn spec(&self, name: ToolName, server: &str) -> ToolSpec {
        let size = self.parameters.to_string().len();
        let disabled = (size > MAX_SCHEMA).then(|| {
            format!("the schema of its arguments has {size} bytes, and {MAX_SCHEMA} are allowed")
        });
        ToolSpec {
            name,
            description: clipped(&visible(&self.description), MAX_DESCRIPTION),
            parameters: match &disabled {
                None => Arc::new(self.parameters.clone()),
                // The tool is not called, so its schema is not needed.
                Some(_) => Arc::new(serde_json::json!({ "type": "object" })),
            },
            class: String::new(),
            cost: None,
            effect: EffectClass::Unknown,
            proposed: Some(self.effect).filter(|effect| *effect != EffectClass::Unknown),
            served_as: None,
            timeout_ms: CALL_TIMEOUT.as_millis() as u64,
            source: format!("mcp:{server}"),
            examples: Vec::new(),
            disabled,
            returns: self
                .output
                .clone()
                .map(|schema| Returns { schema, example: String::new() }.into()),
            request: None,
        }
    }
}

/// The class that the hints propose. A server's hints are not trusted: a person may set another class.
fn effect(hints: &ToolAnnotations) -> EffectClass {
    match (hints.read_only_hint, hints.idempotent_hint, hints.destructive_hint) {
        (Some(true), _, _) => EffectClass::Read,
        (_, Some(true), _) => EffectClass::Idempotent,
        (Some(false), _, _) | (_, _, Some(true)) => EffectClass::Write,
        _ => EffectClass::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn definition(value: Value) -> Definition {
        Definition::of(&serde_json::from_value(value).unwrap())
    }

    #[test]
    fn hints_only_propose_a_class() {
        let of = |hints: Value| {
            let tool =
                json!({"name": "t", "inputSchema": {"type": "object"}, "annotations": hints});
            definition(tool).effect
        };
        assert_eq!(of(json!({"readOnlyHint": true, "destructiveHint": true})), EffectClass::Read);
        assert_eq!(
            of(json!({"readOnlyHint": false, "idempotentHint": true})),
            EffectClass::Idempotent
        );
        assert_eq!(of(json!({"readOnlyHint": false})), EffectClass::Write);
        assert_eq!(of(json!({"destructiveHint": true})), EffectClass::Write);
        assert_eq!(of(json!({})), EffectClass::Unknown);
    }

    #[test]
    fn hostile_definitions_are_visible_and_bounded() {
        let tool = json!({
            "name": "t",
            "annotations": {"readOnlyHint": true},
            "description": format!("\u{1b}[2J{}", "x".repeat(9000)),
            "inputSchema": {"type": "object", "properties": {"a": {"description": "y".repeat(456_000)}}},
        });
        let spec = definition(tool).spec(ToolName::new("s__t"), "s");
        assert!(
            !spec.description.contains('\u{1b}')
                && spec.description.chars().count() <= MAX_DESCRIPTION + 1
        );
        assert!(spec.parameters.to_string().len() < 100);
        assert!(spec.disabled.is_some_and(|why| why.contains("456")), "a menu does not offer it");
        // A server's hint is only a proposal.
        assert_eq!((spec.effect, spec.proposed), (EffectClass::Unknown, Some(EffectClass::Read)));
    }
}
