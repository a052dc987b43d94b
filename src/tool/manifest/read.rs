//! Parses the fields of a manifest, above all its schema.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};

use super::plain_schema::is_plain;
use super::{Manifest, Surroundings, ToolSource, source, words};
use crate::builtin::Builtin;
use crate::domain::{EffectClass, Returns, ToolName, ToolSpec, words::clipped};
use crate::files::toml_file::{FieldLines, Problem, Problems, TomlField, TomlFields};
use crate::http::HttpSource;

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
/// The longest timeout. A slower tool should be split: one call starts the work, and another gets the result.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(3600);
/// The highest cost in credits, more than any budget has.
const DEAREST: f64 = 1e9;
/// The longest name; every endpoint refuses longer ones.
const NAME: usize = 128;
/// The field of the schema of the arguments.
const PARAMETERS: &str = "parameters";
/// The name of [`ToolName::END`] in a menu; a tool of this name would be indistinguishable from it.
const FINISH: &str = "Finish";

/// Reads all fields even if one is invalid, so that all problems are found at once.
pub fn manifest(
    mut fields: TomlFields<'_>,
    file: &str,
    around: &Surroundings<'_>,
) -> Option<Manifest> {
    let name = fields.need("name", "name = \"my_tool\"").and_then(|field| read_name(&field));
    let description = fields
        .need("description", "description = \"what it does, for the model to choose by\"")
        .and_then(|field| field.text());
    let class = fields.get("class").map_or(Some(""), |field| field.text());
    let cost = fields.get("cost").map_or(Some(None), |field| field.number(0.0, DEAREST).map(Some));
    let effect = fields.get("effect").map_or(Some(EffectClass::Unknown), |field| {
        field.one_of(&[
            ("read", EffectClass::Read),
            ("idempotent", EffectClass::Idempotent),
            ("write", EffectClass::Write),
            ("unknown", EffectClass::Unknown),
        ])
    });
    let timeout = fields.get("timeout").map_or(Some(DEFAULT_TIMEOUT), |field| {
        field.duration(Duration::from_millis(1), LONGEST_TIMEOUT)
    });
    let examples = fields.get("examples").map_or(Some(Vec::new()), |field| field.texts());
    let mut remarks = Vec::new();
    let parameters = fields.get("parameters");
    let schema = match &parameters {
        Some(field) => read_schema(field, &mut remarks),
        None => Some(json!({ "type": "object", "properties": {} })),
    };
    let source = fields
        .need("source", "[source] with one of `builtin`, `command`, `recorded`, `url`")
        .and_then(|field| field.table())
        .and_then(|table| source::read(table, around, &mut remarks));
    let of = |field: TomlField<'_>| {
        field.filled("the reason why it cannot be called").map(str::to_owned)
    };
    let disabled = fields.get("disabled").map_or(Some(None), |field| of(field).map(Some));
    let returns = fields.get("returns").map_or(Some(None), |field| read_returns(&field).map(Some));
    let place = parameters.as_ref();
    match (&schema, &source) {
        (Some(schema), Some((ToolSource::Builtin(function), _))) => {
            check_needs(&fields, place, schema, function);
        }
        (Some(schema), Some((ToolSource::Http(source), _))) => {
            check_places(&fields, place, schema, source);
        }
        _ => {}
    }
    fields.finish();
    let (source, shown) = source?;
    let request = match &source {
        ToolSource::Http(source) => Some(Arc::clone(&source.request)),
        ToolSource::Builtin(_) | ToolSource::Command(_) | ToolSource::Recorded(_) => None,
    };
    let spec = ToolSpec {
        name: name?,
        description: description?.to_owned(),
        parameters: schema?.into(),
        class: class?.to_owned(),
        cost: (cost?).map(Into::into),
        effect: effect?,
        proposed: None,
        served_as: None,
        timeout_ms: timeout?.as_millis() as u64,
        source: shown,
        examples: examples?,
        disabled: disabled?,
        returns: returns?,
        request,
    };
    Some(Manifest { spec: Arc::new(spec), source, file: file.to_owned(), remarks })
}

fn read_name(field: &TomlField<'_>) -> Option<ToolName> {
    let text = field.text()?;
    let allowed = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    if text.is_empty() || text.len() > NAME || !text.chars().all(allowed) {
        field.wrong(&format!("1 to {NAME} letters, digits, `_`, `.` or `-`"));
        return None;
    }
    let name = ToolName::new(text);
    if name.is_special() || text == FINISH {
        field.refuse(format!("{text:?} is a node of the tool graph; choose another name"));
        return None;
    }
    Some(name)
}

/// The schema of the arguments, checked against the rules for schemas. Words without an effect are remarks.
fn read_schema(field: &TomlField<'_>, remarks: &mut Vec<Problem>) -> Option<Value> {
    let mut schema = field.json()?;
    let Some(object) = schema.as_object_mut() else {
        field.wrong("a table with a JSON Schema of the arguments");
        return None;
    };
    let kind = object.entry("type").or_insert_with(|| "object".into());
    if kind != "object" {
        field.refuse(format!("arguments are an object: expected type = \"object\", got {kind}"));
        return None;
    }
    let words::SchemaFaults { wrong, unknown } = words::faults(&schema, PARAMETERS);
    let placed = |faults: Vec<words::SchemaFault>| -> Vec<Problem> {
        let lines = if faults.is_empty() { None } else { field.lines() };
        let place = |lines: &FieldLines| {
            faults.into_iter().map(|(field, text)| lines.problem(&field, text)).collect()
        };
        lines.as_ref().map(place).unwrap_or_default()
    };
    remarks.extend(placed(unknown));
    if !wrong.is_empty() {
        field.refuse_for(Problems(placed(wrong)));
        return None;
    }
    if is_plain(&schema) {
        return Some(schema);
    }
    let fault: Option<String> = match jsonschema::meta::validate(&schema) {
        Err(error) => {
            let place = field_of(error.instance_path().as_str());
            let text = format!("not a JSON Schema: {}", clipped(&error.to_string(), 300));
            field.refuse_for(Problems(placed(vec![(place, text)])));
            return None;
        }
        // Compiling every schema of 16,000 tools would noticeably delay the start. Only references and patterns can be
        // wrong in ways that the rules do not detect.
        Ok(()) if mentions(&schema, &["$ref", "$dynamicRef", "pattern", "patternProperties"]) => {
            jsonschema::validator_for(&schema).err().map(|error| error.to_string())
        }
        Ok(()) => None,
    };
    if let Some(fault) = fault {
        field.refuse(format!("not a JSON Schema: {}", clipped(&fault, 300)));
        return None;
    }
    Some(schema)
}

/// The field of a place in the schema: `/properties/city/0` is `parameters.properties.city[0]`.
fn field_of(pointer: &str) -> String {
    let mut field = PARAMETERS.to_owned();
    for name in pointer.split('/').skip(1) {
        match name.parse::<usize>() {
            Ok(at) => field.push_str(&format!("[{at}]")),
            Err(_) => field.push_str(&format!(".{}", name.replace("~1", "/").replace("~0", "~"))),
        }
    }
    field
}

fn mentions(schema: &Value, keys: &[&str]) -> bool {
    match schema {
        Value::Object(map) => {
            map.iter().any(|(key, value)| keys.contains(&key.as_str()) || mentions(value, keys))
        }
        Value::Array(items) => items.iter().any(|item| mentions(item, keys)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// The form of a result. Its schema is for people and prompts; results are not checked against it.
fn read_returns(field: &TomlField<'_>) -> Option<Arc<Returns>> {
    let mut fields = field.table()?;
    let schema =
        fields.need("schema", "schema = { type = \"object\" }").and_then(|field| field.json());
    let example = fields.get("example").map_or(Some(""), |field| field.text());
    fields.finish();
    Some(Arc::new(Returns { schema: schema?, example: example?.to_owned() }))
}

/// Checks that the request's arguments are declared, since others could never be given, and that those of the path are
/// required, since there is no address without them.
fn check_places(
    fields: &TomlFields<'_>,
    parameters: Option<&TomlField<'_>>,
    schema: &Value,
    source: &HttpSource,
) {
    let refuse = |text: String| match parameters {
        Some(field) => field.refuse(text),
        None => fields.refuse(text),
    };
    let declared = &schema["properties"];
    if let Some(name) = source.arguments().find(|name| declared.get(*name).is_none()) {
        refuse(format!(
            "the source names the argument `{name}`; declare it in [parameters.properties.{name}]"
        ));
    }
    let is_required = |name: &str| {
        schema["required"].as_array().is_some_and(|names| names.iter().any(|known| known == name))
    };
    if let Some(name) = source.request.url.arguments().find(|name| !is_required(name)) {
        refuse(format!("`{name}` is a part of the address; name it in parameters.required"));
    }
}

/// Checks that the arguments of a built-in function are declared, since otherwise it could never be called.
fn check_needs(
    fields: &TomlFields<'_>,
    parameters: Option<&TomlField<'_>>,
    schema: &Value,
    function: &Builtin,
) {
    for need in function.needs {
        if schema.pointer(&format!("/properties/{need}")).is_none() {
            let text = format!(
                "the built-in tool `{}` needs the argument `{need}`; declare it in \
                 [parameters.properties.{need}]",
                function.name
            );
            match parameters {
                Some(field) => field.refuse(text),
                None => fields.refuse(text),
            }
        }
    }
}
