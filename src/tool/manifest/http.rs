//! Parses the source of a tool over HTTP.

use std::sync::Arc;

use reqwest::Url;
use reqwest::header::{HeaderName, HeaderValue};

use crate::domain::HttpRequest;
use crate::domain::http_request::Template;
use crate::domain::words::clipped;
use crate::files::toml_file::{TomlField, TomlFields};
use crate::http::{BodyTemplate, Content, HttpSource, JsonTemplate};
use crate::net::client::{carries_key, holds_a_key};
use crate::net::secret::Secret;
use crate::output::MAX_OUTPUT;

/// Headers that the client sets; a manifest could only set them wrongly.
const OWN_HEADERS: [&str; 5] =
    ["host", "content-length", "transfer-encoding", "connection", "expect"];

/// A source, and its description for people.
pub(super) fn read(
    fields: &mut TomlFields<'_>,
    url: &TomlField<'_>,
) -> Option<(HttpSource, String)> {
    let method = fields.get("method").map_or(Some("GET"), |field| {
        field.one_of(&["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"].map(|name| (name, name)))
    });
    let url = read_url(url);
    let query = fields.get("query").map_or(Some(Vec::new()), |field| templates(&field));
    let headers = fields.get("headers").map_or(Some(Vec::new()), |field| read_headers(&field));
    let cookies = fields.get("cookies").map_or(Some(Vec::new()), |field| read_cookies(&field));
    let body = read_body(fields);
    let max_output = fields
        .get("max_output")
        .map_or(Some(MAX_OUTPUT as i64), |field| field.whole(1, 16 * 1024 * 1024));
    let any_address = fields.get("any_address").map_or(Some(false), |field| field.flag());
    let mut said = |key| fields.get(key).map_or(Some(""), |field| field.text());
    let (operation, operation_id) = (said("operation"), said("operation_id"));
    let request = HttpRequest {
        method: method?.to_owned(),
        url: url?,
        query: query?,
        operation: operation?.to_owned(),
        operation_id: operation_id?.to_owned(),
    };
    let shown = format!("{} {}", request.method, request.url);
    let source = HttpSource {
        request: Arc::new(request),
        headers: headers?,
        cookies: cookies?,
        body: body?,
        max_output: max_output? as usize,
        any_address: any_address?,
    };
    // Reading a secret also hides it; a missing one is reported when it is needed.
    source.variables().into_iter().for_each(|name| drop(Secret::from_env(name, "a secret")));
    Some((source, clipped(&shown, 120)))
}

/// An address whose host is fixed: an argument must not choose the server.
fn read_url(field: &TomlField<'_>) -> Option<Template> {
    let template = template(field)?;
    let text = template.to_string();
    let (scheme, rest) = text.split_once("://").unwrap_or(("", &text));
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let fault = if !matches!(scheme, "http" | "https") || host.is_empty() {
        "expected an address that begins with http:// or https:// and a host"
    } else if host.contains(['{', '}']) {
        "the host must be fixed; only the path can have {arguments}"
    } else if host.contains('@') {
        "an address must not have a password; use headers with ${NAME} for an environment variable"
    } else if template.variables().next().is_some() {
        "an address is shown, so it has no secret; use `headers` or `query` for ${NAME}"
    } else if rest.contains(['?', '#']) {
        "expected an address without `?` and `#`; write the query into [source.query]"
    } else if Url::parse(&format!("{scheme}://{host}")).is_err() {
        "the host of this address is invalid"
    } else {
        return Some(template);
    };
    field.refuse(fault);
    None
}

/// A table of names and texts with places.
fn templates(field: &TomlField<'_>) -> Option<Vec<(String, Template)>> {
    let entries = field.table()?.all();
    let entry = |(name, value): &(&str, TomlField<'_>)| {
        let template = match value.is_text() {
            true => template(value)?,
            // Numbers and flags are written as they are.
            false => Template::literal(&value.json()?.to_string()),
        };
        let is_fixed = template.variables().chain(template.arguments()).next().is_none();
        if is_fixed && holds_a_key(name) {
            value.refuse(key_in_file(name, ""));
            return None;
        }
        Some(((*name).to_owned(), template))
    };
    // All entries are read before an invalid one ends the function.
    let read: Vec<_> = entries.iter().map(entry).collect();
    read.into_iter().collect()
}

fn read_headers(field: &TomlField<'_>) -> Option<Vec<(String, Template)>> {
    let entries = field.table()?.all();
    let header = |(name, value): &(&str, TomlField<'_>)| {
        let template = template(value)?;
        if HeaderName::try_from(*name).is_err() {
            value.refuse("not the name of an HTTP header; expected letters, digits and `-`");
            return None;
        }
        if OWN_HEADERS.iter().any(|own| name.eq_ignore_ascii_case(own)) {
            value.refuse("this header is made by the client; leave it out");
            return None;
        }
        let is_fixed = template.variables().chain(template.arguments()).next().is_none();
        if is_fixed && (carries_key(name) || holds_a_key(name)) {
            let prefix = if name.eq_ignore_ascii_case("authorization") { "Bearer " } else { "" };
            value.refuse(key_in_file(name, prefix));
            return None;
        }
        if HeaderValue::from_bytes(template.to_string().as_bytes()).is_err() {
            value.refuse("a header's value is one line of printable characters");
            return None;
        }
        Some(((*name).to_owned(), template))
    };
    let read: Vec<_> = entries.iter().map(header).collect();
    read.into_iter().collect()
}

fn key_in_file(name: &str, prefix: &str) -> String {
    format!(
        "a key must not be in a file: write {name} = \"{prefix}${{NAME_OF_A_VARIABLE}}\" for an environment variable"
    )
}

/// Cookies, whose names are tokens.
fn read_cookies(field: &TomlField<'_>) -> Option<Vec<(String, Template)>> {
    let cookies = templates(field)?;
    if let Some((name, _)) = cookies.iter().find(|(name, _)| HeaderName::try_from(name).is_err()) {
        field.refuse(format!(
            "{name:?} is not the name of a cookie; expected letters, digits, `-` and `_`"
        ));
        return None;
    }
    Some(cookies)
}

/// `body` for JSON, `form` or `text`; at most one of them.
fn read_body(fields: &mut TomlFields<'_>) -> Option<Option<BodyTemplate>> {
    let given = ["body", "form", "text"].map(|key| Some((key, fields.get(key)?)));
    let given: Vec<_> = given.into_iter().flatten().collect();
    let mut flag = |key| fields.get(key).map_or(Some(false), |field| field.flag());
    let (optional, rest) = (flag("optional_body"), flag("rest"));
    if let [(first, _), (_, second), ..] = given.as_slice() {
        second.refuse(format!("conflicts with `{first}`; a request has one body"));
        return None;
    }
    let Some((kind, field)) = given.first() else { return Some(None) };
    let content = match *kind {
        "body" => match JsonTemplate::parse(&field.json()?) {
            Ok(template) => Content::Json(template),
            Err(why) => {
                field.refuse(why);
                return None;
            }
        },
        "form" => Content::Form(templates(field)?),
        _ => Content::Text(template(field)?),
    };
    let (optional, rest) = (optional?, rest?);
    if rest && !matches!(content, Content::Form(_) | Content::Json(JsonTemplate::Object(_))) {
        field.refuse("`rest` adds fields to it; expected a table of fields");
        return None;
    }
    Some(Some(BodyTemplate { content, optional, rest }))
}

fn template(field: &TomlField<'_>) -> Option<Template> {
    match Template::parse(field.text()?) {
        Ok(template) => Some(template),
        Err(why) => {
            field.refuse(why);
            None
        }
    }
}
