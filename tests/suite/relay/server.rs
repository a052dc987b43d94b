//! A server that notes every line that it gets: this test program again, as another process.
//!
//! It keeps its answers until a notification `flush`, and then sends them in another order. The tool `now` answers at once.
//! `sleep` takes so many milliseconds, and `die` ends the process.

use std::fs::OpenOptions;
use std::io::{BufRead, Write};
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

/// The variable that makes a process the server, with the file for its notes.
const NOTES: &str = "TOOLYARD_TEST_SERVER";

/// The command that starts it.
pub fn command(notes: &Path) -> Vec<String> {
    let program = std::env::current_exe().unwrap().display().to_string();
    let variable = format!("{NOTES}={}", notes.display());
    let name = "relay::server::serves";
    let words = ["env", &variable, &program, "--exact", name, "--nocapture", "--quiet"];
    words.map(str::to_owned).into()
}

/// The calls of tools among its notes.
pub fn calls(notes: &Path) -> Vec<Value> {
    let notes = std::fs::read_to_string(notes).unwrap_or_default();
    let read = notes.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    read.filter(|it| it["method"] == "tools/call").collect()
}

#[test]
#[expect(clippy::exit, reason = "the harness would print its own last lines")]
fn serves() {
    let Ok(notes) = std::env::var(NOTES) else { return };
    let mut notes = OpenOptions::new().create(true).append(true).open(notes).unwrap();
    let mut input = std::io::stdin().lock();
    let mut kept = Vec::new();
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line).unwrap() > 0 {
        notes.write_all(&line).unwrap();
        let said: Value = serde_json::from_slice(&line).unwrap_or_default();
        line.clear();
        if said["method"] == "flush" {
            // The same order each time, but not that of the requests.
            kept.sort_by_key(|answer: &String| answer.len() * 7919 % 101);
            kept.drain(..).for_each(|answer| say(&answer));
        }
        let Some(id) = said.get("id") else { continue };
        let arguments = &said["params"]["arguments"];
        let text = arguments["text"].as_str().unwrap_or("done");
        let content = json!([{"type": "text", "text": text}]);
        match said["params"]["name"].as_str() {
            Some("die") => std::process::exit(9),
            Some("sleep") => {
                std::thread::sleep(Duration::from_millis(arguments["ms"].as_u64().unwrap()));
                say(&format!("{{ \"id\":{id},\"result\":{{\"content\":{content}}} }}"));
            }
            Some("now") => {
                let structured = json!({"result": text});
                say(&format!(
                    "{{ \"id\":{id},\"result\":{{\"content\":{content},\"structuredContent\":{structured}}} }}"
                ));
            }
            _ if said["method"] == "tools/list" => {
                let tool = |name| json!({"name": name, "inputSchema": {"type": "object"}});
                let mut tools = ["now", "sleep", "die"].map(tool);
                // Its answers have the structured content that it declares: `{"result": TEXT}`.
                tools[0]["outputSchema"] =
                    json!({"type": "object", "properties": {"result": {"type": "string"}}});
                say(&json!({"jsonrpc": "2.0", "id": id, "result": {"tools": tools}}).to_string());
            }
            _ => kept.push(format!("{{\"result\" : {{\"content\":{content}}},\"id\":{id} }}\r")),
        }
    }
    std::process::exit(0);
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(line.as_bytes()).and_then(|()| out.write_all(b"\n")).unwrap();
    out.flush().unwrap();
}
