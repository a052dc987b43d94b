//! Which server the tools call.

use oas3::Spec;
use oas3::spec::Server;
use reqwest::Url;

/// The absolute addresses that a document names, with the defaults of their variables and without a last slash.
pub(super) fn named(spec: &Spec) -> Vec<String> {
    let mut servers: Vec<String> =
        spec.servers.iter().filter_map(|server| address(server).ok()).collect();
    servers.dedup();
    servers
}

fn address(server: &Server) -> Result<String, String> {
    let mut url = server.url.trim().to_owned();
    for (name, variable) in &server.variables {
        url = url.replace(&format!("{{{name}}}"), &variable.default);
    }
    checked(&url)
}

/// An address of a server as manifests have it.
///
/// # Errors
/// Why it cannot be one, in words.
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
