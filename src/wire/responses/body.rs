//! The body of a request.

use serde_json::{Map, Value, json};

use super::sent::items;
use crate::domain::{Request, ToolDef, ToolName};
use crate::names::FunctionNames;
use crate::settings::{WireSettings, given};

/// The whole body; the endpoint's extra fields come last and take precedence. The format has neither a seed nor stop
/// texts, so a request's are not sent.
pub fn write_request(request: &Request, settings: &WireSettings<'_>) -> Value {
    let names = settings.names;
    let mut body = Map::new();
    body.insert("model".into(), settings.model.into());
    body.insert("input".into(), items(request, settings).into());
    let tools = settings.tools(request);
    let allowed = settings.allowed(request, &tools);
    if !tools.is_empty() {
        let tools = tools.into_iter().map(|(def, schema)| tool(def, schema, names));
        body.insert("tools".into(), tools.collect());
    }
    if !allowed.is_empty() {
        body.insert("tool_choice".into(), choice(&allowed, names));
    }
    body.extend(given([
        ("temperature", request.temperature.map(Value::from)),
        ("top_p", request.top_p.map(Value::from)),
        ("max_output_tokens", request.max_tokens.map(Value::from)),
    ]));
    if let Some(schema) = &request.schema {
        let format =
            json!({"type": "json_schema", "name": "answer", "strict": true, "schema": schema});
        body.insert("text".into(), json!({"format": format}));
    }
    // The endpoint stores nothing, so its thoughts must be sent along and returned to it.
    body.insert("store".into(), false.into());
    body.insert("include".into(), json!(["reasoning.encrypted_content"]));
    if settings.streams {
        body.insert("stream".into(), true.into());
    }
    settings.finish(body)
}

/// A function. It is not strict: a strict one needs a schema in which every field is required.
fn tool(def: &ToolDef, schema: Value, names: &FunctionNames) -> Value {
    json!({
        "type": "function",
        "name": names.out(&def.name),
        "description": def.description,
        "parameters": schema,
        "strict": false,
    })
}

/// The tools that may be called now. The array of tools never changes, so the prompt cache stays valid.
fn choice(allowed: &[&ToolName], names: &FunctionNames) -> Value {
    let tool = |name: &&ToolName| json!({"type": "function", "name": names.out(name)});
    let tools: Vec<Value> = allowed.iter().map(tool).collect();
    json!({"type": "allowed_tools", "mode": "auto", "tools": tools})
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::domain::blocks::{Block, BlockKind};
    use crate::domain::{Message, ReplySource, Role, ToolCall};
    use crate::learned::Learned;

    fn body(messages: Vec<Message>, learned: &Learned) -> Value {
        let request = Request {
            max_tokens: Some(9),
            seed: Some(1),
            stop: vec!["x".into()],
            schema: Some(json!({"type": "object"})),
            ..Request::new(Role::Actor, messages)
        };
        let names = FunctionNames::of(&request);
        let settings = WireSettings {
            model: "m",
            source: "here",
            names: &names,
            streams: true,
            max_tokens_field: "max_tokens",
            longest: 1,
            allowed_tools: true,
            caches: false,
            extra: &Map::from_iter([("store".to_owned(), true.into())]),
            learned,
        };
        write_request(&request, &settings)
    }

    fn wrote(endpoint: &str) -> Message {
        let raw = json!({"type": "reasoning", "id": "rs_1", "summary": [],
            "encrypted_content": "x", "status": null});
        let source = ReplySource {
            endpoint: endpoint.into(),
            message: Map::from_iter([(order_phase(), json!(["commentary"]))]),
            blocks: vec![
                Block::kept(BlockKind::Thinking, raw),
                Block::Call { id: "call_1".into() },
                Block::Text { bytes: 2 },
            ],
            calls: [("call_1".to_owned(), Map::from_iter([("namespace".to_owned(), "n".into())]))]
                .into(),
        };
        let call = ToolCall { id: "call_1".into(), tool: "a.b".into(), arguments: json!("broken") };
        let source = Some(Arc::new(source));
        Message::Assistant { text: "Hm".into(), calls: vec![call], source }
    }

    fn order_phase() -> String {
        super::super::order::PHASE.to_owned()
    }

    #[test]
    fn what_an_endpoint_wrote_goes_back_to_it_in_its_place() {
        let result = Message::result("call_1", "a.b".into(), "Sun.");
        let body = body(vec![wrote("here"), result], &Learned::default());
        let name = body["input"][1]["name"].clone();
        assert_eq!(
            body["input"],
            json!([
                {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"},
                {"type": "function_call", "call_id": "call_1", "name": name,
                    "arguments": "{\"not_valid_json\":\"broken\"}", "namespace": "n"},
                {"role": "assistant", "content": "Hm", "phase": "commentary"},
                {"type": "function_call_output", "call_id": "call_1", "output": "Sun."}
            ])
        );
        assert_eq!(body["text"]["format"]["name"], "answer");
        assert_eq!(body["max_output_tokens"], 9);
        assert_eq!((&body["store"], &body["stream"]), (&true.into(), &true.into()));
        assert!(body.get("seed").or(body.get("stop")).is_none());
    }

    #[test]
    fn another_endpoint_gets_texts_and_calls_alone() {
        let result = Message::result("call_1", "a.b".into(), "Sun.");
        let body = body(vec![wrote("there"), result], &Learned::default());
        let items = body["input"].as_array().unwrap();
        assert_eq!(items.len(), 3);
        assert_eq!(items[0], json!({"role": "assistant", "content": "Hm"}));
        assert_eq!(items[1]["call_id"], items[2]["call_id"]);
        assert_eq!(items[1]["call_id"].as_str().unwrap().len(), 9);
        assert!(items[1].get("namespace").is_none());
    }

    #[test]
    fn parts_of_another_format_are_said_in_words_and_refused_fields_stay_away() {
        let image = json!({"type": "input_image", "image_url": "u"});
        let foreign = json!({"type": "image", "source": {"type": "url", "url": "u"}});
        let blocks = vec![
            Block::Text { bytes: 2 },
            Block::kept(BlockKind::Image, image.clone()),
            Block::kept(BlockKind::Image, foreign),
        ];
        let learned = Learned {
            left_out: ["include".to_owned(), "phase".to_owned()].into(),
            ..Learned::default()
        };
        let user = Message::User { text: "Hi".into(), blocks };
        let body = body(vec![Message::system(" "), user, wrote("here")], &learned);
        let text = |text: &str| json!({"type": "input_text", "text": text});
        assert_eq!(body["input"][0]["content"], json!([text("Hi"), image, text("[image 1 B]")]));
        assert!(body.get("include").or(body["input"][3].get("phase")).is_none());
    }
}
