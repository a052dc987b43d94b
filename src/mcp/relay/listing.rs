//! The list of tools that a client reads. A fault may change it: the client then reads a definition of one tool that its
//! server does not use.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::message::read;
use super::structure::Structure;
use crate::client::Definition;
use crate::domain::ToolSpec;
use crate::domain::fault::Drift;

/// The line that tells a client that the list has changed.
pub const NOTICE: &str = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n";
/// The parameter that is added to a tool without parameters.
const NEW: &str = "request_v2";

/// The list of a server as its clients read it.
#[derive(Debug, Default)]
pub struct ServerListing {
    /// The tool with a changed definition, if there is one, and the change.
    changed: Option<(String, Drift)>,
    /// The structured content that each tool declares.
    structures: HashMap<String, Structure>,
}

impl ServerListing {
    /// Lists this tool with the change, or all tools unchanged; false if that is the case already.
    pub fn set(&mut self, tool: &str, change: Option<Drift>) -> bool {
        let new = change.map(|change| (tool.to_owned(), change));
        let is_new = self.changed != new;
        self.changed = new;
        is_new
    }

    /// Notes what these tools declare of their results.
    pub fn learn(&mut self, tools: &[ToolSpec]) {
        let declared = tools.iter().map(|tool| {
            let schema = tool.returns.as_ref().map(|returns| &returns.schema);
            (tool.name.as_str().to_owned(), Structure::of_schema(schema))
        });
        self.structures.extend(declared);
    }

    /// The structured content that clients expect of this tool.
    pub fn structure(&self, tool: &str) -> Structure {
        self.structures.get(tool).cloned().unwrap_or_default()
    }

    /// The changed line of an answer to `tools/list`; `None` if it stays.
    pub fn line(&self, line: &[u8]) -> Option<Vec<u8>> {
        let (name, change) = self.changed.as_ref()?;
        let (text, _) = read(line)?;
        let mut answer: Value = serde_json::from_str(text).ok()?;
        let tools = answer.get_mut("result")?.get_mut("tools")?.as_array_mut()?;
        let at = tools.iter().position(|tool| tool["name"].as_str() == Some(name))?;
        match change {
            Drift::Drop => _ = tools.remove(at),
            Drift::Rename | Drift::Retype => {
                parameter(tools[at].get_mut("inputSchema")?.as_object_mut()?, *change);
            }
        }
        Some(format!("{answer}\n").into_bytes())
    }

    /// The changed definition of a tool; `None` if it is not listed.
    pub fn definition(&self, mut of: Definition) -> Option<Definition> {
        let Some((_, change)) = self.changed.as_ref().filter(|(name, _)| *name == of.name) else {
            return Some(of);
        };
        if *change == Drift::Drop {
            return None;
        }
        if let Some(schema) = of.parameters.as_object_mut() {
            parameter(schema, *change);
        }
        Some(of)
    }
}

/// Changes the first parameter of a tool. A tool without parameters gets one.
fn parameter(schema: &mut Map<String, Value>, change: Drift) {
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    let Some(properties) = properties.as_object_mut() else { return };
    let Some(first) = properties.keys().next().cloned() else {
        properties.insert(NEW.to_owned(), json!({"type": "string"}));
        schema.insert("required".to_owned(), json!([NEW]));
        return;
    };
    if change == Drift::Retype {
        let is_text = properties[&first]["type"] == "string";
        properties[&first] = json!({"type": if is_text { "array" } else { "string" }});
        return;
    }
    let other = format!("{first}_v2");
    let renamed = std::mem::take(properties).into_iter();
    *properties = renamed
        .map(|(name, schema)| (if name == first { other.clone() } else { name }, schema))
        .collect();
    let required = schema.get_mut("required").and_then(Value::as_array_mut);
    let named = required.into_iter().flatten().find(|name| **name == first);
    named.into_iter().for_each(|name| *name = other.as_str().into());
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "{\"id\":1,\"result\":{\"tools\":[{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\",\
        \"properties\":{\"x\":{\"type\":\"string\"},\"y\":{\"type\":\"number\"}},\"required\":[\"y\",\"x\"]}},\
        {\"name\":\"b\",\"inputSchema\":{\"type\":\"object\"}}]}}";

    fn listed(tool: &str, change: Drift) -> Value {
        let mut listing = ServerListing::default();
        assert!(listing.set(tool, Some(change)) && !listing.set(tool, Some(change)));
        let line = listing.line(LIST.as_bytes()).unwrap();
        assert!(listing.set(tool, None) && listing.line(LIST.as_bytes()).is_none());
        serde_json::from_slice::<Value>(&line).unwrap()["result"]["tools"].take()
    }

    #[test]
    fn one_tool_is_listed_otherwise() {
        let renamed = listed("a", Drift::Rename);
        let schema = &renamed[0]["inputSchema"];
        assert_eq!(schema["properties"]["x_v2"]["type"], "string");
        assert_eq!(schema["required"], json!(["y", "x_v2"]));
        let retyped = listed("a", Drift::Retype);
        assert_eq!(retyped[0]["inputSchema"]["properties"]["x"], json!({"type": "array"}));
        let dropped = listed("a", Drift::Drop);
        assert_eq!((dropped.as_array().unwrap().len(), &dropped[0]["name"]), (1, &json!("b")));
        // A tool without parameters now requires one.
        assert_eq!(listed("b", Drift::Rename)[1]["inputSchema"]["required"], json!([NEW]));
    }

    #[test]
    fn what_is_no_such_list_stays() {
        let mut listing = ServerListing::default();
        listing.set("c", Some(Drift::Drop));
        for line in [LIST, "{\"id\":1,\"error\":{}}", "{\"id\":1,\"result\":{\"tools\":7}}", "x"] {
            assert_eq!(listing.line(line.as_bytes()), None, "{line}");
        }
    }
}
