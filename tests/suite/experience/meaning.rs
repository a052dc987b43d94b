//! Likeness by meaning: what an embedding model makes of queries, how it is asked, and what is kept.

use std::process::Output;

use serde_json::Value;
use tokio::process::Command;
use toolyard::domain::{Embedding, ModelErrorKind};
use toolyard::model::{Embedder, hosted::Hosted, http::Endpoint, secret::KeySource};

use super::*;
use crate::fake_endpoint::{Fake, json as answer};

fn embedding(vector: &[f32]) -> Embedding {
    Embedding::new("m", vector).unwrap()
}

#[test]
fn queries_that_were_both_read_by_a_model_are_compared_by_it_and_others_by_words() {
    let mut store = store(&[
        past("weather in Paris", "forecast", true),
        later(past("rain tomorrow", "forecast", true), 1),
        later(past("never read", "forecast", true), 2),
    ]);
    let kept =
        [("weather in Paris", embedding(&[1.0, 1.0])), ("rain tomorrow", embedding(&[0.0, 2.0]))];
    store.keep_embeddings(&kept).unwrap();
    let similarities = |query| -> Vec<f64> {
        let mut all = store.history(&query, &["forecast".into()], Same::Counts).unwrap();
        all.remove(0).past.iter().map(|past| (past.similarity * 1e3).round() / 1e3).collect()
    };
    let asked = store.query("never saw the weather");
    // Of its three words, one is shared with each of two past queries of two words.
    assert_eq!(similarities(asked.clone()), [0.408, 0.0, 0.408]);
    let by_meaning = asked.clone().with_embedding(embedding(&[0.0, 1.0]));
    assert_eq!(similarities(by_meaning), [0.408, 1.0, 0.707]);
    let negative = asked.clone().with_embedding(embedding(&[-1.0, -1.0]));
    assert_eq!(similarities(negative), [0.408, 0.0, 0.0]);
    let of_another_model = Embedding::new("other", &[0.0, 1.0]).unwrap();
    assert_eq!(similarities(asked.with_embedding(of_another_model)), [0.408, 0.0, 0.408]);
}

#[test]
fn what_a_model_made_of_a_query_is_kept_before_and_after_it_is_used_and_goes_with_it() {
    let mut store = store(&[past("used", "t", true)]);
    assert_eq!(store.without_embedding("m", 9).unwrap(), ["used"]);
    let of_both = [("used", embedding(&[1.0])), (" new\n", embedding(&[2.0, 1.0]))];
    store.keep_embeddings(&of_both).unwrap();
    assert_eq!(store.without_embedding("m", 9).unwrap(), [""; 0]);
    assert_eq!(store.without_embedding("other", 1).unwrap().len(), 1);
    assert_eq!(store.embedding("new", "m").unwrap(), Some(embedding(&[2.0, 1.0])));
    assert_eq!(store.embedding("new", "other").unwrap(), None);
    assert_eq!(store.embedding("unknown", "m").unwrap(), None);
    store.keep_embeddings(&[("used", embedding(&[0.0, 1.0]))]).unwrap();
    assert_eq!(store.embedding("used", "m").unwrap(), Some(embedding(&[0.0, 1.0])));
    assert_eq!(store.summary().unwrap().queries, 1, "what was only read was not used");
    store.prune(&Prune::default()).unwrap();
    assert_eq!(store.embedding("used", "m").unwrap(), None);
}

fn model(url: &str) -> Hosted {
    let mut endpoint = Endpoint::new("embeddings", url, "small");
    endpoint.key = KeySource::None;
    endpoint.max_retries = 1;
    Hosted::embedding(endpoint).unwrap()
}

fn texts(n: usize) -> Vec<String> {
    (0..n).map(|n| format!("text {n}")).collect()
}

#[tokio::test]
async fn vectors_come_in_the_order_of_their_texts_after_a_retry() {
    let good = json!({
        "data": [{ "index": 1, "embedding": [0.5, 1] }, { "index": 0, "embedding": [2, 3] }],
        "usage": { "prompt_tokens": 7, "total_tokens": 7 },
    });
    let scripts = vec![
        answer("503 Service Unavailable", "{\"error\":{\"message\":\"busy\"}}"),
        answer("200 OK", &good.to_string()),
    ];
    let fake = Fake::start(scripts).await;
    let embedded = model(&fake.url).embed(&texts(2)).await.unwrap();
    let expected = [[2.0, 3.0], [0.5, 1.0]].map(|vector| Embedding::new("small", &vector).unwrap());
    assert_eq!(embedded.embeddings, expected);
    assert_eq!((embedded.usage.tokens_in, embedded.usage.estimated), (7, false));
    let bodies = fake.bodies();
    assert_eq!(bodies[1], json!({ "model": "small", "input": ["text 0", "text 1"] }));
    assert!(fake.seen.lock().unwrap()[0].head.starts_with("post /v1/embeddings "));
}

#[tokio::test]
async fn answers_that_are_no_embeddings_are_refused() {
    for (body, says) in [
        ("{}", "expected a list `data`"),
        ("nonsense", "not JSON"),
        (r#"{"error":{"message":"no such model"}}"#, "no such model"),
        (r#"{"data":[{"embedding":[1]}]}"#, "expected 2 vectors, found 1"),
        (r#"{"data":[{"embedding":[1]},{"embedding":[1,2]}]}"#, "a vector has 2 numbers"),
        (r#"{"data":[{"embedding":[]},{"embedding":[]}]}"#, "a vector has 0 numbers"),
        (r#"{"data":[{"embedding":[1]},{"embedding":[1e39]}]}"#, "not finite"),
        (r#"{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}"#, "the same index"),
        (r#"{"data":[{"index":9,"embedding":[1]},{"index":0,"embedding":[1]}]}"#, "beyond"),
    ] {
        let fake = Fake::start(vec![answer("200 OK", body), answer("200 OK", body)]).await;
        let error = model(&fake.url).embed(&texts(2)).await.unwrap_err();
        assert!(error.text.contains(says), "{body}: {}", error.text);
    }
    let refused = answer("401 Unauthorized", "{\"error\":{\"message\":\"bad key\"}}");
    let fake = Fake::start(vec![refused]).await;
    let error = model(&fake.url).embed(&texts(1)).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Auth);
}

async fn run(home: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_toolyard"))
        .args(arguments)
        .current_dir(home)
        .env_clear()
        .env("HOME", home)
        .env("MY_KEY", "hunter22-is-the-key")
        .output()
        .await
        .unwrap()
}

#[tokio::test]
async fn past_queries_are_read_once_by_the_configured_model() {
    let folder = TempDir::new().unwrap();
    let home = folder.path();
    let body = |n: usize| {
        let data: Vec<Value> = (0..n).map(|n| json!({ "embedding": [n, 1] })).collect();
        json!({ "data": data, "usage": { "prompt_tokens": n * 10, "total_tokens": 0 } }).to_string()
    };
    let scripts = vec![answer("200 OK", &body(64)), answer("200 OK", &body(6))];
    let fake = Fake::start(scripts).await;
    let config = format!(
        "[experience]\nfile = \"e.sqlite\"\n[experience.embeddings]\nurl = \"{}\"\n\
         model = \"small\"\nkey_env = \"MY_KEY\"\nretries = 0\n",
        fake.url
    );
    fs::write(home.join("c.toml"), config).unwrap();
    let uses: Vec<_> = (0..70).map(|n| past(&format!("query{n}"), "t", true)).collect();
    Experience::open(&home.join("e.sqlite")).unwrap().add_all(&uses).unwrap();
    for said in ["small embedded 70 queries, 700 tokens\n", "small embedded 0 queries, 0 tokens\n"]
    {
        let output = run(home, &["experience", "embed", "--config", "c.toml"]).await;
        assert_eq!(String::from_utf8_lossy(&output.stdout), said, "{output:?}");
    }
    assert!(fake.seen.lock().unwrap()[0].head.contains("bearer hunter22-is-the-key"));
    let store = Experience::open_existing(&home.join("e.sqlite")).unwrap();
    assert!(store.embedding("query3", "small").unwrap().is_some());
    let output = run(home, &["experience", "embed", "--file", "e.sqlite"]).await;
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("no embedding model is configured"));
}

#[tokio::test]
async fn a_plan_of_a_task_compares_by_meaning_and_falls_back_to_words() {
    let folder = TempDir::new().unwrap();
    let home = folder.path();
    let body = json!({ "data": [{ "embedding": [1, 0] }] }).to_string();
    let fake = Fake::start(vec![answer("404 Not Found", "{}"), answer("200 OK", &body)]).await;
    let config = format!(
        "[experience]\nfile = \"e.sqlite\"\n[experience.embeddings]\nurl = \"{}\"\n\
         model = \"small\"\nkey_env = \"MY_KEY\"\nretries = 0\n",
        fake.url
    );
    fs::write(home.join("c.toml"), config).unwrap();
    let mut store = Experience::open(&home.join("e.sqlite")).unwrap();
    store.add_all(&[past("six by seven", "calculator", true)]).unwrap();
    let near = Embedding::new("small", &[1.0, 0.0]).unwrap();
    store.keep_embeddings(&[("six by seven", near)]).unwrap();
    drop(store);
    let arguments =
        ["plan", "--task", "Calculate 6 * 7", "--budget", "9", "--json", "--config", "c.toml"];
    let mut values = Vec::new();
    for _ in 0..3 {
        let output = run(home, &arguments).await;
        let planned: Value = serde_json::from_slice(&output.stdout).unwrap();
        let tools = planned["tools"].as_array().unwrap().iter();
        let mut value = tools.filter(|tool| tool["tool"] == "calculator");
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(err.contains("comparing words only"), values.is_empty());
        assert!(!err.contains("hunter22"), "{err}");
        values.push(value.next().unwrap()["value"].as_f64().unwrap());
    }
    // One use beside one of 0.1, which weighs e times as much as what shares no word with the task.
    let like =
        |similarity: f64| (1.0 * (similarity - 1.0).exp() + 0.1) / ((similarity - 1.0).exp() + 1.0);
    for (value, right) in values.iter().zip([like(0.0), like(1.0), like(1.0)]) {
        assert!((value - right).abs() < 1e-6, "{value} is not {right}");
    }
    assert_eq!(fake.seen.lock().unwrap().len(), 2, "what was read is kept");
}
