//! The program `toolyard`, which some tests need beside the laboratory, and the data of others.

use std::path::{Path, PathBuf};

use crate::program::{Home, Ran};

/// The project's folder.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Runs the debugger.
pub fn toolyard(home: &Home, arguments: &[&str]) -> Ran {
    let program = Path::new(crate::PROGRAM).with_file_name("toolyard");
    assert!(program.is_file(), "run `cargo build --bin toolyard` in the project's folder first");
    Ran::of(home.command_of(&program, arguments).output().unwrap())
}

/// A file or folder of the data of others that lies beside the project; `None`, loudly, where it is not there.
pub fn shared(path: &str) -> Option<PathBuf> {
    let full = root().join("../shared").join(path);
    if full.exists() {
        return Some(full);
    }
    eprintln!("SKIPPED: this test needs ../shared/{path}");
    None
}
