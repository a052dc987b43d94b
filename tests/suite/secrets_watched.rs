//! Keys of a watched agent, which pass in its requests and come back in answers: in no file and on no output of toolyard.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::fake_endpoint::{Fake, json as document};
use crate::processes::wait_until;
use crate::program::{Home, Ran};
use crate::secrets::{calls_with, echo, files, leaks, texts};
use crate::sitting::Sitting;

/// The keys of the agent, by the way they are sent.
const KEYS: [(&str, &str); 8] = [
    ("a bearer", "brr-7Gq2aLpW9xR4"),
    ("a header", "xak-Zt81KqvB3mN6+/Q"),
    ("Google's header", "goo-Uw05YcXe2sJ9"),
    ("an address", "qry4Hd7Fk1Lb6Vo3Pz8"),
    ("a cookie", "cok-Rk38VnbE5cT1"),
    ("a gateway's header", "gat-Lm62HsdY8wP1"),
    ("a parameter", "prm9Bq3Xv5Rz1W"),
    ("a name and a password", "pwd-Jx94FtuC7kS2"),
];

/// Base64 of `me:` and the password.
const LOGIN: &str = "bWU6cHdkLUp4OTRGdHVDN2tTMg==";

/// The keys of a command.
const OF_COMMAND: [(&str, &str); 3] = [
    ("an option", "opt-Hc37QmzV6yN8"),
    ("an option with its value", "val-Ws48KrdG1uB5"),
    ("a variable", "var-Py59TxeJ2oF6"),
];

fn echoed() -> String {
    echo(&KEYS.map(|(_, key)| key))
}

/// A request with all keys.
fn request(first: &str, body: &str) -> String {
    let [bearer, header, google, address, cookie, gateway, parameter, _] = KEYS.map(|(_, key)| key);
    let length = body.len();
    format!(
        "{first}?key={address}&alt=sse&sig={parameter} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         authorization: Bearer {bearer}\r\nx-api-key: {header}\r\nx-goog-api-key: {google}\r\n\
         ocp-apim-subscription-key: {gateway}\r\nproxy-authorization: Basic {LOGIN}\r\n\
         cookie: theme=dark; session={cookie}\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

/// Sends all requests of an agent; returns the answers.
fn agent(address: SocketAddr) -> Vec<String> {
    let call = json!({"id": "c1", "type": "function", "function": {"name": "leak", "arguments": echoed()}});
    let mut messages = vec![json!({"role": "user", "content": echoed()})];
    let body = json!({"model": "x", "stream": true, "messages": messages, KEYS[0].1: echoed()});
    messages.push(json!({"role": "assistant", "content": echoed(), "tool_calls": [call]}));
    messages.push(json!({"role": "tool", "tool_call_id": "c1", "content": echoed()}));
    let later = json!({"model": KEYS[1].1, "messages": messages});
    let messages =
        json!({"model": "x", "max_tokens": 9, "messages": [{"role": "user", "content": "Hello"}]});
    let chat = "POST /v1/chat/completions";
    let all = [
        (chat, body.to_string()),
        (chat, later.to_string()),
        (chat, format!("no JSON: {}", echoed())),
        ("GET /v1/models", String::new()),
        // Nobody is there.
        ("POST /v1/messages", messages.to_string()),
    ];
    all.into_iter().map(|(first, body)| sent(address, &request(first, &body))).collect()
}

/// Sends a request as soon as somebody listens; returns the answer.
fn sent(address: SocketAddr, request: &str) -> String {
    let begun = Instant::now();
    let mut stream = loop {
        match TcpStream::connect(address) {
            Ok(stream) => break stream,
            Err(why) => assert!(begun.elapsed() < Duration::from_secs(30), "{why}"),
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// An endpoint that repeats what it knows.
async fn endpoint() -> Fake {
    let error = json!({"error": {"message": echoed(), "code": echoed()}}).to_string();
    let refused = || document("401 Unauthorized", &error);
    Fake::start(vec![calls_with(&echoed(), KEYS[0].1), refused(), refused(), refused()]).await
}

fn free() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

fn expect_none(whose: &str, text: &str) {
    let leaks = leaks(text, &KEYS);
    assert!(leaks.is_empty(), "{whose}: {:#?}", &leaks[..leaks.len().min(5)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_of_a_watched_agent_is_in_no_file_and_on_no_output() {
    let (home, fake, address) = (Home::new(), endpoint().await, free());
    let listen = address.to_string();
    let words = [
        &["watch", "--headless", "--listen", &listen, "--log", "l.txt", "--log-level", "trace"][..],
        &["--journal", "j.jsonl", "--state", "s.json", "--report", "r.json"],
    ];
    let mut command = home.command(&words.concat());
    command.env("OPENAI_BASE_URL", &fake.url).env("ANTHROPIC_BASE_URL", "http://127.0.0.1:9");
    let toolyard = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let answers = tokio::task::spawn_blocking(move || agent(address)).await.unwrap();
    kill_process(Pid::from_child(&toolyard), Signal::TERM).unwrap();
    let ran = Ran::of(toolyard.wait_with_output().unwrap());
    assert_eq!(ran.code, 128 + 15, "{ran:?}");
    // The agent gets what the endpoint says, and the endpoint what the agent says.
    assert!(answers[..4].iter().all(|answer| answer.contains(KEYS[1].1)), "{answers:?}");
    assert!(answers[4].contains("could not reach 127.0.0.1:9"), "{}", answers[4]);
    expect_none("what toolyard says itself", &answers[4]);
    // The password is for proxies, so it does not go on.
    for (_, key) in &KEYS[..7] {
        let key = key.to_lowercase();
        assert!(fake.seen.lock().unwrap().iter().all(|seen| seen.head.contains(&key)), "{key}");
    }
    expect_none("standard output", &ran.out);
    expect_none("standard error", &ran.err);
    assert!(home.read("j.jsonl").contains("plain: [key]"), "{}", home.read("j.jsonl"));
    for name in ["s.json", "r.json", "l.txt"] {
        assert!(!home.read(name).is_empty(), "{name}");
    }
    for (name, bytes, mode) in files(&home.path("")) {
        assert!(mode == 0o600 || bytes.is_empty(), "{name}: {mode:o}");
        texts(&bytes).iter().for_each(|text| expect_none(&name, text));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_of_a_watched_agent_is_not_on_the_screen() {
    let (home, fake, address) = (Home::new(), endpoint().await, free());
    let listen = address.to_string();
    let words = [env!("CARGO_BIN_EXE_toolyard"), "watch", "--listen", &listen];
    let variables =
        [("OPENAI_BASE_URL", fake.url.as_str()), ("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")];
    let mut sitting = Sitting::of(&home, 120, 40, &words, &variables);
    let answers = tokio::task::spawn_blocking(move || agent(address)).await.unwrap();
    assert_eq!(answers.len(), 5);
    sitting.wait("[key]");
    let mut screens = vec![sitting.text()];
    for pane in ["1", "2", "3", "4", "5", "6", "7"] {
        sitting.press(pane);
        sitting.press("z");
        std::thread::sleep(Duration::from_millis(100));
        screens.push(sitting.text());
        sitting.press("z");
    }
    sitting.press("qy");
    let (_, bytes) = sitting.end();
    screens.push(bytes);
    assert!(screens.iter().any(|text| text.contains("[key]")));
    screens.extend(files(&home.path("")).iter().flat_map(|(_, bytes, _)| texts(bytes)));
    screens.iter().for_each(|text| expect_none("the screen", text));
}

#[test]
fn a_key_of_the_command_is_in_no_file_and_on_no_output() {
    let home = Home::new();
    let [option, value, variable] = OF_COMMAND.map(|(_, key)| key);
    let value = format!("--token={value}");
    let words = [
        &["watch", "--headless", "--journal", "j.jsonl", "--", "sh", "-c", "exit 0", "x"][..],
        &["--api-key", option, &value, variable],
    ];
    let mut command = home.command(&words.concat());
    let ran = Ran::of(command.env("SERVICE_SECRET", variable).output().unwrap());
    assert_eq!(ran.code, 0, "{ran:?}");
    let journal = home.read("j.jsonl");
    assert!(journal.contains("x --api-key [key] --token=[key] [key]"), "{journal}");
    let files = files(&home.path(""));
    let mut all: Vec<String> = files.iter().flat_map(|(_, bytes, _)| texts(bytes)).collect();
    all.extend([ran.out, ran.err]);
    for text in all {
        let leaks = leaks(&text, &OF_COMMAND);
        assert!(leaks.is_empty(), "{leaks:#?}");
    }
}

/// Keys without a name, or with one that only a body or a gateway has.
const UNNAMED: [(&str, &str); 6] = [
    ("an address in a variable", "dsn-Jq71KxeB4mT9"),
    ("a header of a gateway", "cfg-Vb30NwsD8rK5"),
    ("a field", "fld-Ea62PzhC1uY7"),
    ("a field of a field", "inn-Mt95QvfG3oL2"),
    ("a server of tools", "srv-Xk48RjdW6iA1"),
    ("a path", "pth4Ur7Sc2Hn9Zg5Be3Fw8"),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_of_variables_bodies_and_paths_are_in_no_file_and_names_in_texts_are_none() {
    let keys = UNNAMED.map(|(_, key)| key);
    let [variable, config, field, inner, server, path] = keys;
    let script = calls_with(&echo(&keys), path);
    let (home, fake, address) = (Home::new(), Fake::start(vec![script]).await, free());
    let listen = address.to_string();
    let words = [
        &["watch", "--headless", "--listen", &listen, "--token", "given", "--log", "l.txt"][..],
        &[
            "--log-level",
            "trace",
            "--journal",
            "j.jsonl",
            "--state",
            "s.json",
            "--report",
            "r.json",
        ],
    ];
    let mut command = home.command(&words.concat());
    let upstream = fake.url.replace("/v1", &format!("/{path}/v1"));
    command.env("OPENAI_BASE_URL", upstream);
    command.env("ANY", format!("mysql://u:{variable}@h:1/x,mysql://h"));
    let toolyard = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let schema =
        json!({"type": "object", "properties": {"password": {"default": "n0-key-of-a-schema"}}});
    let function = json!({"name": "leak", "parameters": schema});
    let body = json!({
        "model": "x", "stream": true, "apiKey": field,
        "messages": [{"role": "user", "content": echo(&keys), "password": "n0-key-of-a-message"}],
        "extra_body": {"deep": [{"client_secret": inner}]},
        "tools": [{"type": "function", "function": function},
            {"type": "mcp", "server_url": "https://h", "headers": {"X-Any": server}}],
    });
    let body = body.to_string();
    let head = format!(
        "POST /t/given/v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         x-portkey-config: {{\"api_key\": \"{config}\"}}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let answer = tokio::task::spawn_blocking(move || sent(address, &(head + &body))).await.unwrap();
    kill_process(Pid::from_child(&toolyard), Signal::TERM).unwrap();
    let ran = Ran::of(toolyard.wait_with_output().unwrap());
    assert!(answer.contains(path), "the agent gets what the endpoint says: {answer}");
    let seen = fake.bodies().remove(0);
    assert_eq!(
        (&seen["apiKey"], &seen["extra_body"]["deep"][0]["client_secret"]),
        (&field.into(), &inner.into())
    );
    let journal = home.read("j.jsonl");
    assert!(
        journal.contains("plain: [key]") && journal.contains("n0-key-of-a-schema"),
        "{journal}"
    );
    let files = files(&home.path(""));
    let mut all: Vec<String> = files.iter().flat_map(|(_, bytes, _)| texts(bytes)).collect();
    all.extend([ran.out, ran.err]);
    for text in all {
        let leaks = leaks(&text, &UNNAMED);
        assert!(leaks.is_empty(), "{:#?}", &leaks[..leaks.len().min(5)]);
    }
}

/// Asks for this address; returns the answer.
fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_with_a_key_serves_only_those_who_know_a_token() {
    for (login, query, given) in [
        ("team:pa55-0f-team@", "?api-key=k3y-0f-team", &[][..]),
        ("", "?api-key=k3y-0f-team", &["--token", "given"]),
        ("team@", "", &[]),
        ("", "?api-version=7", &[]),
        ("", "", &["--token", "given"]),
    ] {
        let fake = Fake::start([(); 3].map(|()| document("200 OK", "{}")).into()).await;
        let home = Home::new();
        let script =
            "echo $OPENAI_BASE_URL > new; mv new address; while [ ! -e end ]; do sleep 0.05; done";
        let words = [&["watch", "--headless", "--no-journal"], given, &["--", "sh", "-c", script]];
        let mut command = home.command(&words.concat());
        let upstream = fake.url.replacen("//", &format!("//{login}"), 1) + query;
        command.env("OPENAI_BASE_URL", upstream);
        let toolyard = command.stderr(Stdio::piped()).spawn().unwrap();
        let (home, answers) = tokio::task::spawn_blocking(move || {
            wait_until("the agent runs", || home.path("address").exists());
            let address = home.read("address").trim().replace("http://", "");
            let (host, path) = address.split_once('/').unwrap();
            let ways = ["/v1".to_owned(), "/t/other/v1".to_owned(), format!("/{path}")];
            let answers = ways.map(|way| get(host, &format!("{way}/models"))[9..12].to_owned());
            home.write("end", "");
            (home, answers)
        })
        .await
        .unwrap();
        toolyard.wait_with_output().unwrap();
        let has_key = !login.is_empty() || query.contains("key");
        let address = home.read("address");
        let is_own = address.contains("/t/") && address.trim().len() > 56;
        assert_eq!(is_own, has_key && given.is_empty(), "{login} {query} {address}");
        let is_open = if has_key { "403" } else { "200" };
        let (wrong, seen) = (if given.is_empty() && !has_key { "200" } else { "403" }, &fake.seen);
        assert_eq!(answers, [is_open, wrong, "200"], "{login} {query} {given:?}");
        let seen = seen.lock().unwrap();
        assert!(seen.iter().all(|seen| seen.head.contains(query)), "{query}");
    }
}
