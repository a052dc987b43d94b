//! An endpoint that reports any number as something else. Every journal of its workspace opens, and the sums are those
//! of its honest replies.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use toolyard::domain::{Event, ModelCallEvent, State};
use toolyard::store::journal;

use crate::fake_endpoint::read;
use crate::program::{Home, Ran};

/// What stands in place of a number. The last one is not JSON.
const NUMBERS: [&str; 10] = [
    "0",
    "-1",
    "18446744073709551616",
    "18446744073709551615",
    "1e308",
    "-1e308",
    "\"many\"",
    "null",
    "[1]",
    "NaN",
];

/// Tokens and dollars of an honest reply.
const HONEST: (u64, u64, f64) = (100, 20, 0.25);

fn honest() -> Value {
    let usage = json!({
        "prompt_tokens": HONEST.0, "completion_tokens": HONEST.1, "total_tokens": 120, "cost": HONEST.2,
        "prompt_tokens_details": {"cached_tokens": 10},
    });
    let message = json!({"role": "assistant", "content": "It is 2."});
    let choice = json!({"index": 0, "message": message, "finish_reason": "stop", "logprobs": 0});
    json!({"id": "x", "created": 1_700_000_000, "choices": [choice], "usage": usage})
}

/// The pointers to all numbers of a value.
fn pointers(at: &str, value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Number(_) => found.push(at.to_owned()),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, it)| pointers(&format!("{at}/{i}"), it, found));
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(name, it)| pointers(&format!("{at}/{name}"), it, found));
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// The honest reply, and one for each number that is not what it should be; one with all of them; as JSON text.
fn replies() -> Vec<String> {
    let (honest, mut found) = (honest(), Vec::new());
    pointers("", &honest, &mut found);
    let odd = |places: &[String], number: &str| {
        let mut reply = honest.clone();
        places.iter().for_each(|place| *reply.pointer_mut(place).unwrap() = json!("#ODD#"));
        reply.to_string().replace("\"#ODD#\"", number)
    };
    let single = found
        .iter()
        .flat_map(|place| NUMBERS.iter().map(|number| odd(std::slice::from_ref(place), number)));
    let all = NUMBERS.iter().map(|number| odd(&found, number));
    std::iter::once(honest.to_string()).chain(single).chain(all).collect()
}

/// Serves these bodies in turn, for ever.
async fn serve(bodies: Vec<String>) -> (String, Arc<Mutex<usize>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let served = Arc::new(Mutex::new(0));
    let count = served.clone();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let _ = read(&mut stream).await;
            let at = {
                let mut count = count.lock().unwrap();
                *count += 1;
                *count - 1
            };
            let body = &bodies[at % bodies.len()];
            let length = body.len();
            let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json\r\n";
            let reply = format!("{head}content-length: {length}\r\n\r\n{body}");
            let _ = stream.write_all(reply.as_bytes()).await;
        }
    });
    (url, served)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_any_number_every_journal_opens_and_sums_are_right() {
    let replies = replies();
    assert!(replies.len() > 80, "{}", replies.len());
    let (url, served) = serve(replies.clone()).await;
    let home = Home::new();
    home.write(
        "c.toml",
        format!(
            "[models.m]\nkind = \"openai\"\nurl = \"{url}\"\nmodel = \"x\"\nstream = false\nretries = 0\n\
             [roles]\ndefault = \"m\"\n"
        ),
    );
    let lines: Vec<String> = (0..replies.len()).map(|n| format!("What is {n} + 1?")).collect();
    home.write("tasks.txt", lines.join("\n"));
    let run = async |more: &[&str]| {
        let run = ["run", "--config", "c.toml", "--strategy", "react", "--tasks", "tasks.txt"];
        let mut command = home.command(&[&run[..], &["--max-dollars", "1000000"], more].concat());
        let output = tokio::task::spawn_blocking(move || command.output().unwrap());
        Ran::of(output.await.unwrap())
    };
    let first = run(&["--journal", "1.jsonl"]).await;
    assert!(*served.lock().unwrap() >= replies.len(), "{first:?}");
    let second = run(&["--tasks-limit", "3", "--journal", "2.jsonl"]).await;
    for (ran, path) in [(first, "1.jsonl"), (second, "2.jsonl")] {
        assert!(ran.code < 5, "{ran:?}");
        let records = journal::read(&home.path(path)).unwrap().records;
        let state = State::fold(&records);
        let tally = &state.models.known["m"].tally;
        let (mut tokens, mut dollars) = (0, 0.0);
        for record in &records {
            if let Event::ModelCall(ModelCallEvent::ModelCallFinished { reply, .. }) = &record.event
            {
                tokens += reply.usage.tokens_in;
                dollars += reply.usage.dollars.map_or(0.0, f64::from);
                assert!(reply.usage.tokens_in < 10_000, "{reply:?}");
                let is_honest = |cost: f64| cost == 0.0 || cost == HONEST.2;
                assert!(reply.usage.dollars.is_none_or(|cost| is_honest(*cost)), "{reply:?}");
            }
        }
        assert_eq!((tally.tokens_in, *tally.dollars), (tokens, dollars));
        assert!(dollars > 0.0 && dollars.is_finite());
        for command in [&["replay", path, "--json"][..], &["report", path], &["sessions"]] {
            let ran = home.run(command);
            assert_eq!(ran.code, 0, "{command:?}: {ran:?}");
        }
    }
    let said = home.succeed(&["replay", "1.jsonl", "--json", "--full"]);
    assert!(said.contains("reported implausible usage of m: "), "{said:.2000}");
}
