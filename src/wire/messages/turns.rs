//! The messages of a request. User and assistant take turns, and no message is empty: an endpoint refuses anything
//! else.

use serde_json::{Map, Value, json};

use super::blocks::{CITATIONS, is_known, kind, type_of, unmarked};
use super::body::text as text_block;
use crate::arguments;
use crate::call_ids::CallIds;
use crate::domain::blocks::{Block, BlockKind, texts};
use crate::domain::{Message, ReplySource, ToolCall};
use crate::message_layout::{LayoutBlock, parts};
use crate::settings::WireSettings;

/// The messages after the instructions.
pub(crate) fn messages<'a>(
    messages: impl Iterator<Item = &'a Message>,
    settings: &WireSettings<'_>,
) -> Vec<Value> {
    let mut turns = Turns {
        messages: Vec::new(),
        results: Vec::new(),
        own: Vec::new(),
        ids: CallIds::default(),
        settings,
    };
    messages.for_each(|message| turns.add(message));
    turns.end_user();
    turns.trim_end();
    turns.messages
}

struct Turns<'a> {
    messages: Vec<Value>,
    /// The turn of the user so far: results, which come first, and the user's text.
    results: Vec<Value>,
    own: Vec<Value>,
    ids: CallIds,
    settings: &'a WireSettings<'a>,
}

impl Turns<'_> {
    fn add(&mut self, message: &Message) {
        match message {
            // There are no instructions between the turns.
            Message::System { text } => self.own.extend(blocks(text, &[])),
            Message::User { text, blocks: own } => self.own.extend(blocks(text, own)),
            Message::Assistant { text, calls, source } => {
                let endpoint = self.settings.source;
                let own = source.as_deref().filter(|source| source.endpoint == endpoint);
                self.assistant(text, calls, own);
            }
            Message::Tool { id, text, blocks, failed, .. } => {
                self.result(id, text, blocks, *failed);
            }
        }
    }

    fn result(&mut self, id: &str, text: &str, own: &[Block], failed: bool) {
        let content: Value = if own.is_empty() { text.into() } else { blocks(text, own).into() };
        let id = self.ids.result(id);
        let mut result = json!({"type": "tool_result", "tool_use_id": id, "content": content});
        if failed {
            result["is_error"] = true.into();
        }
        self.results.push(result);
    }

    fn assistant(&mut self, text: &str, calls: &[ToolCall], own: Option<&ReplySource>) {
        let parts = parts(text, calls, own, CITATIONS);
        let is_blank = |part: &LayoutBlock<'_>| matches!(part, LayoutBlock::Text(text, _) if text.trim().is_empty());
        let is_thinking = |part: &LayoutBlock<'_>| match part {
            LayoutBlock::Kept(_, raw) => kind(type_of(raw)) == BlockKind::Thinking,
            LayoutBlock::Text(..) | LayoutBlock::Call(..) => false,
        };
        let mut parts: Vec<LayoutBlock<'_>> =
            parts.into_iter().filter(|part| !is_blank(part)).collect();
        // A message may not end with a thought. Such an answer was cut off, and its thought may lack its signature.
        while parts.last().is_some_and(is_thinking) {
            parts.pop();
        }
        if parts.is_empty() {
            return;
        }
        self.end_user();
        let content = parts.into_iter().map(|part| self.part(part, own.is_some()));
        let content: Vec<Value> = content.collect();
        let last = self.messages.last_mut().filter(|last| last["role"] == "assistant");
        match last.and_then(|last| last["content"].as_array_mut()) {
            Some(before) => before.extend(content),
            None => self.messages.push(json!({"role": "assistant", "content": content})),
        }
    }

    fn part(&mut self, part: LayoutBlock<'_>, is_own: bool) -> Value {
        match part {
            LayoutBlock::Text(text, citations) => {
                let mut block = text_block(text);
                if let Some(citations) = citations {
                    block["citations"] = citations.clone();
                }
                block
            }
            LayoutBlock::Call(call, beside) => {
                let mut block = Map::new();
                block.insert("type".into(), "tool_use".into());
                block.insert("id".into(), self.ids.call(call, is_own).into());
                block.insert("name".into(), self.settings.names.out(&call.tool).into());
                block.insert("input".into(), arguments::object(&call.arguments).into_owned());
                let refused = |name: &str| self.settings.learned.leaves_out(name);
                for (name, value) in beside.into_iter().flatten().filter(|(name, _)| !refused(name))
                {
                    block.entry(name).or_insert_with(|| value.clone());
                }
                block.into()
            }
            LayoutBlock::Kept(_, raw) => unmarked(raw),
        }
    }

    fn end_user(&mut self) {
        let mut content = std::mem::take(&mut self.results);
        content.append(&mut self.own);
        if !content.is_empty() {
            self.ids.begin();
            self.messages.push(json!({"role": "user", "content": content}));
        }
    }

    /// Trims the end: an answer that the model is to continue may not end with white space.
    fn trim_end(&mut self) {
        let Some(last) = self.messages.last_mut().filter(|last| last["role"] == "assistant") else {
            return;
        };
        let block = last["content"].as_array_mut().and_then(|content| content.last_mut());
        let Some(block) = block.filter(|block| type_of(block) == "text") else { return };
        let trimmed = block["text"].as_str().unwrap_or_default().trim_end().to_owned();
        block["text"] = trimmed.into();
    }
}

/// The blocks of a user or of a result. Blocks of another format become labels. An endpoint refuses blank texts.
fn blocks(text: &str, blocks: &[Block]) -> Vec<Value> {
    let plain = [Block::Text { bytes: text.len() }];
    let blocks = if blocks.is_empty() { &plain } else { blocks };
    let mut texts = texts(blocks, text).into_iter();
    let block = |block: &Block| match block {
        Block::Text { .. } => texts.next().filter(|text| !text.trim().is_empty()).map(text_block),
        Block::Call { .. } => None,
        Block::Kept { raw, .. } if is_known(raw) => Some(unmarked(raw)),
        Block::Kept { .. } => block.label().as_deref().map(text_block),
    };
    blocks.iter().filter_map(block).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::made;

    fn turns(messages: Vec<Message>) -> Value {
        let request = made::request(messages);
        let body = made::body(&request, false);
        body["messages"].clone()
    }

    fn call(id: &str) -> ToolCall {
        ToolCall { id: id.into(), tool: "t".into(), arguments: json!({}) }
    }

    fn said(text: &str, calls: &[ToolCall], blocks: Vec<Block>, endpoint: &str) -> Message {
        let source = ReplySource { endpoint: endpoint.into(), blocks, ..ReplySource::default() };
        Message::Assistant { text: text.into(), calls: calls.to_vec(), source: Some(source.into()) }
    }

    #[test]
    fn results_come_first_and_turns_are_put_together() {
        let written = turns(vec![
            Message::user("A"),
            Message::assistant(" \n"),
            Message::user("B"),
            said("", &[call("c1"), call("c2")], Vec::new(), ""),
            Message::result("c1", "t".into(), "one"),
            Message::system("Note"),
            Message::Tool {
                id: "c2".into(),
                tool: "t".into(),
                text: "two".into(),
                blocks: Vec::new(),
                failed: true,
            },
            Message::assistant("C"),
            Message::assistant("D \n"),
        ]);
        let use_of = |id: &str| json!({"type": "tool_use", "id": id, "name": "t", "input": {}});
        let expected = json!([
            {"role": "user", "content": [{"type": "text", "text": "A"}, {"type": "text", "text": "B"}]},
            {"role": "assistant", "content": [use_of("c1"), use_of("c2")]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": "one"},
                {"type": "tool_result", "tool_use_id": "c2", "content": "two", "is_error": true},
                {"type": "text", "text": "Note"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "C"}, {"type": "text", "text": "D"}]},
        ]);
        assert_eq!(written, expected);
    }

    #[test]
    fn thoughts_go_back_to_whom_they_belong_and_never_last() {
        let thinking = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
        let blocks = vec![
            Block::kept(BlockKind::Thinking, thinking.clone()),
            Block::Call { id: "c1".into() },
        ];
        let answer = |endpoint| said("", &[call("c1")], blocks.clone(), endpoint);
        let written = turns(vec![Message::user("A"), answer("")]);
        assert_eq!(written[1]["content"][0], thinking);
        assert_eq!(written[1]["content"][1]["id"], "c1");
        let written = turns(vec![Message::user("A"), answer("other")]);
        let id = written[1]["content"][0]["id"].as_str().unwrap();
        assert!(id != "c1" && id.len() == 9, "{id}");
        let cut = said("", &[], blocks[..1].to_vec(), "");
        let written = turns(vec![Message::user("A"), cut, Message::user("B")]);
        assert_eq!(written.as_array().unwrap().len(), 1);
    }

    #[test]
    fn blocks_of_other_formats_become_their_labels() {
        let marked = json!({"type": "image", "source": {}, "cache_control": {"type": "ephemeral"}});
        let blocks = vec![
            Block::Text { bytes: 1 },
            Block::kept(BlockKind::Image, marked),
            Block::kept(BlockKind::Image, json!({"type": "image_url", "image_url": {"url": "u"}})),
        ];
        let written = turns(vec![Message::User { text: "A".into(), blocks }]);
        let expected = json!([{"type": "text", "text": "A"}, {"type": "image", "source": {}},
            {"type": "text", "text": "[image 1 B]"}]);
        assert_eq!(written[0]["content"], expected);
    }

    #[test]
    fn input_is_always_an_object() {
        let broken = ToolCall { arguments: "{\"a\":".into(), ..call("c1") };
        let written = turns(vec![Message::user("A"), said("", &[broken], Vec::new(), "")]);
        assert_eq!(written[1]["content"][0]["input"], json!({"not_valid_json": "{\"a\":"}));
    }
}
