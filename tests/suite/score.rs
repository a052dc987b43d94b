//! `toolyard score`: how well an agent recovers from a fixed suite of faults.

use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use crate::fake_endpoint::{Fake, Script, json as document};
use crate::program::{Home, Ran};

/// A scenario of the sample's agent with this strategy and this expectation.
fn scenario(strategy: &str, expected: &str) -> String {
    format!(
        "strategy = \"{strategy}\"\nseed = 3\ntasks_limit = 4\nfresh = true\n\n[expect]\n{expected}\n"
    )
}

fn score(home: &Home, file: &str, more: &[&str]) -> Ran {
    home.run(&[&["score", "--scenario", file], more].concat())
}

fn number(score: &Value) -> f64 {
    score["score"].as_f64().unwrap()
}

/// The number and its parts, computed again from the counts by seed.
fn assert_adds_up(score: &Value) {
    let pairs = |share: &Value| -> Vec<[f64; 2]> {
        serde_json::from_value(share["by_seed"].clone()).unwrap()
    };
    let sum = |share: &Value, at: usize| pairs(share).iter().map(|pair| pair[at]).sum::<f64>();
    let kinds = score["kinds"].as_array().unwrap();
    assert_eq!(kinds.len(), 8);
    for share in kinds.iter().map(|kind| &kind["recovered"]).chain([&score["with"]]) {
        assert_eq!(share["passed"].as_f64(), Some(sum(share, 0)));
        assert_eq!(share["runs"].as_f64(), Some(sum(share, 1)));
    }
    let of = |kind: &Value| sum(&kind["recovered"], 0) / sum(&kind["recovered"], 1);
    let mean = 100.0 * kinds.iter().map(of).sum::<f64>() / 8.0;
    assert!((number(score) - mean).abs() < 1e-9, "{mean}: {score}");
    let seeds: Vec<f64> =
        score["seeds"].as_object().unwrap().values().filter_map(Value::as_f64).collect();
    let mean = seeds.iter().sum::<f64>() / seeds.len() as f64;
    assert!((number(score) - mean).abs() < 1e-9, "{seeds:?}: {score}");
    let all = kinds.iter().map(|kind| sum(&kind["recovered"], 1)).sum::<f64>();
    assert_eq!(score["all"]["recovered"]["runs"].as_f64(), Some(all));
}

#[test]
fn the_score_is_the_same_whatever_the_number_of_workers_and_adds_up() {
    let home = Home::new();
    home.write("s.toml", scenario("react", "right = 4"));
    let run = |jobs| {
        home.succeed(&["score", "--scenario", "s.toml", "--repeat", "2", "--jobs", jobs, "--json"])
    };
    let one = run("1");
    assert_eq!((&one, &one), (&run("2"), &run("4")));
    let found: Value = serde_json::from_str(&one).unwrap();
    assert_adds_up(&found);
    assert!((1.0..99.0).contains(&number(&found)), "{found}");
    assert_eq!((&found["suite"], &found["simulated"]), (&json!("resilience-1"), &json!(true)));
    // For each seed and each of its tools 16 runs, and 7 more on all tools: some of them hit nothing.
    let counted = found["with"]["runs"].as_u64().unwrap() + found["not_hit"].as_u64().unwrap();
    assert_eq!((counted - 2 * 7) % 16, 0, "{counted}");
    assert!(found["not_hit"].as_u64() > Some(0), "{found}");
    let hit: Vec<_> =
        found["faults"].as_array().unwrap().iter().map(|it| &it["recovered"]["runs"]).collect();
    assert!(hit.iter().all(|runs| runs.as_u64() > Some(0)), "{hit:?}");
}

#[test]
fn an_agent_that_recovers_scores_higher_and_what_is_not_alike_is_not_compared() {
    let home = Home::new();
    home.write("react.toml", scenario("react", "right = 3"));
    home.write("rewoo.toml", scenario("rewoo", "right = 3"));
    home.write("other.toml", scenario("react", "right = 2"));
    let of = |file: &str, more: &[&str]| {
        let ran = score(&home, file, &[more, &["--out", "kept"]].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.out
    };
    let first = of("rewoo.toml", &["--repeat", "3"]);
    assert!(!first.contains("last run"), "{first}");
    assert!(first.contains("written: kept"), "{first}");
    let stiff = home.json("kept/score.json");
    assert_adds_up(&stiff);
    // The strategy is what is compared: it does not make another test of it.
    let second = of("react.toml", &["--repeat", "3"]);
    let found = home.json("kept/score.json");
    assert!(number(&found) > number(&stiff) + 10.0, "{first}{second}");
    assert!(second.contains("since the last run +"), "{second}");
    let again = of("react.toml", &["--repeat", "3"]);
    assert!(again.contains("since the last run +0.0 points"), "{again}");
    for (file, more, why) in [
        ("react.toml", &["--repeat", "1"][..], "it has other seeds"),
        ("other.toml", &["--repeat", "1"], "its scenario has other tasks, faults or expectations"),
    ] {
        let out = of(file, more);
        assert!(out.contains(&format!("not compared with the last run: {why}")), "{out}");
    }
    home.write(
        "kept/score.json",
        home.read("kept/score.json").replace("resilience-1", "resilience-9\\u001b[2J"),
    );
    let out = of("other.toml", &["--repeat", "1"]);
    assert!(out.contains("last run: it is by resilience-9") && !out.contains('\u{1b}'), "{out}");
    let badge = home.read("kept/badge.svg");
    assert!(badge.starts_with("<svg ") && badge.contains("(resilience-1)</text>"), "{badge}");
    let left = std::fs::read_dir(home.path("kept")).unwrap().count();
    assert_eq!(left, 3, "nothing but the three files is left");
}

#[test]
fn what_cannot_be_scored_is_said_and_an_obstacle_is_found_before_anything_runs() {
    let home = Home::new();
    home.write("s.toml", scenario("react", "right = 3"));
    home.write("alone.toml", scenario("react", "right = 9"));
    home.write("idle.toml", scenario("direct", "answered = 4"));
    home.write("foreign/score.json", "{\"score\": 3}");
    home.write("file", "");
    for (file, more, code, said) in [
        ("alone.toml", &["--repeat", "2"][..], 1, "it fails without faults in 2 runs"),
        ("alone.toml", &["--repeat", "1", "--json"], 1, "FAILED: at least 9 tasks right: 4 of 4"),
        ("idle.toml", &["--repeat", "1"], 1, "it calls no tool"),
        ("nowhere.toml", &[], 2, "nowhere.toml: no such file"),
        ("s.toml", &["--repeat", "0"], 2, "--repeat"),
        ("s.toml", &["--jobs", "0"], 2, "--jobs"),
        ("s.toml", &["--out", "file"], 2, "file: cannot be created"),
        ("s.toml", &["--out", "file/below"], 2, "file/below: cannot be created"),
        ("s.toml", &["--out", "foreign"], 2, "foreign/score.json: is no score"),
    ] {
        let ran = score(&home, file, more);
        assert_eq!(ran.code, code, "{file} {more:?}: {ran:?}");
        assert!((ran.err.clone() + &ran.out).contains(said), "{file} {more:?}: {ran:?}");
    }
    assert_eq!(home.read("foreign/score.json"), "{\"score\": 3}");
}

#[test]
fn an_interrupted_score_says_how_far_it_came_and_keeps_the_score_of_before() {
    let home = Home::new();
    home.write("s.toml", scenario("toolnet", "answered = 1"));
    home.write(
        "kept/score.json",
        "{\"suite\": \"resilience-1\", \"test\": \"t\", \"seeds\": {\"3\": 50.0}}",
    );
    let mut command =
        home.command(&["score", "--scenario", "s.toml", "--repeat", "500", "--out", "kept"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert!(!ended.status.success() && ended.stdout.is_empty(), "{ended:?}");
    assert!(String::from_utf8_lossy(&ended.stderr).contains("interrupted"), "{ended:?}");
    assert_eq!(home.json("kept/score.json")["seeds"]["3"], 50.0);
    assert_eq!(std::fs::read_dir(home.path("kept")).unwrap().count(), 1);
}

/// A model that calls a tool once, and then answers whatever came of it.
fn replies(runs: usize) -> Vec<Script> {
    let function = json!({"name": "calculator", "arguments": "{\"expression\": \"1 + 1\"}"});
    let call = json!({"id": "c1", "type": "function", "function": function});
    let calls = json!({"role": "assistant", "content": "I call.", "tool_calls": [call]});
    let answers = json!({"role": "assistant", "content": "It is 2."});
    let usage = json!({"prompt_tokens": 1_000_000, "completion_tokens": 10});
    let reply = |message: &Value| {
        document("200 OK", &json!({"choices": [{"message": message}], "usage": usage}).to_string())
    };
    (0..runs).flat_map(|_| [reply(&calls), reply(&answers)]).collect()
}

async fn scored(home: &Home, price: &str, more: &[&str]) -> (Ran, usize) {
    let fake = Fake::start(replies(60)).await;
    let key = "sk-Hq71LmzC4wVx9Tb2";
    let config = format!(
        "[models.m]\nkind = \"openai\"\nurl = \"{}\"\nmodel = \"x\"\nkey_env = \"SCORE_KEY\"\n{price}\n\n[roles]\n\
         default = \"m\"\n",
        fake.url
    );
    home.write("c.toml", config);
    let tasks = "tasks.list = [{ text = \"What is 1 + 1?\" }]";
    let name = format!("<script>alert(1)</script> {key} \\u001b[2J\\u202e");
    let text = format!(
        "name = \"{name}\"\nconfig = \"c.toml\"\nstrategy = \"react\"\n{tasks}\n[expect]\nanswered = 1\n"
    );
    home.write("s.toml", text);
    let scores = ["score", "--scenario", "s.toml", "--repeat", "1", "--jobs", "1", "--out", "kept"];
    let mut command = home.command(&[&scores[..], more].concat());
    command.env("SCORE_KEY", key);
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let ran = Ran::of(output);
    assert!(!(ran.out.clone() + &ran.err).contains(key), "{ran:?}");
    (ran, fake.bodies().len())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hostile_name_and_a_key_reach_neither_terminal_nor_files() {
    let home = Home::new();
    let (ran, requests) = scored(&home, "price_in = 0\nprice_out = 0", &[]).await;
    assert_eq!(ran.code, 0, "{ran:?}");
    // One run without faults, 16 on the calculator, and 7 on all tools.
    assert_eq!(requests, 2 * 24);
    assert!(!ran.out.contains(['\u{1b}', '\u{202e}']) && !ran.out.contains("SIMULATED"), "{ran:?}");
    assert!(
        ran.out.contains("score 100.0 of 100 by resilience-1 (one seed, so no interval)"),
        "{ran:?}"
    );
    for file in ["score.json", "score.html", "badge.svg"] {
        let text = home.read(&format!("kept/{file}"));
        assert!(!text.contains("sk-Hq71") && !text.contains(['\u{1b}', '\u{202e}']), "{text}");
        assert!(file == "score.json" || !text.contains("<script"), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_runs_together_cost_no_more_than_the_limit() {
    let home = Home::new();
    let (ran, requests) =
        scored(&home, "price_in = 1\nprice_out = 1", &["--max-dollars", "7"]).await;
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("dollars"), "{ran:?}");
    assert!(requests <= 7 && !home.path("kept/score.json").exists(), "{requests}: {ran:?}");
}
