//! Tools as Python functions: their names, and their documents.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use crate::domain::program::Function;
use crate::domain::{ToolName, ToolSpec};

/// Lines of the description of an argument that are shown.
const LINES: usize = 2;

/// The names of tools as Python identifiers, in both directions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identifiers {
    by_identifier: BTreeMap<String, ToolName>,
}

impl Identifiers {
    /// Names that are identifiers already keep them; of other names that become equal, the later ones get a number.
    pub fn of<'a>(tools: impl Iterator<Item = &'a ToolName>) -> Self {
        let mut identifiers = Self::default();
        let (same, other): (Vec<_>, Vec<_>) =
            tools.partition(|tool| identifier(tool.as_str()) == tool.as_str());
        for tool in same.into_iter().chain(other) {
            let name = identifier(tool.as_str());
            let numbered = (2..).map(|n: u64| format!("{name}_{n}"));
            let free = std::iter::once(name.clone()).chain(numbered);
            let free = free.into_iter().find(|name| !identifiers.by_identifier.contains_key(name));
            identifiers.by_identifier.insert(free.unwrap_or(name), tool.clone());
        }
        identifiers
    }

    /// The tool of a function.
    pub fn tool(&self, identifier: &str) -> Option<&ToolName> {
        self.by_identifier.get(identifier)
    }

    /// The function of a tool.
    pub fn name(&self, tool: &ToolName) -> Option<&str> {
        let mut all = self.by_identifier.iter();
        all.find(|(_, known)| *known == tool).map(|(name, _)| name.as_str())
    }
}

/// `GET /movie/{movie_id}` → `GET_movie_movie_id`: each run of other characters becomes one `_`.
fn identifier(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            c if c.is_ascii_alphanumeric() || c == '_' => text.push(c),
            _ if text.ends_with('_') => {}
            _ => text.push('_'),
        }
    }
    if !name.ends_with('_') {
        text.truncate(text.trim_end_matches('_').len());
    }
    if text.is_empty()
        || text.starts_with(|c: char| c.is_ascii_digit())
        || KEYWORDS.contains(&text.as_str())
    {
        text.insert_str(0, "t_");
    }
    text
}

/// Python's keywords, which cannot be names.
const KEYWORDS: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
];

/// The function of a tool: required arguments first, as its document has them.
pub fn function(name: &str, spec: &ToolSpec) -> Function {
    let parameters: Vec<String> =
        parameters(&spec.parameters).iter().map(|each| each.name.to_owned()).collect();
    let takes_more = parameters.is_empty()
        && spec.parameters["additionalProperties"] != Value::Bool(false)
        || spec.parameters["additionalProperties"].is_object()
        || spec.parameters["additionalProperties"] == Value::Bool(true);
    Function { name: name.to_owned(), parameters, takes_more }
}

struct Parameter<'a> {
    name: &'a str,
    kind: String,
    is_required: bool,
    description: &'a str,
}

/// The arguments of a schema in its order; required ones first, since a call without names gives them first.
fn parameters(schema: &Value) -> Vec<Parameter<'_>> {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let all =
        schema["properties"].as_object().into_iter().flatten().map(|(name, field)| Parameter {
            name,
            kind: kind(field),
            is_required: required.contains(&name.as_str()),
            description: field["description"].as_str().unwrap_or_default(),
        });
    let (needed, other): (Vec<_>, Vec<_>) = all.partition(|each| each.is_required);
    needed.into_iter().chain(other).collect()
}

/// Python's name of a type of JSON Schema.
fn kind(field: &Value) -> String {
    let named = |name: &str| match name {
        "integer" => "int",
        "number" => "float",
        "boolean" => "bool",
        "array" => "list",
        "object" => "dict",
        "null" => "None",
        _ => "str",
    };
    match &field["type"] {
        Value::String(name) => named(name).to_owned(),
        Value::Array(names) => {
            let names: Vec<&str> = names.iter().filter_map(Value::as_str).map(named).collect();
            names.join(" | ")
        }
        _ if field["enum"].is_array() => "str".to_owned(),
        _ => "object".to_owned(),
    }
}

/// The description of a tool for a model: signature, first paragraph of the description, arguments, and the return
/// value if it is known.
pub fn document(name: &str, spec: &ToolSpec, returns: Option<&str>) -> String {
    let parameters = parameters(&spec.parameters);
    let signature = parameters.iter().map(|Parameter { name, kind, is_required, .. }| {
        if *is_required { format!("{name}: {kind}") } else { format!("{name}: {kind} = None") }
    });
    let mut text = format!("def {name}({}):\n", signature.collect::<Vec<_>>().join(", "));
    let paragraph = spec.description.trim().split("\n\n").next().unwrap_or_default();
    let _ =
        write!(text, "    \"\"\"{}", paragraph.split_whitespace().collect::<Vec<_>>().join(" "));
    for Parameter { name, description, .. } in
        parameters.iter().filter(|each| !each.description.is_empty())
    {
        let lines = description.lines().take(LINES).map(str::trim);
        let _ = write!(text, "\n    {name}: {}", lines.collect::<Vec<_>>().join(" "));
    }
    for (i, line) in returns.unwrap_or_default().lines().enumerate() {
        let _ = write!(text, "\n    {}{line}", if i == 0 { "Returns " } else { "" });
    }
    text.push_str("\"\"\"");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_identifiers_and_lead_back() {
        let names =
            ["GET /movie/{movie_id}", "search_web", "search-web", "7z", "class", "später", "_"];
        let tools: Vec<ToolName> = names.map(ToolName::from).to_vec();
        let identifiers = Identifiers::of(tools.iter());
        let wanted =
            ["GET_movie_movie_id", "search_web", "search_web_2", "t_7z", "t_class", "sp_ter", "_"];
        for (tool, wanted) in tools.iter().zip(wanted) {
            assert_eq!(identifiers.name(tool), Some(wanted));
            assert_eq!(identifiers.tool(wanted), Some(tool));
        }
    }
}
