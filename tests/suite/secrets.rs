//! Keys that come back from where they were sent: in no file and on no output, whoever repeats them.

use std::path::Path;

use serde_json::json;

use crate::fake_endpoint::{Fake, Script, json as document, stream};
use crate::program::{Home, Ran};

/// The keys of the tests, by the way they reach the program.
const ENV: &str = "env-7Gq2aLpW9xR4";
const COMMAND: &str = "cmd-Zt81KqvB3mN6";
const HEADER: &str = "hdr-Uw05YcXe2sJ9";
const ADDRESS: &str = "url4Hd7Fk1Lb6Vo3Pz8";

/// What a careless server and a careless model say of a request.
fn echo(key: &str) -> String {
    format!(
        "I was sent Authorization: Bearer {key} and X-Project: {HEADER} at /v1?sig={ADDRESS}, as \
         {{\"k\":\"{key}\"}}"
    )
}

/// An answer that calls the tool with a key, streamed so that every key arrives in two pieces.
fn calls(key: &str) -> Script {
    let text = echo(key);
    let (first, second) = text.split_at(text.find(&key[6..]).unwrap());
    let delta = |delta| json!({"choices": [{"delta": delta}]}).to_string();
    let call = json!({"index": 0, "id": "c1", "function":
        {"name": "printenv", "arguments": json!({"name": key}).to_string()}});
    stream(&[
        &delta(json!({"reasoning_content": text})),
        &delta(json!({"content": first})),
        &delta(json!({"content": second})),
        &delta(json!({"tool_calls": [call]})),
        &json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}).to_string(),
    ])
}

fn answers(key: &str) -> Script {
    let message = json!({"role": "assistant", "content": echo(key)});
    document("200 OK", &json!({"choices": [{"message": message}]}).to_string())
}

fn home(url: &str, source: &str) -> Home {
    let home = Home::new();
    home.write(
        "c.toml",
        format!(
            "[models.m]\nkind = \"openai\"\nurl = \"{url}?sig={ADDRESS}\"\nmodel = \"x\"\n{source}\n\
             retries = 0\nheaders = {{ X-Project = {{ env = \"PLANTED_HEADER\" }} }}\n\
             [roles]\ndefault = \"m\"\n"
        ),
    );
    home.write(
        "w/tools/printenv.toml",
        "name = \"printenv\"\ndescription = \"Prints the environment.\"\n\
         [parameters.properties.name]\ntype = \"string\"\n\
         [source]\ncommand = [\"sh\", \"-c\", \"cat; env\"]\nenv = [\"PATH\", \"PLANTED_KEY\"]\n",
    );
    home
}

/// Every file below a folder, but for those of the test itself.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_none_or(|ending| ending != "toml") {
            found.push((path.display().to_string(), std::fs::read(&path).unwrap()));
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_is_repeated_is_in_no_file_and_on_no_output() {
    for (source, key) in [
        ("key_env = \"PLANTED_KEY\"".to_owned(), ENV),
        (format!("key_command = [\"printf\", \"{COMMAND}\"]"), COMMAND),
    ] {
        let scripts = (0..2).flat_map(|_| [calls(key), answers(key)]).collect();
        let fake = Fake::start(scripts).await;
        let home = home(&fake.url, &source);
        for json in [&["--json"][..], &[]] {
            let _ = std::fs::remove_file(home.path("j.jsonl"));
            let arguments = [
                &["run", "--config", "c.toml", "--workspace", "w", "--strategy", "react"][..],
                &["--task", "What were you sent?", "--journal", "j.jsonl", "--report", "r.json"],
                &["--state", "s.json", "--log", "l.txt", "--log-level", "trace"],
                json,
            ];
            let mut command = home.command(&arguments.concat());
            command.env("PLANTED_KEY", key).env("PLANTED_HEADER", HEADER);
            let output = tokio::task::spawn_blocking(move || command.output().unwrap());
            let ran = Ran::of(output.await.unwrap());
            assert_eq!(ran.code, 0, "{ran:?}");
            let again = home.succeed(&["replay", "j.jsonl", "--json"]);
            assert!(again.contains("Bearer [key]") && again.contains("X-Project: [key]"));
            let mut outputs = files(&home.path(""));
            assert!(outputs.len() >= 5, "{}", outputs.len());
            outputs.push(("standard output".into(), ran.out.into()));
            outputs.push(("standard error".into(), ran.err.into()));
            for (name, bytes) in outputs {
                let text = String::from_utf8_lossy(&bytes);
                // Half of a key is as bad.
                for planted in [ENV, COMMAND, HEADER, ADDRESS].map(|planted| &planted[..6]) {
                    let known = planted != &COMMAND[..6] || key == COMMAND;
                    let at = text.find(planted).filter(|_| known);
                    let around = at.map(|at| text[at.saturating_sub(80)..].chars().take(200));
                    let around = around.map(String::from_iter);
                    assert_eq!(around, None::<String>, "{source}: {planted} is in {name}");
                }
            }
        }
    }
}
