use std::path::PathBuf;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::entry::Transport;

/// Environment variables of the tests.
const VARIABLES: [(&str, &str); 5] = [
    ("TOKEN", "t0ken-of-t3sts"),
    ("HOST", "api.example"),
    ("EMPTY", ""),
    ("GITHUB_PAT", "p4t-of-t3sts"),
    ("PORT", "8080"),
];

pub(super) fn read(path: &str, text: &str) -> Configuration {
    let variable = |name: &str| {
        let found = VARIABLES.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    let file = |path: &Path| match path.to_str() {
        Some("/w/.env") => Ok("A=1\nSECRET='fr0m-a-file'\n".to_owned()),
        Some("/w/bad.env") => Ok("A=1\nhunter22\n".to_owned()),
        _ => Err(Problem::of_file(path.display().to_string(), "no such file")),
    };
    let around = Surroundings {
        variable: &variable,
        file: &file,
        program: &|name| name == "/opt/my app/run" || name == "/home/me/my app/run",
        home: Some(Path::new("/home/me")),
        workspace: Path::new("/w"),
    };
    Configuration::parse(Path::new(path), text, &around)
}

/// The servers of a text without problems.
pub(super) fn right(path: &str, text: &str) -> Vec<ServerEntry> {
    let Configuration { entries, problems, remarks } = read(path, text);
    assert_eq!((problems, remarks), (Vec::new(), Vec::new()));
    entries
}

pub(super) fn shown(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(Problem::to_string).collect()
}

/// The parts of a program: command with arguments, variables, and folder.
pub(super) fn program(entry: &ServerEntry) -> (String, Vec<(String, String)>, Option<PathBuf>) {
    let Transport::Stdio { command, args, env, cwd } = &entry.transport else {
        panic!("{entry:?}")
    };
    let words: Vec<_> = [command].into_iter().chain(args).map(String::as_str).collect();
    let env = env.iter().map(|(name, value)| (name.clone(), value.expose().to_owned()));
    (words.join(" "), env.collect(), cwd.clone())
}

/// Address and headers.
pub(super) fn address(entry: &ServerEntry) -> (String, Vec<(String, String)>) {
    let Transport::Http { url, headers, .. } = &entry.transport else { panic!("{entry:?}") };
    let headers = headers.iter().map(|(name, value)| (name.clone(), value.expose().to_owned()));
    (url.clone(), headers.collect())
}

pub(super) fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn claude_code_has_variables_of_a_shell() {
    let text = r#"{
  "mcpServers": {
    "files": {
      "command": "${BIN:-npx}",
      "args": ["-y", "server", "${HOST}:${PORT:-1}", "$HOST", "${"],
      "env": { "API_TOKEN": "${TOKEN}", "E": "${EMPTY:-default}" }
    },
    "web": {
      "type": "http",
      "url": "https://${HOST}/mcp",
      "headers": { "Authorization": "Bearer ${TOKEN}" }
    }
  }
}"#;
    let entries = right("/w/.mcp.json", text);
    let (words, env, cwd) = program(&entries[0]);
    assert_eq!(words, "npx -y server api.example:8080 $HOST ${");
    assert_eq!(env, pairs(&[("API_TOKEN", "t0ken-of-t3sts"), ("E", "")]));
    assert_eq!((cwd, entries[0].line, entries[0].file.as_str()), (None, 3, "/w/.mcp.json"));
    let (url, headers) = address(&entries[1]);
    assert_eq!(url, "https://api.example/mcp");
    assert_eq!(headers, pairs(&[("Authorization", "Bearer t0ken-of-t3sts")]));
    let shown = format!("{entries:?}");
    assert!(!shown.contains("t0ken") && shown.contains("api.example"), "{shown}");
    assert_eq!(known::without_known("a t0ken-of-t3sts, and default"), "a [key], and default");
}

#[test]
fn claude_code_keeps_servers_for_each_project_in_its_state() {
    let text = r#"{ "numStartups": 7, "tipsHistory": [null, 1],
  "mcpServers": { "a": { "command": "user" }, "b": { "command": "b" } },
  "projects": {
    "/other": { "mcpServers": { "c": { "command": "c" } } },
    "/w": { "mcpServers": { "a": { "command": "project" } }, "history": [] }
  } }"#;
    let entries = right("/home/me/.claude.json", text);
    let words: Vec<_> = entries.iter().map(|entry| program(entry).0).collect();
    assert_eq!(words, ["project", "b"]);
    assert_eq!(right("/home/me/.claude.json", "{\"numStartups\": 1}"), []);
    // The user's entry does not replace a wrong one of the project.
    let wrong = text.replace("{ \"command\": \"project\" }", "{}");
    let entries = read("/home/me/.claude.json", &wrong).entries;
    assert_eq!(entries.iter().map(|entry| entry.key.as_str()).collect::<Vec<_>>(), ["b"]);
}

#[test]
fn claude_desktop_has_no_variables() {
    let text = r#"{"mcpServers": {"a": {"command": "${TOKEN}", "args": ["${env:HOST}"]}}}"#;
    let entries = right("/home/me/.config/Claude/claude_desktop_config.json", text);
    assert_eq!(program(&entries[0]).0, "${TOKEN} ${env:HOST}");
}

#[test]
fn cursor_has_variables_of_an_editor_and_a_file() {
    let text = r#"{"mcpServers": {
  "a": {
    "type": "stdio",
    "command": "${userHome}${/}bin${pathSeparator}x",
    "args": ["${workspaceFolder}/s.py", "${workspaceFolderBasename}"],
    "env": { "A": "2", "HOST": "${env:HOST}" },
    "envFile": ".env"
  },
  "b": { "url": "http://localhost:${env:PORT}/mcp", "headers": { "X": "${env:TOKEN}" } }
}}"#;
    let entries = right("/w/.cursor/mcp.json", text);
    let (words, env, _) = program(&entries[0]);
    assert_eq!(words, "/home/me/bin/x /w/s.py w");
    let expected =
        pairs(&[("A", "1"), ("SECRET", "fr0m-a-file"), ("A", "2"), ("HOST", "api.example")]);
    assert_eq!(env, expected);
    assert_eq!(address(&entries[1]).0, "http://localhost:8080/mcp");
    assert_eq!(known::without_known("fr0m-a-file"), "[key]");
}

#[test]
fn vs_code_has_comments_and_inputs() {
    let text = r#"// shared
{
  "inputs": [{ "type": "promptString", "id": "github-pat", "password": true }],
  "servers": {
    "github": {
      "type": "http", /* streamable */
      "url": "https://api.example/mcp/",
      "headers": { "Authorization": "Bearer ${input:github-pat}" },
    },
    "local": {
      "command": "python3", "cwd": "${workspaceFolder}/sub",
      "env": { "N": 3, "GONE": null }, "dev": { "watch": "*.py" },
    },
    "asks": { "command": "x", "env": { "K": "${input:api-key}" } },
  },
}"#;
    let Configuration { entries, problems, remarks } = read("/w/.vscode/mcp.json", text);
    assert_eq!(address(&entries[0]).1, pairs(&[("Authorization", "Bearer p4t-of-t3sts")]));
    let (_, env, cwd) = program(&entries[1]);
    assert_eq!((env, cwd), (pairs(&[("N", "3")]), Some(PathBuf::from("/w/sub"))));
    assert_eq!(entries.len(), 2);
    assert_eq!(
        shown(&problems),
        [
            "/w/.vscode/mcp.json:14: servers.asks.env.K: an editor asks for the input \"api-key\", toolyard does not; set the environment variable API_KEY"
        ]
    );
    assert_eq!(remarks, []);
}

#[test]
fn codex_has_limits_and_lists_of_tools() {
    let text = r#"
model = "gpt-5"
[mcp_servers.files]
command = "npx"
args = ["-y", "${HOST}"]
env_vars = ["HOST", "UNSET", { name = "PORT", source = "local" }]
cwd = "/srv"
startup_timeout_sec = 2.5
tool_timeout_sec = 60
enabled_tools = ["read", "write"]
disabled_tools = ["write"]
required = true
[mcp_servers.files.env]
MODE = "production"

[mcp_servers.web]
url = "https://api.example/mcp"
bearer_token_env_var = "TOKEN"
http_headers = { X-Region = "eu" }
env_http_headers = { X-Pat = "GITHUB_PAT" }
startup_timeout_ms = 1500

[mcp_servers.off]
url = "https://api.example/mcp"
bearer_token_env_var = "UNSET"
enabled = false
"#;
    let entries = right("/home/me/.codex/config.toml", text);
    let (words, env, cwd) = program(&entries[0]);
    assert_eq!((words.as_str(), cwd), ("npx -y ${HOST}", Some(PathBuf::from("/srv"))));
    let expected = [("HOST", "api.example"), ("PORT", "8080"), ("MODE", "production")];
    assert_eq!(env, pairs(&expected));
    let limits = (entries[0].start_timeout, entries[0].call_timeout);
    assert_eq!(limits, (Some(Duration::from_millis(2500)), Some(Duration::from_secs(60))));
    assert!(entries[0].offered.includes("read") && !entries[0].offered.includes("write"));
    let expected =
        [("X-Region", "eu"), ("X-Pat", "p4t-of-t3sts"), ("Authorization", "Bearer t0ken-of-t3sts")];
    assert_eq!(address(&entries[1]).1, pairs(&expected));
    assert_eq!(entries[1].start_timeout, Some(Duration::from_millis(1500)));
    let off = entries[2].disabled.as_deref();
    assert_eq!(off, Some("its configuration switches it off: `enabled` is false"));
}

#[test]
fn a_file_of_nobody_has_variables_of_both_kinds() {
    let text = r#"{"mcpServers": {"a": {"command": "x",
        "args": ["${HOST}", "${env:HOST}", "${userHome}", "${NO:-d}", "${NO:-a:b}"]}}}"#;
    let entries = right("/w/servers.json", text);
    assert_eq!(program(&entries[0]).0, "x api.example api.example /home/me d a:b");
}

#[test]
fn every_fault_of_an_entry_is_named_and_the_others_are_read() {
    let text = r#"{ "mcpServers": {
  "none": {},
  "both": { "command": "x", "url": "http://h" },
  "old": { "type": "sse", "url": "http://h/sse" },
  "kind": { "type": "htp", "url": "http://h" },
  "mixed": { "type": "stdio", "url": "http://h" },
  "typed": { "command": 3, "args": ["a", []], "env": ["hunter22"], "cwd": true },
  "unset": { "command": "x", "args": ["${NO}", "${a b}"], "env": { "A": "${NO:x}" } },
  "url": { "url": "ftp://hunter22@h" },
  "header": { "url": "http://h", "headers": { "a b": "x", "c": "hunter22\n" } },
  "日本": { "command": "x" },
  "text": "hunter22",
  "a b": { "command": "x" },
  "a_b": { "command": "x" },
  "secret": { "command": "x", "args": "--token hunter22", "env": "T=hunter22" },
  "good": { "command": "x" },
  "good": { "command": "y" }
} }"#;
    let Configuration { entries, problems, remarks } = read(".mcp.json", text);
    let keys: Vec<_> = entries.iter().map(|entry| entry.key.as_str()).collect();
    assert_eq!((keys, program(&entries[1]).0.as_str()), (vec!["a b", "good"], "x"));
    assert_eq!(remarks, []);
    let expected = [
        ":17: mcpServers.good: is there twice; line 16 counts, remove or rename one",
        ":2: mcpServers.none: expected `command` for a program, or `url` for an address",
        ":3: mcpServers.both.url: conflicts with `command`; a server is a program or an address",
        ":4: mcpServers.old.type: the old transport HTTP+SSE is not spoken; most servers have streamable HTTP, often at \
         /mcp instead of /sse: write \"http\" and that url",
        ":5: mcpServers.kind.type: \"htp\" is not a valid value; did you mean `http`? (known: stdio, http, \
         streamable-http, streamableHttp)",
        ":6: mcpServers.mixed.command: missing; write the program that is the server, such as \"npx\"",
        ":7: mcpServers.typed.command: expected a text in quotes, got 3",
        ":7: mcpServers.typed.args[1]: expected a text in quotes, got a list",
        ":7: mcpServers.typed.env: expected a table of keys and values, got a list",
        ":7: mcpServers.typed.cwd: expected a text in quotes, got true",
        ":8: mcpServers.unset.args[0]: the environment variable NO is not set; set it, or write ${NO:-default}",
        ":8: mcpServers.unset.args[1]: ${a b} is not a variable; expected ${NAME} or ${NAME:-default}",
        ":8: mcpServers.unset.env.A: ${NO:x} is not a variable; expected ${NAME} or ${NAME:-default}",
        ":9: mcpServers.url.url: expected an address that begins with http:// or https:// and a host",
        ":10: mcpServers.header.headers.a b: not the name of an HTTP header; expected letters, digits and `-`",
        ":10: mcpServers.header.headers.c: a header's value is one line of printable characters",
        ":11: mcpServers.日本: tools are named after this key; expected a name with letters or digits (A-Z, a-z, 0-9)",
        ":12: mcpServers.text: expected a table of keys and values, got a text",
        ":14: mcpServers.a_b: its tools would have the names of those of line 13; rename one of the two",
        ":15: mcpServers.secret.args: expected a list in [brackets], got a text",
        ":15: mcpServers.secret.env: expected a table of keys and values, got a text",
    ];
    let shown = shown(&problems);
    assert_eq!(shown, expected.map(|text| format!(".mcp.json{text}")));
    assert!(!shown.join("\n").contains("hunter22"));
}

#[test]
fn variables_of_editors_are_suggested() {
    let text = r#"{"mcpServers": {"a": {"command": "x", "args": ["${HOST}", "${workspaceFoldr}", "${config:x}", "${env:NO}"]}}}"#;
    let at = |at: usize| format!("/w/.cursor/mcp.json:1: mcpServers.a.args[{at}]: ");
    let known = "(known: userHome, workspaceFolder, workspaceFolderBasename, pathSeparator, /, env:NAME, input:ID)";
    assert_eq!(
        shown(&read("/w/.cursor/mcp.json", text).problems),
        [
            at(0) + "unknown variable; write ${env:HOST} for one of the environment",
            at(1) + "unknown variable ${workspaceFoldr}; did you mean `workspaceFolder`? " + known,
            at(2) + "unknown variable ${config:x}; " + known.trim_matches(['(', ')']),
            at(3) + "the environment variable NO is not set; set it",
        ]
    );
}

#[test]
fn fields_without_effect_are_remarks() {
    let text = r#"{"mcpServers": {
  "a": { "command": "x", "comand": "y", "headers": {}, "timeout": 3, "description": "d" },
  "b": { "url": "http://h", "env": {}, "oauth": {} },
  "c": { "command": "x", "disabled": true, "env": { "A": "${NO}" } }
}}"#;
    let Configuration { entries, problems, remarks } = read(".mcp.json", text);
    assert_eq!((entries.len(), problems), (3, Vec::new()));
    let off = entries[2].disabled.as_deref();
    assert_eq!(off, Some("its configuration switches it off: `disabled` is true"));
    let shown = shown(&remarks);
    let begins = [
        ".mcp.json:2: mcpServers.a.headers: is not read: only a server with `url` has it",
        ".mcp.json:2: mcpServers.a.timeout: is not read: programs give it different units",
        ".mcp.json:2: mcpServers.a.comand: unknown key; did you mean `command`?",
        ".mcp.json:3: mcpServers.b.env: is not read: only a server with `command` has it",
        ".mcp.json:3: mcpServers.b.oauth: is not read: toolyard does not log in",
    ];
    assert_eq!(shown.len(), begins.len(), "{shown:#?}");
    for (shown, begin) in shown.iter().zip(begins) {
        assert!(shown.starts_with(begin), "{shown}\nnot {begin}");
    }
}

#[test]
fn a_file_of_variables_that_is_wrong_is_named_itself() {
    let text = |file: &str| {
        format!(r#"{{"mcpServers": {{"a": {{"command": "x", "envFile": "{file}"}}}}}}"#)
    };
    let problems = |file: &str| shown(&read("/w/.cursor/mcp.json", &text(file)).problems);
    assert_eq!(problems("bad.env"), ["/w/bad.env:2: expected NAME=value"]);
    assert_eq!(
        problems("~/none"),
        ["/w/.cursor/mcp.json:1: mcpServers.a.envFile: /home/me/none: no such file"]
    );
}

#[test]
fn what_is_no_configuration_is_named_with_its_line() {
    for (path, text, begins) in [
        ("a.json", "{\n\"mcpServers\": {,}\n}", "a.json:2: not JSON: "),
        ("a.json", "", "a.json:1: expected an object"),
        ("a.json", "{}", "a.json:1: no MCP servers: expected {\"mcpServers\": {…}}, or"),
        (
            "a.json",
            "{\"mcpServers\": []}",
            "a.json:1: mcpServers: expected a table of keys and values, got a list",
        ),
        ("a.toml", "a = 1\nb = =\n", "a.toml:2: not TOML: "),
        (
            "a.toml",
            "[mcp_servers.a]\nurl = \"http://h\"\nbearer_token_env_var = \"hunter22\"\n",
            "a.toml:3: mcp_servers.a.bearer_token_env_var: the environment variable that it names is not set; set it,",
        ),
        ("a.toml", "[mcp_servers]\na = 1\n", "a.toml:2: mcp_servers.a: expected a table"),
    ] {
        let read = read(path, text);
        let shown = shown(&read.problems);
        assert!(read.entries.is_empty() && shown[0].starts_with(begins), "{shown:?}\nnot {begins}");
    }
    assert_eq!(right("/w/.codex/config.toml", "model = \"m\"\n"), []);
    assert_eq!(right("/w/.codex/config.toml", ""), []);
}

#[test]
fn a_very_large_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mcp.json");
    std::fs::write(&path, " ".repeat(4 * 1024 * 1024 + 1)).unwrap();
    let around = Surroundings {
        variable: &|_| None,
        file: &|path| Err(Problem::of_file(path.display().to_string(), "no such file")),
        program: &|_| false,
        home: None,
        workspace: folder.path(),
    };
    let problems = Configuration::load(&path, &around).problems;
    assert!(problems[0].text.starts_with("longer than 4096 KiB; expected"), "{problems:?}");
    let missing = Configuration::load(&folder.path().join("none.json"), &around).problems;
    assert_eq!(missing[0].text, "no such file; correct the path");
}

fn own(text: &str) -> (Vec<ServerEntry>, Vec<String>) {
    let around = Surroundings {
        variable: &|name| (name == "TOKEN").then(|| "t0ken-of-t3sts".to_owned()),
        file: &|path| Err(Problem::of_file(path.display().to_string(), "no such file")),
        program: &|_| false,
        home: None,
        workspace: Path::new("/c"),
    };
    let (entries, problems) = TomlFile::read_what_is_right("c.toml", text, |mut fields| {
        own_servers(&fields.get("mcp").unwrap(), &around)
    });
    (entries.unwrap(), shown(&problems))
}

#[test]
fn toolyards_own_servers_take_limits_and_keep_keys_out_of_the_file() {
    let (entries, problems) = own(r#"
[mcp.files]
command = "npx"
args = ["-y", "${ROOT:-.}"]
cwd = "sub"
env = { API_TOKEN = "${TOKEN}", MODE = "fast" }
start_timeout = "5s"
call_timeout = "2m"
only = ["read"]
without = ["write"]
[mcp.web]
url = "http://169.254.1.1/mcp"
headers = { Authorization = "Bearer ${UNSET}" }
any_address = true
"#);
    assert_eq!(problems, Vec::<String>::new());
    let (words, env, cwd) = program(&entries[0]);
    assert_eq!((words.as_str(), cwd), ("npx -y .", Some(PathBuf::from("/c/sub"))));
    assert_eq!(env, pairs(&[("API_TOKEN", "t0ken-of-t3sts"), ("MODE", "fast")]));
    assert_eq!(entries[0].start_timeout, Some(Duration::from_secs(5)));
    assert_eq!(entries[0].call_timeout, Some(Duration::from_secs(120)));
    assert!(matches!(entries[1].transport, Transport::Http { any_address: true, .. }));
    assert_eq!(entries[1].disabled.as_deref(), Some("the environment variable UNSET is not set"));

    let (entries, problems) = own(r#"
[mcp.a]
command = "x"
env = { API_KEY = "hunter22" }
[mcp.b]
url = "http://h"
headers = { Authorization = "Bearer hunter22" }
envFile = "x"
[mcp.c]
url = "http://me:hunter22@h"
args = []
"#);
    assert_eq!(entries, []);
    let begins = [
        "c.toml:4: mcp.a.env.API_KEY: a key must not be in a file: write API_KEY = \"${NAME}\"",
        "c.toml:7: mcp.b.headers.Authorization: a key must not be in a file: write Authorization = \"Bearer ${NAME}\"",
        "c.toml:8: mcp.b.envFile: unknown key; did you mean `env_file`?",
        "c.toml:10: mcp.c.url: an address must not have a password; write it as a header",
        "c.toml:11: mcp.c.args: is not read: only a server with `command` has it",
    ];
    assert_eq!(problems.len(), begins.len(), "{problems:#?}");
    for (problem, begin) in problems.iter().zip(begins) {
        assert!(problem.starts_with(begin) && !problem.contains("hunter22"), "{problem}");
    }
}

proptest! {
    #[test]
    fn no_text_is_too_strange(
        at in 0..200_usize,
        cut in 0..40_usize,
        put in "\\PC{0,12}|[\\[\\]{}\",:$/*]{0,4}",
        toml in any::<bool>(),
    ) {
        let text = match toml {
            true => "[mcp_servers.a]\ncommand = \"${x:-y}\"\nargs = [\"a\"]\n[mcp_servers.b]\nurl = \"http://h\"\nhttp_headers = { a = \"b\" }\n",
            false => "{\"mcpServers\": {\"a\": {\"command\": \"${x:-y}\", \"args\": [\"a\"]}, \"b\": {\"url\": \"http://h\", \"headers\": {\"a\": \"b\"}}}}",
        };
        let at = text.floor_char_boundary(at);
        let end = text.floor_char_boundary(at + cut);
        let text = format!("{}{put}{}", &text[..at], &text[end..]);
        for path in [".mcp.json", ".cursor/mcp.json", "x"] {
            let read = read(path, &text);
            prop_assert!(read.problems.iter().all(|problem| problem.line.is_some()));
        }
    }
}
