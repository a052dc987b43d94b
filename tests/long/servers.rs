//! MCP servers that people use, all in one configuration: each is listed and called, by toolyard's own client and through
//! its relay. `scripts/sdks.sh --all` installs them.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::PROGRAM;
use crate::program::Home;

/// A server, its program below `target/sdks`, its arguments, a call, and a part of what it says. `HOME` and `TESTS` are
/// folders.
struct Server {
    key: &'static str,
    program: &'static str,
    arguments: &'static [&'static str],
    call: &'static [&'static str],
    says: &'static str,
}

const SERVERS: [Server; 11] = [
    Server {
        key: "everything",
        program: "mcp-node/node_modules/.bin/mcp-server-everything",
        arguments: &[],
        call: &["get-sum", "a=2", "b=3"],
        says: "is 5",
    },
    Server {
        key: "filesystem",
        program: "mcp-node/node_modules/.bin/mcp-server-filesystem",
        arguments: &["HOME"],
        call: &["read_text_file", "path=HOME/note.txt"],
        says: "buy rope",
    },
    Server {
        key: "memory",
        program: "mcp-node/node_modules/.bin/mcp-server-memory",
        arguments: &[],
        call: &["read_graph"],
        says: "entities",
    },
    Server {
        key: "thinking",
        program: "servers-node/node_modules/.bin/mcp-server-sequential-thinking",
        arguments: &[],
        call: &[
            "sequentialthinking",
            "{\"thought\":\"a\",\"nextThoughtNeeded\":false,\"thoughtNumber\":1,\"totalThoughts\":1}",
        ],
        says: "thoughtHistoryLength",
    },
    Server {
        key: "time",
        program: "mcp-python/bin/mcp-server-time",
        arguments: &["--local-timezone", "UTC"],
        call: &["get_current_time", "timezone=Europe/Oslo"],
        says: "Europe/Oslo",
    },
    Server {
        key: "git",
        program: "mcp-python/bin/mcp-server-git",
        arguments: &[],
        call: &["git_status", "repo_path=HOME"],
        says: "note.txt",
    },
    Server {
        key: "fetch",
        program: "mcp-python/bin/mcp-server-fetch",
        arguments: &["--ignore-robots-txt"],
        call: &["fetch", "url=http://127.0.0.1:1/"],
        says: "127.0.0.1",
    },
    Server {
        key: "sqlite",
        program: "servers-old/bin/mcp-server-sqlite",
        arguments: &["--db-path", "HOME/data.db"],
        call: &["read_query", "query=SELECT 41 + 1 AS n"],
        says: "42",
    },
    Server {
        key: "shop",
        program: "servers-python/bin/python",
        arguments: &["TESTS/mcp_fast.py", "shop"],
        call: &["in_stock", "article=lamp"],
        says: "\"count\":3",
    },
    Server {
        key: "slow",
        program: "servers-python/bin/python",
        arguments: &["TESTS/mcp_fast.py", "slow"],
        call: &["count", "to=3"],
        says: "counted to 3",
    },
    Server {
        key: "playwright",
        program: "servers-node/node_modules/.bin/playwright-mcp",
        arguments: &["--headless", "--isolated"],
        call: &["browser_navigate", "url=about:blank"],
        // Without a browser it says which one is missing.
        says: "rowser",
    },
];

impl Server {
    fn program(&self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("target/sdks").join(self.program)
    }

    /// Its entry in a configuration, behind a relay or not.
    fn entry(&self, home: &Home, relayed: bool) -> Value {
        let tests = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sdks");
        let folder = home.path(".").display().to_string();
        let arguments = self.arguments.iter();
        let own = arguments.map(|word| word.replace("HOME", &folder).replace("TESTS", tests));
        let own: Vec<String> =
            [self.program().display().to_string()].into_iter().chain(own).collect();
        let before = ["mcp", "--no-journal", "--name", self.key, "--"].map(str::to_owned);
        let (command, words) = match relayed {
            true => (PROGRAM.to_owned(), [&before[..], &own].concat()),
            false => (own[0].clone(), own[1..].to_vec()),
        };
        let memory = format!("{folder}/memory.json");
        json!({"command": command, "args": words, "env": {"MEMORY_FILE_PATH": memory}, "timeout": 60_000})
    }

    /// What its tool says, if it is what is expected.
    fn called(&self, home: &Home) -> Result<(), String> {
        let folder = home.path(".").display().to_string();
        let tool = format!("{}__{}", self.key, self.call[0]);
        let words = self.call[1..].iter().map(|word| word.replace("HOME", &folder));
        let words: Vec<String> = words.collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let ran =
            home.run(&[&["tools", "call", &tool][..], &words, &["--mcp", "mcp.json"]].concat());
        let said = format!("{}{}", ran.out, ran.err);
        if said.contains(self.says) { Ok(()) } else { Err(said) }
    }
}

/// Lists all servers of one configuration, and calls each.
fn tried(servers: &[&Server], relayed: bool) -> Vec<(usize, Result<(), String>)> {
    let home = Home::new();
    let made = Command::new("git").args(["init", "-q", "."]).current_dir(home.path(".")).status();
    assert!(made.unwrap().success());
    home.write("note.txt", "buy rope");
    let entries: serde_json::Map<String, Value> =
        servers.iter().map(|it| (it.key.to_owned(), it.entry(&home, relayed))).collect();
    home.write("mcp.json", json!({ "mcpServers": entries }).to_string());
    let list = home.run(&["tools", "list", "--json", "--mcp", "mcp.json"]);
    let list: Vec<Value> = serde_json::from_str(&list.out).unwrap_or_default();
    let result = servers.iter().map(|server| {
        let source = format!("mcp:{}", server.key);
        let tools = list.iter().filter(|spec| spec["source"] == source.as_str()).count();
        (tools, server.called(&home))
    });
    result.collect()
}

#[test]
fn servers_that_people_use_are_listed_and_called() {
    let (there, missing): (Vec<&Server>, Vec<&Server>) =
        SERVERS.iter().partition(|server| server.program().exists());
    for server in missing {
        eprintln!("SKIPPED: {} is not in target/sdks: run scripts/sdks.sh --all", server.key);
    }
    let (direct, relayed) = (tried(&there, false), tried(&there, true));
    println!("{:<14} {:>5}  {:<6} {:<6}", "server", "tools", "client", "relay");
    let mut wrong = Vec::new();
    for ((server, own), through) in there.iter().zip(direct).zip(relayed) {
        let cell = |tried: &(usize, Result<(), String>)| match tried {
            (0, _) => "none",
            (_, Ok(())) => "yes",
            (_, Err(_)) => "no",
        };
        println!("{:<14} {:>5}  {:<6} {:<6}", server.key, own.0, cell(&own), cell(&through));
        for (way, tried) in [("client", &own), ("relay", &through)] {
            if tried.0 != own.0 || tried.0 == 0 || tried.1.is_err() {
                wrong.push(format!("{} by the {way}: {tried:?}", server.key));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
