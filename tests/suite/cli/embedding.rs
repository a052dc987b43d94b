//! Sessions in which an endpoint of embeddings takes the reader's place.

use std::collections::HashSet;

use serde_json::{Value, json};
use toolyard::domain::{EmbeddingEvent, Event, ReaderEvent, Record, State};
use toolyard::store::journal;
use wiremock::matchers::path;
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use crate::program::Home;

/// A text as counts of its letters.
fn letters(text: &str) -> Vec<f32> {
    let count = |letter| text.to_lowercase().chars().filter(|it| *it == letter).count() as f32;
    ('a'..='z').map(count).collect()
}

fn embed(request: &Request) -> ResponseTemplate {
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    let texts = body["input"].as_array().unwrap();
    let data = texts.iter().map(|text| json!({"embedding": letters(text.as_str().unwrap())}));
    let data: Vec<_> = data.collect();
    let usage = json!({"prompt_tokens": 10 * data.len(), "total_tokens": 10 * data.len()});
    ResponseTemplate::new(200).set_body_json(json!({"data": data, "usage": usage}))
}

fn home(server: &MockServer) -> Home {
    let home = Home::new();
    let config = format!(
        "[knobs]\nretrieve = \"states\"\n[reader.embeddings]\nurl = \"{}/v1\"\nmodel = \"small\"\nprice_in = 1000.0\nretries = 0\n",
        server.uri()
    );
    home.write("c.toml", config);
    home
}

fn session(home: &Home, to: &str, more: &[&str]) -> Vec<Record> {
    let to_end = ["run", "--config", "c.toml", "--journal", to, "--tasks-limit", "7"];
    let ran = home.run(&[&to_end[..], &["--strategy", "toolnet", "--keep-going"], more].concat());
    assert!(ran.out.contains("all tasks are done"), "{ran:?}");
    journal::read(&home.path(to)).unwrap().records
}

/// The texts of each request.
async fn asked(server: &MockServer) -> Vec<Vec<String>> {
    let requests = server.received_requests().await.unwrap();
    let body = |request: &Request| serde_json::from_slice::<Value>(&request.body).unwrap();
    let texts = |request| serde_json::from_value(body(request)["input"].take()).unwrap();
    requests.iter().map(texts).collect()
}

#[tokio::test]
async fn tools_are_embedded_once_with_the_queries_and_rank() {
    let server = MockServer::start().await;
    Mock::given(path("/v1/embeddings")).respond_with(embed).mount(&server).await;
    let home = home(&server);
    let records = session(&home, "1.jsonl", &["--learned", "l.json"]);
    let state = State::fold(&records);
    let reader = state.reader.as_ref().unwrap();
    assert!(reader.about.model.starts_with("small at 127.0.0.1:"), "{reader:?}");
    assert_eq!((reader.encoded, reader.tools), (21, 21));
    let first = asked(&server).await;
    assert_eq!(first[0].len(), 22, "the first request has the tools");
    assert!(first.len() >= 7);
    let mut rankings = state.embeddings.iter().filter_map(|read| read.ranking.as_ref());
    assert!(rankings.any(|ranking| ranking.queries >= 5 && ranking.has_states()));
    // A thousand dollars for a million tokens: 0.22 for the first request.
    let spent = records.iter().find_map(|record| match &record.event {
        Event::Embedding(EmbeddingEvent::EmbeddingFinished { dollars, .. }) => *dollars,
        _ => None,
    });
    assert!((spent.unwrap() - 0.22).abs() < 1e-9, "{spent:?}");
    // A later session finds what was embedded in the cache, and states rank from its first query on.
    let again = State::fold(&session(&home, "2.jsonl", &["--learned", "l.json"]));
    let texts = asked(&server).await;
    assert!(texts[1..].iter().all(|texts| texts.len() == 1), "{texts:?}");
    let distinct: HashSet<_> = texts.concat().into_iter().collect();
    assert_eq!(distinct.len(), texts.concat().len(), "no text is paid for twice");
    assert!(again.embeddings.iter().any(|read| read.ranking.is_some()));
    assert!(again.embeddings.iter().flat_map(|read| &read.ranking).all(|it| it.has_states()));
}

#[tokio::test]
async fn without_an_answer_words_rank() {
    let server = MockServer::start().await;
    Mock::given(path("/v1/embeddings"))
        .respond_with(ResponseTemplate::new(500))
        .mount(&server)
        .await;
    let records = session(&home(&server), "j.jsonl", &[]);
    let state = State::fold(&records);
    assert!(!state.embeddings.is_empty());
    assert!(state.embeddings.iter().all(|read| read.error.is_some() && read.ranking.is_none()));
    let loaded =
        |record: &&Record| matches!(&record.event, Event::Reader(ReaderEvent::HeadsLoaded { .. }));
    assert_eq!(records.iter().filter(loaded).count(), 1);
}

#[tokio::test]
async fn a_fault_breaks_the_embeddings_of_a_reader() {
    let server = MockServer::start().await;
    Mock::given(path("/v1/embeddings")).respond_with(embed).mount(&server).await;
    let records = session(&home(&server), "j.jsonl", &["--fault", "embedding:error"]);
    let state = State::fold(&records);
    assert!(state.embeddings.iter().all(|read| read.error.is_some()));
    assert!(asked(&server).await.is_empty(), "nothing was sent");
}
