//! Text mode: what models really write, and that what is written for them reads back the same.

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Value, json};
use toolyard::domain::{Finish, Message, Reply, Request, Role, ToolCall, ToolDef, ToolMode, Usage};
use toolyard::model::text::{from_text, to_text};
use toolyard::model::understood;

fn tool(name: &str, parameters: Value) -> ToolDef {
    ToolDef {
        name: name.into(),
        description: format!("Does {name}."),
        parameters: parameters.into(),
    }
}

fn request() -> Request {
    let one = |name: &str| json!({"type": "object", "properties": {name: {"type": "string"}}, "required": [name]});
    let two = json!({"type": "object", "properties": {
        "from": {"type": "string"}, "days": {"type": "integer"}}, "required": ["from", "days"]});
    Request {
        tools: vec![
            tool("search_web", one("query")),
            tool("calculator", one("expression")),
            tool("add.days", two),
            tool("Finish", one("answer")),
        ]
        .into(),
        ..Request::new(Role::Actor, vec![Message::user("Who wrote Kon-Tiki?")])
    }
}

fn reply(text: &str) -> Reply {
    let usage = Usage { tokens_in: 9, tokens_out: 4, ..Usage::default() };
    Reply { usage, ..Reply::of_text(text) }
}

fn called(text: &str) -> (String, String, Value) {
    let reply = from_text(&request(), reply(text));
    assert_eq!(reply.finish, Finish::Calls, "{text}");
    let [call] = reply.calls.as_slice() else { panic!("{} calls in {text}", reply.calls.len()) };
    (reply.text, call.tool.to_string(), call.arguments.clone())
}

fn answered(text: &str) -> String {
    let reply = from_text(&request(), reply(text));
    assert_eq!(reply.calls, [], "{text}");
    assert_eq!(reply.finish, Finish::Stop, "{text}");
    reply.text
}

#[test]
fn reads_a_search_in_every_shape() {
    let shapes = [
        "Action: search_web\nAction Input: {\"query\": \"Kon-Tiki\"}",
        "Action: search_web\nAction Input: Kon-Tiki",
        "Action: search_web\nAction Input: query=\"Kon-Tiki\"",
        "Action: search_web\nAction Input:\n```json\n{\n  \"query\": \"Kon-Tiki\"\n}\n```",
        "```\nAction: search_web\nAction Input: {\"query\": \"Kon-Tiki\"}\n```",
        "**Action:** `search_web`\n**Action Input:** {\"query\": \"Kon-Tiki\"}",
        "### Action\u{ff1a} Search_Web\n### Action Input: \"Kon-Tiki\"",
        "Action 1: search_web[Kon-Tiki]",
        "Action: search_web(\"Kon-Tiki\")",
        "Action: search_web(query='Kon-Tiki')",
        "Action: search_web({\"query\": \"Kon-Tiki\"})",
        "Action: search_web {\"query\": \"Kon-Tiki\"}",
        "Action: search_web\n{\"query\": \"Kon-Tiki\"}",
        "Action:\nsearch_web\nAction Input:\nKon-Tiki",
        "Action: [search web]\nAction Input: Kon-Tiki",
        "Action: search_web Action Input: Kon-Tiki",
        "Action: {\"tool\": \"search_web\", \"input\": {\"query\": \"Kon-Tiki\"}}",
        "Action:\n```json\n{\"action\": \"search_web\", \"action_input\": \"Kon-Tiki\"}\n```",
        "{\"name\": \"search_web\", \"arguments\": {\"query\": \"Kon-Tiki\"}}",
        "<tool_call>\n{\"name\": \"search_web\", \"arguments\": {\"query\": \"Kon-Tiki\"}}\n</tool_call>",
        "Action: search_web\nAction Input: Kon-Tiki\nObservation: Heyerdahl\nThought: so\nFinal Answer: H.",
        "Action: search_web\nAction Input: Kon-Tiki\nAction: calculator\nAction Input: 1+1",
    ];
    for shape in shapes {
        let (thought, tool, arguments) = called(shape);
        assert_eq!(
            (tool.as_str(), arguments),
            ("search_web", json!({"query": "Kon-Tiki"})),
            "{shape}"
        );
        assert_eq!(thought, "", "{shape}");
    }
}

#[test]
fn keeps_the_thought() {
    for text in [
        "Thought: I should look.\nAction: search_web\nAction Input: x",
        "I should look.\n\nAction: search_web[x]",
        "**Thought:** I should look.\n**Action:** search_web\n**Action Input:** x",
        "Thought: I should look. Action: search_web Action Input: x",
    ] {
        assert_eq!(called(text).0, "I should look.", "{text}");
    }
    let text = "<think>Hm. Action: no</think>\nThought: Look.\nAction: search_web[x]";
    let read = understood(ToolMode::Text, &request(), reply(text));
    assert_eq!((read.text.as_str(), read.reasoning.as_str()), ("Look.", "Hm. Action: no"));
}

#[test]
fn reads_several_arguments_and_awkward_names() {
    let both = json!({"from": "1 May", "days": 3});
    for text in [
        "Action: add.days\nAction Input: {\"from\": \"1 May\", \"days\": 3}",
        "Action: add_days\nAction Input: from=1 May, days=3",
        "Action: add.days(from=\"1 May\", days=3)",
        "Action: add.days\nAction Input: from: 1 May\ndays: 3",
    ] {
        let (_, tool, arguments) = called(text);
        assert_eq!((tool.as_str(), &arguments), ("add.days", &both), "{text}");
    }
    let (_, _, arguments) = called("Action: add.days\nAction Input: 1 May and 3");
    assert_eq!(
        arguments,
        json!("1 May and 3"),
        "unreadable input is kept for the check to explain"
    );
    assert_eq!(called("Action: search_web").2, json!({}), "a missing input is an empty one");
    assert_eq!(
        called("Action: unheard_of[x]").1,
        "unheard_of",
        "the model is to learn its mistake"
    );
}

#[test]
fn reads_the_end() {
    for text in [
        "Thought: I know.\nFinal Answer: Thor Heyerdahl",
        "**Final Answer:** Thor Heyerdahl",
        "Final Answer: Thor Heyerdahl\nObservation: invented",
        "Action: Finish[Thor Heyerdahl]",
        "Action: finish(\"Thor Heyerdahl\")",
        "Action: Finish\nAction Input: {\"answer\": \"Thor Heyerdahl\"}",
        "Action: Final Answer\nAction Input: Thor Heyerdahl",
        "Action: {\"action\": \"Final Answer\", \"action_input\": \"Thor Heyerdahl\"}",
        "Thought: I know. Final Answer: Thor Heyerdahl",
        "Action: None\nFinal Answer: Thor Heyerdahl",
        "Thor Heyerdahl",
        "Thought: Thor Heyerdahl",
        "```\nFinal Answer: Thor Heyerdahl\n```",
    ] {
        assert_eq!(answered(text), "Thor Heyerdahl", "{text}");
    }
    let read = from_text(&request(), reply("Thought: I know.\nFinal Answer: 42"));
    assert_eq!(read.reasoning, "I know.");
    assert_eq!(read.usage.tokens_in, 9);
}

#[test]
fn leaves_alone_what_is_not_text_mode() {
    let mut plain = request();
    plain.tools = [].into();
    let said = reply("Action: search_web[x]");
    assert_eq!(from_text(&plain, said.clone()), said);

    let code = "```rust\nfn main() {}\n```";
    assert_eq!(answered(code), code);

    let call = ToolCall { id: "c".into(), tool: "calculator".into(), arguments: json!({}) };
    let native = Reply { calls: vec![call], finish: Finish::Calls, ..said };
    assert_eq!(from_text(&request(), native.clone()), native);
}

#[test]
fn ids_stay_unique_in_a_conversation() {
    let mut request = request();
    for number in 1..=3 {
        let reply = from_text(&request, reply("Action: search_web[x]"));
        let id = reply.calls[0].id.clone();
        assert_eq!(id, format!("text{number:05}"));
        request.messages.push(Message::Assistant {
            text: reply.text,
            calls: reply.calls,
            source: None,
        });
        request.messages.push(Message::result(id, "search_web".into(), "y"));
    }
}

fn argument() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(any::<String>(), inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    /// What `to_text` writes for a past call is what `from_text` reads as that call.
    #[test]
    fn a_written_call_reads_back(
        thought in "[a-z]{1,8}( [a-z]{1,8}){0,5}",
        which in 0usize..3,
        fields in prop::collection::hash_map(any::<String>(), argument(), 0..4),
    ) {
        let mut request = request();
        let arguments = Value::Object(fields.into_iter().collect());
        let tool = request.tools[which].name.clone();
        let calls = vec![ToolCall { id: "a".into(), tool: tool.clone(), arguments: arguments.clone() }];
        request.messages.push(Message::Assistant { text: thought.clone(), calls, source: None });
        let text = to_text(&request).messages.last().map(|message| message.text().to_owned());
        let (read_thought, read_tool, read_arguments) = called(&text.unwrap_or_default());
        prop_assert_eq!(read_thought, thought);
        prop_assert_eq!(read_tool.as_str(), tool.as_str());
        prop_assert_eq!(read_arguments, arguments);
    }

    /// Nothing that a model can write panics.
    #[test]
    fn any_text_is_read(text in "(Thought|Action|Action Input|Final Answer|Observation|[ :\\n\\[\\](){}`*'\"=,]|search_web|Finish|\\PC){0,40}") {
        let read = from_text(&request(), reply(&text));
        prop_assert!(read.calls.len() <= 1);
    }
}

#[test]
fn a_call_of_another_format_is_made_or_is_no_answer() {
    let read = |text: &str| understood(ToolMode::Text, &request(), reply(text));
    let call = read("<function=search_web>{\"query\": \"Kon-Tiki\"}</function>");
    assert_eq!(call.calls[0].arguments, json!({"query": "Kon-Tiki"}));
    let cut = read("Thought: I look.\n<tool_call>\n{\"name\": \"search_web\", \"argum");
    assert!(cut.calls.is_empty() && cut.is_unread(), "{cut:?}");
    assert!(!read("Final Answer: the tag <tool_call> begins a call").is_unread());
}
