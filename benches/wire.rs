//! Codecs: a request of 400 kB is read, and one result in it is replaced.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use serde_json::{Map, json};
use toolyard_domain::{Message, Request, Role, ToolCall, ToolDef};
use toolyard_wire::learned::Learned;
use toolyard_wire::{
    FunctionNames, IncomingRequest, NotRead, WireSettings, chat, messages, patch, responses,
};

/// Messages of a request, and tools.
const MESSAGES: usize = 200;
const TOOLS: usize = 30;

/// A conversation of calls and their results.
fn request() -> Request {
    let mut messages = vec![Message::system("Be brief."), Message::user("Find out.")];
    for at in 0..MESSAGES / 2 {
        let id = format!("call{at:05}");
        let arguments = json!({"query": format!("page {at} of \"it\""), "limit": 10});
        let call = ToolCall { id: id.clone(), tool: "tool_3".into(), arguments };
        let source = None;
        messages.push(Message::Assistant {
            text: "I look further.".into(),
            calls: vec![call],
            source,
        });
        let line = format!("{{\"title\": \"Page {at}\", \"text\": \"é\\n\"}}\n");
        messages.push(Message::result(id, "tool_3".into(), line.repeat(3000 / line.len())));
    }
    let property = |at: usize| {
        (format!("field_{at}"), json!({"type": "string", "description": "A field of it."}))
    };
    let properties: Map<_, _> = (0..20).map(property).collect();
    let tool = |at: usize| ToolDef {
        name: format!("tool_{at}").into(),
        description: "Looks something up in one of many places.".to_owned(),
        parameters: json!({"type": "object", "properties": properties}).into(),
    };
    Request { tools: (0..TOOLS).map(tool).collect(), ..Request::new(Role::Actor, messages) }
}

fn wire(c: &mut Criterion) {
    let request = request();
    let (names, extra, learned) = (FunctionNames::of(&request), Map::new(), Learned::new());
    let settings = WireSettings {
        model: "m",
        source: "h",
        names: &names,
        streams: true,
        max_tokens_field: "max_tokens",
        longest: 8192,
        allowed_tools: false,
        caches: true,
        extra: &extra,
        learned: &learned,
    };
    type Read = fn(&[u8]) -> Result<IncomingRequest, NotRead>;
    let formats: [(&str, String, Read); 3] = [
        ("chat", chat::write_request(&request, &settings).to_string(), chat::read_request),
        (
            "responses",
            responses::write_request(&request, &settings).to_string(),
            responses::read_request,
        ),
        (
            "messages",
            messages::write_request(&request, &settings).to_string(),
            messages::read_request,
        ),
    ];
    for (name, text, read) in formats {
        let kilobytes = text.len() / 1000;
        let mut group = c.benchmark_group(format!("wire_{name}_{kilobytes}_kB"));
        group.bench_function("read", |b| b.iter(|| read(black_box(text.as_bytes())).is_ok()));
        let asked = read(text.as_bytes());
        let place =
            asked.ok().and_then(|asked| asked.results.last().map(|spot| spot.range.clone()));
        let places = [(place.unwrap_or_default(), "\"the service is unavailable\"")];
        group.bench_function("patch", |b| {
            b.iter(|| patch(black_box(text.as_bytes()), &places).is_ok())
        });
        group.finish();
    }
}

criterion_group!(benches, wire);
criterion_main!(benches);
