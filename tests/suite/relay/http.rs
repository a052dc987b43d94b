//! A server that is reached by streamable HTTP, behind a relay.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use crate::processes::{peak_memory, wait_until};
use crate::program::{Home, unpacked};

/// The bodies that a server got.
pub type Bodies = Arc<Mutex<Vec<String>>>;

/// A server that answers by JSON, or by a stream of events with a note of progress before the answer.
pub fn server(streams: bool) -> (String, Bodies) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/mcp", listener.local_addr().unwrap());
    let bodies = Bodies::default();
    let kept = Arc::clone(&bodies);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let bodies = Arc::clone(&kept);
            thread::spawn(move || while exchange(&stream, &bodies, streams).is_some() {});
        }
    });
    (address, bodies)
}

fn exchange(stream: &TcpStream, bodies: &Bodies, streams: bool) -> Option<()> {
    let (asked, body) = message(stream)?;
    bodies.lock().unwrap().push(body.clone());
    let said: Value = serde_json::from_str(&body).unwrap_or_default();
    if let Some(list) = said.as_array() {
        let of = |it: &Value| {
            it.get("id").map(|id| {
                let content = json!([{"type": "text", "text": it["params"]["arguments"]["text"]}]);
                format!("{{\"id\": {id},\"result\":{{\"content\":{content}}}}}")
            })
        };
        let mut answers: Vec<String> = list.iter().filter_map(of).collect();
        answers.reverse();
        let (kind, answer) = match streams {
            false => ("application/json", format!("[{}]", answers.join(" , "))),
            true => (
                "text/event-stream",
                answers.iter().map(|it| format!("id: 1\ndata: {it}\n\n")).collect(),
            ),
        };
        return write(stream, kind, &answer, &asked);
    }
    let text = said["params"]["arguments"]["text"].as_str().unwrap_or("done");
    let content = json!([{"type": "text", "text": text}]);
    let result = match said["method"] == "tools/list" {
        true => {
            json!({"tools": [{"name": "now", "inputSchema": {}}, {"name": "odd", "inputSchema": {}}]})
        }
        false => json!({ "content": content }),
    };
    let answer = format!("{{ \"id\":{},\"result\":{result} }}", said["id"]);
    let (kind, answer) = match (said.get("id").is_some(), streams) {
        (true, false) => ("application/json", answer),
        (true, true) => {
            let note = "{\"method\":\"notifications/progress\",\"params\":{}}";
            let events =
                format!(": hi\n\ndata: {note}\n\nid: 4\nevent: message\ndata: {answer}\n\n");
            ("text/event-stream", events)
        }
        (false, _) => {
            let is_told = |line: &&str| line.contains(" /mcp") || line.starts_with("authorization");
            ("text/plain", asked.lines().filter(is_told).collect::<Vec<_>>().join("\n"))
        }
    };
    write(stream, kind, &answer, &asked)
}

fn write(mut stream: &TcpStream, kind: &str, answer: &str, asked: &str) -> Option<()> {
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nmcp-session-id: s1\r\ncontent-length: {}\r\n\r\n",
        answer.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(answer.as_bytes()).ok()?;
    (!asked.contains("connection: close")).then_some(())
}

/// The head and the body of a message.
fn message(stream: &TcpStream) -> Option<(String, String)> {
    let mut reader = BufReader::with_capacity(1, stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        (reader.read_line(&mut head).ok()? > 0).then_some(())?;
    }
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("content-length").then(|| value.parse().ok())?
    });
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    Some((head, String::from_utf8(body).unwrap()))
}

/// A relay of this server.
struct Relay {
    child: Child,
    address: String,
}

impl Relay {
    fn start(home: &Home, target: &str, more: &[&str]) -> Self {
        let words =
            [&["mcp", "--name", "own", "--journal", "j.jsonl", "--target", target], more].concat();
        let mut command = home.command(&words);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("relays http://") {
            line.clear();
            assert!(errors.read_line(&mut line).unwrap() > 0, "it has ended");
        }
        thread::spawn(move || std::io::copy(&mut errors, &mut std::io::sink()));
        let address = line.trim().rsplit_once("http://").unwrap().1.to_owned();
        Self { child, address }
    }

    fn ask(&self, method: &str, body: &str) -> (String, String) {
        ask(&self.address, method, body, "")
    }

    fn call(&self, id: u64, tool: &str, text: &str) -> (String, String) {
        let params = json!({"name": tool, "arguments": {"text": text}});
        let body = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        self.ask("POST", &body.to_string())
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn ask(address: &str, method: &str, body: &str, header: &str) -> (String, String) {
    let (host, path) = address.split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let accept = "accept: application/json, text/event-stream";
    let request = format!(
        "{method} /{path} HTTP/1.1\r\nhost: {host}\r\n{accept}\r\nconnection: close\r\n{header}content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), unchunked(head, body))
}

fn unchunked(head: &str, body: &str) -> String {
    if !head.contains("chunked") {
        return body.to_owned();
    }
    let (mut rest, mut whole) = (body, String::new());
    while let Some((size, more)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        whole += &more[..size];
        rest = more[size..].trim_start_matches("\r\n");
    }
    whole
}

#[test]
fn requests_and_answers_pass_as_they_are() {
    for streams in [false, true] {
        let home = Home::new();
        let (target, bodies) = server(streams);
        let relay = Relay::start(&home, &target, &[]);
        let plain = target.strip_prefix("http://").unwrap();
        let call = "{ \"id\" : 7,\"method\":\"tools/call\", \"params\":{\"arguments\":{\"text\":\"ü\"},\"name\":\"now\"}}";
        for (method, body) in [
            ("POST", call),
            ("POST", "{\"id\":1,\"method\":\"ping\"}"),
            ("GET", ""),
            ("DELETE", ""),
            ("POST", "{"),
        ] {
            let (head, answer) = relay.ask(method, body);
            let (plain_head, expected) = ask(plain, method, body, "");
            assert_eq!(answer, expected, "{method} {body} {head}");
            assert!(head.contains("mcp-session-id: s1"), "{head}");
            assert_eq!(head.lines().next(), plain_head.lines().next());
        }
        let bodies = bodies.lock().unwrap();
        assert!(bodies.chunks(2).all(|both| both[0] == both[1]), "{bodies:?}");
        assert!(home.read("j.jsonl").contains("ToolCallFinished"));
    }
}

#[test]
fn large_requests_at_once_pass_and_take_little_memory() {
    let (home, (target, bodies)) = (Home::new(), server(false));
    let relay = Relay::start(&home, &target, &[]);
    let text = "a".repeat(20 << 20);
    thread::scope(|scope| {
        for id in 0..4 {
            let (relay, text) = (&relay, &text);
            scope.spawn(move || {
                let (_, answer) = relay.call(id, "now", text);
                assert!(answer.len() > text.len() && answer.contains(&text[..100]));
            });
        }
    });
    assert_eq!(bodies.lock().unwrap().len(), 4);
    if let Some(peak) = peak_memory(relay.child.id()) {
        assert!(peak < 150 << 20, "{peak} bytes");
    }
    assert!(home.read("j.jsonl").contains("went to own unread"));
}

#[test]
fn faults_act_before_and_after_the_server() {
    for streams in [false, true] {
        let home = Home::new();
        let (target, bodies) = server(streams);
        let faults = ["--fault", "now:error:text=no way", "--fault", "then:reset"];
        let relay = Relay::start(&home, &target, &faults);
        let (_, answer) = relay.call(1, "now", "x");
        assert!(answer.contains("no way") && answer.contains("\"isError\":true"), "{answer}");
        assert_eq!(bodies.lock().unwrap().len(), 0, "it never reaches the server");
        let (_, answer) = relay.call(2, "then", "the true one");
        assert!(
            answer.contains("\"isError\":true") && !answer.contains("the true one"),
            "{answer}"
        );
        assert_eq!(bodies.lock().unwrap().len(), 1, "it does, once");
        if streams {
            assert!(
                answer.contains("notifications/progress") && answer.contains("id: 4"),
                "{answer}"
            );
        }
        let (_, answer) = relay.call(3, "other", "fine");
        assert!(answer.contains("fine"), "{answer}");
    }
}

#[test]
fn a_changed_list_is_an_event_before_the_answer() {
    for streams in [false, true] {
        let (home, (target, bodies)) = (Home::new(), server(streams));
        let relay = Relay::start(&home, &target, &["--fault", "mcp:own:changed-list:nth=1"]);
        for (n, notices) in [(1, 1), (2, 1), (3, 0)] {
            let (_, answer) = relay.call(n, "now", "it ran");
            assert_eq!(answer.matches("tools/list_changed").count(), notices, "{answer}");
            assert!(answer.contains("it ran"), "{answer}");
        }
        assert_eq!(bodies.lock().unwrap().len(), 3);
    }
}

#[test]
fn a_client_does_not_read_tools_that_are_switched_off() {
    for streams in [false, true] {
        let (home, (target, _)) = (Home::new(), server(streams));
        let relay = Relay::start(&home, &target, &["--without", "odd"]);
        let list = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}";
        let (_, answer) = relay.ask("POST", list);
        assert!(answer.contains("\"now\"") && !answer.contains("\"odd\""), "{answer}");
        assert!(relay.call(2, "odd", "x").1.contains("Unknown tool: odd"));
        assert!(relay.call(3, "now", "x").1.contains("\"x\""));
    }
}

#[test]
fn only_programs_of_this_machine_may_ask_and_servers_are_where_they_may_be() {
    let home = Home::new();
    let (target, bodies) = server(false);
    let relay = Relay::start(&home, &target, &[]);
    let (head, _) = ask(&relay.address, "POST", "{}", "origin: http://evil.example\r\n");
    assert!(head.starts_with("HTTP/1.1 403"), "{head}");
    assert_eq!(bodies.lock().unwrap().len(), 0);
    for (words, why) in [
        (&["--target", "http://169.254.169.254/mcp"][..], "169.254.169.254"),
        (&["--target", "ftp://x/"], "expected an address"),
        (&["--target", "http://127.0.0.1:1/", "--listen", "0.0.0.0:0"], "other machines"),
    ] {
        let ran = home.run(&[&["mcp", "--no-journal"], words].concat());
        assert!(ran.code == 2 && ran.err.contains(why), "{}", ran.err);
    }
}

#[test]
fn a_relay_that_adds_a_key_is_for_those_who_know_its_token() {
    let note = "{\"method\":\"notifications/x\"}";
    for (login, query) in [("", "?api_key=k3y-0f-the-target"), ("team:pa55-0f-target@", "")] {
        let (home, (target, bodies)) = (Home::new(), server(false));
        let target = target.replacen("//", &format!("//{login}"), 1) + query;
        let relay = Relay::start(&home, &target, &[]);
        let (host, path) = relay.address.split_once('/').unwrap();
        assert!(path.starts_with("t/") && path.ends_with("/mcp") && path.len() > 32, "{path}");
        for (other, status) in [
            ("mcp".to_owned(), 403),
            (path.replacen("t/", "t/0", 1), 403),
            (format!("t/{}", path.trim_start_matches("t/").to_uppercase()), 403),
            (path.replace("/mcp", "/other"), 404),
            (format!("s/x/{path}"), 404),
        ] {
            let (head, _) = ask(&format!("{host}/{other}"), "POST", note, "");
            assert!(head.starts_with(&format!("HTTP/1.1 {status}")), "{other}: {head}");
        }
        assert!(bodies.lock().unwrap().is_empty());
        let (_, answer) = relay.ask("POST", note);
        assert!(answer.starts_with(&format!("POST /mcp{query} ")), "{answer}");
        let basic = "authorization: Basic dGVhbTpwYTU1LTBmLXRhcmdldA==";
        assert_eq!(answer.contains(basic), !login.is_empty(), "{answer}");
    }
    let (home, (target, _)) = (Home::new(), server(false));
    let relay = Relay::start(&home, &format!("{target}?verbose=1"), &[]);
    assert!(relay.address.ends_with("/mcp") && !relay.address.contains("/t/"), "no key, no token");
}

#[test]
fn a_server_that_is_gone_is_an_error() {
    let home = Home::new();
    let relay = Relay::start(&home, "http://127.0.0.1:1/mcp", &[]);
    let (_, answer) = relay.call(1, "now", "x");
    assert!(answer.contains("-32000") && answer.contains("cannot be reached"), "{answer}");
    assert!(relay.ask("GET", "").0.starts_with("HTTP/1.1 502"));
}

/// Two calls and a request in one list, as the revision 2025-03-26 allowed.
const LIST: &str = "[{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"now\",\"arguments\":{\"text\":\"a\"}}}, \
    {\"id\":2,\"method\":\"ping\"},{\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"then\",\"arguments\":{\"text\":\"b\"}}}]";

#[test]
fn a_list_of_calls_passes_is_read_and_its_answers_are_changed() {
    for streams in [false, true] {
        let (home, (target, bodies)) = (Home::new(), server(streams));
        let plain = ask(target.strip_prefix("http://").unwrap(), "POST", LIST, "").1;
        let relay = Relay::start(&home, &target, &[]);
        assert_eq!(relay.ask("POST", LIST).1, plain);
        let calls = home.read("j.jsonl").matches("ToolCallFinished").count();
        assert_eq!((calls, bodies.lock().unwrap().len()), (2, 2));
        drop(relay);
        let other = Home::new();
        let relay = Relay::start(&other, &target, &["--fault", "then:reset"]);
        let (_, answer) = relay.ask("POST", LIST);
        assert!(answer.contains("\"a\"") && !answer.contains("\"b\""), "{answer}");
        assert!(answer.contains("isError") && answer.contains("\"id\": 2"), "{answer}");
    }
}

#[test]
fn a_list_with_a_call_that_a_fault_stops_never_reaches_the_server() {
    let (home, (target, bodies)) = (Home::new(), server(false));
    let relay = Relay::start(&home, &target, &["--fault", "then:error"]);
    let (_, answer) = relay.ask("POST", LIST);
    let answers: Vec<Value> = serde_json::from_str(&answer).unwrap();
    assert_eq!(answers.iter().map(|it| it["id"].as_u64().unwrap()).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(answers.iter().all(|it| it["error"]["code"] == -32600), "{answer}");
    assert!(bodies.lock().unwrap().is_empty());
}

#[test]
fn a_client_that_hangs_up_while_its_call_is_held_is_told_to_the_session() {
    let (home, (target, bodies)) = (Home::new(), server(true));
    let relay = Relay::start(&home, &target, &["--break", "now:before", "--hold", "30"]);
    let (host, path) = relay.address.split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let body = "{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"now\"}}";
    let head =
        format!("POST /{path} HTTP/1.1\r\nhost: {host}\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all((head + body).as_bytes()).unwrap();
    let journal = || {
        let text = unpacked(&home.path("j.jsonl")).unwrap_or_default();
        String::from_utf8_lossy(&text).into_owned()
    };
    wait_until("it is held", || journal().contains("\"Held\""));
    drop(stream);
    wait_until("it is given up", || journal().contains("ToolCallRefused"));
    assert!(bodies.lock().unwrap().is_empty());
}
