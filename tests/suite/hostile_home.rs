//! A home with hostile files, and what may be printed of them.

use serde_json::json;

use crate::program::{Home, Ran};

/// Sets the title of a terminal, clears it twice, once by a single character of the upper control characters, turns the
/// line around, deletes and returns.
pub const EVIL: &str = "a\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}2J\u{202e}\u{8}\u{7f}\rb";

pub fn assert_text(what: &str, ran: &Ran) {
    for printed in [&ran.out, &ran.err] {
        let is_text = |c: char| matches!(c, '\n' | '\t') || !(c.is_control() || c == '\u{202e}');
        assert!(printed.chars().all(is_text), "{what:?} prints {printed:?}");
    }
}

/// A home with hostile files, of which many have hostile names.
pub fn hostile_home() -> Home {
    let home = Home::new();
    let quoted = json!(EVIL).to_string();
    let manifest = "name = \"echo\"\ndescription = \"Says how the weather is.\"\neffect = \"read\"\n[source]\n\
         command = [\"printf\", '%b', 'a\\033]0;owned\\007\\033[2J\\302\\2332J\\010\\177\\rb']\n";
    home.write(&format!("{EVIL}/tools/echo.toml"), manifest);
    home.write("bad/tools/x.toml", manifest.replace("Says", EVIL));
    let task =
        json!({ "task": EVIL, "gold": EVIL, "chain": [{ "tools": ["echo"], "arguments": {} }] });
    home.write(&format!("{EVIL}/tasks.jsonl"), format!("{task}\n"));
    home.write("tasks.jsonl", json!({ "task": EVIL, EVIL: 3 }).to_string());
    let literal = EVIL.replace('\r', "");
    home.write("flaw.py", format!("x = '{literal}'\nprint(nothing('{literal}'))\n"));
    home.write("fails.py", format!("print({quoted})\nraise ValueError({quoted})\n"));
    home.write("value.py", format!("x = {quoted}\nx\n"));
    let reply = format!("```python\nprint({quoted})\nx = {quoted}[99]\n```");
    let replies = [json!({"id": EVIL, "reply": reply}), json!({"id": 2, "reply": EVIL})];
    home.write("replies.jsonl", replies.map(|reply| reply.to_string()).join("\n"));
    home.write(
        "c.toml",
        format!("[models.{quoted}]\nkind = {quoted}\n[knobs]\n{quoted} = {quoted}\n"),
    );
    home.write("raw.toml", format!("[models.x]\nkind = '{EVIL}'\n"));
    home.write(
        "plan.json",
        json!([{ "name": EVIL, "cost": 1, "value": 0.5, "limit": 2 }]).to_string(),
    );
    home.write("graph.json", json!({ "tools": [EVIL], "edges": [[EVIL, EVIL]] }).to_string());
    let used =
        json!({ "query": EVIL, "tool": "echo", "parameters": {}, "result": EVIL, "helpful": true });
    home.write("uses.jsonl", format!("{used}\n{{\"query\": {quoted}}}\n"));
    home.write("good.jsonl", format!("{used}\n"));
    let trajectory = json!({ "task": EVIL, "tools": [EVIL, EVIL] });
    home.write("trajectories.jsonl", format!("{trajectory}\n"));
    home.write("qa.jsonl", json!({ "question": EVIL, "answer": EVIL, EVIL: EVIL }).to_string());
    home.write("api.json", json!({
        "openapi": "3.0.0", "info": { "title": EVIL, "version": EVIL }, "servers": [{ "url": EVIL }],
        "paths": { (format!("/{EVIL}")): { "get": { "operationId": EVIL, "parameters": [EVIL] } } },
    }).to_string());
    home.write(
        "scenario.toml",
        format!("name = {quoted}\n[session]\ntasks = [{quoted}]\n[expect]\n{quoted} = 1\n"),
    );
    home.write(
        "journal",
        format!("{{\"toolyard_journal\":1,\"program\":{quoted},\"opened\":{quoted}}}\n{EVIL}\n"),
    );
    home
}
