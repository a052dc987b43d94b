//! Coding agents that fork in a git repository: Claude Code and Codex, as npm has them, against a scripted endpoint.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value;

use crate::program::{Home, Ran, text};

/// The endpoint, with the paths of the requests that it got.
struct Endpoint {
    process: Child,
    address: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Endpoint {
    fn start() -> Self {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sdks/edits.py");
        let mut command = Command::new("python3");
        let mut process = command.arg(file).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let address = lines.next().unwrap().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&asked);
        thread::spawn(move || lines.for_each(|line| kept.lock().unwrap().extend(line)));
        Self { process, address, asked }
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The arguments of each coding agent behind its program.
const AGENTS: [(&str, &[&str]); 2] = [
    (
        "claude",
        &["-p", "Write two files", "--permission-mode", "acceptEdits", "--allowedTools", "Write"],
    ),
    ("codex", &["exec", "--dangerously-bypass-approvals-and-sandbox", "Write two files"]),
];

fn installed(agent: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/sdks/coding");
    let program = root.join("node_modules/.bin").join(agent);
    let is_there = root.join("done").exists() && program.exists();
    if !is_there {
        println!("SKIPPED: {agent} is not in target/sdks/coding: run scripts/sdks.sh --all");
    }
    is_there.then_some(program)
}

fn git(folder: &Path, words: &[&str]) -> String {
    let who = ["-c", "user.name=n", "-c", "user.email=e@x"];
    let ran = Command::new("git").arg("-C").arg(folder).args(who).args(words).output().unwrap();
    assert!(ran.status.success(), "{words:?}: {ran:?}");
    String::from_utf8(ran.stdout).unwrap()
}

/// Files with their contents.
type Files = Vec<(PathBuf, Vec<u8>)>;

fn files(folder: &Path) -> Files {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    // A work tree's own `.git` is a file.
    let files = names.filter(|path| path.is_file() && !path.ends_with(".git"));
    let mut files: Vec<_> =
        files.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect();
    files.sort();
    files
}

/// All that a person has in a repository: the files with their contents, the index, the branches.
fn kept(folder: &Path) -> (Files, Vec<u8>, String) {
    let files = files(folder);
    let index = std::fs::read(folder.join(".git/index")).unwrap();
    (files, index, git(folder, &["branch", "--all", "--verbose"]))
}

/// A session in which the agent writes two files, and a fork before the second one.
fn forks(agent: &str, program: &Path, arguments: &[&str]) {
    let (home, endpoint) = (Home::new(), Endpoint::start());
    let folder = home.path("repo");
    home.write("repo/base.txt", "base");
    git(&folder, &["init", "--quiet"]);
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "--quiet", "-m", "first"]);
    home.write("repo/base.txt", "changed");
    home.write("repo/new.txt", "new");
    let run = |within: &Path, arguments: &[&str]| {
        let mut command = home.command(arguments);
        command.current_dir(within).stdin(Stdio::null());
        command.env("ANTHROPIC_BASE_URL", &endpoint.address).env("ANTHROPIC_API_KEY", "sk-ant-x");
        command.env("OPENAI_BASE_URL", format!("{}/v1", endpoint.address));
        command.env("OPENAI_API_KEY", "sk-x").env("IS_SANDBOX", "1");
        command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1").env("DISABLE_TELEMETRY", "1");
        Ran::of(command.output().unwrap())
    };
    let journal = home.path("j.jsonl.zst");
    let watch = ["watch", "--headless", "--snapshot", "--journal", text(&journal), "--"];
    let ran = run(&folder, &[&watch[..], &[text(program)], arguments].concat());
    assert!(ran.code == 0 && ran.out.contains("Both files are written."), "{agent}: {ran:?}");
    let before = kept(&folder);
    let names = |files: &Files| -> Vec<String> {
        let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        files.iter().map(|(path, _)| name(path)).collect()
    };
    assert_eq!(names(&before.0), ["base.txt", "first.txt", "new.txt", "second.txt"], "{agent}");
    let events = home.read("j.jsonl.zst");
    let events = events.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).unwrap());
    let replies = events.filter(|event| event["kind"] == "ModelCallFinished");
    let calls = replies.filter(|event| event["data"]["reply"]["calls"].is_array());
    let second = calls.last().unwrap()["data"]["effect"]["id"].to_string();
    endpoint.asked.lock().unwrap().clear();
    let fork = ["fork", text(&journal), "--call", &second, "--set", "reply=Stop here."];
    let own = home.path("f.jsonl.zst");
    let ran = run(
        Path::new("/"),
        &[&fork[..], &["--headless", "--trust-journal", "--journal", text(&own)]].concat(),
    );
    assert!(ran.code == 0 && ran.out.contains("Stop here."), "{agent}: {ran:?}");
    let asked = endpoint.asked.lock().unwrap();
    assert!(asked.is_empty(), "{agent}: {asked:?}: {}", ran.err);
    assert!(kept(&folder) == before, "{agent} changed something of the person's: {ran:?}");
    let head: Value =
        serde_json::from_str(home.read("f.jsonl.zst").lines().next().unwrap()).unwrap();
    let copy = Path::new(head["spec"]["agent"]["folder"].as_str().unwrap());
    assert_eq!(names(&files(copy)), ["base.txt", "first.txt", "new.txt"], "{agent}");
    assert_eq!(git(copy, &["status", "--porcelain"]), " M base.txt\n?? first.txt\n?? new.txt\n");
    println!("{agent}: a fork before its second edit has the first one");
}

#[test]
fn coding_agents_fork_before_an_edit() {
    for (agent, arguments) in AGENTS {
        if let Some(program) = installed(agent) {
            forks(agent, &program, arguments);
        }
    }
}
