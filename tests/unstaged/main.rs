//! The program without the simulated model, the sample tools and the demos:
//! `cargo test -p toolyard --no-default-features --test unstaged`.
#![cfg(not(feature = "stage"))]
#![expect(clippy::unwrap_used, reason = "a test that cannot begin stops at once")]

use std::process::{Command, Output};

use pretty_assertions::assert_eq;

fn toolyard(arguments: &[&str]) -> Output {
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolyard"));
    command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).env_clear();
    command.env("HOME", home.path()).output().unwrap()
}

#[test]
fn a_tool_of_a_workspace_is_called() {
    let arguments =
        ["tools", "call", "--workspace", "examples/figure-5", "keyword_search", "country=Talvera"];
    let Output { status, stdout, stderr } = toolyard(&arguments);
    let [stdout, stderr] = [stdout, stderr].map(|text| String::from_utf8(text).unwrap());
    assert_eq!((status.code(), stderr.as_str()), (Some(0), ""));
    assert!(stdout.contains("Talvera"), "{stdout}");
}

#[test]
fn no_demo_is_offered() {
    let Output { status, stderr, .. } = toolyard(&["demo", "resilience"]);
    assert_eq!(status.code(), Some(2));
    assert!(!stderr.is_empty());
}
