//! Agents behind `toolyard watch` by the addresses that they read, and agents that go past it: each is said.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::program::{Home, Ran, text};

const CHAT: &str = r#"{"model":"m","messages":[{"role":"user","content":"Is it raining?"}]}"#;
const NOBODY: &str = "the agent ended without a model request that toolyard understands";

/// An endpoint that answers every request, and the paths that it was asked for.
struct Endpoint {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Endpoint {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, asked) = (listener.local_addr().unwrap(), Arc::<Mutex<Vec<_>>>::default());
        let kept = Arc::clone(&asked);
        thread::spawn(move || {
            for client in listener.incoming() {
                let (client, kept) = (client.unwrap(), Arc::clone(&kept));
                thread::spawn(move || serve(client, &kept));
            }
        });
        Self { address, asked }
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

fn serve(mut client: TcpStream, asked: &Mutex<Vec<String>>) {
    let mut read = BufReader::new(client.try_clone().unwrap());
    loop {
        let mut lines = Vec::new();
        while lines.last().is_none_or(|line: &String| !line.is_empty()) {
            let mut line = String::new();
            if read.read_line(&mut line).unwrap_or_default() == 0 {
                return;
            }
            lines.push(line.trim_end().to_owned());
        }
        let length = lines.iter().find_map(|line| {
            line.to_lowercase().strip_prefix("content-length: ").map(str::to_owned)
        });
        read.read_exact(&mut vec![0; length.unwrap().parse().unwrap()]).unwrap();
        let path = lines[0].split(' ').nth(1).unwrap();
        asked.lock().unwrap().push(path.to_owned());
        let body = r#"{"id":"a","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"No."},"finish_reason":"stop"}]}"#;
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json";
        let length = body.len();
        if write!(client, "{head}\r\ncontent-length: {length}\r\n\r\n{body}").is_err() {
            return;
        }
    }
}

/// A line of a shell that posts this body to an address.
fn post(address: &str, body: &str) -> String {
    format!("curl --silent --output answer \"{address}\" --data '{body}'")
}

/// Watches a script with these variables and options.
fn watch(home: &Home, variables: &str, options: &str, script: &str) -> Ran {
    home.write("agent.sh", script);
    home.shell(&format!(
        "{variables} toolyard watch --headless --no-journal {options} -- sh agent.sh"
    ))
}

#[test]
fn what_was_armed_for_an_agent_that_never_asks_has_failed() {
    let home = Home::new();
    home.write("s.toml", "faults = [\"weather:error\"]\n[expect]\nanswered = 0\n");
    let asks = post("$OPENAI_BASE_URL/chat/completions", CHAT);
    home.write("agent.sh", &asks);
    let endpoint = Endpoint::start();
    let variables = format!("OPENAI_BASE_URL=http://{}/v1", endpoint.address);
    home.shell(&format!("{variables} toolyard watch --headless --journal j.jsonl -- sh agent.sh"));
    for (options, script, code) in [
        ("", "true", 0),
        ("--fault weather:error", "true", 1),
        ("--fault weather:error", "exit 3", 3),
        ("--break weather:before", "true", 1),
        ("--scenario s.toml --junit j.xml --report r.json", "true", 1),
        ("--scenario s.toml", "exit 3", 3),
        ("--recorded j.jsonl --strict", "true", 1),
        ("--recorded j.jsonl", "true", 0),
    ] {
        let ran = watch(&home, "", options, script);
        assert_eq!(ran.code, code, "{options} {script}: {}", ran.err);
        assert_eq!(ran.err.matches(NOBODY).count(), 1, "{options}: {}", ran.err);
        let is_said = ran.err.contains("had no effect, since no request was understood");
        assert_eq!(is_said, code == 1, "{options}: {}", ran.err);
        let fault =
            "the fault weather:error could not hit anything: no call of its target was asked";
        let has_fault = options.contains("weather:error") || options.contains("scenario");
        assert_eq!(ran.err.contains(fault), has_fault, "{options}: {}", ran.err);
    }
    let xml = home.read("j.xml");
    assert!(xml.contains("<error message=\"no request of the agent was understood\""), "{xml}");
    assert!(xml.contains("<skipped message=\"could not hit anything: no call of"), "{xml}");
    let report = home.json("r.json");
    let verdict = report["faults"][0]["verdict"].as_str().unwrap();
    assert_eq!(verdict, "could not hit anything: no call of its target was asked");
    // A tool that no request offers has a wrong name.
    let tools = r#","tools":[{"type":"function","function":{"name":"get_weather","parameters":{"type":"object"}}}]}"#;
    let offers = asks.replacen("}]}", &format!("}}]{tools}"), 1);
    for (fault, code, is_unknown) in [("get_wether", 1, true), ("get_weather", 0, false)] {
        let ran = watch(&home, &variables, &format!("--fault {fault}:error"), &offers);
        assert_eq!(ran.code, code, "{fault}: {}", ran.err);
        let near = "there is no tool get_wether; did you mean `get_weather`?";
        assert_eq!(ran.err.contains(near), is_unknown, "{}", ran.err);
    }
    for (tool, code) in [("get_wether", 1), ("get_weather", 0)] {
        let ran = watch(&home, &variables, &format!("--break {tool}:before"), &offers);
        assert_eq!(ran.code, code, "{tool}: {}", ran.err);
    }
    // One that asks, but for no such call, has ended well, and the fault is named all the same.
    let ran = watch(&home, &variables, "--fault weather:error", &asks);
    assert_eq!((ran.code, ran.err.contains(NOBODY)), (0, false), "{}", ran.err);
    assert!(ran.err.contains("the fault weather:error could not hit anything"), "{}", ran.err);
}

#[test]
fn requests_of_other_apis_are_said_at_the_first_and_counted_at_the_end() {
    let home = Home::new();
    let endpoint = Endpoint::start();
    let at = endpoint.address;
    let variables = format!(
        "OPENAI_BASE_URL=http://{at}/v1 OLLAMA_HOST={at} GOOGLE_GEMINI_BASE_URL=http://{at}"
    );
    let ollama = post("$OLLAMA_HOST/api/pull", CHAT);
    let gemini = post("$GOOGLE_GEMINI_BASE_URL/models/m:predict", "{}");
    let embeds = post("$OPENAI_BASE_URL/embeddings", "{}");
    let script = format!("{ollama}; {ollama}; {gemini}; {ollama}; {embeds}");
    let counts =
        ["1 request of Gemini's API passed unread", "3 requests of Ollama's API passed unread"];
    let ran = watch(&home, &variables, "", &script);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let line = ran.err.lines().find(|line| line.contains(NOBODY)).unwrap();
    for part in counts.into_iter().chain(["1 request for embeddings"]) {
        assert!(line.contains(part), "{line}");
    }
    let first = "requests of Ollama's API pass unread, such as POST /ollama/api/pull";
    assert_eq!(ran.err.matches(first).count(), 1, "{}", ran.err);
    assert_eq!(ran.err.matches("API pass unread, such as").count(), 2, "{}", ran.err);
    let paths =
        ["/api/pull", "/api/pull", "/v1beta/models/m:predict", "/api/pull", "/v1/embeddings"];
    assert_eq!(endpoint.asked(), paths);
    // They are said even if others were understood.
    let asks = post("$OPENAI_BASE_URL/chat/completions", CHAT);
    let ran = watch(&home, &variables, "", &format!("{asks}; {script}"));
    assert!(!ran.err.contains(NOBODY), "{}", ran.err);
    assert!(counts.iter().all(|line| ran.err.contains(line)), "{}", ran.err);
}

#[test]
fn the_addresses_of_providers_are_watched_if_they_were_set() {
    let home = Home::new();
    let endpoint = Endpoint::start();
    let at = endpoint.address;
    for (variable, value, path, there) in [
        (
            "AZURE_OPENAI_ENDPOINT",
            "",
            "/openai/deployments/M/chat/completions?api-version=1",
            "/openai/deployments/M/chat/completions?api-version=1",
        ),
        ("AZURE_OPENAI_ENDPOINT", "/", "openai/v1/chat/completions", "/openai/v1/chat/completions"),
        ("GROQ_BASE_URL", "", "/openai/v1/chat/completions", "/openai/v1/chat/completions"),
        ("GROQ_API_BASE", "/openai/v1", "/chat/completions", "/openai/v1/chat/completions"),
        ("OPENROUTER_BASE_URL", "/api/v1", "/chat/completions", "/api/v1/chat/completions"),
        ("OLLAMA_BASE_URL", "/v1", "/chat/completions", "/v1/chat/completions"),
        ("OLLAMA_BASE_URL", "", "/v1/chat/completions", "/v1/chat/completions"),
        ("OLLAMA_HOST", "", "/v1/chat/completions", "/v1/chat/completions"),
        ("LLM_BASE_URL", "/a/v1/", "chat/completions", "/a/v1/chat/completions"),
        ("MISTRAL_API_BASE", "/v1", "/chat/completions", "/v1/chat/completions"),
    ] {
        let script = format!(
            "case ${variable} in *{at}*) exit 9;; esac; {}",
            post(&format!("${{{variable}}}{path}"), CHAT)
        );
        let ran = watch(&home, &format!("{variable}=http://{at}{value}"), "", &script);
        assert_eq!(ran.code, 0, "{variable}: {}", ran.err);
        assert_eq!(endpoint.asked(), [there], "{variable}");
        let note = format!("{variable} was set in the environment: forwarding to http://{at}");
        assert!(ran.err.contains(&note), "{}", ran.err);
        assert!(
            ran.err.contains("conversation 1 began: OpenAI chat at"),
            "{variable}: {}",
            ran.err
        );
    }
    // A variable that may choose a provider is not set by itself.
    let ran = watch(
        &home,
        "",
        "",
        "env | cut -d= -f1 | grep -E 'AZURE|OLLAMA_BASE|LLM|GROQ_API|MISTRAL'",
    );
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    // Clients of Azure OpenAI refuse an address of OpenAI's.
    for (key, is_set) in
        [("", false), ("OPENAI_API_KEY=k", true), ("OPENAI_BASE_URL=http://h/v1", true)]
    {
        let variables = format!("AZURE_OPENAI_API_KEY=some-k3y {key}");
        let ran = watch(&home, &variables, "", "test -n \"$OPENAI_BASE_URL\"");
        assert_eq!(ran.code == 0, is_set, "{}", ran.err);
        assert_eq!(ran.err.contains("OPENAI_API_BASE, since AZURE_OPENAI_API_KEY is set"), !is_set);
    }
}

#[test]
fn other_addresses_are_named_with_lines_that_watch_them() {
    let home = Home::new();
    let endpoint = Endpoint::start();
    let at = endpoint.address;
    let variables = format!(
        "MY_LLM_BASE_URL=http://me:s3cret-word@{at}/gate/v1?key=an0ther-word OTEL_EXPORTER_OTLP_ENDPOINT=http://{at} \
         QDRANT_HOST=http://{at} LANGSMITH_ENDPOINT=http://{at} NAME_HOST=plain.host"
    );
    home.write("config.toml", "");
    let script = post("$MY_LLM_BASE_URL", CHAT);
    let ran = watch(&home, &variables, "--config config.toml", &script);
    assert_eq!(ran.err.matches("is not watched").count(), 2, "{}", ran.err);
    let line = ran.err.lines().find(|line| line.contains(NOBODY)).unwrap();
    assert!(line.contains("MY_LLM_BASE_URL is not watched"), "{line}");
    assert!(ran.err.contains(&format!("MY_LLM_BASE_URL in the environment is not watched (http://{at}/gate/v1); add it to agents.toml:")), "{}", ran.err);
    assert!(!ran.err.contains("word") && !ran.err.contains("OTEL"), "{}", ran.err);
    // Where the agent was seen at other hosts, lines for its code follow, too.
    let mut after =
        ran.err.lines().skip_while(|line| !line.contains("MY_LLM_BASE_URL in the environment"));
    after.next();
    let lines: Vec<_> = after.map_while(|line| line.strip_prefix("toolyard:   ")).collect();
    home.write("agents.toml", lines.join("\n"));
    endpoint.asked();
    let script = post("$MY_LLM_BASE_URL/chat/completions", CHAT);
    let ran = watch(&home, &variables, "--config config.toml", &script);
    assert!(!ran.err.contains("not watched") && !ran.err.contains(NOBODY), "{}", ran.err);
    let asked = endpoint.asked();
    assert_eq!(asked, ["/gate/v1/chat/completions?key=an0ther-word"], "{}", ran.err);
}

#[test]
fn an_address_of_anthropic_may_have_a_version() {
    let home = Home::new();
    let endpoint = Endpoint::start();
    let body = r#"{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"hi"}]}"#;
    for value in ["", "/v1"] {
        for path in ["/messages", "/v1/messages", "/v1/v1/messages", "/messages/count_tokens"] {
            let asks = post(&format!("$ANTHROPIC_BASE_URL{path}"), body)
                + " -H 'anthropic-version: 2023-06-01'";
            let variables = format!("ANTHROPIC_BASE_URL=http://{}{value}", endpoint.address);
            let ran = watch(&home, &variables, "", &asks);
            let end = path.rsplit_once("/messages").unwrap().1;
            assert_eq!(endpoint.asked(), [format!("/v1/messages{end}")], "{value} {path}");
            assert_eq!(
                ran.err.contains("conversation 1 began: Anthropic"),
                end.is_empty(),
                "{}",
                ran.err
            );
        }
    }
}

#[test]
fn files_of_variables_count_in_their_order_and_their_odd_lines_are_named() {
    let home = Home::new();
    home.write(
        ".env",
        "OPENAI_BASE_URL=http://third/v1\nANTHROPIC_BASE_URL: http://a?key=s3cret-word\n",
    );
    home.write(".env.local", "OPENAI_BASE_URL=http://second/v1\nsk-s3cret-word\n");
    let ran = watch(&home, "", "", "true");
    for said in [
        "OPENAI_BASE_URL was set in .env.local: forwarding to http://second/v1",
        "OPENAI_BASE_URL was set in .env to another address, which is not used: http://third/v1",
        ".env, line 2 assigns nothing, and is not read, though it names ANTHROPIC_BASE_URL; write ANTHROPIC_BASE_URL=…",
        ".env.local, line 2 assigns nothing, and is not read\n",
    ] {
        assert!(ran.err.contains(said), "{said}: {}", ran.err);
    }
    assert!(!ran.err.contains("s3cret-word"), "{}", ran.err);
    let ran = watch(&home, "OPENAI_BASE_URL=http://first/v1", "", "true");
    let first = "OPENAI_BASE_URL was set in the environment: forwarding to http://first/v1";
    assert!(ran.err.contains(first), "{}", ran.err);
    // A pipe is not read, and neither is a file that is too long for variables.
    fs::remove_file(home.path(".env.local")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(text(&home.path(".env.local"))).status();
    assert!(made.unwrap().success());
    home.write(".env", "A=1\n".repeat(300_000));
    let ran = watch(&home, "", "", "true");
    for said in [
        ".env.local: no regular file; its variables are not known",
        ".env: longer than 1024 KiB; expected variables; its variables are not known",
    ] {
        assert!(ran.err.contains(said), "{said}: {}", ran.err);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_agent_that_goes_past_is_named_with_what_it_did() {
    let home = Home::new();
    let endpoint = Endpoint::start();
    let at = endpoint.address.to_string().replace(':', "/");
    let said = |ran: &Ran| {
        let line = ran.err.lines().find(|line| line.contains(NOBODY));
        line.unwrap_or_else(|| panic!("{}", ran.err)).to_owned()
    };
    // A connection late in its life, of a process that has left its parent.
    let connects = format!("sleep 1; exec 3<>/dev/tcp/{at}; exec sleep 1.5");
    let late = format!("(setsid bash -c '{connects}' &) ; sleep 3");
    let ran = watch(&home, "", "", &late);
    let connected = format!("was connected to {}", endpoint.address);
    assert!(said(&ran).contains(&connected), "{}", ran.err);
    assert!(ran.err.contains("OpenAI(base_url=\"http://127.0.0.1:"), "{}", ran.err);
    let ran = watch(&home, "", "", "env -i sleep 0.5");
    assert!(said(&ran).contains("sleep (process "), "{}", ran.err);
    assert!(said(&ran).contains("did not get the variables of toolyard"), "{}", ran.err);
    let ran = watch(&home, "", "", "sleep 60 & exit 0");
    let left = "1 process that it had started still ran, and ended with it: s";
    assert!(said(&ran).contains(left), "{}", ran.err);
    // Of two agents, one asks and the other goes to the endpoint itself.
    let asks = post("$OPENAI_BASE_URL/chat/completions", CHAT);
    let connects = format!("sleep 2; exec 3<>/dev/tcp/{at}; exec sleep 2.5");
    let both = format!("bash -c '{connects}' & {asks}; wait");
    let variables = format!("OPENAI_BASE_URL=http://{}/v1", endpoint.address);
    let ran = watch(&home, &variables, "", &both);
    assert!(ran.err.contains(&format!("{connected}, past toolyard")), "{}", ran.err);
    let ran = watch(&home, "", "", "exit 0");
    assert!(said(&ran).ends_with("no connection to another host was seen"), "{}", ran.err);
}
