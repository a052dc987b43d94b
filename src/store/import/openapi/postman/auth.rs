//! The authentication of a saved request.

use serde_json::{Map, Value, json};

use super::listed;

/// The `security` of an operation; `None` where the collection says nothing.
pub(super) fn security(auth: &Value, schemes: &mut Map<String, Value>) -> Option<Value> {
    let kind = auth["type"].as_str()?;
    let scheme = match kind {
        "noauth" => return Some(json!([])),
        "bearer" => json!({ "type": "http", "scheme": "bearer" }),
        "basic" => json!({ "type": "http", "scheme": "basic" }),
        "oauth2" => json!({ "type": "oauth2", "flows": {} }),
        "apikey" => {
            let place =
                if said(&auth["apikey"], "in") == Some("query") { "query" } else { "header" };
            let name = said(&auth["apikey"], "key").unwrap_or("Authorization");
            json!({ "type": "apiKey", "name": name, "in": place })
        }
        other => json!({ "type": "http", "scheme": other }),
    };
    Some(added(kind, scheme, schemes))
}

/// The `security` of an operation whose header carries a key.
pub(super) fn of_header(name: &str, value: &str, schemes: &mut Map<String, Value>) -> Value {
    let prefix = value.split(' ').next().unwrap_or_default().to_ascii_lowercase();
    let is_authorization = name.eq_ignore_ascii_case("authorization");
    match prefix.as_str() {
        "bearer" | "basic" if is_authorization => {
            added(&prefix, json!({ "type": "http", "scheme": prefix }), schemes)
        }
        _ => added(name, json!({ "type": "apiKey", "name": name, "in": "header" }), schemes),
    }
}

/// Adds a scheme, unless it is there; two of one kind may differ.
fn added(name: &str, scheme: Value, schemes: &mut Map<String, Value>) -> Value {
    let mut own = name.to_owned();
    let mut number = 2;
    while schemes.get(&own).is_some_and(|known| *known != scheme) {
        own = format!("{name}_{number}");
        number += 1;
    }
    schemes.insert(own.clone(), scheme);
    json!([{ own: [] }])
}

/// An attribute, which is in a list or in an object.
fn said<'d>(attributes: &'d Value, name: &str) -> Option<&'d str> {
    let listed = listed(attributes).find(|attribute| attribute["key"] == name);
    listed.map_or(&attributes[name], |attribute| &attribute["value"]).as_str()
}
