//! The address of a saved request: server, path with places, and the parameters of path and query.

use serde_json::{Value, json};

use super::{argument, described, listed, text_of};

#[derive(Debug)]
pub(super) struct Address {
    /// `None` if it is named by variables that are not set.
    pub server: Option<String>,
    pub path: String,
    pub parameters: Vec<Value>,
}

impl Address {
    /// # Errors
    /// The request has no address.
    pub fn of(request: &Value, variables: &Value) -> Result<Self, String> {
        let url = if request.is_string() { request } else { &request["url"] };
        let raw = url.as_str().map(str::to_owned).or_else(|| raw_of(url));
        let raw = raw.filter(|raw| !raw.trim().is_empty());
        let raw = raw.ok_or("expected an address in `request.url`")?;
        let raw = raw.trim().split('#').next().unwrap_or_default();
        let (address, query) = raw.split_once('?').unwrap_or((raw, ""));
        let (server, path) = split(address);
        let mut parameters = Vec::new();
        let path = path_of(path, &url["variable"], &mut parameters);
        let mut pairs: Vec<Value> = listed(&url["query"]).cloned().collect();
        if pairs.is_empty() {
            let pair = |pair: &str| {
                let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                json!({ "key": name, "value": value })
            };
            pairs = query.split('&').filter(|pair| !pair.is_empty()).map(pair).collect();
        }
        for pair in &pairs {
            let name = pair["key"].as_str().unwrap_or_default();
            let is_known = parameters
                .iter()
                .any(|known: &Value| known["name"] == name && known["in"] == "query");
            if !name.is_empty() && !name.contains("{{") && !is_known {
                parameters.push(argument(name, "query", pair));
            }
        }
        Ok(Self { server: server_of(server, variables), path, parameters })
    }
}

/// The address as it would be typed, where only its parts are given.
fn raw_of(url: &Value) -> Option<String> {
    if let Some(raw) = url["raw"].as_str() {
        return Some(raw.to_owned());
    }
    let joined = |list: &Value, between: &str| match list {
        Value::String(text) => text.clone(),
        _ => listed(list)
            .filter_map(|part| part.as_str().or_else(|| part["value"].as_str()))
            .collect::<Vec<_>>()
            .join(between),
    };
    let host = joined(&url["host"], ".");
    let scheme = url["protocol"].as_str().map(|scheme| format!("{scheme}://")).unwrap_or_default();
    (!host.is_empty()).then(|| format!("{scheme}{host}/{}", joined(&url["path"], "/")))
}

/// Server and path.
fn split(address: &str) -> (&str, &str) {
    let from = address.find("://").map_or(0, |at| at + 3);
    match address[from..].find('/') {
        Some(at) => address.split_at(from + at),
        None => (address, ""),
    }
}

/// The server with the collection's own variables.
fn server_of(server: &str, variables: &Value) -> Option<String> {
    let mut server = server.to_owned();
    for variable in listed(variables) {
        let name = variable["key"].as_str().or_else(|| variable["id"].as_str());
        if let (Some(name), Some(value)) = (name, variable["value"].as_str()) {
            server = server.replace(&format!("{{{{{name}}}}}"), value);
        }
    }
    let server = server.trim_end_matches('/');
    let is_whole = !server.is_empty() && !server.contains("{{");
    is_whole.then(|| match server.contains("://") {
        true => server.to_owned(),
        false => format!("https://{server}"),
    })
}

/// The path with a place for each variable: `:id` and `{{id}}`.
fn path_of(path: &str, variables: &Value, parameters: &mut Vec<Value>) -> String {
    let mut place = |name: &str| {
        let allowed = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
        let own: String = name.chars().map(|c| if allowed(c) { c } else { '_' }).collect();
        let is_known = parameters.iter().any(|known| known["name"] == own.as_str());
        if !is_known {
            let said = listed(variables).find(|known| known["key"] == name).unwrap_or(&Value::Null);
            let description = described(&text_of(&said["description"]), &said["value"]);
            parameters.push(json!({
                "name": own, "in": "path", "required": true, "description": description,
                "schema": { "type": "string" },
            }));
        }
        format!("{{{own}}}")
    };
    let part = |part: &str| {
        if let Some(name) = part.strip_prefix(':').filter(|name| !name.is_empty()) {
            return place(name);
        }
        let mut written = String::new();
        let mut rest = part;
        while let Some((before, after)) = rest.split_once("{{") {
            let Some((name, after)) = after.split_once("}}") else { break };
            written.push_str(before);
            written.push_str(&place(name.trim()));
            rest = after;
        }
        written + &rest.replace(['{', '}'], "")
    };
    let parts: Vec<String> = path.split('/').map(part).collect();
    let path = parts.join("/");
    if path.starts_with('/') { path } else { format!("/{path}") }
}
