//! The prompt cache of Anthropic, as its documentation describes it: a request marks where a prefix ends, the endpoint
//! keeps every marked prefix, and a later request reads the longest one that it repeats up to a mark or up to twenty
//! blocks before one.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use toolyard::domain::{Finish, Reply, ToolCall, Usage};
use toolyard::wire::{Answering, FunctionNames, messages};

use crate::fake_endpoint::read;
use crate::program::Home;

/// Blocks before a mark that are looked up as well.
const LOOKED_BACK: usize = 20;
/// The most marks of a request.
const MARKS: usize = 4;
/// The shortest prefix that is kept, in tokens.
const LEAST: usize = 1024;

/// A prefix cache that counts four bytes as a token.
#[derive(Default)]
struct Cache(HashSet<String>);

impl Cache {
    /// The usage of a request: what is read, what is written, and the rest.
    fn ask(&mut self, body: &Value) -> (usize, usize, usize) {
        let mut blocks: Vec<Value> = body["tools"].as_array().cloned().unwrap_or_default();
        blocks.extend(body["system"].as_array().cloned().unwrap_or_default());
        for message in body["messages"].as_array().unwrap() {
            let own = message["content"].as_array().unwrap().iter();
            blocks.extend(own.map(|block| json!([message["role"], block])));
        }
        let mut ends = vec![String::new()];
        let mut marks = Vec::new();
        for (at, block) in blocks.iter().enumerate() {
            let text = block.to_string();
            let bare = text.replace(r#","cache_control":{"type":"ephemeral"}"#, "");
            if bare.len() < text.len() {
                marks.push(at + 1);
            }
            ends.push(ends[at].clone() + &bare);
        }
        assert!(marks.len() <= MARKS, "Anthropic refuses a fifth mark: {body}");
        let tokens = |at: usize| ends[at].len() / 4;
        let is_kept = |at: &usize| self.0.contains(&ends[*at]);
        let looked =
            marks.iter().rev().flat_map(|mark| (mark.saturating_sub(LOOKED_BACK)..=*mark).rev());
        let read = looked.into_iter().find(is_kept).map_or(0, tokens);
        let kept: Vec<usize> = marks.iter().copied().filter(|at| tokens(*at) >= LEAST).collect();
        let written = kept.last().map_or(0, |at| tokens(*at).saturating_sub(read));
        self.0.extend(kept.iter().map(|at| ends[*at].clone()));
        (read, written, tokens(blocks.len()) - read - written)
    }
}

/// An endpoint whose model calls a tool in each of its answers but the last one.
async fn endpoint(steps: usize, seen: Arc<Mutex<Vec<(usize, usize, usize)>>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let mut cache = Cache::default();
        for step in 1.. {
            let (mut stream, _) = listener.accept().await.unwrap();
            let body = read(&mut stream).await.body;
            let (read, written, rest) = cache.ask(&body);
            seen.lock().unwrap().push((read, written, rest));
            let usage = Usage {
                tokens_in: (read + written + rest) as u64,
                cached: read as u64,
                written: written as u64,
                tokens_out: 20,
                ..Usage::default()
            };
            let call = ToolCall {
                id: format!("toolu_{step}"),
                tool: "search_web".into(),
                arguments: json!({"query": format!("Talvera, page {step}")}),
            };
            let said = Reply { usage, ..Reply::of_text("The answer is: 42.") };
            let reply = match step == steps {
                true => said,
                false => Reply { calls: vec![call], finish: Finish::Calls, ..said },
            };
            let names = FunctionNames::default();
            let answering = Answering { id: "a", model: "m", names: &names, created: 1 };
            let frames = messages::write_stream(&reply, &answering);
            let head =
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
            stream.write_all(format!("{head}{frames}").as_bytes()).await.unwrap();
        }
    });
    url
}

#[test]
fn an_agent_of_ten_steps_reads_most_of_its_input_from_the_cache() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let url = runtime.block_on(endpoint(10, Arc::clone(&seen)));
    let home = Home::new();
    home.write(
        "mine.toml",
        format!("[models.claude]\nkind = \"anthropic\"\nurl = \"{url}\"\nmodel = \"claude-sonnet-4-5\"\n\
                  price_in = 3\nprice_out = 15\nprice_cached = 0.3\nprice_written = 3.75\n\
                  [roles]\ndefault = \"claude\"\n"),
    );
    // A history that is cut would begin the conversation anew, and with it the cache.
    let ran = home.run(&[
        "run",
        "--config",
        "mine.toml",
        "--json",
        "--strategy",
        "react",
        "--knob",
        "max_steps=12",
        "--knob",
        "history=12",
        "Where is Talvera?",
    ]);
    let seen = seen.lock().unwrap();
    let sum = |part: fn(&(usize, usize, usize)) -> usize| seen.iter().map(part).sum::<usize>();
    let (read, all) = (sum(|it| it.0), sum(|it| it.0 + it.1 + it.2));
    assert_eq!(seen.len(), 10, "{ran:?} {seen:?}");
    let share = 100.0 * read as f64 / all as f64;
    println!("read from the cache: {share:.1} % of {all} tokens in ten steps");
    assert!(share >= 85.0, "{share:.1} %: {seen:?}");
}
