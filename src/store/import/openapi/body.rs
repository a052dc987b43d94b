//! The body of an operation: which of its types is sent, and which arguments are its fields.

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::arguments::Arguments;
use super::kinds::{is_flat_list, is_nested_list, may_be};
use super::operation::Left;
use super::parameter::{ParameterForm, flag, is_json, shown, written};
use super::path::escaped;
use super::reference::Root;
use super::schema::ValueDirection;
use crate::domain::http_request::Style;
use crate::import::manifest::HttpSource;

const FORM: &str = "application/x-www-form-urlencoded";
const MERGE_PATCH: &str = "application/merge-patch+json";

/// A media type of a body.
struct Media<'d> {
    /// The type as the document writes it, such as `application/json; charset=utf-8`.
    written: &'d str,
    /// In lower case, without parameters.
    kind: String,
    value: &'d Value,
}

/// The content of a body: its fields with the arguments of their values, or one argument.
enum BodyFields {
    Named(Vec<(String, String)>),
    Whole(String),
    /// No content: the body is optional and empty.
    Nothing,
}

/// Adds the fields of the body, or the body itself where it has none.
///
/// # Errors
/// The body cannot be read, or none of its types can be sent.
pub(super) fn add<'d>(
    arguments: &mut Arguments<'d>,
    operation: &'d Value,
    key: &str,
    source: &mut HttpSource,
) -> Result<(), Left> {
    let Some(body) = operation.get("requestBody").filter(|body| !body.is_null()) else {
        return Ok(());
    };
    let at = |why: String| Left::at(&[key, "requestBody"], why);
    let body = arguments.root.follow(body).map_err(at)?;
    if !body.is_object() {
        return Err(at(format!("expected a request body, got {}", shown(body))));
    }
    let is_required =
        flag(&body["required"], "requestBody", "required", &mut arguments.notes) == Some(true);
    let types = types(body);
    if types.is_empty() {
        return Ok(());
    }
    let is_text = |kind: &str| {
        kind.starts_with("text/") || matches!(kind, "application/xml" | "application/graphql")
    };
    let media = types.iter().min_by_key(|media| rank(arguments.root, media));
    let Some(media) = media else { return Ok(()) };
    let mut left = String::new();
    if is_json(&media.kind) || media.kind.contains('*') {
        add_json(arguments, media, is_required, source);
        return Ok(());
    }
    if let Some(form) = types.iter().find(|media| media.kind == FORM) {
        match add_form(arguments, form, is_required, source) {
            Ok(()) => return Ok(()),
            Err(why) => left = format!("; {why}"),
        }
    }
    if let Some(text) =
        types.iter().find(|media| is_text(&media.kind) && is_plain(arguments.root, media))
    {
        let schema =
            text.value.get("schema").map(|schema| arguments.write(schema, ValueDirection::Sent));
        let own = arguments.add(
            "body",
            schema.unwrap_or_else(|| json!({ "type": "string" })),
            is_required,
        );
        source.text = Some(format!("{{{own}}}"));
        say_type(text.written, "", source);
        return Ok(());
    }
    if !is_required && types.iter().all(|media| is_empty(arguments.root, media)) {
        return Ok(());
    }
    let kinds: Vec<&str> = types.iter().map(|media| media.written).collect();
    Err(at(format!("its body is {}, which cannot be sent{left}", kinds.join(" or "))))
}

fn types(body: &Value) -> Vec<Media<'_>> {
    let content = body["content"].as_object().into_iter().flatten();
    let kind = |kind: &str| kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    content.map(|(written, value)| Media { written, kind: kind(written), value }).collect()
}

/// The rank of a type; the lowest is chosen. JSON precedes other types, and a certain object precedes other JSON.
fn rank(root: Root<'_>, media: &Media<'_>) -> u8 {
    let is_list = || {
        let schema = media.value.get("schema").and_then(|schema| root.follow(schema).ok());
        schema.is_some_and(|schema| !may_be(schema, "object"))
    };
    match media.kind.as_str() {
        "application/json" => 0,
        MERGE_PATCH => 1,
        // A JSON patch is a list of steps, even if its schema says otherwise.
        "application/json-patch+json" if !is_list() => 3,
        kind if is_json(kind) => 2,
        "*/*" | "application/*" => 4,
        _ => 5,
    }
}

/// Whether the body is a text of any form, which is sent unchanged.
fn is_plain(root: Root<'_>, media: &Media<'_>) -> bool {
    let Some(schema) = media.value.get("schema") else { return true };
    let Ok(schema) = root.follow(schema) else { return false };
    schema["type"] == "string" && schema["format"] != "binary" && schema["format"] != "base64"
}

fn is_empty(root: Root<'_>, media: &Media<'_>) -> bool {
    let Some(schema) = media.value.get("schema") else { return true };
    root.follow(schema).is_ok_and(|schema| {
        schema.as_object().is_some_and(|fields| fields.is_empty())
            || (schema["type"] == "object"
                && schema["properties"].as_object().is_none_or(|all| all.is_empty())
                && schema["additionalProperties"] == false)
    })
}

fn add_json<'d>(
    arguments: &mut Arguments<'d>,
    media: &Media<'d>,
    is_required: bool,
    source: &mut HttpSource,
) {
    source.body = Some(match fields(arguments, media, is_required) {
        BodyFields::Named(fields) => fields
            .into_iter()
            .map(|(wire, own)| (wire, Value::from(format!("{{{own}}}"))))
            .collect::<Map<_, _>>()
            .into(),
        BodyFields::Whole(own) => format!("{{{own}}}").into(),
        BodyFields::Nothing => return,
    });
    source.rest = arguments.others != false;
    source.optional_body = !is_required && source.body.as_ref().is_some_and(Value::is_object);
    if !media.kind.contains('*') {
        say_type(media.written, "application/json", source);
    }
}

/// Adds the header of a type that is not the usual one.
fn say_type(written: &str, usual: &str, source: &mut HttpSource) {
    if written.trim() != usual {
        source.headers.insert("Content-Type".to_owned(), escaped(written.trim()));
    }
}

fn add_form<'d>(
    arguments: &mut Arguments<'d>,
    media: &Media<'d>,
    is_required: bool,
    source: &mut HttpSource,
) -> Result<(), String> {
    let fields = match fields(arguments, media, is_required) {
        BodyFields::Named(fields) => fields,
        BodyFields::Whole(own) => vec![(String::new(), own)],
        BodyFields::Nothing => return Ok(()),
    };
    let mut form = IndexMap::new();
    for (wire, own) in fields {
        let schema = arguments.schema_of_argument(&own);
        let encoding = &media.value["encoding"][&wire];
        let place = match wire.as_str() {
            // A form without fields of its own has those of its argument.
            "" => format!("{{{own}*:form}}"),
            _ => written(&own, &wire, form_of(encoding, schema), schema)?,
        };
        form.insert(wire, place);
    }
    source.form = Some(form);
    source.rest = arguments.others != false;
    source.optional_body = !is_required;
    if media.written.trim().to_ascii_lowercase() != FORM {
        say_type(media.written, FORM, source);
    }
    Ok(())
}

/// How a field of a form is written. Without a style objects are JSON, and lists have a pair for each part
/// (`Encoding Object`).
fn form_of(encoding: &Value, schema: &Value) -> ParameterForm {
    let style = encoding["style"].as_str().and_then(|style| style.parse::<Style>().ok());
    let explode = encoding["explode"].as_bool();
    match style {
        Some(style) => ParameterForm { style, explode: explode.unwrap_or(style == Style::Form) },
        None if explode.is_some() => {
            ParameterForm { style: Style::Form, explode: explode == Some(true) }
        }
        None if is_flat_list(schema) => ParameterForm { style: Style::Form, explode: true },
        None if may_be(schema, "object") && !may_be(schema, "string") || is_nested_list(schema) => {
            ParameterForm { style: Style::Json, explode: false }
        }
        None => ParameterForm { style: Style::Form, explode: true },
    }
}

fn fields<'d>(arguments: &mut Arguments<'d>, media: &Media<'d>, is_required: bool) -> BodyFields {
    let mut schema = match media.value.get("schema") {
        Some(schema) => arguments.write(schema, ValueDirection::Body),
        None => json!({}),
    };
    let is_form = media.kind == FORM;
    if media.kind == MERGE_PATCH {
        let removable = schema.get_mut("properties").and_then(Value::as_object_mut);
        removable.into_iter().flatten().for_each(|(_, field)| removing(field));
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    let more = schema.get("additionalProperties").cloned();
    let is_closed = more == Some(json!(false)) || more.is_none() && is_form;
    let Some(properties) = properties.filter(|properties| !properties.is_empty()) else {
        let is_object = schema["type"] == "object" && schema.get("oneOf").is_none();
        let is_nothing =
            is_object && is_closed && schema.get("anyOf").is_none() || is_unsaid(&schema, is_form);
        return match (is_nothing, is_required) {
            (true, false) => BodyFields::Nothing,
            (true, true) if is_closed && is_object => BodyFields::Named(Vec::new()),
            _ => BodyFields::Whole(arguments.add("body", schema, is_required)),
        };
    };
    if has_other_fields(&schema, properties) || !may_be(&schema, "object") {
        return BodyFields::Whole(arguments.add("body", schema, is_required));
    }
    arguments.others = match more {
        Some(more) if more != false => more,
        _ if schema.get("patternProperties").is_some() => json!({}),
        _ => json!(false),
    };
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let undeclared = required.iter().filter(|name| !properties.contains_key(**name));
    let all: Vec<(String, Value)> = properties
        .iter()
        .map(|(name, property)| (name.clone(), property.clone()))
        .chain(undeclared.map(|name| ((*name).to_owned(), json!({}))))
        .collect();
    let field = |(wire, property): (String, Value)| {
        let is_needed = is_required && required.contains(&wire.as_str());
        let own = arguments.add(&wire, property, is_needed);
        (wire, own)
    };
    BodyFields::Named(all.into_iter().map(field).collect())
}

/// Whether a form's schema does not describe the content.
fn is_unsaid(schema: &Value, is_form: bool) -> bool {
    is_form
        && schema.as_object().is_some_and(|fields| fields.keys().all(|key| key == "description"))
}

/// Whether other parts of the schema have fields that its own properties do not name.
fn has_other_fields(schema: &Value, own: &Map<String, Value>) -> bool {
    let lists = ["oneOf", "anyOf", "allOf"].iter().filter_map(|key| schema[key].as_array());
    let parts = lists.flatten().chain(["then", "else"].iter().filter_map(|key| schema.get(*key)));
    parts.into_iter().any(|part| {
        let fields = part["properties"].as_object();
        fields.is_some_and(|fields| fields.keys().any(|name| !own.contains_key(name)))
    })
}

/// Lets null remove a field, as in a merge patch (RFC 7396), at any depth.
fn removing(field: &mut Value) {
    if let Some(fields) = field.get_mut("properties").and_then(Value::as_object_mut) {
        fields.values_mut().for_each(removing);
    }
    if may_be(field, "null") {
        return;
    }
    let is_closed = field.get("enum").is_some() || field.get("const").is_some();
    match field.get_mut("type") {
        Some(kind @ Value::String(_)) if !is_closed => *kind = json!([kind.take(), "null"]),
        _ => *field = json!({ "anyOf": [field.take(), { "type": "null" }] }),
    }
}
