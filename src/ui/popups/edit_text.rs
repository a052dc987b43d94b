//! Conversion between a part of a call and the text to edit. Messages and calls begin with a line of their own, such as
//! `=== user`; within a text, `\===` at the beginning of a line means `===`.

use serde_json::Value;

use crate::domain::edit::Edit;
use crate::domain::{Message, Messages, ToolCall};

const MARK: &str = "=== ";

/// The text of a part.
pub fn written(part: &Edit) -> String {
    match part {
        Edit::Arguments(arguments) => pretty(arguments),
        Edit::Result(text) => text.clone(),
        Edit::Messages(messages) => {
            let all = messages.iter().map(|message| {
                let head = match message {
                    Message::System { .. } => "system".to_owned(),
                    Message::User { .. } => "user".to_owned(),
                    Message::Assistant { .. } => "assistant".to_owned(),
                    Message::Tool { tool, .. } => format!("tool {tool}"),
                };
                format!("{MARK}{head}\n{}\n", escaped(message.text()))
            });
            all.collect()
        }
        Edit::Reply { text, calls } => {
            let calls = calls.iter().map(|call| {
                format!("\n{MARK}call {}\n{}", call.tool, escaped(&pretty(&call.arguments)))
            });
            escaped(text) + &calls.collect::<String>()
        }
    }
}

/// Parses the text of a part that was `before`.
///
/// # Errors
/// What is wrong with the text.
pub fn read(text: &str, before: &Edit) -> Result<Edit, String> {
    match before {
        Edit::Arguments(_) => json(text).map(Edit::Arguments),
        Edit::Result(_) => Ok(Edit::Result(text.to_owned())),
        Edit::Messages(before) => {
            let (preface, sections) = sections(text);
            if !preface.trim().is_empty() {
                return Err("the first line is not `=== system` or `=== user`".to_owned());
            }
            let read = sections.iter().enumerate();
            let read = read.map(|(at, (head, text))| message(head, text, before, at));
            read.collect::<Result<_, _>>().map(Edit::Messages)
        }
        Edit::Reply { calls: before, .. } => {
            let (said, sections) = sections(text);
            let calls = sections.iter().enumerate().map(|(at, (head, text))| {
                let tool =
                    head.strip_prefix("call ").map(str::trim).filter(|tool| !tool.is_empty());
                let tool = tool.ok_or_else(|| format!("`=== {head}` is not `=== call TOOL`"))?;
                let id =
                    before.get(at).map_or_else(|| format!("edited{at:03}"), |call| call.id.clone());
                let arguments = json(text).map_err(|why| format!("call {tool}: {why}"))?;
                Ok(ToolCall { id, tool: tool.into(), arguments })
            });
            let calls = calls.collect::<Result<_, String>>()?;
            Ok(Edit::Reply { text: said.trim_end().to_owned(), calls })
        }
    }
}

/// A message with this head. If there was one at this place before, it keeps its calls or the call that it answers.
fn message(head: &str, text: &str, before: &Messages, at: usize) -> Result<Message, String> {
    let text = text.to_owned();
    let (word, name) = head.split_once(' ').unwrap_or((head, ""));
    match (word, before.get(at)) {
        ("system", _) => Ok(Message::System { text }),
        ("user", _) => Ok(Message::user(text)),
        ("assistant", Some(Message::Assistant { calls, source, .. })) => {
            Ok(Message::Assistant { text, calls: calls.clone(), source: source.clone() })
        }
        ("assistant", _) => Ok(Message::assistant(text)),
        ("tool", Some(Message::Tool { id, tool, .. })) if tool.as_str() == name.trim() => {
            Ok(Message::result(id.clone(), tool.clone(), text))
        }
        ("tool", _) => {
            Err(format!("`=== {head}` matches no call: keep each result after its call"))
        }
        _ => Err(format!("`=== {head}` is not system, user, assistant or tool")),
    }
}

/// The text before the first mark, and each mark with the text after it.
fn sections(text: &str) -> (String, Vec<(String, String)>) {
    let (mut preface, mut sections) = (String::new(), Vec::<(String, String)>::new());
    for line in text.lines() {
        if let Some(head) = line.strip_prefix(MARK) {
            sections.push((head.trim().to_owned(), String::new()));
            continue;
        }
        let into = sections.last_mut().map_or(&mut preface, |(_, text)| text);
        let line = line.strip_prefix('\\').filter(|_| is_like_a_mark(line)).unwrap_or(line);
        into.push_str(line);
        into.push('\n');
    }
    // The line break before a mark belongs to the mark.
    sections.iter_mut().for_each(|(_, text)| _ = text.pop());
    (preface, sections)
}

/// Whether a line is a mark or an escaped mark.
fn is_like_a_mark(line: &str) -> bool {
    line.trim_start_matches('\\').starts_with("===")
}

fn escaped(text: &str) -> String {
    let line = |line: &str| match is_like_a_mark(line) {
        true => format!("\\{line}"),
        false => line.to_owned(),
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn messages() -> impl Strategy<Value = Vec<Message>> {
        let text = "(=== [a-z]{0,4}|[ -~]{0,12}|\\\\===)(\n[ -~é]{0,12}){0,3}";
        let one = (0..4_u8, text).prop_map(|(kind, text)| match kind {
            0 => Message::System { text },
            1 => Message::user(text),
            2 => Message::Assistant {
                text,
                calls: vec![ToolCall { id: "c".into(), tool: "t".into(), arguments: json!({}) }],
                source: None,
            },
            _ => Message::result("c", "t".into(), text),
        });
        proptest::collection::vec(one, 0..5)
    }

    proptest! {
        #[test]
        fn what_is_not_changed_is_read_as_it_was(messages in messages()) {
            let part = Edit::Messages(messages.into());
            prop_assert_eq!(read(&written(&part), &part), Ok(part));
        }
    }

    #[test]
    fn a_reply_is_its_text_and_its_calls() {
        let call =
            |tool: &str, arguments| ToolCall { id: "c0".into(), tool: tool.into(), arguments };
        let before =
            Edit::Reply { text: "I look.".into(), calls: vec![call("a", json!({"q": 1}))] };
        let text = written(&before);
        assert_eq!(text, "I look.\n=== call a\n{\n  \"q\": 1\n}");
        assert_eq!(read(&text, &before).unwrap(), before);
        let after = read("Other.\n=== call b\n{\"q\": 2}", &before).unwrap();
        let calls = vec![call("b", json!({"q": 2}))];
        assert_eq!(after, Edit::Reply { text: "Other.".into(), calls });
    }

    #[test]
    fn what_is_wrong_is_said() {
        let messages = Edit::Messages(vec![Message::user("a")].into());
        let reply = Edit::Reply { text: String::new(), calls: Vec::new() };
        for (text, before, why) in [
            ("{", &Edit::Arguments(json!({})), "not JSON: EOF while parsing"),
            ("hello", &messages, "the first line is not"),
            ("=== robot\nx", &messages, "`=== robot` is not system, user, assistant or tool"),
            ("=== tool a\nx", &messages, "`=== tool a` matches no call"),
            ("x\n=== user\ny", &reply, "`=== user` is not `=== call TOOL`"),
            ("x\n=== call a\n{", &reply, "call a: not JSON"),
        ] {
            let said = read(text, before).unwrap_err();
            assert!(said.contains(why), "{said} / {why}");
        }
    }
}
