//! The clients that are tried: official SDKs, and frameworks on them. `scripts/sdks.sh` installs them.

use std::path::{Path, PathBuf};

/// A client: its name, and the command that runs its agent.
pub struct Client {
    pub name: &'static str,
    pub command: Vec<String>,
}

/// The clients that are installed.
pub fn clients() -> Vec<Client> {
    let mut found = Vec::new();
    for (name, file, arguments) in [
        ("the SDKs of Python", "agent.py", &[][..]),
        ("LangGraph", "frameworks.py", &["langgraph"]),
        ("the OpenAI Agents SDK", "frameworks.py", &["agents"]),
        ("the SDKs of Node", "agent.mjs", &[]),
        ("the Vercel AI SDK", "vercel.mjs", &[]),
    ] {
        match start(file) {
            Some(start) => {
                let command = start.into_iter().chain(arguments.iter().map(|it| (*it).to_owned()));
                found.push(Client { name, command: command.collect() });
            }
            None => eprintln!("SKIPPED: {name} is not in target/sdks: run scripts/sdks.sh"),
        }
    }
    found
}

/// What starts a file of `tests/sdks`; `None` if its language or packages are not installed.
pub fn start(file: &str) -> Option<Vec<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (source, installed) = (root.join("tests/sdks").join(file), root.join("target/sdks"));
    let text = |path: PathBuf| path.to_str().unwrap().to_owned();
    if file.ends_with(".py") {
        let folder = installed.join("agents");
        let is_there = folder.join("done").exists();
        return is_there.then(|| vec![text(folder.join("bin/python")), text(source)]);
    }
    let folder = installed.join("agents-node");
    if !folder.join("done").exists() {
        return None;
    }
    // Node looks for packages beside a file.
    let copy = folder.join(file);
    std::fs::copy(source, &copy).unwrap();
    Some(vec!["node".to_owned(), text(copy)])
}
