//! Random requests and answers for tests.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::body::write_request;
use super::parts::{SIGNATURE, SIGNATURES};
use crate::assistant_message::AssistantMessage;
use crate::domain::blocks::{Block, BlockKind};
use crate::domain::{
    Finish, Message, Messages, Reply, ReplySource, Request, Role, ToolCall, ToolDef, Usage,
};
use crate::ids::given_here;
use crate::learned::Learned;
use crate::names::FunctionNames;
use crate::settings::WireSettings;

/// The body of a request for the endpoint whose name is empty.
pub(super) fn body(request: &Request, learned: &Learned) -> Value {
    let settings = WireSettings {
        model: "gemini-2.5-flash",
        source: "",
        names: &FunctionNames::of(request),
        streams: true,
        max_tokens_field: "max_tokens",
        longest: 4096,
        allowed_tools: true,
        caches: false,
        extra: &Map::new(),
        learned,
    };
    write_request(request, &settings)
}

/// A part of a message of the model.
#[derive(Clone, Debug)]
enum Made {
    Text(String, bool),
    Call { tool: String, arguments: Value, is_signed: bool, has_id: bool },
    Kept(BlockKind, Value),
}

/// A text that is not blank.
fn text() -> impl Strategy<Value = String> {
    "[a-zé🦀 \n\"\\\\{}]{0,8}[a-z🦀]"
}

fn json_object() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9).prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-zé\"]{1,4}", inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    });
    prop::collection::btree_map("[a-zé\"]{1,4}", value, 0..4)
        .prop_map(|fields| Value::Object(fields.into_iter().collect()))
}

fn parts() -> impl Strategy<Value = Vec<Made>> {
    let call = ("[a-z_]{1,8}", json_object(), any::<bool>(), any::<bool>()).prop_map(
        |(tool, arguments, is_signed, has_id)| Made::Call { tool, arguments, is_signed, has_id },
    );
    // Two thoughts, or two texts, would be one if they came one after the other.
    let thought = "[a-z\n]{1,6}".prop_map(|text| {
        let raw = json!({"text": text, "thought": true, "thoughtSignature": "c2ln"});
        Made::Kept(BlockKind::Thinking, raw)
    });
    let code = json_object().prop_map(|of| {
        Made::Kept(BlockKind::Server, json!({"executableCode": {"language": "PYTHON", "code": of}}))
    });
    let odd = json_object().prop_map(|of| Made::Kept(BlockKind::Unknown, json!({"hologram": of})));
    let part = prop_oneof![
        4 => (text(), prop::bool::weighted(0.2)).prop_map(|(text, is_signed)| Made::Text(text, is_signed)),
        4 => call, 2 => thought, 1 => code, 1 => odd,
    ];
    prop::collection::vec(part, 0..5).prop_map(|mut parts| {
        parts.dedup_by(|later, before| {
            matches!((later, before), (Made::Text(_, false), Made::Text(_, false)))
        });
        parts
    })
}

/// The text, the calls and the source of a message of these parts. Numbers of calls continue after `called`.
fn message(
    made: Vec<Made>,
    called: &mut usize,
    endpoint: &str,
) -> (String, Vec<ToolCall>, Option<Arc<ReplySource>>) {
    let mut said = AssistantMessage::default();
    for part in made {
        match part {
            Made::Text(text, is_signed) => {
                said.text(&text, if is_signed { "c2ln".into() } else { Value::Null });
            }
            Made::Call { tool, arguments, is_signed, has_id } => {
                *called += 1;
                let mut beside = Map::new();
                if is_signed {
                    beside.insert(SIGNATURE.to_owned(), "c2ln==".into());
                }
                let mut id = format!("fc-{called}");
                if !has_id {
                    id = format!("call{called:05}");
                    beside.extend(given_here());
                }
                said.call(ToolCall { id, tool: tool.as_str().into(), arguments }, beside);
            }
            Made::Kept(kind, raw) => said.keep(kind, raw),
        }
    }
    said.into_parts(endpoint, SIGNATURES)
}

/// The text and the blocks of a user.
fn of_user() -> impl Strategy<Value = (String, Vec<Block>)> {
    let image = json!({"inlineData": {"mimeType": "image/png", "data": "AAAA"}});
    let file = json!({"fileData": {"mimeType": "application/pdf", "fileUri": "u"}});
    let kept = prop_oneof![
        Just((String::new(), Some(Block::kept(BlockKind::Image, image)))),
        Just((String::new(), Some(Block::kept(BlockKind::Document, file)))),
    ];
    let text = text().prop_map(|text| (text, None));
    prop::collection::vec(prop_oneof![3 => text, 1 => kept], 1..4).prop_map(|made| {
        let is_plain = matches!(&made[..], [(_, None)]);
        let text = made.iter().map(|(text, _)| text.as_str()).collect();
        let block = |(text, kept): &(String, Option<Block>)| {
            kept.clone().unwrap_or(Block::Text { bytes: text.len() })
        };
        (text, if is_plain { Vec::new() } else { made.iter().map(block).collect() })
    })
}

type MadeTurn = (Vec<Made>, Vec<(String, bool)>, (String, Vec<Block>));

fn conversation(
    system: Vec<String>,
    first: (String, Vec<Block>),
    turns: Vec<MadeTurn>,
) -> Messages {
    let mut messages: Messages = system.into_iter().map(Message::system).collect();
    let user = |(text, blocks)| Message::User { text, blocks };
    messages.push(user(first));
    let mut called = 0;
    for (made, results, own) in turns {
        let (text, calls, source) = message(made, &mut called, "");
        if text.is_empty() && calls.is_empty() && source.is_none() {
            continue;
        }
        let asked = calls.clone();
        messages.push(Message::Assistant { text, calls, source });
        // Results are a content of their own, and so are the texts of the user after them.
        for (call, (text, failed)) in asked.into_iter().zip(results) {
            let ToolCall { id, tool, .. } = call;
            messages.push(Message::Tool { id, tool, text, blocks: Vec::new(), failed });
        }
        messages.push(user(own));
    }
    messages
}

/// Requests that the format can express.
pub(super) fn requests() -> impl Strategy<Value = Request> {
    let results = prop::collection::vec((text(), any::<bool>()), 5);
    let turns = prop::collection::vec((parts(), results, of_user()), 0..4);
    let messages = (prop::collection::vec(text(), 0..3), of_user(), turns)
        .prop_map(|(system, first, turns)| conversation(system, first, turns));
    let sampling = (
        prop::option::of(0.0..=2.0),
        prop::option::of(any::<i64>()),
        prop::option::of(1..100_000_u32),
        prop::collection::vec(text(), 0..3),
        prop::option::of(json_object()),
        any::<bool>(),
    );
    (messages, sampling).prop_map(|(messages, sampling)| {
        let (temperature, seed, max_tokens, stop, schema, has_tools): (Option<f64>, _, _, _, _, _) =
            sampling;
        let tool = |name: &str| ToolDef {
            name: name.into(),
            description: "Does it.".to_owned(),
            parameters: json!({"type": "object", "properties": {"a": {"const": 1.5}}}).into(),
        };
        let tools = if has_tools { vec![tool("tool_0"), tool("tool_1")] } else { Vec::new() };
        Request {
            allowed: tools.iter().take(1).map(|tool| tool.name.clone()).collect(),
            tools: tools.into(),
            temperature: temperature.map(Into::into),
            seed,
            max_tokens,
            stop,
            schema,
            ..Request::new(Role::Actor, messages)
        }
    })
}

/// Answers of the endpoint `e`.
pub(super) fn replies() -> impl Strategy<Value = Reply> {
    let usage = (0..9000_u64, 1..9000_u64, 0..900_u64);
    (parts(), 0..3_usize, usage).prop_map(|(made, ending, (fresh, tokens_out, cached))| {
        // An unknown part is not written.
        let is_written = |part: &Made| !matches!(part, Made::Kept(BlockKind::Unknown, _));
        let mut made: Vec<Made> = made.into_iter().filter(is_written).collect();
        made.dedup_by(|later, before| {
            matches!((later, before), (Made::Text(_, false), Made::Text(_, false)))
        });
        let thoughts = made.iter().filter_map(|part| match part {
            Made::Kept(BlockKind::Thinking, raw) => raw["text"].as_str(),
            Made::Text(..) | Made::Call { .. } | Made::Kept(..) => None,
        });
        let reasoning = thoughts.collect::<Vec<_>>().join("\n\n");
        let (text, calls, source) = message(made, &mut 0, "e");
        let finish = match ending {
            0 => Finish::Length,
            1 => Finish::Filtered,
            _ if calls.is_empty() => Finish::Stop,
            _ => Finish::Calls,
        };
        let tokens_in = 1 + fresh + cached;
        let usage = Usage { tokens_in, tokens_out, cached, ..Usage::default() };
        Reply { text, reasoning, calls, finish, usage, source, repairs: Vec::new() }
    })
}
