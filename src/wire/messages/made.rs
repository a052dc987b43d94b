//! Requests and answers for tests: fixed and random ones.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::write_request;
use crate::domain::blocks::{Block, BlockKind};
use crate::domain::chat::ToolDef;
use crate::domain::{Finish, Message, Reply, ReplySource, Request, Role, ToolCall, Usage};
use crate::learned::Learned;
use crate::names::FunctionNames;
use crate::settings::WireSettings;

/// A request of these messages.
pub(super) fn request(messages: Vec<Message>) -> Request {
    Request { max_tokens: Some(64), ..Request::new(Role::Actor, messages) }
}

/// The body of a request for the endpoint whose name is empty.
pub(super) fn body(request: &Request, caches: bool) -> Value {
    body_with(request, caches, &Map::new(), &Learned::default())
}

pub(super) fn body_with(
    request: &Request,
    caches: bool,
    extra: &Map<String, Value>,
    learned: &Learned,
) -> Value {
    let settings = WireSettings {
        model: "claude-sonnet-4-5",
        source: "",
        names: &FunctionNames::of(request),
        streams: true,
        max_tokens_field: "max_tokens",
        longest: 4096,
        allowed_tools: true,
        caches,
        extra,
        learned,
    };
    write_request(request, &settings)
}

/// A block of an answer.
#[derive(Clone, Debug)]
enum Made {
    Text(String, bool),
    Call(String, Value, bool),
    Kept(BlockKind, Value),
}

/// A text that is not blank and does not end with white space.
fn text() -> impl Strategy<Value = String> {
    "[a-zé🦀 \n\"\\\\{}]{0,8}[a-z🦀]"
}

fn json_object() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9).prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            fields(inner).prop_map(Value::from),
        ]
    });
    fields(value).prop_map(Value::from)
}

fn fields(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::btree_map("[a-zé\"]{0,4}", value, 0..4)
        .prop_map(|fields| fields.into_iter().collect())
}

fn thinking() -> impl Strategy<Value = Made> {
    let signed = ("[a-z\n]{0,6}", "[a-z=]{1,4}").prop_map(|(thinking, signature)| {
        json!({"type": "thinking", "thinking": thinking, "signature": signature})
    });
    let redacted = Just(json!({"type": "redacted_thinking", "data": "x=="}));
    prop_oneof![signed, redacted].prop_map(|raw| Made::Kept(BlockKind::Thinking, raw))
}

fn of_server() -> impl Strategy<Value = Made> {
    let call = json_object().prop_map(|input| {
        json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": input})
    });
    let result = json_object().prop_map(|content| {
        json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": content})
    });
    let server = prop_oneof![call, result].prop_map(|raw| Made::Kept(BlockKind::Server, raw));
    let unknown = json_object().prop_map(|of| json!({"type": "hologram", "of": of}));
    prop_oneof![2 => server, 1 => unknown.prop_map(|raw| Made::Kept(BlockKind::Unknown, raw))]
}

fn blocks() -> impl Strategy<Value = Vec<Made>> {
    let block = prop_oneof![
        4 => (text(), prop::bool::weighted(0.2)).prop_map(|(text, is_cited)| Made::Text(text, is_cited)),
        4 => ("[a-z_]{1,8}", json_object(), prop::bool::weighted(0.2))
            .prop_map(|(tool, arguments, has_more)| Made::Call(tool, arguments, has_more)),
        2 => thinking(),
        1 => of_server(),
    ];
    prop::collection::vec(block, 0..5)
}

/// Builds the text, the calls and the source of a message of these blocks. Call ids continue after `id`.
fn message(
    made: Vec<Made>,
    id: &mut usize,
    endpoint: &str,
) -> (String, Vec<ToolCall>, Option<Arc<ReplySource>>) {
    let (mut text, mut calls, mut blocks) = (String::new(), Vec::new(), Vec::new());
    let (mut citations, mut beside) = (Vec::new(), BTreeMap::new());
    let mut order = String::new();
    for block in made {
        blocks.push(match block {
            Made::Text(more, is_cited) => {
                order.push(if is_cited { '!' } else { 't' });
                text.push_str(&more);
                let cited = json!([{"type": "web_search_result_location", "cited_text": "x"}]);
                citations.push(if is_cited { cited } else { Value::Null });
                Block::Text { bytes: more.len() }
            }
            Made::Call(tool, arguments, has_more) => {
                order.push('c');
                *id += 1;
                let id = format!("toolu_{id}");
                if has_more {
                    let more = json!({"caller": {"type": "direct"}});
                    beside.extend(more.as_object().map(|more| (id.clone(), more.clone())));
                }
                calls.push(ToolCall { id: id.clone(), tool: tool.into(), arguments });
                Block::Call { id }
            }
            Made::Kept(kind, raw) => {
                order.push('!');
                Block::kept(kind, raw)
            }
        });
    }
    let is_plain = order.trim_end_matches('c').trim_start_matches('t').is_empty()
        && order.matches('t').count() < 2;
    if is_plain && calls.is_empty() {
        return (text, calls, None);
    }
    let mut message = Map::new();
    if citations.iter().any(Value::is_array) {
        message.insert("citations".into(), citations.into());
    }
    let blocks = if is_plain { Vec::new() } else { blocks };
    let source = ReplySource { endpoint: endpoint.into(), message, blocks, calls: beside };
    (text, calls, Some(Arc::new(source)))
}

/// The text and the blocks of a user or of a result.
fn parts() -> impl Strategy<Value = (String, Vec<Block>)> {
    let image = Just(
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}),
    );
    let document = Just(json!({"type": "document", "source": {"type": "url", "url": "u"}}));
    let kept = prop_oneof![
        image.prop_map(|raw| (String::new(), Some(Block::kept(BlockKind::Image, raw)))),
        document.prop_map(|raw| (String::new(), Some(Block::kept(BlockKind::Document, raw)))),
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

/// A turn: the blocks of the model's message, the results of its calls, and the user's next message.
type MadeTurn = (Vec<Made>, Vec<((String, Vec<Block>), bool)>, Option<(String, Vec<Block>)>);

fn turn() -> impl Strategy<Value = MadeTurn> {
    let results = prop::collection::vec((parts(), any::<bool>()), 5);
    (blocks(), results, prop::option::of(parts()))
}

fn conversation(
    system: Vec<String>,
    first: (String, Vec<Block>),
    turns: Vec<MadeTurn>,
) -> Vec<Message> {
    let mut messages: Vec<Message> = system.into_iter().map(Message::system).collect();
    let user = |(text, blocks)| Message::User { text, blocks };
    messages.push(user(first));
    let mut id = 0;
    for (mut made, results, own) in turns {
        if matches!(made.last(), None | Some(Made::Kept(BlockKind::Thinking, _))) {
            made.push(Made::Text("end".into(), false));
        }
        let (text, calls, source) = message(made, &mut id, "");
        let asked = calls.clone();
        messages.push(Message::Assistant { text, calls, source });
        // Two messages of the assistant do not follow each other.
        let is_followed = !asked.is_empty() || own.is_some();
        for (call, ((text, blocks), failed)) in asked.into_iter().zip(results) {
            let ToolCall { id, tool, .. } = call;
            messages.push(Message::Tool { id, tool, text, blocks, failed });
        }
        messages.extend(own.map(user));
        if !is_followed {
            messages.push(Message::user("And?"));
        }
    }
    messages
}

/// Requests that the format can express.
pub(super) fn requests() -> impl Strategy<Value = Request> {
    let messages =
        (prop::collection::vec(text(), 0..3), parts(), prop::collection::vec(turn(), 0..4));
    let messages = messages.prop_map(|(system, first, turns)| conversation(system, first, turns));
    let tool = (text(), json_object()).prop_map(|(description, example)| {
        let parameters = json!({"type": "object", "properties": {}, "default": example}).into();
        ToolDef { name: "".into(), description, parameters }
    });
    let sampling = (
        prop::option::of(0.0..=1.0),
        prop::option::of(0.0..=1.0),
        1..100_000_u32,
        prop::collection::vec(text(), 0..3),
        prop::option::of(json_object()),
    );
    let tools = (prop::collection::vec(tool, 0..4), any::<prop::sample::Index>(), any::<bool>());
    (messages, tools, sampling).prop_map(|(messages, (mut tools, index, one), sampling)| {
        for (at, tool) in tools.iter_mut().enumerate() {
            tool.name = format!("tool_{at}").into();
        }
        let is_chosen = one && !tools.is_empty();
        let allowed = is_chosen.then(|| tools[index.index(tools.len())].name.clone());
        let (temperature, top_p, max_tokens, stop, schema): (Option<f64>, Option<f64>, _, _, _) =
            sampling;
        Request {
            tools: tools.into(),
            temperature: temperature.map(Into::into),
            top_p: top_p.map(Into::into),
            max_tokens: Some(max_tokens),
            stop,
            schema,
            allowed: allowed.into_iter().collect(),
            ..Request::new(Role::Actor, messages)
        }
    })
}

/// Answers of the endpoint `e`.
pub(super) fn replies() -> impl Strategy<Value = Reply> {
    let usage = (0..9000_u64, 1..9000_u64, 0..900_u64, 0..900_u64);
    (blocks(), 0..4_usize, usage).prop_map(
        |(made, ending, (fresh, tokens_out, cached, written))| {
            let thoughts = made.iter().filter_map(|block| match block {
                Made::Kept(BlockKind::Thinking, raw) => {
                    raw["thinking"].as_str().filter(|it| !it.is_empty())
                }
                Made::Text(..) | Made::Call(..) | Made::Kept(..) => None,
            });
            let reasoning = thoughts.collect::<Vec<_>>().join("\n\n");
            let (text, calls, source) = message(made, &mut 0, "e");
            let finish = match ending {
                0 => Finish::Length,
                1 => Finish::Refused,
                _ if !calls.is_empty() => Finish::Calls,
                2 => Finish::Other("pause_turn".into()),
                _ => Finish::Stop,
            };
            let tokens_in = fresh + cached + written;
            let usage = Usage { tokens_in, tokens_out, cached, written, ..Usage::default() };
            Reply { text, reasoning, calls, finish, usage, source, repairs: Vec::new() }
        },
    )
}
