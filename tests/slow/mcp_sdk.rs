//! Clients and servers on the official SDK of MCP, with a relay between them, which checks results by their schemas.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use crate::mcp_servers::installed;
use crate::program::Home;

/// A fault in place of the call, and one of its result: both answers need the structure that the tool declares.
const FAULTS: [(&str, &str); 3] = [
    ("in_stock:answer:text=none", "none {'result': 'none'}"),
    ("in_stock:wrong", " lamp in stock'}"),
    ("other:error", "3 lamp in stock {'result': '3 lamp in stock'}"),
];

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sdks").join(name)
}

/// The interpreter with the SDK, if it is there.
fn python() -> Option<PathBuf> {
    Some(installed("python")?.join("bin/python"))
}

fn expect(ran: &Output, last: &str) {
    let out = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && out.trim_end().ends_with(last), "{ran:?}");
}

#[test]
fn a_client_accepts_what_a_relay_of_a_program_has_made_up() {
    let Some(python) = python() else { return };
    for (fault, last) in FAULTS {
        let home = Home::new();
        let mut buyer = home.command_of(&python, &[]);
        buyer.arg(script("mcp_buyer.py")).arg(crate::PROGRAM);
        buyer.args(["mcp", "--no-journal", "--fault", fault, "--"]);
        expect(&buyer.arg(&python).arg(script("mcp_shop.py")).output().unwrap(), last);
    }
}

/// A process that ends with the test.
pub struct Ending(pub Child);

impl Drop for Ending {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The first line of standard error that has this text.
fn said(child: &mut Child, text: &str) -> String {
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let found = lines.find(|line| line.contains(text)).expect("it says so");
    // A program that nobody reads stops where the pipe is full.
    std::thread::spawn(move || lines.for_each(drop));
    found
}

#[test]
fn a_stateless_server_over_http_is_used_and_relayed() {
    let Some(python) = python() else { return };
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut shop = Command::new(&python);
    shop.arg(script("mcp_shop.py")).arg(port.to_string());
    shop.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut shop = Ending(shop.spawn().unwrap());
    said(&mut shop.0, "running on");
    let url = format!("http://127.0.0.1:{port}/mcp");

    let home = Home::new();
    home.write("mcp.json", format!("{{\"mcpServers\":{{\"shop\":{{\"url\":\"{url}\"}}}}}}"));
    let checked = home.succeed(&["tools", "check", "--mcp", "mcp.json"]);
    assert!(checked.contains("mcp shop: 1 tool") && checked.contains("2026-07-28"), "{checked}");
    let called =
        home.succeed(&["tools", "call", "shop__in_stock", "article=lamp", "--mcp", "mcp.json"]);
    assert_eq!(called, "3 lamp in stock\n");

    for (fault, last) in FAULTS {
        let home = Home::new();
        let words = ["mcp", "--target", &url, "--no-journal", "--fault", fault];
        let relay = home.command(&words).stdin(Stdio::null()).stderr(Stdio::piped()).spawn();
        let mut relay = Ending(relay.unwrap());
        let line = said(&mut relay.0, "http://");
        let address = line.split_whitespace().find(|word| word.starts_with("http://")).unwrap();
        let mut buyer = home.command_of(&python, &[]);
        expect(&buyer.arg(script("mcp_buyer.py")).arg(address).output().unwrap(), last);
    }
}
