//! A relay is invisible: with and without it, client and server get the same bytes.

use super::client::Client;
use crate::program::Home;

/// Requests, in groups after which the server answers.
const EXCHANGES: u64 = 1000;
const GROUP: u64 = 25;
/// Bytes of the largest lines.
const LARGE: usize = 12 << 20;

/// Numbers that look random and are the same each time.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % end
    }

    fn line(&mut self, n: u64) -> String {
        let id = match self.below(3) {
            0 => format!("{n}"),
            1 => format!("\"call-{n}\""),
            _ => format!("\"\\u0063all {n} ü\""),
        };
        let text = "aé\\n\\u0007\\ud83d\\ude00\\\\\\\" ".repeat(self.below(40) as usize);
        match self.below(12) {
            0 => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n"),
            1 => format!("{{ \"method\" :\"tools\\/list\", \"id\":{id} }}\n"),
            2 => format!("stray {text}\n"),
            3 => format!(
                "[{{\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"a\"}}}}]\n"
            ),
            4 => "{\"method\":\"notifications/initialized\"}\r\n".to_owned(),
            5 => format!("{{\"id\":{id},\"result\":{{\"text\":\"{text}\"}}}}\n"),
            6 => format!(
                "{{\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"x\"}},\"x\":1e2}}\r\n"
            ),
            7 => format!(
                "{{\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"x\",\"name\":\"y\"}}}}\n"
            ),
            _ => format!(
                "{{\"method\":\"tools/call\", \"params\" : {{\"arguments\":{{ \"text\":\"{text}\",\"n\":{n}.50}},\
                 \"name\":\"tool {n}\",\"_meta\":{{\"progressToken\":{id}}}}},\"id\":{id}}}\n"
            ),
        }
    }
}

/// What the client gets of the same exchanges. The server's notes are in the file `notes`.
fn exchanged(home: &Home, relay: Option<&[&str]>, notes: &str) -> Vec<u8> {
    let mut client = Client::start(home, relay, notes);
    let mut draw = Draw(7);
    for n in 0..EXCHANGES {
        client.say(draw.line(n).as_bytes());
        if n % GROUP == GROUP - 1 {
            client.say(b"{\"method\":\"flush\"}\n");
        }
    }
    for n in [EXCHANGES, EXCHANGES + 1] {
        let text = "0123456789abcdef".repeat(LARGE / 16);
        let params = format!("{{\"name\":\"large\",\"arguments\":{{\"text\":\"{text}\"}}}}");
        let line = format!("{{\"id\":{n},\"method\":\"tools/call\",\"params\":{params}}}\n");
        client.say(line.as_bytes());
    }
    let small = "{\"text\":\"a result of some length\"}";
    for n in 0..40 {
        let params = format!("{{\"name\":\"now\",\"arguments\":{small}}}");
        let line = format!("{{\"id\":\"s{n}\",\"method\":\"tools/call\",\"params\":{params}}}\n");
        client.say(line.as_bytes());
    }
    client.say(b"{\"method\":\"flush\"}\n");
    // The last line has no end.
    client.say(b"{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"now\"}}");
    let (code, lines, _) = client.end();
    assert_eq!(code, Some(0));
    lines.concat()
}

#[test]
fn client_and_server_get_the_same_bytes_with_and_without_a_relay() {
    let home = Home::new();
    let plain = exchanged(&home, None, "plain");
    let relayed = exchanged(&home, Some(&["--journal", "j.jsonl"]), "relayed");
    assert!(plain.len() > 2 * LARGE, "{}", plain.len());
    assert!(plain == relayed, "the client gets other bytes: {} {}", plain.len(), relayed.len());
    let notes = |name: &str| std::fs::read(home.path(name)).unwrap();
    assert!(notes("plain") == notes("relayed"), "the server gets other bytes");
    let called = super::client::kinds(&home.path("j.jsonl"));
    let called = called.iter().filter(|kind| *kind == "ToolCallFinished").count();
    assert!(called > 400, "{called} calls were seen");
}
