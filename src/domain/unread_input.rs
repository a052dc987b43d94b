//! Input that an endpoint did not read, according to its own token count. Pure.
//!
//! There are three signs. An endpoint counts fewer tokens than for an earlier request that this one continues. It
//! counts fewer than any tokenizer needs for the text. Or its count has no room for the tools ([`hidden_tools`]). None of
//! them applies to an endpoint that reports no usage, or that reports a cache.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::chat::{Message, Reply, Request, ToolDef, Usage};
use crate::hidden_tools;

/// Most bytes per token over a whole request. Prose has four or five, and words are shorter than this.
const DENSEST: u64 = 12;
/// Bytes of a usual token.
const USUAL: u64 = 4;
/// Fewest bytes per token over more than a few words of any language.
const SPARSEST: u64 = 2;
/// Tokens that a chat format adds to a short message.
const FRAME: u64 = 64;

/// Part of a request that an endpoint left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unread {
    /// Tokens that it read.
    pub read: u64,
    /// Tokens that the request has, roughly.
    pub of: u64,
    /// Whether the messages alone have about that many tokens, so that perhaps only the tools are missing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tools: bool,
}

/// An earlier request of the same conversation.
#[derive(Clone, Copy, Debug)]
pub struct Former<'a> {
    pub request: &'a Request,
    pub usage: Usage,
    /// Tokens that models have written in the conversation so far. Endpoints rightly leave out earlier reasoning.
    pub written: u64,
}

/// Bytes of the texts of tools, as a model reads them. Endpoints differ in how they write the fields of a schema.
pub fn bytes_of_tools(tools: &[ToolDef]) -> u64 {
    fn of_values(value: &Value) -> usize {
        match value {
            Value::String(text) => text.len(),
            Value::Array(items) => items.iter().map(of_values).sum(),
            Value::Object(fields) => fields.values().map(of_values).sum(),
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        }
    }
    let of_tool = |tool: &ToolDef| {
        tool.name.as_str().len() + tool.description.len() + of_values(&tool.parameters)
    };
    tools.iter().map(of_tool).sum::<usize>() as u64
}

/// Returns the part of a request that an endpoint left out, if its token count shows that. `tools`: bytes of the tool
/// definitions.
pub fn unread(
    request: &Request,
    reply: &Reply,
    tools: u64,
    former: Option<Former<'_>>,
) -> Option<Unread> {
    let usage = reply.usage;
    if !usage.is_plain() {
        return None;
    }
    let of_former = former.and_then(|former| less_than_before(request, usage.tokens_in, former));
    of_former
        .or_else(|| less_than_any(request, usage.tokens_in))
        .or_else(|| without_tools(request, reply, tools))
}

/// The request continues the former one, but the endpoint read less than it did then.
fn less_than_before(request: &Request, read: u64, former: Former<'_>) -> Option<Unread> {
    let before = former.usage.tokens_in;
    let may_miss = former.written.max(before / 10);
    if former.usage.estimated || read.saturating_add(may_miss) >= before {
        return None;
    }
    let new = request.messages.after(&former.request.messages)?;
    let new: u64 = new.map(bytes).sum();
    if is_rest(read, new) || request.tools != former.request.tools {
        return None;
    }
    let of = round(before.saturating_add(new / USUAL));
    Some(Unread { read, of, tools: false })
}

/// The endpoint read fewer tokens than any tokenizer makes of the messages.
fn less_than_any(request: &Request, read: u64) -> Option<Unread> {
    let all: u64 = request.messages.iter().map(bytes).sum();
    let last = request.messages.last().map_or(0, bytes);
    // Words are counted only where the bytes alone look wrong: a request has hundreds of thousands of them.
    if read.saturating_mul(DENSEST) >= all || is_rest(read, last) {
        return None;
    }
    // Runs of letters: no usual token crosses words. Half of them, for the few tokenizers that join two words.
    let words: u64 = request.messages.iter().map(|it| words(it.text())).sum();
    (read < words / 2).then(|| Unread { read, of: round(all / USUAL), tools: false })
}

/// The endpoint read no more than the messages.
fn without_tools(request: &Request, reply: &Reply, tools: u64) -> Option<Unread> {
    let all = request.messages.iter().map(bytes).sum::<u64>() + tools;
    let read = reply.usage.tokens_in;
    // Tokens are counted only where the bytes alone look wrong.
    if read.saturating_mul(USUAL) >= all {
        return None;
    }
    hidden_tools::ignored(request, reply).map(|of| Unread { read, of: round(of), tools: true })
}

/// Whether the count may be that of the new part alone: some endpoints count only tokens that are not in their cache,
/// without saying so.
fn is_rest(read: u64, new_bytes: u64) -> bool {
    read <= new_bytes / SPARSEST + FRAME
}

fn bytes(message: &Message) -> u64 {
    message.text().len() as u64
}

/// Runs of ASCII letters.
fn words(text: &str) -> u64 {
    let mut was_letter = false;
    let mut words = 0;
    for byte in text.bytes() {
        let is_letter = byte.is_ascii_alphabetic();
        words += u64::from(is_letter && !was_letter);
        was_letter = is_letter;
    }
    words
}

/// A rough number: only its first two digits.
fn round(n: u64) -> u64 {
    let mut unit = 1;
    while n / unit >= 100 {
        unit *= 10;
    }
    (n + unit / 2) / unit * unit
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::chat::{Role, ToolCall};

    fn usage(tokens_in: u64) -> Usage {
        Usage { tokens_in, tokens_out: 5, ..Usage::default() }
    }

    fn reply(usage: Usage) -> Reply {
        Reply { usage, ..Reply::of_text("so") }
    }

    fn prose(words: usize) -> String {
        "several words of a text ".repeat(words / 5)
    }

    fn request(texts: &[&str]) -> Request {
        let messages: Vec<_> = texts.iter().map(|text| Message::user(*text)).collect();
        Request::new(Role::Actor, messages)
    }

    fn alone(request: &Request, usage: Usage) -> Option<Unread> {
        unread(request, &reply(usage), bytes_of_tools(&request.tools), None)
    }

    #[test]
    fn fewer_tokens_than_half_of_the_words_are_not_the_whole_text() {
        let asked = request(&[&prose(20_000), "What does it say?"]);
        assert_eq!(alone(&asked, usage(24_000)), None);
        let cut = Unread { read: 4096, of: 24_000, tools: false };
        assert_eq!(alone(&asked, usage(4096)), Some(cut));
        // Unknown, cached or estimated counts are not a sign.
        let cached = Usage { cached: 1, ..usage(4096) };
        let written = Usage { written: 1, ..usage(4096) };
        let estimated = Usage { estimated: true, ..usage(4096) };
        for usage in [usage(0), cached, written, estimated] {
            assert_eq!(alone(&asked, usage), None, "{usage:?}");
        }
        // The count may be that of the last message alone, with all before it in a cache.
        assert_eq!(alone(&asked, usage(40)), None);
        // Text without spaces, and text of another alphabet, has more tokens than words.
        assert_eq!(alone(&request(&[&"=".repeat(50_000), "?"]), usage(800)), None);
        assert_eq!(alone(&request(&[&"天気".repeat(9_000), "?"]), usage(800)), None);
    }

    #[test]
    fn tools_may_be_missing_where_the_messages_fit() {
        let tool = |n: usize| ToolDef {
            name: format!("tool_{n}").as_str().into(),
            description: prose(100),
            parameters: Arc::new(json!({"properties": {"q": {"description": prose(50)}}})),
        };
        let tools: Arc<[ToolDef]> = (0..50).map(tool).collect();
        let asked = Request { tools, ..request(&[&prose(200), "Which one?"]) };
        assert_eq!(alone(&asked, usage(9_000)), None);
        let found = alone(&asked, usage(260)).unwrap();
        assert!(found.tools && (7_000..11_000).contains(&found.of), "{found:?}");
        let call = ToolCall { id: "1".into(), tool: "tool_1".into(), arguments: json!({}) };
        let called = Reply { calls: vec![call], ..reply(usage(260)) };
        let bytes = bytes_of_tools(&asked.tools);
        assert_eq!(unread(&asked, &called, bytes, None), None, "who calls a tool has seen it");
    }

    #[test]
    fn a_request_that_goes_on_has_no_fewer_tokens_than_before() {
        let (first, second) = (prose(2_000), prose(100));
        let before = request(&[&first]);
        let asked = request(&[&first, "an answer", &second]);
        let sign =
            |read: u64, former: Former<'_>| unread(&asked, &reply(usage(read)), 0, Some(former));
        let former = Former { request: &before, usage: usage(9_000), written: 500 };
        assert_eq!(sign(9_200, former), None);
        assert_eq!(sign(8_500, former), None, "earlier reasoning may be left out");
        assert_eq!(sign(2_048, Former { written: 7_000, ..former }), None);
        let cut = Unread { read: 2_048, of: 9_100, tools: false };
        assert_eq!(sign(2_048, former), Some(cut));
        assert_eq!(
            sign(120, former),
            None,
            "only the new part, beside a cache of which nothing is said"
        );
        let estimated = Usage { estimated: true, ..usage(9_000) };
        assert_eq!(sign(2_048, Former { usage: estimated, ..former }), None);
        let other = request(&["another text", &first]);
        assert_eq!(sign(2_048, Former { request: &other, ..former }), None);
        let tools =
            [ToolDef { name: "t".into(), description: String::new(), parameters: Arc::default() }];
        let with_tools = Request { tools: tools.into(), ..before.clone() };
        assert_eq!(sign(2_048, Former { request: &with_tools, ..former }), None);
    }

    #[test]
    fn rough_numbers_have_two_digits() {
        let rounded = [7, 99, 100, 1_449, 9_960, 123_456].map(round);
        assert_eq!(rounded, [7, 99, 100, 1_400, 10_000, 120_000]);
    }
}
