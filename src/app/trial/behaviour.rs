//! Finds out from one reply what an endpoint does with tools.

use super::TOOL;
use crate::domain::{
    Finish, ModelError, ModelErrorKind, Reply, Request, ToolMode, hidden_tools::ignored, tokens,
};
use crate::model::{text, understood};

/// Behaviour of an endpoint on a request that offers one tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Behaviour {
    /// The endpoint returned a call of the tool.
    Native,
    /// The endpoint wrote the call as text, as configured.
    Text,
    /// The endpoint wrote the call as text, though the tool was offered natively: the server did not find the call in
    /// the model's answer.
    CallAsText,
    /// The endpoint returned a call of a tool that was not offered.
    OtherTool { name: String },
    /// The endpoint's count of tokens has no room for the tool: the model has not seen it.
    Dropped { counted: u64, sent: u64 },
    /// The endpoint's count of tokens is far below the number sent: the beginning of the request is missing.
    Cut { counted: u64, sent: u64 },
    /// The request is longer than the context window.
    TooLong { why: String },
    /// The endpoint refuses a request with tools.
    NoTools { why: String },
    /// The endpoint answered without a call.
    NoCall { answer: String },
    /// The answer reached the limit of tokens before a call.
    Unfinished,
    /// No reply came in time.
    Late { why: String },
    /// The request failed.
    Failed { why: String },
}

impl Behaviour {
    /// Reads the behaviour of an endpoint in this mode from its reply. In text mode, calls in the text were already
    /// read.
    pub(super) fn of(mode: ToolMode, request: &Request, reply: Result<Reply, ModelError>) -> Self {
        let reply = match reply {
            Ok(reply) => reply,
            Err(error) => return Self::of_error(error),
        };
        if let Some(call) = reply.calls.first() {
            return match (call.tool.as_str() == TOOL, mode) {
                (true, ToolMode::Native) => Self::Native,
                (true, ToolMode::Text) => Self::Text,
                (false, _) => Self::OtherTool { name: call.tool.to_string() },
            };
        }
        let counted = reply.usage.tokens_in.saturating_add(reply.usage.cached);
        match mode {
            ToolMode::Native if is_call(request, &reply) => Self::CallAsText,
            ToolMode::Native if let Some(sent) = ignored(request, &reply) => {
                Self::Dropped { counted, sent }
            }
            _ if let Some(sent) = cut(mode, request, &reply) => Self::Cut { counted, sent },
            _ if reply.finish == Finish::Length => Self::Unfinished,
            _ => Self::NoCall { answer: reply.said().to_owned() },
        }
    }

    fn of_error(error: ModelError) -> Self {
        let why = error.text;
        match error.kind {
            ModelErrorKind::ContextOverflow => Self::TooLong { why },
            ModelErrorKind::Timeout | ModelErrorKind::TooLong => Self::Late { why },
            // vLLM and old servers of llama.cpp name a switch, Ollama says "does not support tools".
            ModelErrorKind::Refused | ModelErrorKind::Endpoint if why.contains("tool") => {
                Self::NoTools { why }
            }
            _ => Self::Failed { why },
        }
    }
}

/// Whether the text is a call in any form that models write, even with words around it.
fn is_call(request: &Request, reply: &Reply) -> bool {
    let read = understood(ToolMode::Native, request, reply.clone());
    let is_read = read.is_unread() || !read.calls.is_empty();
    let after = reply.text.split_once(TOOL).map(|(_, after)| after);
    is_read || after.is_some_and(|after| reply.text.contains('{') && after.contains("city"))
}

/// The tokens sent, if the endpoint counts less than half of the messages alone. Cached ones count, or are stated.
fn cut(mode: ToolMode, request: &Request, reply: &Reply) -> Option<u64> {
    let usage = reply.usage;
    let sent = match mode {
        ToolMode::Native => tokens::count_request(request),
        ToolMode::Text => tokens::count_request(&text::to_text(request)),
    };
    let counted = usage.tokens_in.saturating_add(usage.cached);
    let is_short = !usage.estimated && usage.cached == 0 && counted > 0 && counted < sent / 4;
    is_short.then_some(sent)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::{ToolCall, Usage, hidden_tools::NOTICEABLE};
    use crate::trial::{CITY, request};

    fn reply(text: &str, called: Option<&str>, tokens_in: u64) -> Reply {
        let call = |name: &str| ToolCall {
            id: "c".into(),
            tool: name.into(),
            arguments: json!({ "city": CITY }),
        };
        Reply {
            calls: called.map(call).into_iter().collect(),
            usage: Usage { tokens_in, tokens_out: 9, ..Usage::default() },
            ..Reply::of_text(text)
        }
    }

    fn native(reply: Reply) -> Behaviour {
        Behaviour::of(ToolMode::Native, &request(), Ok(reply))
    }

    fn error(kind: ModelErrorKind, text: &str) -> Behaviour {
        let error = ModelError::new(kind, text);
        Behaviour::of(ToolMode::Native, &request(), Err(error))
    }

    #[test]
    fn the_request_is_small_and_its_tool_is_large_enough_to_be_missed() {
        let request = request();
        let (all, tools) = (tokens::count_request(&request), tokens::count_tools(&request.tools));
        assert!(tools >= NOTICEABLE && tools >= all - tools && all < 500, "{tools} of {all}");
    }

    #[test]
    fn a_call_of_the_tool_is_native_and_another_is_named() {
        assert_eq!(native(reply("", Some(TOOL), 300)), Behaviour::Native);
        let other = Behaviour::OtherTool { name: "search".into() };
        assert_eq!(native(reply("", Some("search"), 300)), other);
        let text = Behaviour::of(ToolMode::Text, &request(), Ok(reply("", Some(TOOL), 300)));
        assert_eq!(text, Behaviour::Text);
    }

    #[test]
    fn a_call_in_the_text_is_one_in_every_form_that_models_write() {
        let call = r#"{"name": "weather_report", "arguments": {"city": "Lisbon"}}"#;
        for text in [
            call.to_owned(),
            format!("<tool_call>\n{call}\n</tool_call>"),
            format!("```json\n{call}\n```"),
            format!("I look it up.\n\n<tools>{call}</tools>"),
            "<function=weather_report>{\"city\": \"Lisbon\"}</function>".to_owned(),
            "Action: weather_report\nAction Input: {\"city\": \"Lisbon\"}".to_owned(),
        ] {
            assert_eq!(native(reply(&text, None, 300)), Behaviour::CallAsText, "{text}");
        }
        for text in ["I would call weather_report for Lisbon.", "It is sunny in Lisbon."] {
            let answer = Behaviour::NoCall { answer: text.into() };
            assert_eq!(native(reply(text, None, 300)), answer);
        }
    }

    #[test]
    fn the_count_of_tokens_shows_tools_that_are_dropped_and_prompts_that_are_cut() {
        let sent = tokens::count_request(&request());
        let messages = sent - tokens::count_tools(&request().tools);
        let counted = messages + 3;
        let dropped = native(reply("It is sunny.", None, counted));
        assert_eq!(dropped, Behaviour::Dropped { counted, sent });
        assert_eq!(native(reply("Hello!", None, 12)), Behaviour::Cut { counted: 12, sent });
        let cached = Usage { tokens_in: 12, cached: sent, ..Usage::default() };
        let reply = Reply { usage: cached, ..reply("Hello!", None, 0) };
        assert!(matches!(native(reply), Behaviour::NoCall { .. }), "most of it was cached");
    }

    #[test]
    fn errors_say_what_is_refused() {
        let why =
            |behaviour: &Behaviour| format!("{behaviour:?}").split(' ').next().map(str::to_owned);
        for (kind, text, expected) in [
            (ModelErrorKind::ContextOverflow, "exceeds the context size (256 tokens)", "TooLong"),
            (ModelErrorKind::Refused, "gemma:2b does not support tools", "NoTools"),
            (ModelErrorKind::Endpoint, "tools param requires --jinja flag", "NoTools"),
            (ModelErrorKind::Timeout, "silent for 60 s", "Late"),
            (ModelErrorKind::Endpoint, "out of memory", "Failed"),
        ] {
            assert_eq!(why(&error(kind, text)).as_deref(), Some(expected), "{text}");
        }
        let cut = Reply { finish: Finish::Length, ..reply("Let me think", None, 300) };
        assert_eq!(native(cut), Behaviour::Unfinished);
    }
}
