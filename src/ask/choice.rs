//! The choice of a reply: calls of tools, or an answer.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::domain::{Reply, chance::canonical, words::counted};

/// The choice of a reply. Replies with the same calls are one choice: neither the order of parallel calls nor the order of
/// keys in arguments matters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReplyChoice {
    /// The tools with their arguments as JSON, in an order of their own.
    Calls(Vec<(String, String)>),
    /// Text without a call.
    Text,
    /// A call that cannot be read.
    Unread,
    /// Neither text nor a call.
    Empty,
}

impl ReplyChoice {
    pub fn of(reply: &Reply) -> Self {
        let call =
            |call: &crate::domain::ToolCall| (call.tool.to_string(), canonical(&call.arguments));
        let mut calls: Vec<_> = reply.calls.iter().map(call).collect();
        calls.sort_unstable();
        match calls.is_empty() {
            false => Self::Calls(calls),
            true if reply.is_unread() => Self::Unread,
            true if reply.is_empty() => Self::Empty,
            true => Self::Text,
        }
    }
}

impl fmt::Display for ReplyChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Calls(calls) => {
                if calls.len() > 1 {
                    write!(f, "{}: ", counted(calls.len(), "call"))?;
                }
                let each = calls.iter().map(|(tool, arguments)| format!("{tool} {arguments}"));
                f.write_str(&each.collect::<Vec<_>>().join(" + "))
            }
            Self::Text => f.write_str("text without a call"),
            Self::Unread => f.write_str("a call that cannot be read"),
            Self::Empty => f.write_str("neither text nor a call"),
        }
    }
}

impl Serialize for ReplyChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::domain::ToolCall;

    fn reply(calls: &[(&str, Value)]) -> Reply {
        let calls = calls.iter().enumerate().map(|(at, (tool, arguments))| ToolCall {
            id: format!("c{at}"),
            tool: (*tool).into(),
            arguments: arguments.clone(),
        });
        Reply { calls: calls.collect(), ..Reply::of_text("I look.") }
    }

    #[test]
    fn neither_orders_nor_ids_nor_texts_make_another_choice() {
        let one = reply(&[("a", json!({"x": 1, "y": {"p": 1, "q": 2}})), ("b", json!({}))]);
        let mut other = reply(&[("b", json!({})), ("a", json!({"y": {"q": 2, "p": 1}, "x": 1}))]);
        other.text = "Another text.".to_owned();
        assert_eq!(ReplyChoice::of(&one), ReplyChoice::of(&other));
        let told = ReplyChoice::of(&one).to_string();
        assert_eq!(told, r#"2 calls: a {"x":1,"y":{"p":1,"q":2}} + b {}"#);
    }

    #[test]
    fn other_arguments_and_more_of_the_same_call_are_another_choice() {
        let once = ReplyChoice::of(&reply(&[("a", json!({"x": 1}))]));
        for other in [
            reply(&[("a", json!({"x": "1"}))]),
            reply(&[("a", json!({"x": 1})), ("a", json!({"x": 1}))]),
            reply(&[("a", json!("{\"x\": 1"))]),
            reply(&[]),
            Reply::of_text(" "),
        ] {
            assert_ne!(ReplyChoice::of(&other), once, "{other:?}");
        }
        assert_eq!(ReplyChoice::of(&Reply::of_text(" ")), ReplyChoice::Empty);
    }
}
