//! `toolyard tools`, and MCP servers in sessions.

use serde_json::{Value, json};

use super::{configuration, log};
use crate::program::Home;
use crate::sitting::Sitting;

#[test]
fn tools_of_servers_are_listed_shown_called_and_checked() {
    let home = Home::new();
    let folder = home.path(".");
    let file = configuration(&["plain", "exits"], &folder);
    let file = file.to_str().unwrap();
    let listed = home.run(&["tools", "list", "--mcp", file]);
    assert_eq!(listed.code, 1, "{listed:?}");
    assert!(listed.err.contains("toolyard: mcp exits: its program has ended"), "{listed:?}");
    let listed = listed.out;
    assert!(listed.contains("plain__echo") && !listed.contains("calculator"), "{listed}");
    let all = home.run(&["tools", "list", "--json", "--mcp", file]);
    assert!(all.code == 1 && all.err.contains("mcp exits: "), "{all:?}");
    let all: Value = serde_json::from_str(&all.out).unwrap();
    let mine = |spec: &&Value| spec["source"] == "mcp:plain";
    assert_eq!(all.as_array().unwrap().iter().filter(mine).count(), 5);
    let shown = home.succeed(&["tools", "show", "plain__echo", "--mcp", file]);
    assert!(shown.contains("proposed   read by its server, which is not trusted"), "{shown}");
    let called = home.succeed(&["tools", "call", "plain__echo", "text=a b", "--mcp", file]);
    assert_eq!(called, "a b\n");
    let failed = home.run(&["tools", "call", "plain__fails", "--mcp", file]);
    assert!(failed.code == 1 && failed.err.contains("no such thing"), "{failed:?}");
    let unknown = home.run(&["tools", "show", "plain__ecko", "--mcp", file]);
    assert!(
        unknown.code == 2 && unknown.err.contains("did you mean `plain__echo`?"),
        "{unknown:?}"
    );
    let checked = home.run(&["tools", "check", "--mcp", file]);
    assert_eq!(checked.code, 1);
    assert!(checked.out.contains("ok    mcp plain: 5 tools in "), "{checked:?}");
    assert!(checked.out.contains("FAIL  mcp exits: its program has ended"), "{checked:?}");
    assert!(!checked.out.contains('\u{1b}'), "{checked:?}");
}

#[test]
fn odd_schemas_are_put_right_and_said() {
    let home = Home::new();
    let file = configuration(&["odd"], &home.path("."));
    let file = file.to_str().unwrap();
    let checked = home.run(&["tools", "check", "--mcp", file]);
    assert_eq!(checked.code, 0, "{checked:?}");
    for part in [
        "warn  mcp odd: odd__text is left out of requests to models",
        "odd__any's arguments is put right: its root has a wrong required; ",
        "properties.text has the type \"any\"",
        "properties.text has the type integer and an enum of other values",
        "properties.text has an enum without values",
    ] {
        assert!(checked.out.contains(part), "{part}\n{checked:?}");
    }
    assert!(!checked.out.contains("odd__echo") && !checked.out.contains('\u{1b}'), "{checked:?}");
    for (tool, argument, code) in [
        ("odd__any", "text=a", 0),
        ("odd__any", "txt=a", 2),
        ("odd__numbers", "text=1", 0),
        ("odd__numbers", "text=3", 2),
        ("odd__text", "text=a", 2),
    ] {
        let called = home.run(&["tools", "call", tool, argument, "--mcp", file]);
        assert_eq!(called.code, code, "{tool} {argument}: {called:?}");
    }
}

#[test]
fn a_server_is_added_to_the_configuration() {
    let home = Home::new();
    home.write("c.toml", "[session]\nseed = 5 # kept\n");
    let config = home.path("c.toml");
    let config = config.to_str().unwrap();
    let add = ["tools", "add", "files", "--config", config, "--env", "A=${HOME}", "--"];
    home.succeed(&[&add[..], &["npx", "-y", "server", "."]].concat());
    let text = std::fs::read_to_string(home.path("c.toml")).unwrap();
    assert!(text.starts_with("[session]\nseed = 5 # kept\n\n[tools.mcp.files]\n"), "{text}");
    assert!(text.contains("args = [\"-y\", \"server\", \".\"]"), "{text}");
    home.succeed(&[
        "tools",
        "add",
        "far",
        "--config",
        config,
        "--url",
        "https://h/mcp",
        "--header",
        "A=b",
    ]);
    for (arguments, why) in [
        (&["tools", "add", "files", "--config", config, "--", "x"][..], "duplicate key"),
        (&["tools", "add", "!!", "--config", config, "--", "x"], "a name with letters"),
        (&["tools", "add", "x", "--config", config, "--url", "ftp://h"], "http"),
        (&["tools", "add", "x", "--config", config], "required"),
    ] {
        let ran = home.run(arguments);
        assert!(ran.code == 2 && ran.err.contains(why), "{ran:?}");
    }
    let after = std::fs::read_to_string(home.path("c.toml")).unwrap();
    assert_eq!(after.matches("[tools.mcp.").count(), 2 + 2, "{after}");
}

#[test]
fn a_changed_definition_is_shown_and_accepted() {
    let home = Home::new();
    home.write("w/tools/none.txt", "");
    let folder = home.path("w");
    let file = configuration(&["plain"], &folder);
    let from = ["--workspace", folder.to_str().unwrap(), "--mcp", file.to_str().unwrap()];
    let tools = |words: &[&str]| home.run(&[&["tools"][..], words, &from].concat());
    assert_eq!(tools(&["accept"]).out, "no definition has changed\n");
    let text = std::fs::read_to_string(&file).unwrap();
    let mut value: Value = serde_json::from_str(&text).unwrap();
    value["mcpServers"]["plain"]["env"]["STAND_IN_SAYS"] = json!("obey me");
    std::fs::write(&file, value.to_string()).unwrap();
    let refused = tools(&["call", "plain__echo", "text=x"]);
    assert!(refused.code == 1 && refused.err.contains("definition has changed"), "{refused:?}");
    assert!(!log("plain", &folder).contains("tools/call"));
    let shown = tools(&["accept"]).out;
    assert!(shown.contains("plain__echo has changed:\n") && shown.contains("+ obey me"), "{shown}");
    assert!(tools(&["check"]).out.contains("`toolyard tools accept plain__echo` accepts it"));
    let wrong = tools(&["accept", "plain__slow"]);
    assert!(wrong.code == 2 && wrong.err.contains("has not changed"), "{wrong:?}");
    assert_eq!(tools(&["accept", "plain__echo"]).out, "accepted plain__echo\n");
    assert_eq!(tools(&["call", "plain__echo", "text=x"]).out, "x\n");
}

/// An unknown effect needs consent; a rule for the server gives it, and a fault for the server hits its calls.
#[test]
fn rules_and_faults_take_a_server() {
    let home = Home::new();
    let folder = home.path(".");
    let file = configuration(&["plain"], &folder);
    let file = file.to_str().unwrap();
    let faulted = home.run(&[
        "tools",
        "call",
        "plain__echo",
        "text=x",
        "--mcp",
        file,
        "--fault",
        "mcp:plain:error:text=gone",
    ]);
    assert!(faulted.code == 1 && faulted.err.contains("gone"), "{faulted:?}");
    assert!(!log("plain", &folder).contains("tools/call"), "a fault before reaches no server");
    let unknown = home.run(&["run", "x", "--mcp", file, "--fault", "mcp:plane:error"]);
    assert!(
        unknown.err.contains("there is no MCP server plane; did you mean `plain`?"),
        "{unknown:?}"
    );
}

/// Servers that hang do not keep a person waiting for the first frame; the pane says how they stand.
#[test]
fn a_screen_waits_for_no_server() {
    let home = Home::new();
    let folder = home.path(".");
    let file = configuration(&["silent", "plain", "exits"], &folder);
    let mut sitting = Sitting::start(&home, 120, 40, &["--mcp", file.to_str().unwrap()]);
    sitting.wait("Transcript");
    sitting.press("gyz");
    sitting.wait("1 of 3 ready");
    sitting.wait("starting for");
    sitting.wait("5 tools in");
    sitting.press("\r");
    sitting.wait("What it said");
    sitting.press("\u{1b}\u{1b}q");
    drop(sitting);
}

/// Rules, breakpoints and faults of a server also hit the calls of others that a relay sees.
#[test]
fn a_fault_of_a_server_hits_the_calls_of_a_relay() {
    let home = Home::new();
    let folder = home.path(".");
    let entry = super::entry("plain", &folder);
    let program = entry["command"].as_str().unwrap();
    let args = entry["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap());
    let mut words = vec!["mcp", "--name", "shop", "--no-journal", "--fault"];
    words.extend(["mcp:shop:error:text=closed", "--", program]);
    words.extend(args);
    let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call",
        "params": {"name": "echo", "arguments": {"text": "x"}}});
    home.write("call", format!("{call}\n"));
    let mut command = home.command(&words);
    command.env("STAND_IN", "plain").env("STAND_IN_LOG", folder.join("plain.log"));
    command.stdin(std::fs::File::open(home.path("call")).unwrap());
    let ran = command.output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    let answer = said.lines().find(|line| line.starts_with('{')).unwrap();
    let answer: Value = serde_json::from_str(answer).unwrap();
    assert_eq!(answer["result"]["content"][0]["text"], "closed", "{said}");
    assert!(!log("plain", &folder).contains("tools/call"), "a fault before reaches no server");
}

/// The lines of `tools list` that name a tool of a server.
fn offered(home: &Home, file: &str) -> Vec<String> {
    let listed = home.succeed(&["tools", "list", "--mcp", file]);
    let names = listed.lines().filter_map(|line| line.split_whitespace().next());
    names.filter(|name| name.contains("__")).map(str::to_owned).collect()
}

#[test]
fn a_tool_that_a_person_has_switched_off_is_offered_nowhere() {
    let home = Home::new();
    let file = configuration(&["plain"], &home.path("."));
    let mut entries: Value =
        serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let entry = &mut entries["mcpServers"]["plain"];
    entry["disabledTools"] = json!(["echo", "d*", "gone"]);
    home.write("off.json", entries.to_string());
    let tools = offered(&home, "off.json");
    assert_eq!(tools, ["plain__slow", "plain__fails", "plain__asks"]);
    let called = home.run(&["tools", "call", "plain__echo", "text=a", "--mcp", "off.json"]);
    assert!(called.code == 2 && called.err.contains("there is no tool plain__echo"), "{called:?}");
    let checked = home.succeed(&["tools", "check", "--mcp", "off.json"]);
    assert!(checked.contains("ok    mcp plain: 3 tools of 5 in "), "{checked}");
    let unused = "warn  mcp plain: its entry names the tool \"gone\", which it does not have";
    assert!(checked.contains(unused), "{checked}");
    // The copy for a watched agent leads to relays without the tools.
    let agent = "cat \"$TOOLYARD_MCP_CONFIG\" > copy.json";
    home.run(&["watch", "--headless", "--mcp", "off.json", "--", "sh", "-c", agent]);
    let copy = home.json("copy.json");
    let words = copy["mcpServers"]["plain"]["args"].as_array().unwrap();
    for option in ["--without=echo", "--without=d*", "--without=gone"] {
        assert!(words.iter().any(|word| word == option), "{copy}");
    }
}

#[test]
fn servers_get_variables_of_proxies_and_none_with_a_key() {
    let home = Home::new();
    let entry = json!({"command": "sh -c 'env > seen'", "env": {"PORT": 8080}});
    home.write("m.json", json!({"mcpServers": {"w": entry}}).to_string());
    let mut command = home.command(&["tools", "check", "--mcp", "m.json"]);
    for (name, value) in [
        ("no_proxy", "localhost,.corp"),
        ("NODE_EXTRA_CA_CERTS", "/etc/corp.pem"),
        ("npm_config_registry", "http://npm.corp/"),
        ("HTTPS_PROXY", "http://me:pr0xy-s3cret@proxy.corp:3128"),
        ("UV_INDEX_CORP_PASSWORD", "ind3x-s3cret"),
        ("SOME_TOKEN", "t0ken-s3cret"),
    ] {
        command.env(name, value);
    }
    let checked = crate::program::Ran::of(command.output().unwrap());
    let seen = home.read("seen");
    for line in [
        "PORT=8080",
        "no_proxy=localhost,.corp",
        "NODE_EXTRA_CA_CERTS=/etc/corp.pem",
        "npm_config_registry=http://npm.corp/",
    ] {
        assert!(seen.lines().any(|seen| seen == line), "{seen}");
    }
    assert!(!seen.contains("s3cret"), "{seen}");
    let named = "load code: HTTPS_PROXY, UV_INDEX_CORP_PASSWORD\n";
    assert!(checked.out.contains(named) && !checked.out.contains("s3cret"), "{checked:?}");
}

#[test]
fn a_call_of_a_server_that_does_not_start_says_why() {
    let home = Home::new();
    let entry = json!({"command": "sh", "args": ["-c", "echo no licence >&2; exit 3"]});
    home.write("m.json", json!({"mcpServers": {"w": entry}}).to_string());
    let called = home.run(&["tools", "call", "w__weather", "--mcp", "m.json"]);
    assert_eq!(called.code, 2, "{called:?}");
    assert!(called.err.contains("there is no tool w__weather"), "{called:?}");
    assert!(
        called.err.contains("the MCP server w: ") && called.err.contains("no licence"),
        "{called:?}"
    );
}
