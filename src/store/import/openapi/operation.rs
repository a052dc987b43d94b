//! One operation as a tool.

use oas3::Spec;
use oas3::spec::{MediaType, MediaTypeExamples, Operation, PathItem};
use serde_json::Value;

use super::arguments::Arguments;
use super::names::Names;
use super::reference::followed;
use super::schema::{Schemas, Way, plain};
use super::security::{self, Keys};
use crate::domain::EffectClass;
use crate::domain::words::clipped;
use crate::store::import::manifest::{HttpSource, Returns};

/// Characters of a description.
const DESCRIPTION: usize = 1_000;
/// Lines of the JSON Schema of a result.
const LINES: usize = 200;
/// Bytes of the example of a result; a longer one is left out.
const EXAMPLE: usize = 8 * 1024;
/// Elements of each list of an example.
const ELEMENTS: usize = 2;

/// An operation and where it stands in the document.
#[derive(Clone, Copy)]
pub(super) struct Place<'d> {
    pub path: &'d str,
    pub item: &'d PathItem,
    /// In upper case.
    pub method: &'d str,
    pub operation: &'d Operation,
}

/// A tool, ready to be written.
pub(super) struct ImportedTool {
    pub name: String,
    pub description: String,
    pub effect: EffectClass,
    pub parameters: Value,
    pub source: HttpSource,
    pub returns: Option<Returns>,
    pub keys: Keys,
    /// Whether parts of its arguments were too deep or too large.
    pub is_cut: bool,
}

/// The tool that makes the request of an operation below this address.
///
/// # Errors
/// Why the operation cannot be a tool, in words about it.
pub(super) fn tool(
    spec: &Spec,
    schemas: &Schemas<'_>,
    place: &Place<'_>,
    base: &str,
    names: &mut Names,
) -> Result<ImportedTool, String> {
    let Place { path, item, method, operation } = *place;
    let effect = effect(method)?;
    let mut source = HttpSource {
        method: method.to_owned(),
        url: format!("{base}{path}"),
        operation: format!("{method} {path}"),
        operation_id: operation.operation_id.clone().unwrap_or_default(),
        ..HttpSource::default()
    };
    let mut arguments = Arguments::new(spec, schemas);
    let keys = security::keys(spec, operation)?;
    arguments.add_parameters((path, item), operation, &keys, &mut source)?;
    arguments.add_body(operation, &mut source)?;
    source.query.extend(keys.query.iter().cloned());
    source.headers.extend(keys.headers.iter().cloned());
    Ok(ImportedTool {
        name: names.tool(method, path),
        description: description(operation, &source.operation),
        effect,
        parameters: arguments.schema(),
        source,
        returns: returns(spec, schemas, operation),
        keys,
        is_cut: arguments.is_cut,
    })
}

/// What the method says of its effect (RFC 9110 § 9.2).
fn effect(method: &str) -> Result<EffectClass, String> {
    match method {
        "GET" | "HEAD" => Ok(EffectClass::Read),
        "PUT" | "DELETE" => Ok(EffectClass::Idempotent),
        "POST" | "PATCH" => Ok(EffectClass::Write),
        _ => Err("its method is no request for data".to_owned()),
    }
}

/// The summary, and the first paragraph of the description.
fn description(operation: &Operation, otherwise: &str) -> String {
    let summary = operation.summary.as_deref().unwrap_or_default().trim();
    let summary = summary.trim_end_matches('.');
    let text = operation.description.as_deref().unwrap_or_default().trim();
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    let paragraph = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    let said = match (summary, paragraph.as_str()) {
        ("", "") => otherwise.to_owned(),
        ("", text) => text.to_owned(),
        (summary, "") => format!("{summary}."),
        (summary, text) if text.trim_end_matches('.') == summary => text.to_owned(),
        (summary, text) => format!("{summary}. {text}"),
    };
    let end = if operation.deprecated == Some(true) { " (deprecated)" } else { "" };
    clipped(&said, DESCRIPTION) + end
}

/// The form of a successful result, if the document has a schema of it.
fn returns(spec: &Spec, schemas: &Schemas<'_>, operation: &Operation) -> Option<Returns> {
    let responses = operation.responses.as_ref()?;
    let statuses = ["200", "201", "202", "203", "2XX", "2xx", "default"];
    let response = statuses.iter().find_map(|status| responses.get(*status))?;
    let none = Default::default();
    let named = spec.components.as_ref().map_or(&none, |components| &components.responses);
    let response = followed(response, named, "responses").ok()?;
    let is_json = |kind: &str| kind.split(';').next().is_some_and(|kind| kind.ends_with("json"));
    let (_, content) = response.content.iter().find(|(kind, _)| is_json(kind))?;
    let schema = schemas.write_in(content.schema.as_ref()?, Way::Returned, LINES).schema;
    let example = example(content).and_then(|example| plain(&shortened(&example)));
    let example = example.map(|example| example.to_string());
    let example = example.filter(|example| example.len() <= EXAMPLE).unwrap_or_default();
    Some(Returns { example, schema })
}

/// The first example that stands in the document itself.
fn example(content: &MediaType) -> Option<Value> {
    match content.examples.as_ref()? {
        MediaTypeExamples::Example { example } => Some(example.clone()),
        MediaTypeExamples::Examples { examples } => examples.values().find_map(|example| {
            let none = Default::default();
            followed(example, &none, "examples").ok()?.value.clone()
        }),
    }
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
