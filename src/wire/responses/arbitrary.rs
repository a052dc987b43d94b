//! Requests and replies that the format can express.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::subsequence;
use serde_json::{Map, Value, json};

use super::kinds::ClientCallKind;
use super::order;
use crate::domain::blocks::{Block, BlockKind};
use crate::domain::{
    Finish, Message, Reply, ReplySource, Request, Role, ToolCall, ToolDef, ToolName, Usage,
};

/// A text that is not blank.
pub(super) fn text() -> impl Strategy<Value = String> {
    "[a-z\"\\\\\n é🌞{}:]{0,9}x"
}

fn name() -> impl Strategy<Value = ToolName> {
    "[a-zA-Z0-9_-]{1,9}".prop_map(|name| ToolName::from(name.as_str()))
}

fn object() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(3, 9, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-z\"é]{0,4}", inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    });
    prop::collection::btree_map("[a-z\"é]{0,4}", value, 0..3)
        .prop_map(|map| Value::Object(map.into_iter().collect()))
}

/// A reasoning item with the summary `said`, the only part that a person can read.
fn thoughts(said: &str) -> Value {
    json!({"type": "reasoning", "id": "rs_1", "encrypted_content": "c2VjcmV0",
        "summary": [{"type": "summary_text", "text": said}]})
}

/// An item that the endpoint wrote besides messages and calls. Clients want an id in each item, and each id once.
fn kept() -> impl Strategy<Value = Block> {
    let action = json!({"type": "search", "query": "é"});
    let kinds = [
        (
            BlockKind::Server,
            json!({"type": "web_search_call", "status": "completed", "action": action}),
        ),
        (
            BlockKind::Server,
            json!({"type": "mcp_call", "name": "x", "arguments": "{}", "server_label": "s"}),
        ),
        (BlockKind::Thinking, json!({"type": "compaction", "encrypted_content": "x"})),
        (
            BlockKind::Thinking,
            json!({"type": "reasoning", "summary": [], "encrypted_content": "x"}),
        ),
        (BlockKind::Unknown, json!({"type": "hologram", "data": [1]})),
    ];
    (prop::sample::select(kinds.to_vec()), any::<u64>()).prop_map(|((kind, mut raw), id)| {
        raw["id"] = format!("it_{id}").into();
        Block::kept(kind, raw)
    })
}

/// A call without its id, and the kind of its item.
fn call() -> impl Strategy<Value = (ToolName, Value, ClientCallKind)> {
    let fixed = [
        ClientCallKind::LocalShell,
        ClientCallKind::Shell,
        ClientCallKind::ApplyPatch,
        ClientCallKind::Computer,
    ];
    prop_oneof![
        4 => (name(), object()).prop_map(|(tool, it)| (tool, it, ClientCallKind::Function)),
        1 => (name(), text()).prop_map(|(tool, it)| (tool, it.into(), ClientCallKind::Custom)),
        2 => (prop::sample::select(fixed.to_vec()), object())
            .prop_map(|(kind, it)| (kind.tool().unwrap().into(), it, kind)),
    ]
}

/// A part of a message of the assistant.
#[derive(Clone, Debug)]
enum ArbitraryPart {
    Text(String, Option<&'static str>),
    Call(ToolName, Value, ClientCallKind),
    Kept(Block),
}

fn said() -> impl Strategy<Value = Vec<ArbitraryPart>> {
    let phase = prop::option::of(prop_oneof![Just("commentary"), Just("final_answer")]);
    let text = (text(), phase).prop_map(|(text, phase)| ArbitraryPart::Text(text, phase));
    let call =
        call().prop_map(|(tool, arguments, kind)| ArbitraryPart::Call(tool, arguments, kind));
    let part = prop_oneof![4 => text, 4 => call, 1 => kept().prop_map(ArbitraryPart::Kept)];
    prop::collection::vec(part, 1..6)
}

/// Text, calls and source of a message. Ids of calls begin with `prefix`.
fn assembled(
    said: Vec<ArbitraryPart>,
    prefix: &str,
) -> (String, Vec<ToolCall>, Option<Arc<ReplySource>>) {
    let (mut text, mut calls) = (String::new(), Vec::new());
    let (mut source, mut phases) = (ReplySource::default(), Vec::new());
    for part in said {
        source.blocks.push(match part {
            ArbitraryPart::Text(more, phase) => {
                text.push_str(&more);
                phases.push(phase.map_or(Value::Null, Value::from));
                Block::Text { bytes: more.len() }
            }
            ArbitraryPart::Call(tool, arguments, kind) => {
                let id = format!("{prefix}_{}", calls.len());
                if kind != ClientCallKind::Function {
                    let kind = Map::from_iter([("type".to_owned(), kind.kind().into())]);
                    source.calls.insert(id.clone(), kind);
                }
                calls.push(ToolCall { id: id.clone(), tool, arguments });
                Block::Call { id }
            }
            ArbitraryPart::Kept(block) => block,
        });
    }
    order::note_phases(&mut source, phases);
    source.blocks = order::unless_plain(source.blocks);
    let has_some = !calls.is_empty() || source != ReplySource::default();
    (text, calls, has_some.then(|| Arc::new(source)))
}

/// The content of a message of a user, or of a result.
fn content() -> impl Strategy<Value = (String, Vec<Block>)> {
    let image = json!({"type": "input_image", "image_url": "data:image/png;base64,AAAA"});
    let file = json!({"type": "input_file", "filename": "a.pdf", "file_id": "f"});
    let audio = json!({"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}});
    let kept = prop_oneof![
        Just(Block::kept(BlockKind::Image, image)),
        Just(Block::kept(BlockKind::Document, file)),
        Just(Block::kept(BlockKind::Audio, audio)),
    ];
    let part = prop_oneof![text().prop_map(Ok), kept.prop_map(Err)];
    prop::collection::vec(part, 0..4).prop_map(|parts| {
        let (mut text, mut blocks) = (String::new(), Vec::new());
        for part in parts {
            blocks.push(match part {
                Ok(more) => {
                    text.push_str(&more);
                    Block::Text { bytes: more.len() }
                }
                Err(block) => block,
            });
        }
        let is_plain = matches!(blocks.as_slice(), [Block::Text { .. }]);
        (text, if is_plain { Vec::new() } else { blocks })
    })
}

/// Results that a call of this kind can return.
fn returned(kind: ClientCallKind, content: (String, Vec<Block>)) -> (String, Vec<Block>) {
    let screen = json!({"type": "computer_screenshot", "image_url": "data:image/png;base64,AAAA"});
    match kind {
        ClientCallKind::Shell | ClientCallKind::ApplyPatch => (content.0, Vec::new()),
        ClientCallKind::Computer => (String::new(), vec![Block::kept(BlockKind::Image, screen)]),
        _ => content,
    }
}

/// A turn: a message of the user or the system, and the assistant's messages and results.
fn turn() -> impl Strategy<Value = Vec<Message>> {
    let asks = prop_oneof![
        text().prop_map(Message::system),
        content().prop_map(|(text, blocks)| Message::User { text, blocks }),
    ];
    (asks, prop::option::of(said()), prop::collection::vec(content(), 6)).prop_map(
        |(asks, said, outputs)| {
            let mut messages = vec![asks];
            let Some(said) = said else { return messages };
            let (text, calls, source) = assembled(said, "call");
            let results = calls.iter().zip(outputs).map(|(call, content)| {
                let kind = ClientCallKind::of_call(call, source.as_deref());
                let failed = kind == ClientCallKind::ApplyPatch && content.0.len() > 5;
                let (text, blocks) = returned(kind, content);
                let (id, tool) = (call.id.clone(), call.tool.clone());
                Message::Tool { id, tool, text, blocks, failed }
            });
            let results: Vec<Message> = results.collect();
            messages.push(Message::Assistant { text, calls, source });
            messages.extend(results);
            messages
        },
    )
}

/// Gives the calls of each turn their own ids.
fn with_ids(turns: Vec<Vec<Message>>) -> Vec<Message> {
    let mut messages = Vec::new();
    for (at, turn) in turns.into_iter().enumerate() {
        let own = |id: &str| format!("{id}_of_turn_{at}");
        for mut message in turn {
            match &mut message {
                Message::Assistant { calls, source, .. } => {
                    calls.iter_mut().for_each(|call| call.id = own(&call.id));
                    if let Some(source) = source {
                        let source = Arc::make_mut(source);
                        let fields = std::mem::take(&mut source.calls).into_iter();
                        source.calls = fields.map(|(id, fields)| (own(&id), fields)).collect();
                        for block in &mut source.blocks {
                            if let Block::Call { id } = block {
                                *id = own(id);
                            }
                        }
                    }
                }
                Message::Tool { id, .. } => *id = own(id),
                Message::System { .. } | Message::User { .. } => {}
            }
            messages.push(message);
        }
    }
    messages
}

fn tool() -> impl Strategy<Value = ToolDef> {
    (name(), "[a-z ]{0,9}", object()).prop_map(|(name, description, example)| ToolDef {
        name,
        description,
        parameters: json!({"type": "object", "properties": {}, "default": example}).into(),
    })
}

/// A request that the format can express.
pub(super) fn request() -> impl Strategy<Value = Request> {
    let turns = prop::collection::vec(turn(), 0..5).prop_map(with_ids);
    let tools = prop::collection::vec(tool(), 0..4);
    let tools = tools.prop_flat_map(|tools| {
        let names: Vec<ToolName> = tools.iter().map(|tool| tool.name.clone()).collect();
        let count = 0..=names.len();
        (Just(tools), subsequence(names, count))
    });
    let number = || prop::option::of(0.0..2.0_f64);
    let schema = prop::option::of(object());
    (turns, tools, number(), number(), prop::option::of(any::<u32>()), schema).prop_map(
        |(messages, (tools, allowed), temperature, top_p, max_tokens, schema)| Request {
            tools: tools.into(),
            allowed,
            temperature: temperature.map(Into::into),
            top_p: top_p.map(Into::into),
            max_tokens,
            schema,
            ..Request::new(Role::Actor, messages)
        },
    )
}

/// A reply that the format can express, from the endpoint of this name.
pub(super) fn reply(endpoint: &'static str) -> impl Strategy<Value = Reply> {
    let finish = prop_oneof![
        4 => Just(Finish::Stop),
        1 => Just(Finish::Length),
        1 => Just(Finish::Filtered),
        1 => Just(Finish::Refused),
        1 => Just(Finish::Other("steered".into())),
    ];
    let usage = (1..9000_u64, 1..9000_u64, 0.0..1.0_f64, prop::option::of(0.0..9.0_f64));
    let usage = usage.prop_map(|(tokens_in, tokens_out, cached, dollars)| Usage {
        tokens_in,
        tokens_out,
        cached: (tokens_in as f64 * cached) as u64,
        dollars: dollars.map(Into::into),
        ..Usage::default()
    });
    let said = prop_oneof![1 => Just(Vec::new()), 6 => said()];
    let thoughts = prop_oneof![Just(None), (text(), any::<bool>()).prop_map(Some)];
    (said, thoughts, finish, usage).prop_map(move |(mut said, thoughts, finish, usage)| {
        let reasoning = thoughts.as_ref().map(|(text, _)| text.clone()).unwrap_or_default();
        // Thoughts that go back have a place of their own.
        if let Some((text, true)) = thoughts {
            said.insert(
                said.len() / 2,
                ArbitraryPart::Kept(Block::kept(BlockKind::Thinking, self::thoughts(&text))),
            );
        }
        let (text, calls, mut source) = assembled(said, "call");
        if let Some(source) = &mut source {
            Arc::make_mut(source).endpoint = endpoint.to_owned();
        }
        let finish = match finish {
            Finish::Refused if text.is_empty() => Finish::Stop,
            finish => finish,
        };
        let finish = match finish {
            Finish::Stop if !calls.is_empty() => Finish::Calls,
            finish => finish,
        };
        Reply { text, reasoning, calls, finish, usage, source, repairs: Vec::new() }
    })
}
