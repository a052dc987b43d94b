//! Reads the tools of a request.

use serde_json::json;

use crate::asked::Unknown;
use crate::domain::{ToolDef, ToolName};
use crate::node::{JsonFields, JsonItem, JsonNode};
use crate::schema::tool_without_schema;

/// Fields of a tool that is a function.
const OF_FUNCTION: [&str; 7] =
    ["type", "name", "description", "parameters", "strict", "defer_loading", "output_schema"];

/// Adds the definition of a tool, or those of a namespace. Calls name a tool of a namespace by the tool's own name.
pub fn read(item: &JsonItem<'_>, defined: &mut Vec<ToolDef>, unknown: &mut Unknown) {
    let tools = item.fields.as_ref().and_then(|fields| {
        let is_space = fields.string("type").is_some_and(|kind| kind == "namespace");
        fields.get("tools").filter(|_| is_space)?.objects()
    });
    match tools {
        Some(tools) => defined.extend(tools.iter().filter_map(|tool| definition(tool, unknown))),
        None => defined.extend(definition(item, unknown)),
    }
}

/// A definition of a tool. The arguments of tools that are not functions are not known.
fn definition(item: &JsonItem<'_>, unknown: &mut Unknown) -> Option<ToolDef> {
    let Some(fields) = &item.fields else {
        unknown.add("tools[]");
        return None;
    };
    let kind = fields.string("type").unwrap_or_else(|| "function".into());
    let name = fields.string("name");
    let description = fields.string("description").unwrap_or_default().into_owned();
    if kind != "function" {
        // Calls of both kinds of computers are of one type.
        let kind = if kind.starts_with("computer") { "computer".into() } else { kind };
        let name = name.or_else(|| fields.string("server_label")).unwrap_or(kind);
        return Some(ToolDef { description, ..tool_without_schema(&name) });
    }
    unknown.fields("tools[].", fields, &OF_FUNCTION);
    let parameters = fields.get("parameters").map_or_else(|| json!({}), |node| node.value());
    let name = ToolName::from(name.unwrap_or_default().as_ref());
    Some(ToolDef { name, description, parameters: parameters.into() })
}

/// The tools that may be called now.
pub fn allowed(fields: &JsonFields<'_>) -> Vec<ToolName> {
    let choice = fields.fields("tool_choice");
    let choice =
        choice.filter(|choice| choice.string("type").is_some_and(|kind| kind == "allowed_tools"));
    let tools = choice.map(|choice| choice.items("tools")).unwrap_or_default();
    let name = |tool: &JsonNode<'_>| {
        let tool = tool.fields()?;
        let name = ["name", "server_label", "type"].iter().find_map(|name| tool.string(name))?;
        Some(ToolName::from(name.as_ref()))
    };
    tools.iter().filter_map(name).collect()
}
