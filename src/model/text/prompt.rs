//! Turns a request with tools into one without: the menu and the format go into the system message,
//! past calls and results become text as the model would have written and read it.

use super::schema::signature;
use std::sync::Arc;

use crate::domain::{Message, Request, ToolCall, ToolDef, schema_repair};

/// The text at which a model must stop, since it would invent its own observation.
const STOP: &str = "\nObservation:";

const FORMAT: &str = "\
Write in this format, one action at a time:

Thought: what you know, what is missing, and what to do next
Action: the name of one tool, exactly as listed
Action Input: its input, one JSON object on one line
Observation: the tool's result, which you are given; never write it yourself

These four may repeat. As soon as you know the answer, write:

Thought: why this is the answer
Final Answer: the answer";

/// The request for a model without tool calls: no tools, no calls, no tool messages. Plain messages stay unchanged: a
/// model would copy a label that it did not write, such as that of an answer before a plan.
pub fn to_text(request: &Request) -> Request {
    let mut written = PromptMessages { messages: Vec::with_capacity(request.messages.len() + 1) };
    let all: Vec<&Message> = request.messages.iter().collect();
    let mut rest = &all[..];
    while let Some((message, after)) = rest.split_first() {
        rest = match *message {
            Message::System { .. } => {
                written.messages.push((*message).clone());
                after
            }
            Message::User { text, .. } => {
                written.user(text.clone());
                after
            }
            Message::Assistant { text, calls, .. } if calls.is_empty() => {
                written.assistant(text.clone());
                after
            }
            Message::Assistant { text, calls, .. } => written.calls(text, calls, after),
            Message::Tool { text, .. } => {
                written.user(observation(text));
                after
            }
        };
    }
    let mut messages = written.messages;
    let mut stop = request.stop.clone();
    if !request.tools.is_empty() {
        explain(&mut messages, &request.tools);
        stop.push(STOP.into());
    }
    Request { messages: messages.into(), tools: Arc::default(), stop, ..request.clone() }
}

/// Puts menu and format at the end of the first system message, or at the beginning.
fn explain(messages: &mut Vec<Message>, tools: &[ToolDef]) {
    let menu: Vec<String> = tools.iter().map(line).collect();
    let told = format!("You can use these tools:\n\n{}\n\n{FORMAT}", menu.join("\n"));
    match messages.first_mut() {
        Some(Message::System { text }) => *text = format!("{}\n\n{told}", text.trim_end()),
        _ => messages.insert(0, Message::system(told)),
    }
}

fn line(tool: &ToolDef) -> String {
    let about = tool.description.split_whitespace().collect::<Vec<_>>().join(" ");
    // References and choices at a root hide its properties.
    let has_none = tool.parameters.get("properties").is_none();
    let schema = has_none.then(|| schema_repair::sendable(&tool.parameters)).flatten();
    let input = signature(schema.as_ref().unwrap_or(&tool.parameters));
    format!("- {}: {about} Input: {input}", tool.name)
}

fn observation(text: &str) -> String {
    format!("Observation: {text}")
}

/// The messages so far. Adjacent messages of one speaker are merged, since the templates of many
/// open models refuse two user turns in a row.
struct PromptMessages {
    messages: Vec<Message>,
}

impl PromptMessages {
    fn user(&mut self, text: String) {
        match self.messages.last_mut() {
            Some(Message::User { text: before, .. }) => *before = format!("{before}\n\n{text}"),
            _ => self.messages.push(Message::user(text)),
        }
    }

    fn assistant(&mut self, text: String) {
        match self.messages.last_mut() {
            Some(Message::Assistant { text: before, .. }) => *before = format!("{before}\n{text}"),
            _ => self.messages.push(Message::assistant(text)),
        }
    }

    /// Writes each call with its own observation, even if a model with tool calls requested them
    /// together; returns the messages after the observations.
    fn calls<'a>(
        &mut self,
        thought: &str,
        calls: &[ToolCall],
        after: &'a [&'a Message],
    ) -> &'a [&'a Message] {
        let is_tool = |message: &&&Message| matches!(message, Message::Tool { .. });
        let (results, after) = after.split_at(after.iter().take_while(is_tool).count());
        if !thought.trim().is_empty() {
            self.assistant(format!("Thought: {}", thought.trim()));
        }
        let mut seen = Vec::new();
        for call in calls {
            let input = &call.arguments;
            self.assistant(format!("Action: {}\nAction Input: {input}", call.tool));
            let answers = results
                .iter()
                .enumerate()
                .find(|(_, result)| matches!(result, Message::Tool { id, .. } if *id == call.id));
            if let Some((at, result)) = answers {
                self.user(observation(result.text()));
                seen.push(at);
            }
        }
        for (at, result) in results.iter().enumerate() {
            if !seen.contains(&at) {
                self.user(observation(result.text()));
            }
        }
        after
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::chat::Role;

    fn call(id: &str, city: &str) -> ToolCall {
        let arguments = json!({"city": city});
        ToolCall { id: id.into(), tool: "weather".into(), arguments }
    }

    fn request() -> Request {
        Request {
            tools: vec![ToolDef {
                name: "weather".into(),
                description: "The weather\n of today.".into(),
                parameters: json!({
                    "type": "object",
                    "properties": {"city": {"type": "string"}},
                    "required": ["city"]
                })
                .into(),
            }]
            .into(),
            temperature: Some(0.0.into()),
            ..Request::new(
                Role::Actor,
                vec![
                    Message::system("Be brief.\n"),
                    Message::user("Rain in Oslo or Bergen?"),
                    Message::Assistant {
                        text: "I look at both.".into(),
                        calls: vec![call("a", "Oslo"), call("b", "Bergen")],
                        source: None,
                    },
                    Message::result("b", "weather".into(), "rain"),
                    Message::result("a", "weather".into(), "dry"),
                    Message::user("Hurry."),
                ],
            )
        }
    }

    #[test]
    fn menu_format_and_calls_become_text() {
        let text = to_text(&request());
        assert_eq!(text.tools, [].into());
        assert_eq!(text.stop, ["\nObservation:"]);
        assert_eq!(text.temperature, Some(0.0.into()));
        let told = text.messages[0].text();
        assert!(told.starts_with("Be brief.\n\nYou can use these tools:\n\n- weather: The weather of today. Input: {\"city\": string}\n\nWrite"), "{told}");
        let rest: Vec<&str> = text.messages.iter().skip(1).map(Message::text).collect();
        let expected = [
            "Rain in Oslo or Bergen?",
            "Thought: I look at both.\nAction: weather\nAction Input: {\"city\":\"Oslo\"}",
            "Observation: dry",
            "Action: weather\nAction Input: {\"city\":\"Bergen\"}",
            "Observation: rain\n\nHurry.",
        ];
        assert_eq!(rest, expected);
    }

    #[test]
    fn a_plain_request_stays_as_it_is() {
        let mut request = request();
        request.tools = Arc::default();
        request.messages.truncate(2);
        assert_eq!(to_text(&request), request);
    }

    #[test]
    fn what_was_said_without_a_call_stays_as_it_was_said() {
        let said = |text: &str| Message::assistant(text);
        let plan = "Plan: look it up.\n#E1 = weather[Oslo]";
        for has_tools in [true, false] {
            let mut request = request();
            request.messages = vec![
                Message::system("You plan."),
                Message::user("Rain?"),
                said(plan),
                Message::user("Once more."),
                said("It is dry."),
            ]
            .into();
            if !has_tools {
                request.tools = Arc::default();
            }
            let text = to_text(&request);
            assert!(text.messages.iter_from(1).eq(request.messages.iter_from(1)));
        }
    }

    #[test]
    fn without_a_system_message_one_is_made() {
        let mut request = request();
        request.messages = vec![Message::user("Hi")].into();
        let text = to_text(&request);
        assert!(
            matches!(&text.messages[0], Message::System { text } if text.ends_with("the answer"))
        );
    }
}
