//! Swagger 2.0 as OpenAPI 3: parameters get a schema and a style, those of the body become a request body, and servers,
//! keys and results move to their places. Everything else stays where it is, so references still lead there.

use serde_json::{Map, Value, json};

use super::reference::Root;

/// Fields of a parameter that are not part of its schema.
const OWN: [&str; 6] =
    ["name", "in", "required", "description", "collectionFormat", "allowEmptyValue"];
const FORM: &str = "application/x-www-form-urlencoded";
const MULTIPART: &str = "multipart/form-data";

/// The document as OpenAPI 3.0, and notes about lost content.
pub(super) fn converted(mut document: Value) -> (Value, Vec<String>) {
    let paths = match document["paths"].as_object() {
        Some(paths) => {
            let root = Root { value: &document, file: "" };
            paths.iter().map(|(path, item)| (path.clone(), item_of(root, item))).collect()
        }
        None => Map::new(),
    };
    let servers = servers(&document);
    let schemes = security_schemes(&document["securityDefinitions"]);
    if let Some(fields) = document.as_object_mut() {
        fields.insert("openapi".to_owned(), "3.0.0".into());
        fields.insert("servers".to_owned(), servers);
        fields.insert("components".to_owned(), json!({ "securitySchemes": schemes }));
        fields.insert("paths".to_owned(), paths.into());
    }
    (document, Vec::new())
}

fn servers(document: &Value) -> Value {
    let Some(host) = document["host"].as_str().filter(|host| !host.is_empty()) else {
        return json!([]);
    };
    let schemes = document["schemes"].as_array().cloned().unwrap_or_default();
    let is_named = |scheme: &str| schemes.iter().any(|known| known == scheme);
    let scheme = if is_named("http") && !is_named("https") { "http" } else { "https" };
    let path = document["basePath"].as_str().unwrap_or_default().trim_start_matches('/');
    json!([{ "url": format!("{scheme}://{host}/{path}") }])
}

fn security_schemes(definitions: &Value) -> Map<String, Value> {
    let scheme = |scheme: &Value| match scheme["type"].as_str() {
        Some("basic") => json!({ "type": "http", "scheme": "basic" }),
        _ => scheme.clone(),
    };
    let all = definitions.as_object().into_iter().flatten();
    all.map(|(name, definition)| (name.clone(), scheme(definition))).collect()
}

/// A path with its operations. A part that cannot be converted stays, and is reported when it is read.
fn item_of(root: Root<'_>, item: &Value) -> Value {
    let Some(fields) = root.follow(item).ok().and_then(Value::as_object) else {
        return item.clone();
    };
    let shared = Parameters::of(root, fields.get("parameters"));
    let mut written = Map::new();
    for (key, value) in fields {
        let field = match key.as_str() {
            "parameters" => shared.plain.clone(),
            _ if value.is_object() && value.get("$ref").is_none() => {
                operation_of(root, value, &shared)
            }
            _ => value.clone(),
        };
        written.insert(key.clone(), field);
    }
    written.into()
}

/// The parameters of a list, by what they become.
struct Parameters<'d> {
    /// The parameters as OpenAPI 3 has them; the original value where it is not a list.
    plain: Value,
    body: Option<&'d Value>,
    form: Vec<&'d Value>,
}

impl<'d> Parameters<'d> {
    fn of(root: Root<'d>, list: Option<&'d Value>) -> Self {
        let Some(all) = list.and_then(Value::as_array) else {
            let plain = list.cloned().unwrap_or(Value::Null);
            return Self { plain, body: None, form: Vec::new() };
        };
        let (mut plain, mut body, mut form) = (Vec::new(), None, Vec::new());
        for parameter in all {
            let target = root.follow(parameter).unwrap_or(parameter);
            match target["in"].as_str() {
                Some("body") => body = Some(target),
                Some("formData") => form.push(target),
                _ if target.get("$ref").is_some() => plain.push(target.clone()),
                _ => plain.push(parameter_of(target)),
            }
        }
        Self { plain: plain.into(), body, form }
    }
}

fn operation_of(root: Root<'_>, operation: &Value, shared: &Parameters<'_>) -> Value {
    let mut written = operation.as_object().cloned().unwrap_or_default();
    let own = Parameters::of(root, operation.get("parameters"));
    let consumes = operation.get("consumes").unwrap_or(&root.value["consumes"]);
    let types: Vec<&str> =
        consumes.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let form = if own.form.is_empty() { &shared.form } else { &own.form };
    let body = match own.body.or(shared.body) {
        Some(body) => Some(body_of(body, &types)),
        None if !form.is_empty() => Some(form_of(form, &types)),
        None => None,
    };
    written.insert("parameters".to_owned(), own.plain);
    if let Some(body) = body {
        written.insert("requestBody".to_owned(), body);
    }
    if let Some(responses) = operation["responses"].as_object() {
        let responses = responses.iter().map(|(status, response)| {
            let response = root.follow(response).unwrap_or(response);
            (status.clone(), response_of(response))
        });
        written.insert("responses".to_owned(), responses.collect::<Map<_, _>>().into());
    }
    written.into()
}

/// The schema of a parameter, whose keywords are in the parameter itself.
fn schema_of(parameter: &Value) -> Value {
    let all = parameter.as_object().into_iter().flatten();
    let keywords = all.filter(|(key, _)| !OWN.contains(&key.as_str()));
    keywords.map(|(key, value)| (key.clone(), value.clone())).collect::<Map<_, _>>().into()
}

/// The style and the explode flag of a list in this place.
fn style_of(parameter: &Value) -> Option<(&str, bool)> {
    if parameter["type"] != "array" {
        return None;
    }
    let is_pair = matches!(parameter["in"].as_str(), Some("query" | "formData"));
    Some(match parameter["collectionFormat"].as_str().unwrap_or("csv") {
        "csv" if is_pair => ("form", false),
        "csv" => ("simple", false),
        "multi" if is_pair => ("form", true),
        "ssv" => ("spaceDelimited", false),
        "pipes" => ("pipeDelimited", false),
        other => (other, false),
    })
}

fn parameter_of(parameter: &Value) -> Value {
    let Some(fields) = parameter.as_object() else { return parameter.clone() };
    let own = fields.iter().filter(|(key, _)| OWN[..4].contains(&key.as_str()));
    let mut written: Map<String, Value> =
        own.map(|(key, value)| (key.clone(), value.clone())).collect();
    written.insert("schema".to_owned(), schema_of(parameter));
    if let Some((style, explode)) = style_of(parameter) {
        written.insert("style".to_owned(), style.into());
        written.insert("explode".to_owned(), explode.into());
    }
    written.into()
}

fn body_of(body: &Value, types: &[&str]) -> Value {
    let types = if types.is_empty() { &["application/json"][..] } else { types };
    let media = json!({ "schema": body["schema"] });
    let content: Map<String, Value> =
        types.iter().map(|kind| ((*kind).to_owned(), media.clone())).collect();
    json!({ "required": body["required"], "content": content })
}

fn form_of(fields: &[&Value], types: &[&str]) -> Value {
    let (mut properties, mut encoding) = (Map::new(), Map::new());
    let mut required: Vec<Value> = Vec::new();
    for field in fields {
        let Some(name) = field["name"].as_str() else { continue };
        let mut schema = schema_of(field);
        if let (Some(text), Some(schema)) = (field.get("description"), schema.as_object_mut()) {
            schema.insert("description".to_owned(), text.clone());
        }
        properties.insert(name.to_owned(), schema);
        if field["required"] == true {
            required.push(name.into());
        }
        if let Some((style, explode)) = style_of(field) {
            encoding.insert(name.to_owned(), json!({ "style": style, "explode": explode }));
        }
    }
    let is_named = |kind: &str| types.iter().any(|known| known.eq_ignore_ascii_case(kind));
    let has_file = fields.iter().any(|field| field["type"] == "file");
    let kind = if has_file || is_named(MULTIPART) && !is_named(FORM) { MULTIPART } else { FORM };
    let is_required = !required.is_empty();
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    json!({ "required": is_required, "content": { kind: { "schema": schema, "encoding": encoding } } })
}

fn response_of(response: &Value) -> Value {
    let Some(schema) = response.get("schema") else { return response.clone() };
    let mut media = json!({ "schema": schema });
    if let Some(example) = response["examples"].get("application/json") {
        media["example"] = example.clone();
    }
    json!({ "description": response["description"], "content": { "application/json": media } })
}
