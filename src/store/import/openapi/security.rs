//! Keys of an API: where they go in a request, and the environment variables that they come from.

use serde_json::Value;

use super::names::variable;
use super::reference::Root;

/// The credentials of a request that its server requires.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ApiKeys {
    /// Names of headers and their values, such as `Bearer ${API_TOKEN}`.
    pub headers: Vec<(String, String)>,
    pub query: Vec<(String, String)>,
    pub cookies: Vec<(String, String)>,
    /// The variables, each with a description of its value.
    pub variables: Vec<(String, &'static str)>,
}

/// The keys of an operation: those of the first of its alternatives that can be sent; none, if keys are optional.
///
/// # Errors
/// No alternative can be sent, with the reasons.
pub(super) fn keys(root: Root<'_>, operation: &Value) -> Result<ApiKeys, String> {
    let ways = operation.get("security").unwrap_or(&root.value["security"]);
    let Some(ways) = ways.as_array().filter(|ways| !ways.is_empty()) else {
        return Ok(ApiKeys::default());
    };
    let is_none = |way: &Value| way.as_object().is_none_or(|schemes| schemes.is_empty());
    if ways.iter().any(is_none) {
        return Ok(ApiKeys::default());
    }
    let mut why = String::new();
    for schemes in ways.iter().filter_map(Value::as_object) {
        let mut keys = ApiKeys::default();
        match schemes.keys().try_for_each(|name| add(root, name, &mut keys)) {
            Ok(()) => return Ok(keys),
            Err(text) => why = text,
        }
    }
    Err(why)
}

fn add(root: Root<'_>, name: &str, keys: &mut ApiKeys) -> Result<(), String> {
    let scheme = root.value["components"]["securitySchemes"].get(name);
    let Some(scheme) = scheme else {
        return Err(format!("its security scheme {name:?} is not in `components.securitySchemes`"));
    };
    let scheme = root.follow(scheme)?;
    let said = |field: &str| scheme[field].as_str().unwrap_or_default();
    let title = root.value["info"]["title"].as_str().unwrap_or("API");
    let variable = variable(title, name);
    let key = format!("${{{variable}}}");
    let authorization = |prefix: &str| ("Authorization".to_owned(), format!("{prefix} {key}"));
    let what = match (said("type"), said("scheme").to_ascii_lowercase().as_str()) {
        ("apiKey", _) => {
            let own = said("name").to_owned();
            match said("in") {
                _ if own.is_empty() => return Err(format!("its key {name:?} has no name")),
                "header" => keys.headers.push((own, key)),
                "query" => keys.query.push((own, key)),
                "cookie" => keys.cookies.push((own, key)),
                other => {
                    return Err(format!(
                        "its key goes into {other:?}; expected header, query or cookie"
                    ));
                }
            }
            "the key"
        }
        ("http", "basic") => {
            keys.headers.push(authorization("Basic"));
            "user:password in Base64"
        }
        ("http", "bearer") => {
            keys.headers.push(authorization("Bearer"));
            "the token"
        }
        ("oauth2" | "openIdConnect", _) => {
            keys.headers.push(authorization("Bearer"));
            "an access token"
        }
        ("http", scheme) => {
            return Err(format!("it needs authentication by {scheme:?}, which cannot be sent"));
        }
        ("mutualTLS", _) => {
            return Err("it needs a certificate of the client, which cannot be sent".to_owned());
        }
        (other, _) => {
            return Err(format!("its security scheme {name:?} has the unknown type {other:?}"));
        }
    };
    keys.variables.push((variable, what));
    Ok(())
}
