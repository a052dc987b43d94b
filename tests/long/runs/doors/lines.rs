//! Lines of clients and servers of MCP, changed in a few places, and a server that says them.

use std::fs::OpenOptions;
use std::io::{BufRead, Write};
use std::path::Path;

use serde_json::{Value, json};

use crate::mutations::Numbers;

/// The variable that makes a process the server, with the folder of its notes.
const NOTES: &str = "TOOLYARD_TEST_DOORS";
/// The files of what the server got and said.
pub const GOT: &str = "got";
pub const SAID: &str = "said";

/// What asks the server for a mark in its answers.
pub const FLUSH: &str = "{\"method\":\"flush\"}\n";
pub const FLUSHED: &str = "{\"method\":\"flushed\"}\n";

/// The command that starts the server.
pub fn command(notes: &Path) -> Vec<String> {
    let program = std::env::current_exe().unwrap().display().to_string();
    let variable = format!("{NOTES}={}", notes.display());
    let name = "runs::doors::lines::serves";
    let words = ["env", &variable, &program, "--exact", name, "--nocapture", "--quiet"];
    words.map(str::to_owned).into()
}

/// A message of a client, changed or not.
pub fn of_client(numbers: &mut Numbers, number: usize) -> Vec<u8> {
    let id = ["1", "\"a\"", &number.to_string(), &format!("\"call-{number}\"")][numbers.below(4)]
        .to_owned();
    let bases = [
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"now\",\"arguments\":{{\"text\":\"\u{e9} {number}\"}}}}}}"
        ),
        format!(
            "{{\"method\":\"tools/call\", \"params\" : {{\"arguments\":{{\"n\":{number}.50}},\"name\":\"tool {number}\",\"_meta\":{{\"progressToken\":{id}}}}},\"id\":{id}}}"
        ),
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}"),
        format!("{{ \"method\" :\"tools\\/list\", \"id\":{id} }}"),
        format!(
            "[{{\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"now\"}}}},{{\"id\":\"b{number}\",\"method\":\"ping\"}}]"
        ),
        format!("{{\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{id}}}}}"),
        format!("{{\"id\":{id},\"result\":{{\"text\":\"{number}\"}}}}"),
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"resources/read\",\"params\":{{\"uri\":\"x:{number}\"}}}}"
        ),
    ];
    changed(numbers, &bases)
}

/// What a server says to a message, changed or not.
pub fn of_server(numbers: &mut Numbers, said: &[u8]) -> Vec<u8> {
    let said: Value = serde_json::from_slice(said).unwrap_or_default();
    let id = &said["id"];
    let content = json!([{"type": "text", "text": "done \u{e9}"}]);
    let tool = json!({"name": "now", "inputSchema": {"type": "object"}});
    let bases = [
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":{content}}}}}"),
        format!("{{ \"id\":{id},\"result\":{{\"tools\":[{tool}]}} }}"),
        format!("{{\"id\":{id},\"error\":{{\"code\":-32601,\"message\":\"no such method\"}}}}"),
        format!("[{{\"id\":{id},\"result\":{{\"content\":{content},\"isError\":true}}}}]"),
        "{\"method\":\"notifications/progress\",\"params\":{\"progress\":1}}".to_owned(),
        format!("{{\"id\":{id},\"method\":\"sampling/createMessage\",\"params\":{{}}}}"),
    ];
    changed(numbers, &bases)
}

/// One of these, changed or not, or one that is deep or long.
fn changed(numbers: &mut Numbers, bases: &[String]) -> Vec<u8> {
    let bases: Vec<Vec<u8>> = bases.iter().map(|base| base.clone().into_bytes()).collect();
    match numbers.below(60) {
        0 => ["[".repeat(3000), "{\"a\":".repeat(3000)][numbers.below(2)].clone().into_bytes(),
        1 => [&bases[0][..bases[0].len() - 1], b",\"x\":\"", &[b'x'; 1 << 20], b"\"}"].concat(),
        2..20 => bases[numbers.below(bases.len())].clone(),
        _ => numbers.mutated(&bases),
    }
}

#[test]
#[expect(clippy::exit, reason = "the harness would print its own last lines")]
fn serves() {
    let Some(notes) = std::env::var_os(NOTES) else { return };
    let open = |name: &str| {
        OpenOptions::new().create(true).append(true).open(Path::new(&notes).join(name)).unwrap()
    };
    let (mut got, mut said) = (open(GOT), open(SAID));
    let (mut input, mut out) = (std::io::stdin().lock(), std::io::stdout().lock());
    let (mut numbers, mut line) = (Numbers(7), Vec::new());
    while input.read_until(b'\n', &mut line).unwrap() > 0 {
        let answer = match line == FLUSH.as_bytes() {
            true => FLUSHED.as_bytes().to_vec(),
            false => [&of_server(&mut numbers, &line)[..], b"\n"].concat(),
        };
        got.write_all(&line).unwrap();
        said.write_all(&answer).unwrap();
        out.write_all(&answer).and_then(|()| out.flush()).unwrap();
        line.clear();
    }
    std::process::exit(0);
}
