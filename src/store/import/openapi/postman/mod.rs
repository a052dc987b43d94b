//! A Postman collection as OpenAPI: each request becomes an operation. Variables in it are arguments, and so are the
//! values of its query and the fields of its body, whose examples show their types.

mod address;
mod auth;
mod body;

use serde_json::{Map, Value, json};

use self::address::Address;
use super::parameter::FIXED;
use crate::domain::words::clipped;
use crate::net::client::{carries_key, holds_a_key};

/// The most levels of nested folders.
const DEEPEST: usize = 32;

/// Whether it is a collection of version 2.
pub(super) fn is_collection(document: &Value) -> bool {
    let schema = document["info"]["schema"].as_str().unwrap_or_default();
    document["item"].is_array()
        && (schema.contains("/collection/v2") || document["info"]["_postman_id"].is_string())
}

/// A saved request, with the settings of the folders around it.
struct Saved<'d> {
    name: &'d str,
    request: &'d Value,
    auth: &'d Value,
    address: Address,
}

/// The collection as OpenAPI 3.1, and remarks about requests that are left out.
///
/// # Errors
/// The field at fault, and why it cannot be converted.
pub(super) fn converted(document: &Value) -> Result<(Value, Vec<String>), (&'static str, String)> {
    let (mut saved, mut remarks) = (Vec::new(), Vec::new());
    collect(&document["item"], &document["auth"], document, DEEPEST, &mut saved, &mut remarks);
    if saved.is_empty() {
        return Err(("item", "has no requests; expected at least one in `item`".to_owned()));
    }
    let server = most_common(&saved);
    let (mut paths, mut schemes) = (Map::new(), Map::new());
    for saved in &saved {
        let mut operation = operation(saved, &mut schemes);
        if saved.address.server != server
            && let Some(own) = &saved.address.server
        {
            operation["servers"] = json!([{ "url": own }]);
        }
        let method = saved.request["method"].as_str().unwrap_or("GET").to_ascii_lowercase();
        put(&mut paths, &saved.address.path, &method, operation);
    }
    let servers: Vec<Value> = server.into_iter().map(|url| json!({ "url": url })).collect();
    let root = json!({
        "openapi": "3.1.0",
        "info": { "title": document["info"]["name"].as_str().unwrap_or("API"), "version": "" },
        "servers": servers,
        "paths": paths,
        "components": { "securitySchemes": schemes },
    });
    Ok((root, remarks))
}

fn collect<'d>(
    items: &'d Value,
    auth: &'d Value,
    document: &Value,
    depth: usize,
    saved: &mut Vec<Saved<'d>>,
    remarks: &mut Vec<String>,
) {
    for item in items.as_array().into_iter().flatten() {
        let name = item["name"].as_str().unwrap_or_default();
        let own = |holder: &'d Value| Some(&holder["auth"]).filter(|auth| auth.is_object());
        let auth = own(item).unwrap_or(auth);
        if item["item"].is_array() {
            if depth > 0 {
                collect(&item["item"], auth, document, depth - 1, saved, remarks);
            }
            continue;
        }
        let request = &item["request"];
        match Address::of(request, &document["variable"]) {
            Ok(address) => {
                let auth = own(request).unwrap_or(auth);
                saved.push(Saved { name, request, auth, address });
            }
            Err(why) => remarks.push(format!("request {name:?} is left out: {why}")),
        }
    }
}

/// The most common server; the first of several.
fn most_common(saved: &[Saved<'_>]) -> Option<String> {
    let servers = || saved.iter().filter_map(|saved| saved.address.server.as_ref());
    let count = |server: &String| servers().filter(|known| *known == server).count();
    servers()
        .max_by_key(|server| {
            (count(server), usize::MAX - servers().position(|known| known == *server).unwrap_or(0))
        })
        .cloned()
}

/// Adds an operation to its path. A second one with the same method gets a fragment, which is not sent.
fn put(paths: &mut Map<String, Value>, path: &str, method: &str, operation: Value) {
    let mut key = path.to_owned();
    let mut number = 2;
    while paths.get(&key).is_some_and(|item| item.get(method).is_some()) {
        key = format!("{path}#{number}");
        number += 1;
    }
    let item = paths.entry(key).or_insert_with(|| json!({}));
    item[method] = operation;
}

fn operation(saved: &Saved<'_>, schemes: &mut Map<String, Value>) -> Value {
    let Saved { name, request, auth, address } = saved;
    let mut parameters = address.parameters.clone();
    let mut keys = auth::security(auth, schemes);
    for header in listed(&request["header"]) {
        header_of(header, &mut parameters, &mut keys, schemes);
    }
    let mut operation = json!({
        "operationId": name,
        "summary": name,
        "description": text_of(&request["description"]),
        "parameters": parameters,
    });
    if let Some(keys) = keys {
        operation["security"] = keys;
    }
    if let Some(body) = body::of(&request["body"], &request["header"]) {
        operation["requestBody"] = body;
    }
    operation
}

/// Adds a header as a parameter, or as a key where it carries one.
fn header_of(
    header: &Value,
    parameters: &mut Vec<Value>,
    keys: &mut Option<Value>,
    schemes: &mut Map<String, Value>,
) {
    let Some(name) = header["key"].as_str().map(str::trim).filter(|name| !name.is_empty()) else {
        return;
    };
    let value = header["value"].as_str().unwrap_or_default();
    let is_off = header["disabled"] == true;
    if ["content-type", "accept", "content-length", "host"]
        .iter()
        .any(|own| name.eq_ignore_ascii_case(own))
    {
        return;
    }
    if carries_key(name) || holds_a_key(name) {
        if !is_off && keys.as_ref().is_none_or(|keys| *keys == json!([])) {
            *keys = Some(auth::of_header(name, value, schemes));
        }
        return;
    }
    let mut parameter = argument(name, "header", header);
    if !is_off && !value.contains("{{") {
        parameter[FIXED] = value.into();
    }
    parameter["required"] = (!is_off && value.contains("{{")).into();
    parameters.push(parameter);
}

/// A parameter that is a text, with the saved value as an example.
fn argument(name: &str, place: &str, saved: &Value) -> Value {
    let description = described(&text_of(&saved["description"]), &saved["value"]);
    json!({ "name": name, "in": place, "description": description, "schema": { "type": "string" } })
}

/// A description with an example.
fn described(description: &str, example: &Value) -> String {
    let example = match example {
        Value::String(text) if text.is_empty() || text.contains("{{") => String::new(),
        Value::String(_) | Value::Number(_) | Value::Bool(_) => {
            format!("Such as {}.", clipped(&example.to_string(), 80))
        }
        Value::Null | Value::Array(_) | Value::Object(_) => String::new(),
    };
    [description, &example]
        .iter()
        .filter(|part| !part.is_empty())
        .copied()
        .collect::<Vec<_>>()
        .join(" ")
}

/// A description, which may be an object with its type.
fn text_of(description: &Value) -> String {
    let text = description.as_str().or_else(|| description["content"].as_str());
    text.unwrap_or_default().trim().to_owned()
}

/// The elements of a list that are not switched off.
fn listed(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}
