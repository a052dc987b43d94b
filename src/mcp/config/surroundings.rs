//! Inputs of the configuration reader, which accesses nothing else.

use std::path::Path;

use crate::files::text_file::{self, Expectation};
use crate::files::toml_file::Problem;

const VARIABLES: Expectation = Expectation {
    what: "a file of variables, lines of NAME=value",
    missing: "correct its path",
    largest: 1024 * 1024,
};

/// Environment, files and folders that a configuration refers to.
#[derive(Clone, Copy)]
pub struct Surroundings<'s> {
    /// The value of an environment variable.
    pub variable: &'s dyn Fn(&str) -> Option<String>,
    /// The text of a file of variables that an entry names.
    pub file: &'s dyn Fn(&Path) -> Result<String, Problem>,
    /// Whether there is a program of this name or path.
    pub program: &'s dyn Fn(&str) -> bool,
    pub home: Option<&'s Path>,
    /// The folder of the project; relative paths start there.
    pub workspace: &'s Path,
}

impl<'s> Surroundings<'s> {
    /// Surroundings of this process.
    pub fn of_process(home: Option<&'s Path>, workspace: &'s Path) -> Self {
        Self { variable: &variable, file: &file, program: &program, home, workspace }
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn program(name: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |folder: &Path| folder.join(name).is_file();
    if name.contains('/') {
        return is_there(Path::new(""));
    }
    std::env::split_paths(&folders).any(|folder| is_there(&folder))
}

fn file(path: &Path) -> Result<String, Problem> {
    text_file::read(path, &VARIABLES)
}
