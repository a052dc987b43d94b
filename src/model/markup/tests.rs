use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn tools() -> Vec<ToolDef> {
    let tool = |name: &str, properties: Value, required: Value| ToolDef {
        name: name.into(),
        description: String::new(),
        parameters: json!({"type": "object", "properties": properties, "required": required})
            .into(),
    };
    vec![
        tool(
            "weather",
            json!({"city": {"type": "string"}, "days": {"type": "integer"}}),
            json!(["city"]),
        ),
        tool("clock", json!({}), json!([])),
        tool("files.read", json!({"path": {"type": "string"}}), json!(["path"])),
        tool("Finish", json!({"answer": {"type": "string"}}), json!([])),
    ]
}

/// The calls in a text as `[[name, arguments], …]`, and the text before them.
fn read(text: &str) -> Option<(Value, String)> {
    match find(text, &tools()) {
        MarkupText::Calls { before, calls, .. } => {
            let calls = calls.iter().map(|call| json!([call.tool, call.arguments]));
            Some((calls.collect(), before.to_owned()))
        }
        MarkupText::Text | MarkupText::Unread(_) => None,
    }
}

#[test]
fn every_family_is_read() {
    let lisbon = json!([["weather", {"city": "Lisbon"}]]);
    for text in [
        // Hermes, Qwen.
        "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Lisbon\"}}\n</tool_call>",
        "<tool_call>{\"name\": \"weather\", \"arguments\": {\"city\": \"Lisbon\",}}",
        "<tool_call>\n{\"name\": \"weather\", \"arguments\": \"{\\\"city\\\": \\\"Lisbon\\\"}\"}\n</tool_call><|im_end|>",
        "<function_call>{\"name\": \"weather\", \"arguments\": {\"city\": \"Lisbon\"}}</function_call>",
        // Mistral, old and new.
        "[TOOL_CALLS][{\"name\":\"weather\",\"arguments\":{\"city\":\"Lisbon\"}}]",
        "[TOOL_CALLS] [{\"name\": \"weather\", \"arguments\": {\"city\": \"Lisbon\"}}]</s>",
        "[TOOL_CALLS]weather[ARGS]{\"city\": \"Lisbon\"}",
        "[TOOL_CALLS]weather[CALL_ID]a1b2c3d4e[ARGS]{\"city\": \"Lisbon\"}",
        // Llama.
        "{\"name\": \"weather\", \"parameters\": {\"city\": \"Lisbon\"}}",
        "<|python_tag|>{\"name\": \"weather\", \"parameters\": {\"city\": \"Lisbon\"}}<|eom_id|>",
        "<function=weather>{\"city\": \"Lisbon\"}</function>",
        "[weather(city=\"Lisbon\")]",
        "weather(city='Lisbon')",
        // Qwen's coder.
        "<tool_call>\n<function=weather>\n<parameter=city>\nLisbon\n</parameter>\n</function>\n</tool_call>",
        "<seed:tool_call>\n<function=weather>\n<parameter=city>Lisbon</parameter>\n</function>\n</seed:tool_call>",
        // DeepSeek.
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>weather\n```json\n{\"city\": \"Lisbon\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>weather<｜tool▁sep｜>{\"city\": \"Lisbon\"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"weather\">\n<｜DSML｜parameter name=\"city\" string=\"true\">Lisbon</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
        // Kimi.
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.weather:0<|tool_call_argument_begin|>{\"city\": \"Lisbon\"}<|tool_call_end|><|tool_calls_section_end|>",
        // GLM, Hunyuan.
        "<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>Lisbon</arg_value>\n</tool_call>",
        "<tool_calls>\n<tool_call>weather<tool_sep>\n<arg_key>city</arg_key>\n<arg_value>Lisbon</arg_value>\n</tool_call>\n</tool_calls>",
        // MiniMax, and Anthropic's.
        "<minimax:tool_call>\n<invoke name=\"weather\">\n<parameter name=\"city\">Lisbon</parameter>\n</invoke>\n</minimax:tool_call>",
        "<function_calls>\n<invoke name=\"weather\">\n<parameter name=\"city\">Lisbon</parameter>\n</invoke>\n</function_calls>",
        // gpt-oss.
        "<|channel|>commentary to=functions.weather <|constrain|>json<|message|>{\"city\": \"Lisbon\"}<|call|>",
        "<|start|>assistant<|channel|>commentary to=functions.weather <|constrain|>json<|message|>{\"city\":\"Lisbon\"}<|call|>",
        "<|start|>assistant to=functions.weather<|channel|>commentary <|constrain|>json<|message|>{\"city\":\"Lisbon\"}<|call|>",
        // Phi-4-mini, InternLM, and Llama's built-in tools.
        "functools[{\"name\": \"weather\", \"arguments\": {\"city\": \"Lisbon\"}}]",
        "<|action_start|><|plugin|>\n{\"name\": \"weather\", \"parameters\": {\"city\": \"Lisbon\"}}<|action_end|>",
        "<|python_tag|>weather.call(city=\"Lisbon\")",
        // Labels, as in ReAct and in Command R.
        "Action: weather\nAction Input: {\"city\": \"Lisbon\"}",
        "Action: weather\nAction Input: Lisbon\nObservation: sunny",
        "Action: ```json\n[\n    {\n        \"tool_name\": \"weather\",\n        \"parameters\": {\"city\": \"Lisbon\"}\n    }\n]```",
        // LFM2, Olmo, Gemma.
        "<|tool_call_start|>[weather(city=\"Lisbon\")]<|tool_call_end|>",
        "<function_calls>weather(city=\"Lisbon\")</function_calls>",
        "```tool_code\nprint(weather(city=\"Lisbon\"))\n```",
        "<start_function_call>call:weather{city:<escape>Lisbon<escape>}<end_function_call>",
        // Granite, Phi, Jamba, Nemotron, Command R, Apertus.
        "<|tool_call|>[{\"name\": \"weather\", \"arguments\": {\"city\": \"Lisbon\"}}]<|/tool_call|>",
        "<tool_calls>[{\"name\": \"weather\", \"arguments\": {\"city\": \"Lisbon\"}}]</tool_calls>",
        "<TOOLCALL>[{\"name\": \"weather\", \"arguments\": {\"city\": \"Lisbon\"}}]</TOOLCALL>",
        "<|START_ACTION|>[{\"tool_call_id\": \"0\", \"tool_name\": \"weather\", \"parameters\": {\"city\": \"Lisbon\"}}]<|END_ACTION|>",
        "<|tools_prefix|>[{\"weather\": {\"city\": \"Lisbon\"}}]<|tools_suffix|>",
        // A fence, and the form of the API itself.
        "```json\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Lisbon\"}}\n```",
        "{\"tool_calls\": [{\"type\": \"function\", \"function\": {\"name\": \"weather\", \"arguments\": \"{\\\"city\\\": \\\"Lisbon\\\"}\"}}]}",
        "{\"type\": \"function\", \"function\": {\"name\": \"weather\", \"arguments\": {\"city\": \"Lisbon\"}}}",
        "{\"function\": \"weather\", \"parameters\": {\"city\": \"Lisbon\"}}",
        // A result that the model has invented.
        "<tool_call>{\"name\": \"weather\", \"arguments\": {\"city\": \"Lisbon\"}}</tool_call>\n<tool_response>\nsunny\n</tool_response>",
    ] {
        assert_eq!(read(text), Some((lisbon.clone(), String::new())), "{text}");
    }
}

#[test]
fn thoughts_before_a_call_stay_and_several_calls_keep_their_order() {
    let call = |city| {
        format!(
            "<tool_call>\n{{\"name\": \"weather\", \"arguments\": {{\"city\": \"{city}\"}}}}\n</tool_call>"
        )
    };
    let text = format!("I look it up.\n{}\n{}", call("Lisbon"), call("Porto"));
    let both = json!([["weather", {"city": "Lisbon"}], ["weather", {"city": "Porto"}]]);
    assert_eq!(read(&text), Some((both.clone(), "I look it up.".into())));
    let text = "{\"name\": \"weather\", \"arguments\": {\"city\": \"Lisbon\"}}\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Porto\"}}";
    assert_eq!(read(text), Some((both.clone(), String::new())));
    assert_eq!(
        read("[weather(city=\"Lisbon\"), weather(city=\"Porto\")]"),
        Some((both.clone(), String::new()))
    );
    let fenced = "I call it:\n```json\n{\"name\": \"clock\", \"arguments\": {}}\n```";
    assert_eq!(read(fenced), Some((json!([["clock", {}]]), "I call it:".into())));
    let react = "Thought: I look it up.\nAction: weather\nAction Input: {\"city\": \"Lisbon\"}\nAction: weather\nAction Input: {\"city\": \"Porto\"}\nObservation: rain";
    assert_eq!(read(react), Some((both, "Thought: I look it up.".into())));
    let typed = "<tool_call>weather\n<arg_key>city</arg_key><arg_value>Lisbon</arg_value>\n<arg_key>days</arg_key><arg_value>3</arg_value></tool_call>";
    assert_eq!(
        read(typed),
        Some((json!([["weather", {"city": "Lisbon", "days": 3}]]), String::new()))
    );
    let none = "<tool_call>clock</tool_call>";
    assert_eq!(read(none), Some((json!([["clock", {}]]), String::new())));
}

#[test]
fn what_quotes_a_call_is_a_text() {
    for text in [
        "Sunny.",
        "",
        "Qwen writes <tool_call>{\"name\": \"weather\", \"arguments\": {\"city\": \"Lisbon\"}}</tool_call> for a call.",
        "Write:\n<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Lisbon\"}}\n</tool_call>\nThen wait.",
        "The format is:\n```\n<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Lisbon\"}}\n</tool_call>\n```",
        "Its token is `[TOOL_CALLS]`, and then comes a list.",
        "<tool_call> is the tag that begins a call.",
        "{\"city\": \"Lisbon\", \"weather\": \"sunny\"}",
        "{\"name\": \"weather\"}",
        "{\"name\": \"Ada\", \"arguments\": {\"x\": 1}}",
        "[1, 2, 3]",
        "[{\"name\": \"weather\", \"arguments\": {\"city\": \"Lisbon\"}}, 3]",
        "f(x=1)",
        "Lisbon (Portugal)",
        "Use weather(city=\"Lisbon\")",
        "Action: call the weather service.",
        "Action: clock\nThen wait.",
        "Action: ```sh\nmake\n```",
        "Its functools[{...}] are a list.",
    ] {
        assert_eq!(find(text, &tools()), MarkupText::Text, "{text}");
    }
    assert_eq!(find("<tool_call>clock</tool_call>", &[]), MarkupText::Text);
}

#[test]
fn what_cannot_be_read_is_no_answer() {
    for text in [
        "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Lis",
        "<tool_call>\n{\"name\": \"delete_all\", \"arguments\": {}}\n</tool_call>",
        "<tool_call>{\"city\": \"Lisbon\"}</tool_call>",
        "<function=delete_all>{}</function>",
        "Action: delete_all\nAction Input: {}",
        "Action: weather\nAction Input: {\"city\": \"Lis",
        "[TOOL_CALLS][{\"name\":\"weather\",\"arguments\":{\"city\":\"Lisbon\"",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>delete_all<｜tool▁sep｜>{}<｜tool▁call▁end｜>",
        "<tool_call>delete_all\n<arg_key>x</arg_key><arg_value>1</arg_value></tool_call>",
    ] {
        assert!(matches!(find(text, &tools()), MarkupText::Unread(_)), "{text}");
    }
}

#[test]
fn names_that_are_nearly_right_are_found() {
    let tools = tools();
    let name = |name: &str| offered(name, &tools).map(|tool| tool.name.as_str());
    for (written, meant) in [
        ("weather", "weather"),
        ("Weather", "weather"),
        ("functions.weather", "weather"),
        ("functions.weather:0", "weather"),
        ("default_api.weather", "weather"),
        ("weather<|channel|>commentary", "weather"),
        ("weather()", "weather"),
        ("weather.call", "weather"),
        ("finish", "Finish"),
        ("files_read", "files.read"),
        ("functions.files.read", "files.read"),
    ] {
        assert_eq!(name(written), Some(meant), "{written}");
    }
    for written in ["", "weathers", "get_weather", "other.weather", "weather clock"] {
        assert_eq!(name(written), None, "{written}");
    }
    let longer: Vec<ToolDef> = ["weather", "functions.weather"]
        .map(|name| ToolDef { name: name.into(), ..tools[0].clone() })
        .into();
    assert_eq!(offered("functions.weather", &longer).unwrap().name.as_str(), "functions.weather");
}

proptest! {
    #[test]
    fn any_text_is_read_or_not(
        parts in prop::collection::vec(
            prop_oneof![
                prop::sample::select(MARKS.to_vec()).prop_map(str::to_owned),
                prop::sample::select(vec![
                    "weather", "{", "}", "[", "]", "(", ")", "\"city\":", "\"Lisbon\"", "\n", " ", "```", "json",
                    "</tool_call>", "<parameter=city>", "</parameter>", "<arg_key>", "<|", "|>", "<", ">", "function",
                    "{\"name\": \"weather\", \"arguments\": {}}", "<escape>", "[ARGS]", "city=1", "é", "｜",
                ]).prop_map(str::to_owned),
                ".{0,4}",
            ],
            0..14,
        )
    ) {
        let text = parts.concat();
        if let MarkupText::Calls { calls, .. } = find(&text, &tools()) {
            for call in calls {
                prop_assert!(tools().iter().any(|tool| tool.name == call.tool));
                prop_assert!(call.arguments.is_object());
            }
        }
        without_thoughts(&text);
    }
}
