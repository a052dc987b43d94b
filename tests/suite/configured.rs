//! A few lines of configuration drive an endpoint, through the real program; and the key that it is sent
//! is nowhere else, neither in what is printed nor in any file.

use std::{fs, path::Path, process::Output};

use serde_json::json;
use tokio::process::Command;

use crate::fake_endpoint::{Fake, Script, Step};
use crate::program::unpacked;

const KEY: &str = "hunter22-is-the-key";

fn answer(status: &str, body: &serde_json::Value) -> Script {
    let body = body.to_string();
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n"
    );
    vec![Step::Send((head + &body).into_bytes())]
}

/// A reply that ends the task with this answer.
fn finish(text: &str) -> Script {
    let arguments = json!({ "answer": text }).to_string();
    let function = json!({ "name": "Finish", "arguments": arguments });
    let call = json!({ "id": "c", "type": "function", "function": function });
    let message = json!({ "role": "assistant", "content": "I know it.", "tool_calls": [call] });
    let choice = json!({ "index": 0, "finish_reason": "tool_calls", "message": message });
    let usage = json!({ "prompt_tokens": 40, "completion_tokens": 7, "total_tokens": 47 });
    answer("200 OK", &json!({ "choices": [choice], "usage": usage }))
}

async fn run(home: &Path, fake: &Fake, arguments: &[&str]) -> Output {
    let config = format!(
        "[models.mine]\nkind = \"openai\"\nurl = \"{}\"\nmodel = \"qwen3\"\nkey_env = \"MY_KEY\"\n\
         retries = 0\n[roles]\ndefault = \"mine\"\n",
        fake.url
    );
    fs::write(home.join("c.toml"), config).unwrap();
    Command::new(env!("CARGO_BIN_EXE_toolyard"))
        .args(["run", "--config", "c.toml", "--journal", "s.jsonl", "--report", "r.json"])
        .args(["--log", "l.txt", "--log-level", "trace"])
        .args(arguments)
        .current_dir(home)
        .env_clear()
        .env("HOME", home)
        .env("MY_KEY", KEY)
        .output()
        .await
        .unwrap()
}

/// Everything that the program has printed or written.
fn left_behind(home: &Path, output: &Output) -> String {
    let mut all = String::from_utf8_lossy(&output.stdout).into_owned();
    all.push_str(&String::from_utf8_lossy(&output.stderr));
    let mut folders = vec![home.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                all.push_str(&String::from_utf8_lossy(&unpacked(&path).unwrap()));
            }
        }
    }
    all
}

#[tokio::test]
async fn an_endpoint_of_the_configuration_answers() {
    let home = tempfile::tempdir().unwrap();
    let fake = Fake::start(vec![finish("391")]).await;
    let output = run(home.path(), &fake, &["--task", "What is 17 times 23?", "--json"]).await;
    let said = left_behind(home.path(), &output);
    assert!(output.status.success(), "{said}");
    {
        let seen = fake.seen.lock().unwrap();
        assert!(seen[0].head.contains(&format!("authorization: bearer {KEY}")), "{}", seen[0].head);
        assert_eq!(seen[0].body["model"], "qwen3");
        assert!(seen[0].body["tools"].as_array().is_some_and(|tools| tools.len() > 1));
    }
    let report = fs::read_to_string(home.path().join("r.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["tasks"][0]["answer"], "391");
    assert_eq!(report["tasks"][0]["tokens_in"], 40);
    assert_eq!(report["simulated"], false);
    let log = fs::read_to_string(home.path().join("l.txt")).unwrap();
    assert!(log.contains("an endpoint answered host=") && log.contains(" status=200 ms="), "{log}");
    assert!(!said.contains(KEY), "the key got out:\n{said}");
}

#[tokio::test]
async fn a_refused_key_is_not_repeated() {
    let home = tempfile::tempdir().unwrap();
    let text = format!("Incorrect API key provided: {KEY}");
    let refusal = answer("401 Unauthorized", &json!({ "error": { "message": text } }));
    let fake = Fake::start(vec![refusal]).await;
    let output = run(home.path(), &fake, &["--task", "What is 17 times 23?", "--json"]).await;
    let said = left_behind(home.path(), &output);
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains("Incorrect API key provided: [key]"), "{said}");
    let log = fs::read_to_string(home.path().join("l.txt")).unwrap();
    assert!(log.contains(" a request failed ") && log.contains(" status=401 failed=1\n"), "{log}");
    assert!(said.contains("MY_KEY"), "it says where the key came from:\n{said}");
    assert!(!said.contains(KEY), "the key got out:\n{said}");
}

/// A reply of only text.
fn says(text: &str, finish: &str) -> Script {
    let message = json!({ "role": "assistant", "content": text });
    let choice = json!({ "index": 0, "finish_reason": finish, "message": message });
    let usage = json!({ "prompt_tokens": 40, "completion_tokens": 7, "total_tokens": 47 });
    answer("200 OK", &json!({ "choices": [choice], "usage": usage }))
}

#[tokio::test]
async fn why_a_plan_was_refused_and_what_an_answer_rests_on_is_printed_and_reported() {
    let home = tempfile::tempdir().unwrap();
    let plan = says("Plan: I know it.", "stop");
    let again = says("Plan: I know it.", "stop");
    let fake = Fake::start(vec![plan, again, says("Lim", "length")]).await;
    let arguments = ["--task", "What is the capital of Peru?", "--strategy", "rewoo", "--fresh"];
    let ran = run(home.path(), &fake, &arguments).await;
    let out = String::from_utf8(ran.stdout).unwrap();
    assert!(out.contains("plan rejected: it calls no tool"), "{out}");
    let ended = "answered without evidence, cut off by the limit of tokens";
    assert!(out.contains(ended), "{out}");
    let report = fs::read_to_string(home.path().join("r.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let task = &report["tasks"][0];
    assert_eq!(task["caveats"], json!(["without_evidence", "cut_off"]));
    assert!(task["plans_refused"][0].as_str().unwrap().starts_with("it calls no tool"));
}
