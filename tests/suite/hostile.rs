//! Tools that do harm, through the whole program: whatever a program prints or does, the session goes
//! on, nothing of it reaches the terminal as more than text, and nothing of it is left running.

use std::fs;

use rustix::process::{Pid, test_kill_process};
use serde_json::{Value, json};

use crate::program::Home;
use crate::sitting::{Sitting, assert_harmless};

/// A tool's name, the script behind it, and what the agent is told of its answer or failure.
const TOOLS: [(&str, &str, &str); 9] = [
    (
        "escapes",
        r"printf '\033]0;owned\007\033[2J\033[31mred\033[?1049l\302\2332J\033c\r\010'",
        "red",
    ),
    (
        "flood",
        "head -c 100000000 /dev/zero | tr '\\0' x",
        "[cut: the first 65536 of 100000000 bytes]",
    ),
    ("garbage", r"printf '\377\376good\200\302'", "good"),
    ("silent", "true", ""),
    ("endless", "echo $$ >> pids; while :; do echo more; done", "did not answer within 300 ms"),
    ("asleep", "echo $$ >> pids; sleep 987", "did not answer within 300 ms"),
    ("parent", "sleep 987 & echo $! >> pids; echo here it is", "here it is"),
    (
        "family",
        "trap '' TERM HUP INT; (trap '' TERM; sleep 987) & echo $! >> pids; echo $$ >> pids; wait",
        "did not answer within 300 ms",
    ),
    ("angry", r"printf '\033[31mno\033]0;x\007' >&2; exit 3", "exit status: 3"),
];

/// A workspace with these tools, and a task for each of them.
fn workspace(home: &Home) {
    let mut tasks = String::new();
    for (name, script, _) in TOOLS {
        let manifest = format!(
            "name = \"{name}\"\ndescription = \"Does what {name} does.\"\neffect = \"read\"\ntimeout = \"{}\"\n\
             [source]\ncommand = [\"sh\", \"-c\", {}]\nenv = [\"PATH\"]\ncwd = \"..\"\n",
            // A busy machine needs its time to write a hundred megabytes.
            if name == "flood" { "60s" } else { "300ms" },
            json!(script),
        );
        home.write(&format!("w/tools/{name}.toml"), manifest);
        let chain = json!([{ "tools": [name], "arguments": {} }]);
        let task = json!({ "task": format!("Use {name}."), "name": name, "chain": chain });
        tasks.push_str(&format!("{task}\n"));
    }
    home.write("w/tasks.jsonl", tasks);
    home.write("c.toml", "[models.simulated]\nkind = \"simulated\"\nskill = 1.0\n");
}

/// Makes sure that no process of a tool is left.
fn assert_all_ended(home: &Home) {
    let pids = home.read("w/pids");
    assert!(pids.lines().count() >= 4, "the tools have run: {pids:?}");
    for pid in pids.lines().map(|line| Pid::from_raw(line.parse().unwrap()).unwrap()) {
        let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
        let zombie = stat.is_ok_and(|stat| stat.rsplit(')').next().unwrap().starts_with(" Z"));
        assert!(zombie || test_kill_process(pid).is_err(), "{pid:?} is left running");
    }
}

/// What the tool of this task gave when it was first called: its answer, or why it failed.
fn first_result(state: &Value, tool: &str) -> String {
    let mut calls = state["calls"].as_array().unwrap().iter();
    let call =
        calls.find(|call| call["tool"] == tool).unwrap_or_else(|| panic!("{tool} not called"));
    let phase = &call["phase"];
    let text = |pointer: &str| phase.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    text("/done/output/text").or(text("/failed/error/text")).unwrap_or_else(|| panic!("{phase}"))
}

#[test]
fn hostile_tools_do_no_harm_to_a_script() {
    let home = Home::new();
    workspace(&home);
    let session = ["run", "--config", "c.toml", "--workspace", "w", "--knob", "max_steps=3"];
    let ran = home.run(&[&session[..], &["--journal", "j.jsonl", "--state", "s.json"]].concat());
    assert!(ran.code < 2, "{ran:?}");
    assert!(ran.out.chars().all(|c| c == '\n' || !c.is_control()), "{:?}", ran.out);
    assert_eq!(ran.err, "");
    assert_all_ended(&home);

    let state = home.json("s.json");
    for (task, (name, _, says)) in state["tasks"].as_array().unwrap().iter().zip(TOOLS) {
        assert!(task["outcome"].is_string() || task["phase"]["done"].is_object(), "{name}: {task}");
        let result = first_result(&state, name);
        assert!(result.contains(says), "{name} gave {:?}", &result[..result.len().min(300)]);
    }
    assert_eq!(home.succeed(&["replay", "j.jsonl", "--json"]), home.read("s.json"));
    let journal = fs::metadata(home.path("j.jsonl")).unwrap().len();
    assert!(journal < 5_000_000, "a flood does not go into the journal: {journal} bytes");
}

#[test]
fn hostile_tools_do_no_harm_to_a_terminal() {
    let home = Home::new();
    workspace(&home);
    let session = ["--config", "c.toml", "--workspace", "w", "--knob", "max_steps=3"];
    let mut sitting =
        Sitting::start(&home, 120, 40, &[&session[..], &["--knob", "speed=16"]].concat());
    sitting.wait_header("PAUSED · before a task");
    sitting.press(" ");
    // It can be steered while a tool floods it, and looked at from all sides.
    sitting.wait_until("two tasks", |screen| {
        let screen = screen.contents();
        let done = screen.split("7 Tasks ").nth(1).and_then(|after| after.split('/').next());
        done.and_then(|done| done.parse().ok()).is_some_and(|done: usize| done >= 2)
    });
    sitting.press("zzvq6\rq1V2");
    let done = format!("7 Tasks {0}/{0}", TOOLS.len());
    sitting.wait(&done);
    // Every call is looked at in full, and every prompt.
    sitting.press("6");
    for _ in 0..2 * TOOLS.len() {
        sitting.press("\r");
        sitting.wait("╔ Call ");
        sitting.press("q");
        sitting.wait_until("the call to close", |screen| !screen.contents().contains("╔ Call "));
        sitting.press("j");
    }
    sitting.press("2v");
    sitting.wait("exactly what the model saw");
    sitting.press("qys");
    sitting.wait("written: ");
    sitting.press("q");
    let (status, bytes) = sitting.end();
    assert_eq!(status.exit_code(), 0);
    assert_harmless(&bytes);
    assert_all_ended(&home);
    for file in fs::read_dir(home.path("")).unwrap().map(|entry| entry.unwrap().path()) {
        if file.extension().is_some_and(|ending| ending == "svg" || ending == "txt") {
            let picture = fs::read_to_string(&file).unwrap();
            let tame = |c: char| c == '\n' || !c.is_control();
            assert!(picture.chars().all(tame), "{} holds control characters", file.display());
        }
    }
}

/// Leaving must not leave what runs.
#[test]
fn leaving_ends_a_tool_that_does_not_end() {
    let home = Home::new();
    workspace(&home);
    let manifest = home.read("w/tools/family.toml").replace("300ms", "600s");
    home.write("w/tools/family.toml", manifest);
    let chain = json!([{ "tools": ["family"], "arguments": {} }]);
    home.write("t.jsonl", json!({ "task": "Use family.", "chain": chain }).to_string());
    let session = ["--config", "c.toml", "--workspace", "w", "--tasks", "t.jsonl"];
    let mut sitting = Sitting::start(&home, 100, 30, &session);
    sitting.wait_header("PAUSED");
    sitting.press(" ");
    let two_started = || {
        let pids = fs::read_to_string(home.path("w/pids")).unwrap_or_default();
        pids.ends_with('\n') && pids.lines().count() == 2
    };
    sitting.wait_for("the tool to start", two_started);
    // A pause waits for the call; it can be steered meanwhile, and cancelled.
    sitting.press(" ");
    sitting.wait_header("PAUSING");
    sitting.press("?");
    sitting.wait("Help: keys that act");
    sitting.press("\x1b");
    sitting.wait_until("the help to close", |screen| !screen.contents().contains("Help:"));
    sitting.press("qy");
    assert_eq!(sitting.end().0.exit_code(), 0);
    let pids = home.read("w/pids");
    home.write("w/pids", pids.repeat(2));
    assert_all_ended(&home);
}
