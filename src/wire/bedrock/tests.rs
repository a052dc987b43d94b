//! Answers on their way: what nobody changed has its bytes, and what was changed can be read.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::event_stream::{self, FrameParser, header};
use super::*;
use crate::codec::RequestAddress;
use crate::domain::{Finish, Reply, Request, Role, ToolCall, Usage};
use crate::{AnswerFault, AnswerForm, Answering, Feed, FunctionNames, Report, WireFormat, changed};

const BOTH: [Envelope; 2] = [Envelope::Invoke, Envelope::Converse];

fn frame(name: &str, payload: &str) -> Vec<u8> {
    event_stream::frame("event", name, payload.to_owned()).unwrap()
}

/// A stream as AWS writes it: with padding in its payloads.
fn stream(envelope: Envelope) -> Vec<u8> {
    use base64::Engine as _;
    let converse = [
        ("messageStart", r#"{"p":"abc","role":"assistant"}"#),
        ("contentBlockDelta", r#"{"contentBlockIndex":0,"delta":{"text":"Loo"},"p":"ab"}"#),
        ("contentBlockDelta", r#"{"contentBlockIndex":0,"delta":{"text":"k."},"p":"abcd"}"#),
        ("contentBlockStop", r#"{"contentBlockIndex":0,"p":"a"}"#),
        (
            "contentBlockStart",
            r#"{"contentBlockIndex":1,"p":"x","start":{"toolUse":{"name":"look","toolUseId":"t1"}}}"#,
        ),
        (
            "contentBlockDelta",
            r#"{"contentBlockIndex":1,"delta":{"toolUse":{"input":"{\"n\""}},"p":"q"}"#,
        ),
        (
            "contentBlockDelta",
            r#"{"contentBlockIndex":1,"delta":{"toolUse":{"input":":1}"}},"p":"qr"}"#,
        ),
        ("contentBlockStop", r#"{"contentBlockIndex":1,"p":"abc"}"#),
        ("hologram", r#"{"p":"what is this?"}"#),
        ("messageStop", r#"{"p":"abcdef","stopReason":"tool_use"}"#),
        (
            "metadata",
            r#"{"metrics":{"latencyMs":401},"p":"ab","usage":{"inputTokens":12,"outputTokens":7,"totalTokens":19}}"#,
        ),
    ];
    let invoke = [
        r#"{"type":"message_start","message":{"id":"msg_bdrk_1","type":"message","role":"assistant","model":"c","content":[],"usage":{"input_tokens":12,"output_tokens":1}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Look."}}"#,
        "{\"type\":\"content_block_stop\",\n\"index\":0}",
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t1","name":"look","input":{}}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"n\":1}"}}"#,
        r#"{"type":"content_block_stop","index":1}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":7}}"#,
        r#"{"type":"message_stop","amazon-bedrock-invocationMetrics":{"inputTokenCount":12}}"#,
    ];
    match envelope {
        Envelope::Converse => {
            converse.iter().flat_map(|(name, payload)| frame(name, payload)).collect()
        }
        Envelope::Invoke => {
            let payload = |event: &&str| {
                let bytes = base64::engine::general_purpose::STANDARD.encode(event);
                frame("chunk", &json!({"bytes": bytes, "p": "abcdefgh"}).to_string())
            };
            invoke.iter().flat_map(payload).collect()
        }
    }
}

fn read(text: &[u8]) -> Result<Reply, AnswerFault> {
    let mut feed = Feed::new(WireFormat::Messages.begin(&Arc::default(), Report::default()));
    feed.feed(text, &mut |_| {})?;
    let request = Request::new(Role::Actor, Vec::new());
    Ok(feed.end(&mut |_| {})?.reply(&request, "").0)
}

/// The reply that a client reads in an answer.
fn received(envelope: Envelope, bytes: &[u8]) -> Reply {
    let mut passage = Passage::new(envelope);
    read((passage.open(bytes) + &passage.open_end()).as_bytes()).unwrap()
}

fn call(id: &str, n: u32) -> ToolCall {
    ToolCall { id: id.into(), tool: "look".into(), arguments: json!({ "n": n }) }
}

#[test]
fn a_stream_is_read_and_passes_byte_for_byte() {
    for envelope in BOTH {
        let stream = stream(envelope);
        let mut passage = Passage::new(envelope);
        let text = passage.open(&stream);
        let reply = read(text.as_bytes()).unwrap();
        let tokens = (reply.usage.tokens_in, reply.usage.tokens_out);
        assert_eq!((reply.text.as_str(), tokens), ("Look.", (12, 7)), "{envelope:?}");
        assert_eq!((&reply.calls[..], &reply.finish), (&[call("t1", 1)][..], &Finish::Calls));
        assert_eq!(passage.close(text.as_bytes()), stream, "{envelope:?}");
    }
}

#[test]
fn changed_calls_are_read_and_the_text_before_them_has_its_bytes() {
    for envelope in BOTH {
        let stream = stream(envelope);
        let mut passage = Passage::new(envelope);
        let text = passage.open(&stream);
        let new = [call("t1", 5), call("t9", 6)];
        let text = changed(WireFormat::Messages, text.as_bytes(), "", &new);
        let closed = passage.close(&text);
        let same = closed.iter().zip(&stream).take_while(|(new, old)| new == old).count();
        assert!(same > stream.len() / 4, "{envelope:?}: {same} of {}", stream.len());
        let reply = received(envelope, &closed);
        assert_eq!((reply.text.as_str(), &reply.calls[..]), ("Look.", &new[..]), "{envelope:?}");
        assert_eq!(reply.usage.tokens_in, 12);
    }
}

#[test]
fn own_answers_and_errors_are_read() {
    let usage = Usage { tokens_in: 9, tokens_out: 4, ..Usage::default() };
    let calls = vec![call("a", 1)];
    let reply = Reply { usage, calls, finish: Finish::Calls, ..Reply::of_text("Hello.") };
    let names = FunctionNames::default();
    let answering = Answering { id: "x", model: "m", names: &names, created: 1 };
    let write = |form| WireFormat::Messages.write_answer(&reply, &answering, form);
    for envelope in BOTH {
        let mut passage = Passage::new(envelope);
        let closed = passage.close(write(AnswerForm::Events).as_bytes());
        let got = received(envelope, &closed);
        assert_eq!((&got.text, &got.calls, got.usage), (&reply.text, &reply.calls, usage));
        let document = passage.close_document(write(AnswerForm::Whole).as_bytes());
        let opened = Passage::new(envelope).open_document(&document);
        let got = read(&opened).unwrap();
        assert_eq!((&got.text, &got.calls, got.usage), (&reply.text, &reply.calls, usage));
    }
    for (status, exception, error) in [
        (429, "throttlingException", "ThrottlingException"),
        (400, "validationException", "ValidationException"),
        (529, "serviceUnavailableException", "ServiceUnavailableException"),
        (500, "internalServerException", "InternalServerException"),
        (403, "internalServerException", "AccessDeniedException"),
    ] {
        let body = WireFormat::Messages.write_error(status, "no");
        assert_eq!(error_kind(body.as_bytes()), Some(error));
        assert_eq!(write_error(body.as_bytes()), r#"{"message":"no"}"#);
        let event =
            WireFormat::Messages.write_error_event(status, "no", (AnswerForm::Events, false));
        let closed = Passage::new(Envelope::Converse).close(event.as_bytes());
        let (frame, _) = FrameParser::default().feed(&closed).remove(0);
        assert_eq!(header(&frame.unwrap(), ":exception-type"), Some(exception));
        let said = read(Passage::new(Envelope::Invoke).open(&closed).as_bytes()).unwrap_err();
        let AnswerFault::Said(said) = said else { panic!("{said:?}") };
        assert_eq!(said["error"]["message"], format!("{exception}: no"));
    }
    assert_eq!(error_kind(br#"{"message":"no"}"#), None);
    assert_eq!(error_kind(b"half of two forms"), None);
}

#[test]
fn a_client_that_waits_hears_an_event_without_content() {
    let beat = WireFormat::Messages.codec().heartbeat;
    for (envelope, name) in BOTH.into_iter().zip(["chunk", "messageStart"]) {
        let mut passage = Passage::new(envelope);
        let (before, after) = (passage.open(&stream(envelope)), passage.close(beat.as_bytes()));
        let (frame, _) = FrameParser::default().feed(&after).remove(0);
        assert_eq!(header(&frame.unwrap(), ":event-type"), Some(name));
        assert_eq!(passage.close(before.as_bytes()), stream(envelope));
    }
}

#[test]
fn a_whole_answer_of_converse_is_read_and_passes_byte_for_byte() {
    let answer = r#"{"metrics": {"latencyMs": 551}, "output":{"message":{"content":[{"reasoningContent":
        {"reasoningText":{"signature":"sig","text":"Hm."}}},{"text":"Look."},{"toolUse":{"input":{"n":1},
        "name":"look","toolUseId":"t1"}}],"role":"assistant"}}, "stopReason":"tool_use","hologram":1.0e1,
        "usage":{"cacheReadInputTokens":3,"inputTokens":12,"outputTokens":7,"totalTokens":22}}"#;
    let mut passage = Passage::new(Envelope::Converse);
    let opened = passage.open_document(answer.as_bytes());
    let reply = read(&opened).unwrap();
    assert_eq!((reply.text.as_str(), reply.reasoning.as_str()), ("Look.", "Hm."));
    assert_eq!((reply.usage.tokens_in, reply.usage.cached, reply.usage.tokens_out), (15, 3, 7));
    assert_eq!(reply.calls, [call("t1", 1)]);
    let other = changed(WireFormat::Messages, &opened, "", &[call("t1", 2)]);
    let other: Value = serde_json::from_slice(&passage.close_document(&other)).unwrap();
    let content = &other["output"]["message"]["content"];
    assert_eq!(content[0]["reasoningContent"]["reasoningText"]["signature"], "sig");
    assert_eq!(content[2]["toolUse"]["input"], json!({"n": 2}));
    assert_eq!(passage.close_document(&opened), answer.as_bytes());
    // A refusal, or an answer of another kind, stays as it is.
    for other in [r#"{"message":"Too many requests"}"#, "no json", ""] {
        let mut passage = Passage::new(Envelope::Converse);
        assert_eq!(passage.open_document(other.as_bytes()), other.as_bytes());
        assert_eq!(passage.close_document(other.as_bytes()), other.as_bytes());
    }
}

#[test]
fn a_request_of_converse_is_read() {
    let body = json!({
        "additionalModelRequestFields": {"thinking": {"type": "enabled", "budget_tokens": 1024}},
        "inferenceConfig": {"maxTokens": 99, "temperature": 0.5, "stopSequences": ["X"]},
        "system": [{"text": "Be kind."}, {"cachePoint": {"type": "default"}}],
        "messages": [
            {"role": "user", "content": [{"text": "Hi"}, {"image": {"format": "png", "source": {"bytes": "AAAA"}}}]},
            {"role": "assistant", "content": [
                {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "sig"}}},
                {"toolUse": {"toolUseId": "t1", "name": "look", "input": {"n": 1}}},
                {"toolUse": {"toolUseId": "t2", "name": "look", "input": {"n": 2}}},
            ]},
            {"role": "user", "content": [
                {"toolResult": {"toolUseId": "t2", "content": [{"json": {"a": 1}}], "status": "success"}},
                {"toolResult": {"toolUseId": "t1", "content": [{"text": "gone"}], "status": "error"}},
            ]},
        ],
        "toolConfig": {
            "tools": [
                {"toolSpec": {"name": "look", "description": "Looks.", "inputSchema": {"json": {"type": "object"}}}},
                {"cachePoint": {"type": "default"}},
            ],
            "toolChoice": {"any": {}},
        },
    });
    let text = body.to_string();
    let text = Envelope::Converse.request(text.as_bytes()).unwrap();
    let asked = WireFormat::Messages.read_request(&text).unwrap();
    let texts: Vec<&str> = asked.request.messages.iter().map(|message| message.text()).collect();
    assert_eq!(texts, ["Be kind.", "Hi", "", r#"{"a":1}"#, "gone"]);
    assert!(asked.forces_call);
    assert_eq!((asked.request.max_tokens, asked.request.stop.len()), (Some(99), 1));
    assert_eq!(asked.request.tools[0].name.as_str(), "look");
    assert_eq!((asked.calls.len(), asked.results.len()), (2, 2));
    for bad in ["[]", r#"{"messages":{}}"#, "{", ""] {
        assert!(Envelope::Converse.request(bad.as_bytes()).is_err(), "{bad}");
    }
    for (body, is_read) in [
        (r#"{"anthropic_version":"bedrock-2023-05-31","messages":[]}"#, true),
        (r#"{"messages":[],"inferenceConfig":{}}"#, false),
    ] {
        assert_eq!(Envelope::Invoke.request(body.as_bytes()).is_ok(), is_read, "{body}");
    }
}

#[test]
fn addresses_have_the_model_and_the_form() {
    let facts = |path: &str| {
        WireFormat::addressed(&RequestAddress { path, query: None, is_anthropic: false })
    };
    let id = "us.anthropic.claude-sonnet-4-20250514-v1%3A0";
    for (method, envelope, form) in [
        ("invoke", Envelope::Invoke, AnswerForm::Whole),
        ("invoke-with-response-stream", Envelope::Invoke, AnswerForm::Events),
        ("converse", Envelope::Converse, AnswerForm::Whole),
        ("converse-stream", Envelope::Converse, AnswerForm::Events),
    ] {
        for before in ["", "/gate"] {
            let (format, facts) = facts(&format!("{before}/model/{id}/{method}")).unwrap();
            assert_eq!((format, facts.form), (WireFormat::Messages, Some(form)));
            assert_eq!(facts.envelope, Some(envelope));
            assert_eq!(facts.model.unwrap(), "us.anthropic.claude-sonnet-4-20250514-v1:0");
        }
    }
    let (_, arn) = facts("/model/arn%3Aaws%3Abedrock%3Aeu%3A1%3Aprofile%2Fp/converse").unwrap();
    assert_eq!(arn.model.unwrap(), "arn:aws:bedrock:eu:1:profile/p");
    for other in ["/model/m/count-tokens", "/model/m/async-invoke", "/models/m/invoke", "/invoke"] {
        assert_eq!(facts(other), None, "{other}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases()))]

    /// However a stream is cut or damaged, no byte of it is lost.
    #[test]
    fn cut_and_damaged_streams_pass(
        is_converse: bool,
        steps in prop::collection::vec(1..200_usize, 1..8),
        damaged in prop::option::of((any::<prop::sample::Index>(), 1..=255_u8)),
        end in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let envelope = BOTH[usize::from(is_converse)];
        let mut stream = stream(envelope);
        if let Some((at, by)) = damaged {
            let at = at.index(stream.len());
            stream[at] ^= by;
        }
        if let Some(end) = end {
            stream.truncate(end.index(stream.len()));
        }
        let mut passage = Passage::new(envelope);
        let (mut rest, mut closed) = (&stream[..], Vec::new());
        for step in steps.iter().cycle() {
            let (chunk, after) = rest.split_at((*step).min(rest.len()));
            let text = passage.open(chunk);
            // The text is cut elsewhere than its frames.
            let (first, second) = text.as_bytes().split_at(text.len() / 3);
            closed.extend(passage.close(first));
            closed.extend(passage.close(second));
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
        let end = passage.open_end();
        closed.extend(passage.close(end.as_bytes()));
        prop_assert_eq!(closed, stream);
    }

    #[test]
    fn hostile_bodies_are_read(text in "[\\[\\]{}:,\"a-z ]{0,60}", bytes: Vec<u8>) {
        for envelope in BOTH {
            let _ = envelope.request(text.as_bytes());
            let mut passage = Passage::new(envelope);
            prop_assert_eq!(passage.open_document(&bytes), bytes.clone());
            passage.close(text.as_bytes());
            passage.close_document(text.as_bytes());
        }
    }
}
