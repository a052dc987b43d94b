//! The bodies of the fuzz targets, on mutations of real inputs: the same ones in every run.

use serde_json::{Map, json};
use toolyard::domain::{Finish, Message, Reply, Request, Role, ToolCall};
use toolyard::wire::learned::Learned;
use toolyard::wire::{AnswerForm, Answering, FunctionNames, WireFormat, WireSettings};

use crate::mutations::feed;
use crate::program::Home;

#[path = "../../fuzz/readers.rs"]
mod readers;

#[test]
fn lines_of_a_journal() {
    let strategy = ["run", "--strategy", "workers+btp", "--fault", "search_web:error"];
    let run = [&strategy[..], &["--tasks-limit", "2", "--json", "--no-journal"]].concat();
    let ran = Home::new().run(&run);
    assert!(ran.out.lines().count() > 40, "{ran:?}");
    // The first lines have all prompts and tools, and are long.
    feed(readers::journal_line, 15_000, ran.out.lines().filter(|line| line.len() < 4000));
}

#[test]
fn parts_of_a_journal() {
    let part = r#"{"a":{"=0":"a text that is longer than a reference"},"b":{"=":0}}"#;
    let nested =
        r#"{"a":{"=0":{"=1":"a text that is longer than a reference"}},"c":{"==":{"=":1}}}"#;
    let whole = r#"{"a":["a text that is longer than a reference",{"=":7}],"b":"a text that is longer than a reference"}"#;
    let lines = [part, nested, whole].join("\n");
    feed(readers::journal_parts, 8000, [part, nested, whole, &lines]);
}

#[test]
fn plans() {
    let text = "Plan: find the city.\n#E1 = search_web[capital of Talvera]\nPlan: its weather.\n\
                #E2 = weather[city=\"#E1\", days=2]\n#E3 = calculator[(2 + 3) * #E2]\n";
    let json =
        r##"{"plans": [{"plan": "a", "calls": [{"id": "#E1", "tool": "t", "input": "x [1]"}]}]}"##;
    let fenced = format!("Here it is:\n```json\n{json}\n```\nDone.");
    feed(readers::plan_text, 10_000, [text, json, &fenced]);
}

#[test]
fn programs() {
    let joined = "First:\n```python\nimport json\ndef f(x, *y):\n    return search(q=x)[0]\n```\n\
                  ~~~py\nfor i, m in enumerate(f(1)):\n    print(f\"{m['a']}\", [n for n in m])\n~~~\n";
    let thought = "<think>so</think>\nr = json.loads(search(q=\"é\"))\nwhile r:\n    r = r[0]\n";
    feed(readers::program, 5_000, [joined, thought]);
}

#[test]
fn streams_of_events() {
    let deltas = "\u{3}data: {\"choices\":[{\"delta\":{\"content\":\"é\"}}]}\n\ndata: [DONE]\n\n";
    let others =
        "\u{1}: comment\r\nevent: delta\r\nid: 1\r\ndata: a\r\ndata: b\r\r{\"error\": 1}\n";
    feed(readers::event_stream, 15_000, [deltas, others]);
}

#[test]
fn replies_of_models() {
    let forms = include_str!("../data/replies/openai.txt").split("\n----\n");
    let forms: Vec<String> = forms.map(str::to_owned).collect();
    assert!(forms.len() >= 12, "{}", forms.len());
    // Each type of body, in pieces of three bytes.
    let typed = (0..4u8)
        .flat_map(|kind| forms.iter().map(move |form| [&[3, kind][..], form.as_bytes()].concat()));
    feed(readers::replies, 20_000, typed);
}

#[test]
fn texts_for_the_screen() {
    let tool = "\u{1b}[31mred\u{1b}[0m\ttab\r\nline \u{7} é e\u{301} 漢字 👩‍👩‍👧 \u{202e}back\u{200b}";
    feed(readers::screen_text, 5000, [tool, "It is sunny in Lisbon.", "{\"a\": [1, 2.5, null]}"]);
}

#[test]
fn configurations() {
    let example = include_str!("../../config.example.toml").replace("\n#", "\n");
    let sections = example.split("\n[").map(|section| format!("[{section}"));
    let model =
        "[models.mine]\nkind = \"openai\"\nurl = \"http://localhost:11434/v1\"\nmodel = \"m\"\n";
    feed(readers::configuration, 5000, sections.chain([model.to_owned()]));
}

#[test]
fn scenarios() {
    let examples = [
        include_str!("../../examples/scenarios/book-once.toml"),
        include_str!("../../examples/scenarios/broken-search.toml"),
        include_str!("../../examples/scenarios/tight-budget.toml"),
        "tasks.list = [{ text = \"2 + 2\", gold = 4 }]\njournal = \"none\"\n[expect]\nright = 1\n",
    ];
    feed(readers::scenario, 4000, examples);
}

#[test]
fn arguments_of_calls() {
    let written =
        ["{\"city\": \"Oslo\", \"days\": 2}", "city=\"Oslo\", days=2", "city: Oslo\ndays: 2"];
    let more =
        ["{'city': 'Oslo', 'days': None}", "```json\n{\"numbers\": [1, 2]}\n```", "2 * (3 + 4)"];
    feed(readers::arguments, 8000, written.into_iter().chain(more));
}

#[test]
fn answers_in_text_mode() {
    let one = "Thought: I need the weather.\nAction: weather\nAction Input: {\"city\": \"Oslo\"}\n";
    let other = "**Thought:** done\n**Final Answer:** It is `sunny`.\nAction: now[]";
    feed(readers::action_text, 8000, [one, other, "Action: calculator(2 + 2)\nObservation: 4"]);
}

#[test]
fn model_files() {
    feed(readers::model_file, 1000, [std::fs::read(crate::reader::tiny_path()).unwrap()]);
}

#[test]
fn requests_and_answers_of_every_format() {
    let names = FunctionNames::default();
    let answering = Answering { id: "a1", model: "m", names: &names, created: 1 };
    let call =
        ToolCall { id: "call00001".into(), tool: "f".into(), arguments: json!({"a": [1.5, "é"]}) };
    let reply = Reply { calls: vec![call.clone()], finish: Finish::Calls, ..Reply::of_text("Hi.") };
    let mut request = Request::new(Role::Actor, vec![Message::system("s"), Message::user("u")]);
    request.messages.push(Message::Assistant { text: "t".into(), calls: vec![call], source: None });
    request.messages.push(Message::result("call00001", "f".into(), "r"));
    let (extra, learned) = (Map::new(), Learned::new());
    let settings = WireSettings {
        model: "m",
        source: "h",
        names: &names,
        streams: true,
        max_tokens_field: "max_tokens",
        longest: 9,
        allowed_tools: true,
        caches: true,
        extra: &extra,
        learned: &learned,
    };
    let all = WireFormat::ALL.map(|format| {
        let asked = (format.codec().write_request)(&request, &settings).to_string();
        let whole = format.write_answer(&reply, &answering, AnswerForm::Whole);
        [asked, whole, format.write_answer(&reply, &answering, format.codec().streamed)]
    });
    let list = WireFormat::Gemini.write_answer(&reply, &answering, AnswerForm::List);
    feed(readers::wires, 12_000, all.as_flattened().iter().chain([&list]).map(String::as_str));
}
