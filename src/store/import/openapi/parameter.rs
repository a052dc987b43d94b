//! A parameter as its document describes it: its place in the request, and its style.

use serde_json::{Value, json};

use super::kinds::{has_parts, is_flat_list, is_nested_list, may_be};
use super::reference::Root;
use crate::domain::http_request::Style;
use crate::domain::words::clipped;

/// Marks a parameter whose value is part of the API, not an argument; only converted documents have such marks.
pub(super) const FIXED: &str = "x-fixed";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum In {
    Path,
    Query,
    Header,
    Cookie,
}

impl In {
    pub fn name(self) -> &'static str {
        match self {
            In::Path => "path",
            In::Query => "query",
            In::Header => "header",
            In::Cookie => "cookie",
        }
    }
}

/// How values of several parts are written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ParameterForm {
    pub style: Style,
    pub explode: bool,
}

#[derive(Debug)]
pub(super) struct Parameter<'d> {
    pub name: &'d str,
    pub place: In,
    pub is_required: bool,
    pub description: &'d str,
    pub schema: Option<&'d Value>,
    pub form: ParameterForm,
    pub fixed: Option<&'d str>,
}

impl<'d> Parameter<'d> {
    /// Reads a parameter. Wrong words that make no difference are noted, with how they are read.
    ///
    /// # Errors
    /// Which field is wrong, and why.
    pub fn read(
        root: Root<'d>,
        value: &'d Value,
        notes: &mut Vec<String>,
    ) -> Result<Self, (&'static str, String)> {
        let value = root.follow(value).map_err(|why| ("", why))?;
        if !value.is_object() {
            return Err(("", format!("expected a parameter, got {}", shown(value))));
        }
        let text = |field: &str| value[field].as_str();
        let name = text("name").filter(|name| !name.is_empty());
        let Some(name) = name else {
            return Err((
                "name",
                format!("expected the name of a parameter, got {}", shown(&value["name"])),
            ));
        };
        let place = match text("in") {
            Some("path") => In::Path,
            Some("query") => In::Query,
            Some("header") => In::Header,
            Some("cookie") => In::Cookie,
            _ => {
                let why = format!(
                    "its parameter {name:?} is in {}; expected path, query, header or cookie",
                    shown(&value["in"])
                );
                return Err(("in", why));
            }
        };
        let mut flag = |field: &str| flag(&value[field], name, field, notes);
        let (is_required, explode) = (flag("required"), flag("explode"));
        let (schema, form) = match value.get("content").and_then(Value::as_object) {
            Some(content) => {
                let (kind, media) = content.iter().next().ok_or_else(|| {
                    ("content", format!("expected a type in `content` of its parameter {name:?}"))
                })?;
                (media.get("schema"), form_of_content(name, kind)?)
            }
            None => (value.get("schema"), form_of_style(name, place, &value["style"], explode)?),
        };
        Ok(Self {
            name,
            place,
            is_required: is_required == Some(true),
            description: text("description").unwrap_or_default().trim(),
            schema,
            form,
            fixed: text(FIXED),
        })
    }
}

fn form_of_content(name: &str, kind: &str) -> Result<ParameterForm, (&'static str, String)> {
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if is_json(&kind) {
        return Ok(ParameterForm { style: Style::Json, explode: false });
    }
    if kind == "text/plain" {
        return Ok(ParameterForm { style: Style::Simple, explode: false });
    }
    Err(("content", format!("its parameter {name:?} is {kind}, which cannot be sent")))
}

/// Whether values of this media type are JSON.
pub(super) fn is_json(kind: &str) -> bool {
    matches!(kind, "application/json" | "text/json") || kind.ends_with("+json")
}

fn form_of_style(
    name: &str,
    place: In,
    style: &Value,
    explode: Option<bool>,
) -> Result<ParameterForm, (&'static str, String)> {
    let usual = match place {
        In::Path | In::Header => Style::Simple,
        In::Query | In::Cookie => Style::Form,
    };
    let style = match style {
        Value::Null => usual,
        said => {
            let said = said.as_str().and_then(|said| said.parse().ok());
            let is_of_place = |style: &Style| match place {
                In::Path => matches!(style, Style::Simple | Style::Label | Style::Matrix),
                In::Header => *style == Style::Simple,
                In::Cookie => *style == Style::Form,
                In::Query => matches!(
                    style,
                    Style::Form | Style::SpaceDelimited | Style::PipeDelimited | Style::DeepObject
                ),
            };
            said.filter(is_of_place).ok_or_else(|| {
                let (style, place) = (shown(style), place.name());
                (
                    "style",
                    format!(
                        "its parameter {name:?} has the style {style}, which a {place} has not"
                    ),
                )
            })?
        }
    };
    Ok(ParameterForm { style, explode: explode.unwrap_or(style == Style::Form) })
}

/// Reads a flag. The texts `true` and `false` count as flags; anything else is ignored.
pub(super) fn flag(
    value: &Value,
    name: &str,
    field: &str,
    notes: &mut Vec<String>,
) -> Option<bool> {
    let (read, taken) = match value {
        Value::Null => return None,
        Value::Bool(flag) => return Some(*flag),
        Value::String(text) if text == "true" => (Some(true), "counts as true"),
        Value::String(text) if text == "false" => (Some(false), "counts as false"),
        _ => (None, "is ignored"),
    };
    let got = shown(value);
    notes.push(format!("{field} of {name:?}: expected true or false, got {got}, which {taken}"));
    read
}

/// The place of a value in a manifest; `own` is the name of the argument, `wire` that of the parameter.
///
/// # Errors
/// Values of this schema cannot be written in this style.
pub(super) fn written(
    own: &str,
    wire: &str,
    form: ParameterForm,
    schema: &Value,
) -> Result<String, String> {
    let ParameterForm { style, explode } = form;
    let each = if explode { "*" } else { "" };
    let named = style.name();
    let has_places = matches!(style, Style::DeepObject | Style::Json);
    if !has_places && is_nested_list(schema) {
        return Err(format!(
            "its parameter {wire:?} is a list of lists or objects, for which the style {named} has no place"
        ));
    }
    Ok(match style {
        Style::Json => format!("{{{own}:json}}"),
        Style::Label => format!("{{{own}{each}:label}}"),
        Style::Matrix if own == wire => format!("{{{own}{each}:matrix}}"),
        Style::Matrix if wire.contains(['{', '}', ':', '=']) => {
            return Err(format!(
                "the name of its parameter {wire:?} cannot be sent in the style matrix"
            ));
        }
        Style::Matrix => format!("{{{own}{each}:matrix={wire}}}"),
        _ if !has_parts(schema) => format!("{{{own}}}"),
        Style::Simple if !may_be(schema, "object") => format!("{{{own}}}"),
        Style::SpaceDelimited | Style::PipeDelimited if explode => format!("{{{own}*:form}}"),
        Style::Form if is_flat_list(schema) => format!("{{{own}{each}}}"),
        Style::DeepObject => format!("{{{own}:deepObject}}"),
        Style::Simple | Style::Form | Style::SpaceDelimited | Style::PipeDelimited => {
            format!("{{{own}{each}:{named}}}")
        }
    })
}

/// A value in a message.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => clipped(&value.to_string(), 40),
    }
}

/// The schema of any text.
pub(super) fn any_text() -> Value {
    json!({ "type": "string" })
}
