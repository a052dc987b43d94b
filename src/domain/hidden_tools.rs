//! Tools that an endpoint accepted and did not show to its model, as with a chat template without tools. The model then
//! answers from memory.
//!
//! The endpoint counts what the model sees, so the tools' share is missing from its count. Tokenizers and templates
//! differ, so only a count that fits the messages alone is suspicious.

use super::{Reply, Request, Usage, tokens};

/// Tools with fewer tokens are as small as the differences between tokenizers.
pub const NOTICEABLE: u64 = 200;

/// The tokens that were sent, if the endpoint's count has no room for the tools.
pub fn ignored(request: &Request, reply: &Reply) -> Option<u64> {
    let Usage { tokens_in, cached, estimated, .. } = reply.usage;
    // A model that calls a tool has seen it.
    if request.tools.is_empty() || estimated || !reply.calls.is_empty() {
        return None;
    }
    // Some endpoints leave cached tokens out of their count.
    let counted = tokens_in.saturating_add(cached);
    let tools = tokens::count_tools(&request.tools);
    // Shorter tools, or a tokenizer that makes fewer tokens, would explain the rest.
    if tools < NOTICEABLE {
        return None;
    }
    let messages = tokens::count_request(request) - tools;
    let is_clear = tools >= messages;
    // A count far below the messages leaves out cached tokens without saying so.
    let fits_messages = counted >= messages / 2 && counted < messages + tools / 8;
    (is_clear && fits_messages).then_some(tools + messages)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Message, Role, ToolCall, ToolDef};

    /// About 1,300 tokens of tools, and 100 of messages.
    fn request(words: usize) -> Request {
        let tool = |n: usize| ToolDef {
            name: format!("tool_{n}").as_str().into(),
            description: "Finds the weather of a city on a day and says it in words. ".repeat(4),
            parameters: json!({"type": "object", "properties": {"city": {"type": "string"}}})
                .into(),
        };
        Request {
            tools: (0..16).map(tool).collect(),
            ..Request::new(
                Role::Actor,
                vec![Message::system("word ".repeat(words)), Message::user("Rain?")],
            )
        }
    }

    fn reply(tokens_in: u64) -> Reply {
        Reply {
            usage: Usage { tokens_in, tokens_out: 5, ..Usage::default() },
            ..Reply::of_text("It rains.")
        }
    }

    #[test]
    fn a_count_without_room_for_the_tools_is_noticed() {
        let request = request(100);
        let all = tokens::count_request(&request);
        let tools = tokens::count_tools(&request.tools);
        let messages = all - tools;
        assert!(all > 1_000 && messages < 150, "{all}, {messages}");
        for counted in [messages, messages + 30, messages * 3 / 4] {
            assert_eq!(ignored(&request, &reply(counted)), Some(all), "{counted}");
        }
        // Another tokenizer, tools in a shorter form, and both.
        for counted in [all, all * 3 / 2, all * 7 / 10, messages + tools / 3, messages + tools / 8]
        {
            assert_eq!(ignored(&request, &reply(counted)), None, "{counted}");
        }
    }

    #[test]
    fn caches_estimates_calls_and_small_menus_are_no_reason() {
        let sent = request(100);
        let with = |usage: Usage| ignored(&sent, &Reply { usage, ..reply(0) });
        let usage = reply(118).usage;
        assert!(with(usage).is_some());
        assert_eq!(with(Usage { cached: 1_200, ..usage }), None, "counted apart");
        assert_eq!(with(Usage { tokens_in: 9, ..usage }), None, "only what was not cached");
        assert_eq!(with(Usage { estimated: true, ..usage }), None);
        let call = ToolCall { id: "1".into(), tool: "tool_1".into(), arguments: json!({}) };
        assert_eq!(ignored(&sent, &Reply { calls: vec![call], ..reply(118) }), None);
        let mut few = request(100);
        few.tools = few.tools[..1].into();
        assert_eq!(ignored(&few, &reply(118)), None);
        few.tools = std::sync::Arc::default();
        assert_eq!(ignored(&few, &reply(118)), None);
        let long = request(3_000);
        assert_eq!(ignored(&long, &reply(3_010)), None, "tokenizers differ by as much");
    }
}
