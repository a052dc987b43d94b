//! Configurations as clients and people write them.

use super::tests::{address, pairs, program, read, right, shown};
use super::*;
use crate::entry::OfferedTools;

/// The server `w` with these fields, in a file of nobody.
fn one(fields: &str) -> ServerEntry {
    let entries = right("/w/mcp.json", &format!(r#"{{"mcpServers": {{"w": {{{fields}}}}}}}"#));
    let [entry] = <[_; 1]>::try_from(entries).unwrap();
    entry
}

/// The one problem of the server `w` with these fields, without its place.
fn wrong(fields: &str) -> String {
    let read = read("/w/mcp.json", &format!(r#"{{"mcpServers": {{"w": {{{fields}}}}}}}"#));
    let shown = shown(&read.problems);
    let [problem] = shown.as_slice() else { panic!("{shown:?}") };
    assert!(read.entries.is_empty());
    problem.strip_prefix("/w/mcp.json:1: mcpServers.w").unwrap().to_owned()
}

/// Whether the tools `odd` and `weather` are offered.
fn offers(entry: &ServerEntry) -> (bool, bool) {
    (entry.offered.includes("odd"), entry.offered.includes("weather"))
}

#[test]
fn transports_and_addresses_have_many_names() {
    for kind in [
        "http",
        "HTTP",
        "streamable_http",
        "streamable-http",
        "streamableHttp",
        "StreamableHTTP",
        "streamable http",
        "remote",
        "https",
    ] {
        for key in ["type", "transport", "transportType", "Type"] {
            let entry = one(&format!(r#""{key}": "{kind}", "url": "http://h/mcp""#));
            assert_eq!(address(&entry).0, "http://h/mcp", "{key} {kind}");
        }
    }
    for kind in ["stdio", "STDIO", "local"] {
        assert_eq!(program(&one(&format!(r#""type": "{kind}", "command": "x""#))).0, "x");
    }
    for key in ["url", "URL", "serverUrl", "server_url", "httpUrl", "uri", "endpoint"] {
        assert_eq!(
            address(&one(&format!(r#""{key}": "http://h/mcp""#))).0,
            "http://h/mcp",
            "{key}"
        );
    }
    for kind in ["sse", "SSE", "http+sse"] {
        let why = wrong(&format!(r#""type": "{kind}", "serverUrl": "http://h/sse""#));
        assert!(why.starts_with(".type: the old transport HTTP+SSE is not spoken"), "{why}");
    }
    let why = wrong(r#""type": "ws", "url": "http://h""#);
    assert_eq!(
        why,
        ".type: \"ws\" is not a valid value; known: stdio, http, streamable-http, streamableHttp"
    );
    let why = wrong(r#""serverUrl": "localhost""#);
    assert!(why.starts_with(".serverUrl: expected an address that begins with http://"), "{why}");
}

#[test]
fn an_address_that_is_written_twice_is_taken_once() {
    let same = one(r#""url": "http://h/mcp", "serverUrl": "http://h/mcp""#);
    assert_eq!(address(&same).0, "http://h/mcp");
    let other = r#"{"mcpServers": {"w": {"url": "http://a", "httpUrl": "http://b/"}}}"#;
    let Configuration { entries, problems, remarks } = read("m.json", other);
    assert_eq!((address(&entries[0]).0.as_str(), problems), ("http://b/", Vec::new()));
    assert_eq!(shown(&remarks), ["m.json:1: mcpServers.w.url: is not read: `httpUrl` counts"]);
    // Programs with forms write every field.
    assert_eq!(address(&one(r#""command": "", "url": "http://h/""#)).0, "http://h/");
    assert_eq!(program(&one(r#""command": "x", "url": """#)).0, "x");
}

#[test]
fn a_tool_that_is_switched_off_is_not_offered() {
    for off in [
        r#""disabledTools": ["odd"]"#,
        r#""disabled_tools": ["odd"]"#,
        r#""DisabledTools": ["odd", "gone"]"#,
        r#""excludeTools": ["odd"]"#,
        r#""excludedTools": ["o*"]"#,
        r#""disallowedTools": ["odd"]"#,
        r#""disabledTools": {"odd": true, "weather": false}"#,
        r#""includeTools": ["weather"]"#,
        r#""enabledTools": ["weather"]"#,
        r#""allowedTools": ["weather", "odd"], "excludeTools": ["odd"]"#,
        r#""allowedTools": ["weather", "odd"], "enabledTools": ["weather"]"#,
        r#""tools": ["weather"]"#,
        r#""tools": {"odd": false, "weather": true}"#,
        r#""tools": {"odd": {"enabled": false}, "weather": {"alwaysAllow": true}}"#,
        r#""tools": {"odd": {"disabled": true}}"#,
    ] {
        assert_eq!(offers(&one(&format!(r#""command": "x", {off}"#))), (false, true), "{off}");
    }
    for all in [
        r#""tools": ["*"]"#,
        r#""alwaysAllow": ["weather"], "autoApprove": []"#,
        r#""disabledTools": []"#,
        r#""disabledTools": null"#,
        r#""trust": true, "disabled": false, "enabled": true"#,
    ] {
        assert_eq!(offers(&one(&format!(r#""command": "x", {all}"#))), (true, true), "{all}");
    }
    assert_eq!(offers(&one(r#""command": "x", "includeTools": []"#)), (false, false));
    // A switch that cannot be read leaves its server out.
    assert_eq!(
        wrong(r#""command": "x", "disabledTools": "odd""#),
        ".disabledTools: expected a list in [brackets], got \"odd\""
    );
    assert_eq!(
        wrong(r#""command": "x", "tools": {"odd": "off"}"#),
        ".tools.odd: expected true or false, got \"off\""
    );
}

#[test]
fn a_server_that_is_switched_off_is_not_started() {
    for (fields, why) in [
        (r#""command": "x", "disabled": true"#, "`disabled` is true"),
        (r#""command": "x", "enabled": false"#, "`enabled` is false"),
        (r#""command": "x", "isActive": false"#, "`isActive` is false"),
        (r#""url": "http://h", "enabled": true, "disabled": true"#, "`disabled` is true"),
    ] {
        let off = one(fields).disabled;
        let expected = format!("its configuration switches it off: {why}");
        assert_eq!(off, Some(expected), "{fields}");
    }
    assert!(wrong(r#""command": "x", "disabled": "true""#).starts_with(".disabled: expected true"));
    // opencode switches a server of another file off by an entry without a program.
    let text = r#"{"mcp": {"w": {"enabled": false}, "v": {"type": "local", "command": ["x"]}}}"#;
    assert_eq!(right("opencode.json", text).len(), 1);
}

#[test]
fn values_of_variables_may_be_numbers_and_flags() {
    let entry = one(r#""command": "x", "args": ["--port", 8080, 1.50, true],
           "env": {"PORT": 8080, "DEBUG": true, "RATE": 1.50, "OFF": false, "BIG": 123456789012345678901, "NO": null}"#);
    let (words, env, _) = program(&entry);
    assert_eq!(words, "x --port 8080 1.50 true");
    let expected = [
        ("PORT", "8080"),
        ("DEBUG", "true"),
        ("RATE", "1.50"),
        ("OFF", "false"),
        ("BIG", "123456789012345678901"),
    ];
    assert_eq!(env, pairs(&expected));
    let (_, headers) = address(&one(r#""url": "http://h", "headers": {"X-Version": 2}"#));
    assert_eq!(headers, pairs(&[("X-Version", "2")]));
    let codex = "[mcp_servers.w]\ncommand = \"x\"\nenv = { PORT = 8080, DEBUG = true }\n";
    let entries = right("/w/.codex/config.toml", codex);
    assert_eq!(program(&entries[0]).1, pairs(&[("PORT", "8080"), ("DEBUG", "true")]));
    let why = wrong(r#""command": "x", "env": {"A": ["b"]}"#);
    assert_eq!(why, ".env.A: expected a text in quotes, got a list");
}

#[test]
fn a_command_may_have_its_arguments_and_start_at_home() {
    for (fields, words) in [
        (r#""command": "python3 srv.py plain""#, &["python3", "srv.py", "plain"][..]),
        (
            r#""command": "npx -y 'a b' \"c d\" e\\ f", "args": ["g"]"#,
            &["npx", "-y", "a b", "c d", "e f", "g"],
        ),
        (r#""command": ["npx", "-y", "x"], "args": ["y"]"#, &["npx", "-y", "x", "y"]),
        (r#""command": "~/run.sh""#, &["/home/me/run.sh"]),
        (r#""command": "$HOME/run.sh""#, &["/home/me/run.sh"]),
        (r#""command": "${userHome}/run.sh""#, &["/home/me/run.sh"]),
        (r#""command": "~/run.sh ~/a --x=~/b""#, &["/home/me/run.sh", "/home/me/a", "--x=~/b"]),
        (r#""command": ["~/run.sh"]"#, &["/home/me/run.sh"]),
        (r#""command": "/opt/my app/run""#, &["/opt/my app/run"]),
        (r#""command": "~/my app/run""#, &["/home/me/my app/run"]),
        (r#""command": "${workspaceFolder}/run x""#, &["/w/run", "x"]),
        (r#""command": "${HOST:-x} -v""#, &["api.example", "-v"]),
        (r#""command": " x ""#, &["x"]),
    ] {
        let crate::entry::Transport::Stdio { command, args, .. } = one(fields).transport else {
            panic!("{fields}")
        };
        assert_eq!([vec![command], args].concat(), words, "{fields}");
    }
    for (fields, why) in [
        (
            r#""command": "cd /x && node y""#,
            ".command: expected only a program; write its arguments as `args`",
        ),
        (
            r#""command": "node 'y""#,
            ".command: expected only a program; write its arguments as `args`",
        ),
        (r#""command": []"#, ".command: expected the program that is the server"),
        (r#""command": " ""#, ".command: expected the program that is the server"),
        (r#""command": ["x", {}]"#, ".command[1]: expected a text in quotes, got a table"),
        (r#""command": "x --token ${NO}""#, ".command: the environment variable NO is not set"),
    ] {
        assert!(wrong(fields).starts_with(why), "{}", wrong(fields));
    }
}

#[test]
fn each_client_has_its_own_variables() {
    let words = |path: &str, key: &str, arg: &str| {
        let text = format!(r#"{{"{key}": {{"w": {{"command": "x", "args": ["{arg}"]}}}}}}"#);
        program(&right(path, &text)[0]).0
    };
    for (path, key, arg, expected) in [
        (
            "/h/.gemini/settings.json",
            "mcpServers",
            "$HOST:${PORT}:${NO:-d}:$5:$",
            "api.example:8080:d:$5:$",
        ),
        ("/h/opencode.json", "mcp", "{env:HOST}:$HOST", "api.example:$HOST"),
        ("/h/.zed/settings.json", "context_servers", "$HOST ${HOST}", "$HOST ${HOST}"),
        ("/h/cline_mcp_settings.json", "mcpServers", "${env:HOST}", "api.example"),
        ("/h/.roo/mcp.json", "mcpServers", "${workspaceFolder}/${env:HOST}", "/w/api.example"),
        ("/h/mcp_config.json", "mcpServers", "${env:HOST}", "api.example"),
        ("/h/x.json", "mcpServers", "${env:NO:-d} ${env:HOST:-d}", "d api.example"),
        ("/h/.vscode/settings.json", "mcp.servers", "${env:HOST}", "api.example"),
    ] {
        assert_eq!(words(path, key, arg), format!("x {expected}"), "{path}");
    }
    let text = r#"{"mcp": {"w": {"command": ["x", "{file:./key}", "{env:NO}"]}}}"#;
    let problems = shown(&read("opencode.json", text).problems);
    assert!(problems[0].contains("unknown variable ${file:./key}"), "{problems:?}");
    assert!(problems[1].contains("the environment variable NO is not set"), "{problems:?}");
}

#[test]
fn files_of_other_clients_are_read() {
    let of = |path: &str, text: &str| {
        let entries = right(path, text);
        let keys: Vec<_> = entries.iter().map(|entry| entry.key.as_str()).collect();
        assert_eq!(keys, ["w"], "{text}");
        entries.into_iter().next().unwrap()
    };
    for (path, text) in [
        (
            "opencode.json",
            r#"{"$schema": "x", "mcp": {"w": {"type": "local", "command": ["x", "a"], "environment": {"A": "1"}}}}"#,
        ),
        (
            "z.json",
            r#"{"context_servers": {"w": {"source": "custom", "command": "x", "args": ["a"], "env": {"A": "1"}}}}"#,
        ),
        (
            "z.json",
            r#"{"theme": "x", "context_servers": {"w": {"command": {"path": "x", "args": ["a"], "env": {"A": "1"}}}}}"#,
        ),
        (
            "s.json",
            "// mine\n{\"editor.tabSize\": 2, \"mcp\": {\"inputs\": [], \"servers\": {\"w\": {\"command\": \"x\", \"args\": [\"a\"], \"env\": {\"A\": 1}}}},}",
        ),
        ("s.json", r#"{"mcp.servers": {"w": {"command": "x", "args": ["a"], "env": {"A": "1"}}}}"#),
        (
            "amp.json",
            r#"{"amp.mcpServers": {"w": {"command": "x", "args": ["a"], "env": {"A": "1"}}}}"#,
        ),
        ("bare.json", r#"{"w": {"command": "x", "args": ["a"], "env": {"A": "1"}}}"#),
        (
            "list.json",
            r#"{"mcpServers": [{"name": "w", "command": "x", "args": ["a"], "env": {"A": "1"}}]}"#,
        ),
        (
            ".gemini/settings.json",
            r#"{"mcp": {"allowed": ["w"]}, "mcpServers": {"w": {"command": "x", "args": ["a"], "env": {"A": "1"}, "trust": true}}}"#,
        ),
        (
            "vibe.toml",
            "[[mcp_servers]]\nname = \"w\"\ntransport = \"stdio\"\ncommand = \"x\"\nargs = [\"a\"]\nenv = { A = \"1\" }\n",
        ),
    ] {
        let (words, env, _) = program(&of(path, text));
        assert_eq!(words, "x a", "{text}");
        assert!(env == pairs(&[("A", "1")]) || env.is_empty(), "{text}");
    }
    for text in [
        r#"{"w": {"serverUrl": "http://h/"}}"#,
        r#"{"mcp": {"w": {"type": "remote", "url": "http://h/", "enabled": true}}}"#,
        r#"{"servers": {"w": {"type": "http", "url": "http://h/"}}}"#,
    ] {
        assert_eq!(address(&of("x.json", text)).0, "http://h/");
    }
}

#[test]
fn switches_beside_the_entries_hold() {
    let w = r#"{"command": "x"}"#;
    for (path, text, off) in [
        (
            "g.json",
            format!(r#"{{"mcpServers": {{"w": {w}, "v": {w}}}, "mcp": {{"excluded": ["w"]}}}}"#),
            "mcp.excluded",
        ),
        (
            "g.json",
            format!(r#"{{"mcpServers": {{"w": {w}, "v": {w}}}, "mcp": {{"allowed": ["v"]}}}}"#),
            "mcp.allowed",
        ),
        (
            "g.json",
            format!(r#"{{"mcpServers": {{"w": {w}, "v": {w}}}, "allowMCPServers": ["v"]}}"#),
            "allowMCPServers",
        ),
        (
            "/h/.claude.json",
            format!(
                r#"{{"mcpServers": {{"w": {w}, "v": {w}}}, "projects": {{"/w": {{"disabledMcpServers": ["w"]}}}}}}"#
            ),
            "disabledMcpServers",
        ),
    ] {
        let entries = right(path, &text);
        let why = format!("its configuration switches it off: `{off}`");
        assert_eq!(
            (entries[0].disabled.as_ref(), entries[1].disabled.as_ref()),
            (Some(&why), None)
        );
    }
    for (text, tools) in [
        (r#"{"mcp": {"w": W}, "tools": {"w_odd": false, "bash": false}}"#, (false, true)),
        (r#"{"mcp": {"w": W}, "tools": {"w_*": false}}"#, (false, false)),
        (r#"{"mcp": {"w": W}, "tools": {"m*": false, "v*": false}}"#, (true, true)),
        (r#"{"mcp": {"w": W}, "tools": {"w*": false, "v_weather": false}}"#, (false, false)),
        (
            r#"{"mcp": {"w": W}, "permission": {"w_odd": "deny", "w_weather": "ask", "bash": {"*": "deny"}}}"#,
            (false, true),
        ),
        (
            r#"{"mcpServers": {"w": W}, "tools": {"exclude": ["w__odd", "run"], "allowed": ["x"]}}"#,
            (false, true),
        ),
        (
            r#"{"context_servers": {"w": W}, "agent": {"default_profile": "ask", "profiles":
                {"ask": {"context_servers": {"w": {"tools": {"odd": false, "weather": true}}}}, "write": {}}}}"#,
            (false, true),
        ),
        (
            r#"{"context_servers": {"w": W}, "agent": {"profiles": {"write": {"context_servers": {"w": {"tools": {"odd": false}}}}}}}"#,
            (false, true),
        ),
    ] {
        let entries = right("x.json", &text.replace('W', w));
        assert_eq!(offers(&entries[0]), tools, "{text}");
    }
    // Other programs have other things under these names.
    let other = format!(
        r#"{{"mcp": {{"excluded": {w}, "allowed": {w}}}, "tools": 7, "permission": "ask", "agent": []}}"#
    );
    let entries = right("opencode.json", &other);
    assert!(entries.len() == 2 && entries.iter().all(|entry| entry.disabled.is_none()));
}

#[test]
fn what_is_not_read_says_what_to_write_in_one_line() {
    let goose = "extensions:\n  w:\n    type: stdio\n    cmd: python3\n    args: [srv.py]\n    enabled: true\n";
    let of_continue =
        "name: mine\nversion: 0.0.1\nmcpServers:\n  - name: w\n    command: python3\n";
    for (path, text, begins) in [
        (
            "/h/goose/config.yaml",
            goose,
            ":1: this is YAML, as goose has it, which toolyard does not read: write its servers",
        ),
        ("g.yaml", goose, ":1: this is YAML, as goose has it, which"),
        ("g", &format!("# mine\n---\n{goose}"), ":1: this is YAML, as goose has it, which"),
        ("/h/.continue/config.yaml", of_continue, ":1: this is YAML, as Continue has it, which"),
        ("c.yml", of_continue, ":1: this is YAML, as Continue has it, which"),
        ("d.yaml", "services:\n  w:\n    image: x\n", ":1: this is YAML, which"),
        ("x.json", "mcpServers:\n  w:\n", ":1: not JSON: "),
        ("x.json", "[]", ":1: expected an object in {braces}"),
        (
            "x.json",
            r#"{"command": "x"}"#,
            ":1: this is one server without a name: write {\"mcpServers\": {\"NAME\": ",
        ),
        (
            "x.json",
            r#"{"mcpServers": {"w": {"source": "extension", "settings": {}}}}"#,
            ":1: mcpServers.w: expected `command` for a program, or",
        ),
        ("x.json", r#"{"mcp": {"enabled": true}}"#, ":1: no MCP servers: expected {\"mcpServers\""),
        (
            "x.toml",
            "model = \"m\"\n",
            ":1: no MCP servers: expected [mcp_servers.NAME] as in Codex",
        ),
        ("notes.txt", "Some words.\nMore of them\nand more.\n", ":1: not TOML: "),
    ] {
        let read = read(path, text);
        let shown = shown(&read.problems);
        assert!(read.entries.is_empty() && shown.len() == 1, "{shown:#?}");
        let begins = format!("{path}{begins}");
        assert!(
            shown[0].starts_with(&begins) && !shown[0].contains('\n'),
            "{shown:?}\nnot {begins}"
        );
    }
}

#[test]
fn unknown_fields_are_remarks_and_the_server_is_read() {
    let text = r#"{"mcpServers": {"w": {"command": "x", "icon": 7, "disabledTool": ["a"], "watchPaths": []}}}"#;
    let Configuration { entries, problems, remarks } = read("x.json", text);
    assert_eq!((entries.len(), problems), (1, Vec::new()));
    assert_eq!(entries[0].offered, OfferedTools::default());
    let shown = shown(&remarks);
    assert_eq!(shown.len(), 3, "{shown:?}");
    assert!(shown[1].starts_with(
        "x.json:1: mcpServers.w.disabledTool: unknown key; did you mean `disabledTools`?"
    ));
}
