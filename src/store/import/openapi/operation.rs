//! Converts an operation into a tool.

use serde_json::Value;

use super::arguments::Arguments;
use super::body;
use super::parameter::is_json;
use super::reference::Root;
use super::schema::{Schemas, ValueDirection, plain};
use super::security::{self, ApiKeys};
use super::server;
use crate::domain::EffectClass;
use crate::domain::words::clipped;
use crate::import::manifest::{HttpSource, Returns};

/// The most characters of a description.
const DESCRIPTION: usize = 1_000;
/// The most lines of the JSON Schema of a result.
const LINES: usize = 200;
/// The most bytes of the example of a result; a longer one is left out.
const EXAMPLE: usize = 8 * 1024;
/// The most elements of each list of an example.
const ELEMENTS: usize = 2;

/// An operation and its place in the document.
#[derive(Clone, Copy)]
pub(super) struct ApiOperation<'d> {
    pub path: &'d str,
    pub item: &'d Value,
    /// The method as the document writes it, such as `get`.
    pub key: &'d str,
    pub operation: &'d Value,
}

impl ApiOperation<'_> {
    /// The method and the path, such as `GET /movie/{id}`.
    pub fn name(&self) -> String {
        format!("{} {}", self.key.to_ascii_uppercase(), self.path)
    }

    /// The API's own name of the operation; may be empty.
    pub fn id(&self) -> &str {
        self.operation["operationId"].as_str().unwrap_or_default().trim()
    }
}

/// Why an operation is left out.
#[derive(Debug)]
pub(super) struct Left {
    /// The field at fault, within the path's item; may be empty.
    pub at: Vec<String>,
    pub why: String,
}

impl Left {
    pub fn at(at: &[&str], why: impl Into<String>) -> Self {
        Self { at: at.iter().map(|name| (*name).to_owned()).collect(), why: why.into() }
    }
}

impl From<String> for Left {
    fn from(why: String) -> Self {
        Self { at: Vec::new(), why }
    }
}

/// A tool, ready to be named and written.
pub(super) struct ImportedTool {
    pub name: String,
    pub description: String,
    pub effect: EffectClass,
    pub parameters: Value,
    pub source: HttpSource,
    pub returns: Option<Returns>,
    pub keys: ApiKeys,
    /// Differences from the document, and errors in it.
    pub remarks: Vec<String>,
}

/// The tool that makes the request of an operation below this address. It has no name yet. `servers` are those of the
/// document.
///
/// # Errors
/// Why the operation cannot be a tool.
pub(super) fn tool<'d>(
    root: Root<'d>,
    schemas: &'d Schemas<'d>,
    place: &ApiOperation<'d>,
    base: &str,
    servers: &[String],
) -> Result<ImportedTool, Left> {
    let ApiOperation { item, key, operation, .. } = *place;
    if let Some(reference) = operation.get("$ref") {
        return Err(Left::at(
            &[key],
            format!("expected an operation, got a reference to {reference}"),
        ));
    }
    if !operation.is_object() {
        let got = super::parameter::shown(operation);
        return Err(Left::at(&[key], format!("expected an operation, got {got}")));
    }
    let method = key.to_ascii_uppercase();
    let effect = effect(&method)?;
    let mut source = HttpSource {
        method,
        operation: place.name(),
        operation_id: place.id().to_owned(),
        ..HttpSource::default()
    };
    let mut arguments = Arguments::new(root, schemas);
    let keys = security::keys(root, operation)?;
    arguments.add_parameters(place, &keys, base, &mut source)?;
    body::add(&mut arguments, operation, key, &mut source)?;
    source.query.extend(keys.query.iter().cloned());
    source.headers.extend(keys.headers.iter().cloned());
    source.cookies.extend(keys.cookies.iter().cloned());
    let mut remarks = std::mem::take(&mut arguments.notes);
    let has_own = |holder: &Value| server::listed(holder).iter().any(|own| !servers.contains(own));
    if has_own(item) || has_own(operation) {
        remarks.push("its own server in the file is ignored".to_owned());
    }
    if arguments.is_cut {
        let text = "parts of its arguments refer in a circle or are too large; they allow anything";
        remarks.push(text.to_owned());
    }
    if arguments.is_wrong {
        let text = "parts of its arguments are not a JSON Schema; they allow anything";
        remarks.push(text.to_owned());
    }
    Ok(ImportedTool {
        name: String::new(),
        description: description(operation, &source.operation),
        effect,
        parameters: arguments.schema(),
        source,
        returns: returns(root, schemas, operation),
        keys,
        remarks,
    })
}

/// The effect class that the method implies (RFC 9110 § 9.2).
fn effect(method: &str) -> Result<EffectClass, String> {
    match method {
        "GET" | "HEAD" => Ok(EffectClass::Read),
        "PUT" | "DELETE" => Ok(EffectClass::Idempotent),
        "POST" | "PATCH" => Ok(EffectClass::Write),
        _ => Err("its method is not supported".to_owned()),
    }
}

/// The summary, and the first paragraph of the description.
fn description(operation: &Value, otherwise: &str) -> String {
    let said = |field: &str| operation[field].as_str().unwrap_or_default().trim();
    let summary = said("summary").trim_end_matches('.');
    let paragraph = said("description").split("\n\n").next().unwrap_or_default();
    let paragraph = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    let said = match (summary, paragraph.as_str()) {
        ("", "") => otherwise.to_owned(),
        ("", text) => text.to_owned(),
        (summary, "") => format!("{summary}."),
        (summary, text) if text.trim_end_matches('.') == summary => text.to_owned(),
        (summary, text) => format!("{summary}. {text}"),
    };
    let end = if operation["deprecated"] == true { " (deprecated)" } else { "" };
    clipped(&said, DESCRIPTION) + end
}

/// The form of a successful result, if the document has a schema of it.
fn returns<'d>(root: Root<'d>, schemas: &Schemas<'d>, operation: &'d Value) -> Option<Returns> {
    let statuses = ["200", "201", "202", "203", "2XX", "2xx", "default"];
    let responses = operation.get("responses")?;
    let response = statuses.iter().find_map(|status| responses.get(*status))?;
    let response = root.follow(response).ok()?;
    let kind = |kind: &str| kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let content = response.get("content")?.as_object()?;
    let (_, content) = content.iter().find(|(name, _)| is_json(&kind(name)))?;
    let schema = schemas.write_in(content.get("schema")?, ValueDirection::Returned, LINES).schema;
    let example = example(root, content).and_then(|example| plain(&shortened(example)));
    let example = example.map(|example| example.to_string());
    let example = example.filter(|example| example.len() <= EXAMPLE).unwrap_or_default();
    Some(Returns { example, schema })
}

/// The first example that is in the document itself.
fn example<'d>(root: Root<'d>, content: &'d Value) -> Option<&'d Value> {
    if let Some(example) = content.get("example") {
        return Some(example);
    }
    let examples = content.get("examples")?.as_object()?;
    examples.values().find_map(|example| root.follow(example).ok()?.get("value"))
}

/// The value with the first elements of each list.
fn shortened(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().take(ELEMENTS).map(shortened).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, field)| (name.clone(), shortened(field)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}
