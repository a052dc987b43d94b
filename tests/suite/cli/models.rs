//! Models that are named on the command line, without a configuration file.

use serde_json::json;

use crate::fake_endpoint::{Fake, Script, json as document};
use crate::program::{Home, Ran};

fn list(ids: &[&str]) -> Script {
    let data: Vec<_> = ids.iter().map(|id| json!({ "id": id })).collect();
    document("200 OK", &json!({ "object": "list", "data": data }).to_string())
}

fn answer(text: &str) -> Script {
    let arguments = json!({ "answer": text }).to_string();
    let call = json!({ "id": "c", "type": "function",
        "function": { "name": "Finish", "arguments": arguments } });
    let message = json!({ "role": "assistant", "content": "I know it.", "tool_calls": [call] });
    let choice = json!({ "index": 0, "finish_reason": "tool_calls", "message": message });
    let usage = json!({ "prompt_tokens": 40, "completion_tokens": 7 });
    document("200 OK", &json!({ "choices": [choice], "usage": usage }).to_string())
}

const RUN: [&str; 6] =
    ["run", "--strategy", "react", "--task", "What is 17 times 23?", "--no-journal"];

/// Runs the program beside the server of this test.
async fn ran(home: &Home, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
    let mut command = home.command(arguments);
    command.envs(variables.iter().copied());
    let output = tokio::task::spawn_blocking(move || command.output().unwrap());
    Ran::of(output.await.unwrap())
}

#[tokio::test]
async fn an_address_is_a_model_if_it_has_only_one() {
    let home = Home::new();
    let fake = Fake::start(vec![list(&["embed-1", "qwen3"]), answer("391")]).await;
    let address = fake.url.trim_end_matches("/v1");
    let ran = ran(&home, &[&RUN[..], &["--model", address]].concat(), &[]).await;
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("→ 391") && ran.out.contains("configured models"), "{ran:?}");
    let seen = fake.seen.lock().unwrap();
    assert!(seen[0].head.starts_with("get /v1/models "), "{}", seen[0].head);
    assert!(!seen[0].head.contains("authorization"), "no key belongs to this address");
    assert_eq!(seen[1].body["model"], "qwen3");
}

#[tokio::test]
async fn an_address_with_several_models_lists_them() {
    let home = Home::new();
    let fake = Fake::start(vec![list(&["small", "large"]), answer("391")]).await;
    let first = ran(&home, &[&RUN[..], &["--model", &fake.url]].concat(), &[]).await;
    assert_eq!(first.code, 2, "{first:?}");
    let says = format!("--model: {0} has 2 models: small, large; write the name", fake.url);
    assert!(first.err.contains(&says), "{first:?}");
    let chosen = format!("{}#large", fake.url);
    let second = ran(&home, &[&RUN[..], &["--model", &chosen]].concat(), &[]).await;
    assert_eq!(second.code, 0, "{second:?}");
    assert_eq!(fake.bodies()[1]["model"], "large");
}

#[tokio::test]
async fn a_comparison_asks_an_address_once() {
    let home = Home::new();
    let mut scripts = vec![list(&["only"])];
    scripts.extend((0..4).map(|_| answer("391")));
    let fake = Fake::start(scripts).await;
    home.write("t.txt", "What is 17 times 23?\n");
    let compare = ["compare", "--strategies", "react,direct", "--tasks", "t.txt", "--model"];
    let ran = ran(&home, &[&compare[..], &[&fake.url]].concat(), &[]).await;
    assert_eq!(ran.code, 0, "{ran:?}");
    let heads: Vec<_> = fake.seen.lock().unwrap().iter().map(|seen| seen.head.clone()).collect();
    assert_eq!(heads.iter().filter(|head| head.starts_with("get ")).count(), 1, "{heads:?}");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    let home = Home::new();
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let address = format!("http://{gone}/v1");
    let ran = ran(&home, &[&RUN[..], &["--model", &address]].concat(), &[]).await;
    assert_eq!(ran.code, 2, "{ran:?}");
    let says = format!("--model: no connection to {gone}");
    assert!(ran.err.contains(&says) && ran.err.contains("Is the server running"), "{ran:?}");
}

#[test]
fn a_provider_needs_its_key() {
    let home = Home::new();
    let ran = home.run(&[&RUN[..], &["--model", "openai:gpt-x"]].concat());
    assert_eq!(ran.code, 2, "{ran:?}");
    let says = "--model: openai needs a key: set the environment variable OPENAI_API_KEY";
    assert!(ran.err.contains(says), "{ran:?}");
    let ran = home.run(&[&RUN[..], &["--model", "opnai:gpt-x"]].concat());
    assert!(ran.err.contains("did you mean `openai`"), "{ran:?}");
}

#[tokio::test]
async fn the_limit_of_dollars_holds_for_a_provider() {
    let home = Home::new();
    home.write(
        "prices.json",
        r#"{"source": "s", "licence": "l", "imported": "d", "unit": "u",
            "models": {"gpt-x": {"provider": "openai", "price_in": 100000, "price_out": 1}}}"#,
    );
    home.write("c.toml", "[cost]\nprices = \"prices.json\"\n");
    let key = [("OPENAI_API_KEY", "sk-planted-0123456789")];
    let run = [&RUN[..], &["--model", "openai:gpt-x"]].concat();
    let limited = ran(&home, &[&run[..], &["--config", "c.toml"]].concat(), &key).await;
    assert_eq!(limited.code, 3, "{limited:?}");
    assert!(limited.out.contains("at most 5.00 dollars"), "{limited:?}");
    // Nothing is sent without a price either, but it is said that nothing limits it.
    let fault = ["--fault", "role:actor:error:status=401"];
    let unlimited = ran(&home, &[&run[..], &fault].concat(), &key).await;
    assert!(unlimited.out.contains("the price of openai:gpt-x is unknown"), "{unlimited:?}");
    assert!(!format!("{limited:?}{unlimited:?}").contains("planted"));
}

#[tokio::test]
async fn a_provider_is_asked_at_its_own_address() {
    let home = Home::new();
    let proxy = Fake::start(vec![document("403 Forbidden", "{}")]).await;
    let address = proxy.url.trim_end_matches("/v1").to_owned();
    let variables = [("GROQ_API_KEY", "planted-0123456789"), ("HTTPS_PROXY", &*address)];
    let ran = ran(&home, &["doctor", "--model", "groq:llama"], &variables).await;
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.out.contains("the environment variable GROQ_API_KEY is set"), "{ran:?}");
    let head = proxy.seen.lock().unwrap()[0].head.clone();
    assert!(head.starts_with("connect api.groq.com:443"), "{head}");
}
