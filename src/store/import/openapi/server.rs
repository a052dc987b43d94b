//! The addresses of the servers that the tools call.

use reqwest::Url;
use serde_json::Value;

/// The absolute addresses that a document names, with the defaults of their variables and without a last slash. A
/// document without servers of its own may name one in each of its paths.
pub(super) fn named(document: &Value) -> Vec<String> {
    let servers = listed(document);
    if !servers.is_empty() {
        return servers;
    }
    let items = document["paths"].as_object().into_iter().flatten();
    let mut servers: Vec<String> = items.flat_map(|(_, item)| listed(item)).collect();
    servers.sort_unstable();
    servers.dedup();
    servers
}

/// The absolute addresses that a document, a path or an operation lists.
pub(super) fn listed(holder: &Value) -> Vec<String> {
    let servers = holder["servers"].as_array().into_iter().flatten();
    let mut servers: Vec<String> = servers.filter_map(|server| address(server)?.ok()).collect();
    servers.dedup();
    servers
}

fn address(server: &Value) -> Option<Result<String, String>> {
    let mut url = server["url"].as_str()?.trim().to_owned();
    for (name, variable) in server["variables"].as_object().into_iter().flatten() {
        let default = match &variable["default"] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        url = url.replace(&format!("{{{name}}}"), &default);
    }
    Some(checked(&url))
}

/// An address of a server as manifests have it.
///
/// # Errors
/// Why the text cannot be an address, in words.
pub(super) fn checked(text: &str) -> Result<String, String> {
    let expected = "expected an address such as https://api.example.org/v1";
    let url = Url::parse(text).map_err(|why| format!("{expected}, got {text:?}: {why}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("{expected}, got {text:?}"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(format!("{expected}, without a password"));
    }
    if url.query().is_some() || url.fragment().is_some() || text.contains(['{', '}']) {
        return Err(format!("{expected}, without `?`, `#` and braces; got {text:?}"));
    }
    Ok(text.trim_end_matches('/').to_owned())
}
