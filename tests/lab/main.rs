//! The laboratory: its program and its imports. Tests that need a session, too, run the program `toolyard` beside it,
//! which `cargo test` builds.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "the helpers of tests stop a test as tests do"
)]

mod bench;
mod cotools;
#[path = "../suite/hostile_home.rs"]
mod hostile_home;
mod import_api_bank;
mod import_qa;
mod printed;
#[path = "../suite/program.rs"]
#[expect(dead_code, reason = "the other tests need more of it")]
mod program;

use std::path::{Path, PathBuf};

use self::program::{Home, Ran};

/// The program under test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_toolyard-lab");

/// The project's folder.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs the debugger.
fn toolyard(home: &Home, arguments: &[&str]) -> Ran {
    let program = Path::new(PROGRAM).with_file_name("toolyard");
    assert!(program.is_file(), "the program `toolyard` is not built: run `cargo build` first");
    Ran::of(home.command_of(&program, arguments).output().unwrap())
}

/// A file or folder of the data of others that lies beside the project; `None`, loudly, where it is not there.
fn shared(path: &str) -> Option<PathBuf> {
    let full = root().join("../shared").join(path);
    if full.exists() {
        return Some(full);
    }
    eprintln!("SKIPPED: this test needs ../shared/{path}");
    None
}
