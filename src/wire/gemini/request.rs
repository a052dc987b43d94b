//! Reads a request, as a client wrote it. The model and the form of the answer are in its address.

use serde_json::{Value, json};

use super::past::ContentHistory;
use super::spelling::{either, is_among};
use crate::asked::{IncomingRequest, NotRead, Unknown, list_of};
use crate::body::RequestBody;
use crate::domain::schema_words::change_inside;
use crate::domain::{Finite, Request, Role, ToolDef, ToolName};
use crate::node::{JsonFields, JsonItem};
use crate::schema::tool_without_schema;

/// Fields of a request. Some have no place in a [`Request`] but are known.
const KNOWN: [&str; 11] = [
    "contents",
    "systemInstruction",
    "tools",
    "toolConfig",
    "generationConfig",
    "safetySettings",
    "cachedContent",
    "labels",
    "model",
    "serviceTier",
    "store",
];

/// Reads the body of a request.
///
/// # Errors
/// The body is not a JSON object, or has no list of contents.
pub(super) fn read_request(bytes: &[u8]) -> Result<IncomingRequest, NotRead> {
    let mut body = RequestBody::read(str::from_utf8(bytes)?)?;
    let contents = body.list("contents");
    let contents = contents.ok_or(NotRead::NoRequest("expected a list `contents`"))?;
    let tools = body.list("tools").unwrap_or_default();
    let body = body.fields;
    let mut past = ContentHistory::default();
    for (name, _) in body.iter().filter(|(name, _)| !is_among(name, &KNOWN)) {
        past.unknown.add(name);
    }
    if let Some(system) = either(&body, "systemInstruction") {
        past.system(&system);
    }
    let (list, before) = (list_of(&contents), past.messages.len());
    contents.iter().for_each(|content| past.content(content));
    past.end_of_model();
    let ContentHistory { messages, calls, results, mut unknown, .. } = past;
    let settings = either(&body, "generationConfig").and_then(|it| it.fields());
    let setting = |name: &str| either(settings.as_ref()?, name);
    let number = |name: &str| setting(name).and_then(|it| it.f64()).map(Finite::from);
    let stop = setting("stopSequences").and_then(|list| list.items()).unwrap_or_default();
    let schema = ["responseJsonSchema", "responseSchema"].into_iter().find_map(setting);
    let choice = either(&body, "toolConfig").and_then(|it| it.fields());
    let choice = choice.and_then(|it| either(&it, "functionCallingConfig")?.fields());
    let allowed = choice.as_ref().and_then(|it| either(it, "allowedFunctionNames")?.items());
    let allowed = allowed.unwrap_or_default();
    let mode = choice.and_then(|it| it.string("mode").map(|mode| mode.to_ascii_uppercase()));
    let mut request = Request {
        tools: tools.iter().flat_map(|tool| defined(tool, &mut unknown)).collect(),
        temperature: number("temperature"),
        top_p: number("topP"),
        seed: setting("seed").and_then(|seed| seed.i64()),
        max_tokens: setting("maxOutputTokens").and_then(|most| u32::try_from(most.u64()?).ok()),
        stop: stop.iter().filter_map(|it| Some(it.string()?.into_owned())).collect(),
        schema: schema.map(|schema| in_lower_case(schema.value())),
        allowed: allowed
            .iter()
            .filter_map(|it| Some(ToolName::from(it.string()?.as_ref())))
            .collect(),
        ..Request::new(Role::Actor, messages)
    };
    request.messages.name_results();
    Ok(IncomingRequest {
        request,
        model: body.string("model").unwrap_or_default().into_owned(),
        streams: false,
        forces_call: mode.is_some_and(|mode| mode == "ANY"),
        prepares: false,
        calls,
        results,
        failures: Vec::new(),
        list,
        before,
        previous: None,
        unknown: unknown.0,
    })
}

/// The tools of an entry: functions, or a tool that the endpoint has built in.
fn defined(entry: &JsonItem<'_>, unknown: &mut Unknown) -> Vec<ToolDef> {
    let Some(fields) = &entry.fields else {
        unknown.add("tools[]");
        return Vec::new();
    };
    let mut tools = Vec::new();
    for (name, node) in fields.iter() {
        if is_among(name, &["functionDeclarations"]) {
            let functions = node.items().unwrap_or_default();
            tools.extend(functions.iter().filter_map(|it| function(&it.fields()?)));
        } else if !node.is_null() {
            tools.push(tool_without_schema(name));
        }
    }
    tools
}

fn function(fields: &JsonFields<'_>) -> Option<ToolDef> {
    let schema = either(fields, "parametersJsonSchema").or_else(|| fields.get("parameters"));
    let schema = schema.map_or_else(
        || json!({"type": "object", "properties": {}}),
        |schema| in_lower_case(schema.value()),
    );
    Some(ToolDef {
        name: fields.string("name")?.as_ref().into(),
        description: fields.string("description").unwrap_or_default().into_owned(),
        parameters: schema.into(),
    })
}

/// A schema whose types are written as JSON Schema has them: `string`, where this format has `STRING`.
fn in_lower_case(mut schema: Value) -> Value {
    lower(&mut schema);
    schema
}

fn lower(schema: &mut Value) {
    let Some(schema) = schema.as_object_mut() else { return };
    if let Some(Value::String(kind)) = schema.get_mut("type") {
        kind.make_ascii_lowercase();
    }
    for (word, value) in schema {
        change_inside(word, value, |_, schema| lower(schema));
    }
}
