//! Adds turns to the conversation of a request: answers and results that its client does not know.

use serde_json::{Map, Value};

use crate::domain::{Message, Messages, Request, Role};
use crate::learned::Learned;
use crate::node::{JsonItem, JsonNode};
use crate::{Codec, FunctionNames, NotChanged, WireFormat, WireSettings, patch};

/// Adds messages to the conversation of a body. Each part comes after this number of messages of the assistant, just
/// before the next one; with `None` it comes last. Consecutive items of the assistant are one message.
///
/// # Errors
/// The place does not exist, or the past is at the endpoint.
pub fn with_turns(
    format: WireFormat,
    body: &[u8],
    turns: &[(Option<usize>, &[Message])],
) -> Result<Vec<u8>, NotChanged> {
    let fields = JsonNode::of(str::from_utf8(body)?)?.fields().ok_or(NotChanged::NoList)?;
    if fields.get("conversation").is_some() {
        return Err(NotChanged::AtEndpoint);
    }
    let Codec { conversation, has_items, .. } = format.codec();
    let list = fields.get(conversation).ok_or(NotChanged::NoList)?;
    let mut places = Vec::new();
    if *has_items && list.string().is_some() {
        // The short form of one user message.
        let mut texts = vec![format!(r#"{{"role":"user","content":{}}}"#, list.raw())];
        for (before, turn) in turns {
            if before.is_some() {
                return Err(NotChanged::NoList);
            }
            texts.extend(written(format, turn));
        }
        places.push((list.range(), format!("[{}]", texts.join(","))));
    } else {
        let items = list.objects().ok_or(NotChanged::NoList)?;
        let starts = starts(format, &items);
        for (before, turn) in turns {
            let text = written(format, turn).join(",");
            places.push(match (before, items.last()) {
                (Some(before), _) => {
                    let at = *starts.get(*before).ok_or(NotChanged::NoList)?;
                    (at..at, text + ",")
                }
                (None, Some(last)) => {
                    let end = last.node.range().end;
                    (end..end, format!(",{text}"))
                }
                (None, None) => (list.range(), format!("[{text}]")),
            });
        }
    }
    let places: Vec<_> = places.iter().map(|(range, new)| (range.clone(), new.as_str())).collect();
    Ok(patch(body, &places)?)
}

/// The beginnings of the assistant's messages.
fn starts(format: WireFormat, items: &[JsonItem<'_>]) -> Vec<usize> {
    let mut was_answer = false;
    let begin = |item: &JsonItem<'_>| {
        let is_answer = (format.codec().is_of_assistant)(item);
        let goes_on = format.codec().has_items && was_answer;
        was_answer = is_answer;
        (is_answer && !goes_on).then(|| item.node.range().start)
    };
    items.iter().filter_map(begin).collect()
}

/// Messages as items of the list. An answer goes back in the form of the endpoint that wrote it.
fn written(format: WireFormat, turn: &[Message]) -> Vec<String> {
    let source = turn.iter().find_map(|message| match message {
        Message::Assistant { source, .. } => source.as_deref(),
        _ => None,
    });
    let (names, learned, extra) = (FunctionNames::default(), Learned::new(), Map::new());
    let settings = WireSettings {
        model: "",
        source: source.map_or("", |source| &source.endpoint),
        names: &names,
        streams: false,
        max_tokens_field: "",
        longest: 0,
        allowed_tools: false,
        caches: false,
        extra: &extra,
        learned: &learned,
    };
    let messages: Messages = turn.iter().cloned().collect();
    let request = Request { messages, ..Request::new(Role::Actor, Vec::new()) };
    (format.codec().items)(&request, &settings).iter().map(Value::to_string).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::domain::blocks::{Block, BlockKind};
    use crate::domain::{ReplySource, ToolCall};

    fn turn(id: &str, blocks: Vec<Block>) -> Vec<Message> {
        let call = ToolCall { id: id.into(), tool: "weather".into(), arguments: json!({"a": 1}) };
        let source = ReplySource { endpoint: "m at e".into(), blocks, ..ReplySource::default() };
        let (text, source) = ("I look.".to_owned(), Some(Arc::new(source)));
        let answer = Message::Assistant { text, calls: vec![call], source };
        vec![answer, Message::result(id, "weather".into(), "no \"rain\"")]
    }

    /// Requests of one conversation: a question, an answer, and another question.
    fn body(format: WireFormat) -> &'static str {
        match format {
            WireFormat::Chat => {
                r#"{"temperature": 1.00, "messages" : [ {"role":"user","content":"A"} , {"role":"assistant","content":"B"}, {"role":"user","content":"C"} ]}"#
            }
            WireFormat::Responses => {
                r#"{"temperature": 1.00, "input" : [ {"role":"user","content":"A"} , {"type":"reasoning","id":"r","summary":[]}, {"role":"assistant","content":"B"}, {"role":"user","content":"C"} ]}"#
            }
            WireFormat::Gemini => {
                r#"{"temperature": 1.00, "contents" : [ {"role":"user","parts":[{"text":"A"}]} , {"role":"model","parts":[{"text":"B"}]}, {"role":"user","parts":[{"text":"C"}]} ]}"#
            }
            WireFormat::Ollama | WireFormat::Generate => {
                r#"{"temperature": 1.00, "messages" : [ {"role":"user","content":"A"} , {"role":"assistant","content":"B"}, {"role":"user","content":"C"} ]}"#
            }
            WireFormat::Messages => {
                r#"{"temperature": 1.00, "messages" : [ {"role":"user","content":"A"} , {"role":"assistant","content":[{"type":"text","text":"B"}]}, {"role":"user","content":"C"} ]}"#
            }
        }
    }

    #[test]
    fn turns_come_before_the_answer_that_followed_them_or_last() {
        for format in WireFormat::ALL.into_iter().filter(|format| *format != WireFormat::Generate) {
            let (body, turn) = (body(format), turn("call_1", Vec::new()));
            let own = format.read_request(body.as_bytes()).unwrap().request.messages;
            for (before, at) in [(Some(0), 1), (None, 3)] {
                let put = with_turns(format, body.as_bytes(), &[(before, &turn)]).unwrap();
                let read = format.read_request(&put).unwrap().request.messages;
                let read: Vec<Message> = read.iter().cloned().collect();
                let mut all: Vec<Message> = own.iter().cloned().collect();
                assert_eq!(read.len(), all.len() + 2, "{}", String::from_utf8_lossy(&put));
                all.splice(at..at, read[at..at + 2].iter().cloned());
                assert_eq!(read, all, "{format}");
                let Message::Assistant { text, calls, .. } = &read[at] else { panic!("{read:?}") };
                assert_eq!((text.as_str(), calls[0].id.as_str()), ("I look.", "call_1"));
                assert_eq!(read[at + 1], turn[1]);
                assert!(put.starts_with(br#"{"temperature": 1.00, "#));
            }
            assert!(with_turns(format, body.as_bytes(), &[(Some(1), &turn)]).is_err());
            assert_eq!(with_turns(format, body.as_bytes(), &[]).unwrap(), body.as_bytes());
        }
    }

    #[test]
    fn signed_thoughts_go_back_as_they_came() {
        let thinking = json!({"type": "thinking", "thinking": "hm", "signature": "s=="});
        let blocks =
            vec![Block::kept(BlockKind::Thinking, thinking), Block::Call { id: "call_1".into() }];
        let turn = turn("call_1", blocks);
        let put = with_turns(
            WireFormat::Messages,
            body(WireFormat::Messages).as_bytes(),
            &[(None, &turn)],
        );
        let put = String::from_utf8(put.unwrap()).unwrap();
        assert!(put.contains(r#"{"type":"thinking","thinking":"hm","signature":"s=="}"#), "{put}");
    }

    #[test]
    fn an_input_of_one_text_becomes_a_list_and_a_past_elsewhere_is_left_alone() {
        let turn = turn("call_1", Vec::new());
        let put = |body: &str| with_turns(WireFormat::Responses, body.as_bytes(), &[(None, &turn)]);
        let body = r#"{"input":"A \u0062","previous_response_id":"resp_1"}"#;
        let put_in = put(body).unwrap();
        let asked = WireFormat::Responses.read_request(&put_in).unwrap();
        assert_eq!((asked.request.messages.len(), asked.request.messages[0].text()), (3, "A b"));
        assert_eq!(asked.previous.as_deref(), Some("resp_1"));
        let elsewhere = put(r#"{"input":"A","conversation":"conv_1"}"#);
        assert!(matches!(elsewhere, Err(NotChanged::AtEndpoint)));
        assert!(matches!(put("{}"), Err(NotChanged::NoList)));
        let empty = put(r#"{"input":[]}"#).unwrap();
        assert_eq!(WireFormat::Responses.read_request(&empty).unwrap().request.messages.len(), 2);
    }
}
