//! An MCP server for tests, on standard input and output. This test binary is started again to be one.

#![expect(clippy::exit, reason = "a stand-in ends as programs do")]

use std::io::{Write, stdin, stdout};
use std::time::Duration;

use serde_json::{Value, json};

/// Not a test: the program of a stand-in. What the test harness prints before are stray lines, as real servers have them.
#[test]
#[ignore = "the program of other tests"]
fn serve() {
    let Ok(behaviour) = std::env::var("STAND_IN") else { return };
    Server { behaviour, calls: 0 }.serve();
    std::process::exit(0);
}

struct Server {
    behaviour: String,
    calls: u32,
}

impl Server {
    fn is(&self, behaviour: &str) -> bool {
        self.behaviour == behaviour
    }

    fn serve(&mut self) {
        log(&format!("started {}", std::process::id()));
        eprintln!("stand-in {} speaks\u{1b}[31m", self.behaviour);
        match self.behaviour.as_str() {
            "exits" => std::process::exit(3),
            "floods" => drop(std::thread::spawn(flood)),
            _ => {}
        }
        while let Some(message) = heard() {
            if let Some(method) = message["method"].as_str() {
                let name = message["params"]["name"].as_str().unwrap_or_default();
                log(&format!("{method} {name}"));
            }
            if !self.is("silent") {
                self.answer(&message);
            }
        }
    }

    fn answer(&mut self, message: &Value) {
        let Some(id) = message.get("id").filter(|_| message.get("method").is_some()) else {
            return;
        };
        let result = match message["method"].as_str().unwrap_or_default() {
            "server/discover" if self.is("fears") => std::process::exit(3),
            "initialize" if self.is("forgets") => json!({"protocolVersion": "2025-11-25"}),
            "initialize" if self.is("unnamed") => json!({"capabilities": {}}),
            "server/discover" if self.is("stateless") => json!({
                "resultType": "complete", "supportedVersions": ["2026-07-28"],
                "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "private",
            }),
            "initialize" if !self.is("stateless") => json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {"listChanged": true}, "logging": {}},
                "serverInfo": {"name": "stand-in", "version": "1"},
            }),
            "tools/list" => self.list(&message["params"]["cursor"]),
            "tools/call" => {
                self.calls += 1;
                let Some(result) = self.call(message) else { return };
                result
            }
            method => {
                let error = json!({"jsonrpc": "2.0", "id": id,
                    "error": {"code": -32601, "message": "no such method"}});
                if self.is("twice") && method == "server/discover" {
                    say(&error);
                }
                return say(&error);
            }
        };
        if self.is("garbage") {
            garbage();
        }
        say(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
        let is_list = message["method"] == "tools/list";
        if is_list && self.is("restless") {
            say(&json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}));
        }
    }

    fn list(&self, cursor: &Value) -> Value {
        let text = json!({"type": "object", "properties": {"text": {"type": "string"}}});
        let tool = |name: &str| json!({"name": name, "description": name, "inputSchema": text});
        if self.is("hostile") {
            return hostile();
        }
        if self.is("odd") {
            let odd = |name: &str, schema: Value| {
                let mut tool = tool(name);
                tool["inputSchema"] = schema;
                tool
            };
            let of = |schema: Value| json!({"type": "object", "properties": {"text": schema}});
            return page(
                &[
                    tool("echo"),
                    odd("text", json!({"type": "string"})),
                    odd("any", of(json!({"type": "any", "required": true}))),
                    odd("numbers", of(json!({"type": "integer", "enum": ["1", "2"]}))),
                    odd("\u{1b}[2J", of(json!({"enum": []}))),
                ],
                None,
            );
        }
        let named = |name: &str, next: Value| json!({"tools": [tool(name)], "nextCursor": next});
        match cursor {
            _ if self.is("circles") => return named("only", json!("same")),
            Value::Null if self.is("counts") => return named("first", json!(2)),
            _ if self.is("counts") => return named(&format!("page_{cursor}"), json!(null)),
            _ => {}
        }
        if self.is("careless") {
            let nameless = json!({"name": 5, "inputSchema": text});
            return page(&[tool("echo"), json!({"name": "bad\u{1b}"}), nameless], None);
        }
        if self.is("lies") {
            let number = json!({"type": "object", "required": ["n"],
                "properties": {"n": {"type": "number"}}});
            let lies = |name: &str, schema: Value| {
                let mut tool = tool(name);
                tool["outputSchema"] = schema;
                tool
            };
            let no_schema = json!({"type": 7});
            return page(&[lies("typed", number), lies("untyped", no_schema)], None);
        }
        let description = std::env::var("STAND_IN_SAYS").unwrap_or_else(|_| "says it".to_owned());
        let mut echo = tool("echo");
        echo["description"] = description.into();
        echo["annotations"] = json!({"readOnlyHint": true});
        match cursor.as_str() {
            // An empty text is a cursor.
            None => page(&[echo, tool("slow")], Some("")),
            Some("") => page(&[tool("fails"), tool("dies")], Some("2")),
            Some(_) => page(&[tool("asks")], None),
        }
    }

    /// The result of a call; `None`: it gets none.
    fn call(&self, message: &Value) -> Option<Value> {
        let params = &message["params"];
        let text = params["arguments"]["text"].as_str().unwrap_or_default();
        match params["name"].as_str().unwrap_or_default() {
            "echo" if self.is("cuts") => {
                say_raw(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"resu", message["id"]));
                None
            }
            "fails" if self.is("cuts") => {
                let half = said("half X").to_string().replace('X', "\\ud83c");
                say_raw(&format!("Done: {{\"id\":{},\"result\":{half}}}", message["id"]));
                None
            }
            "echo" => Some(said(text)),
            "slow" => {
                let token = &params["_meta"]["progressToken"];
                for (n, said) in [(1, "begun\u{1b}[2J"), (2, "nearly")] {
                    say(&json!({"jsonrpc": "2.0", "method": "notifications/progress", "params":
                        {"progressToken": token, "progress": n, "total": 4, "message": said}}));
                    std::thread::sleep(Duration::from_millis(150));
                }
                // Whoever cancels gets no answer.
                (text != "never").then(|| said("done"))
            }
            "fails" => Some(json!({"content": [{"type": "text", "text": "no such thing"}],
                "isError": true})),
            "dies" => {
                eprintln!("out of memory");
                std::process::exit(7)
            }
            "asks" => Some(asked()),
            _ => Some(json!({"content": [], "structuredContent": {"n": "seven"}})),
        }
    }
}

fn page(tools: &[Value], next: Option<&str>) -> Value {
    let mut page = json!({"tools": tools, "resultType": "complete", "ttlMs": 0,
        "cacheScope": "private"});
    if let Some(next) = next {
        page["nextCursor"] = next.into();
    }
    page
}

fn said(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}], "resultType": "complete"})
}

/// Asks the client for all that a server can ask, and says what it answered.
fn asked() -> Value {
    let mut answers = Vec::new();
    for (id, method, params) in [
        ("a", "sampling/createMessage", json!({"messages": [], "maxTokens": 1})),
        ("b", "roots/list", json!({})),
        (
            "c",
            "elicitation/create",
            json!({"message": "your key?", "requestedSchema":
            {"type": "object", "properties": {}}}),
        ),
        ("d", "no/such", json!({})),
    ] {
        say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let answer = heard().unwrap();
        let kind = if answer.get("error").is_some() { "refused" } else { "answered" };
        answers.push(format!("{method} {kind}"));
    }
    said(&answers.join(", "))
}

/// Tools whose texts attack.
fn hostile() -> Value {
    let schema = json!({"type": "object", "properties":
        {"a": {"type": "string", "description": "y".repeat(456_000)}}});
    let escapes = "\u{1b}]0;owned\u{7}\u{1b}[2Jsum\u{202e}";
    let tool = |name: &str, schema: &Value| json!({"name": name, "description": escapes, "inputSchema": schema});
    page(&[tool("escapes", &json!({"type": "object"})), tool("large", &schema)], None)
}

fn garbage() {
    let mut out = stdout().lock();
    out.write_all(b"Listening on port 80\n\xff\xfe{\"jsonrpc\": 2}\n[]\n{\"id\": {}}\n\n").unwrap();
    out.flush().unwrap();
}

/// Writes as much as it can to standard error.
fn flood() {
    let line = [b'x'; 4096];
    while std::io::stderr().lock().write_all(&line).is_ok() {}
}

/// The next message; `None`: nobody speaks any more.
fn heard() -> Option<Value> {
    let mut line = String::new();
    stdin().read_line(&mut line).ok()?;
    serde_json::from_str(&line).ok()
}

fn say(message: &Value) {
    say_raw(&message.to_string());
}

fn say_raw(line: &str) {
    let mut out = stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).unwrap();
}

/// Keeps what happened, for the test.
fn log(what: &str) {
    if let Some(path) = std::env::var_os("STAND_IN_LOG") {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        writeln!(file.unwrap(), "{what}").unwrap();
    }
}
