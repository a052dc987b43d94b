//! The prompts of a workspace: a file in its folder `prompts` overrides the built-in prompt of the
//! same name. Every file must belong to a prompt, so that a misspelt name is noticed.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::domain::{Prompt, PromptSpec, Prompts, prompt::PROMPTS, words};
use crate::files::text_file::{self, Expectation};
use crate::files::toml_file::{Problem, Problems};

/// The name of the prompts folder in a workspace.
const FOLDER: &str = "prompts";

const EXPECTED: Expectation = Expectation {
    what: "the text of a prompt",
    missing: "expected the text of a prompt",
    largest: 64 << 10,
};

/// The prompts of a workspace: the built-in ones with its overrides.
///
/// # Errors
/// All faults of its files.
pub fn load(workspace: &Path) -> Result<Prompts, Problems> {
    let folder = workspace.join(FOLDER);
    let (mut overrides, mut problems) = (BTreeMap::new(), Vec::new());
    let unreadable = |error| problem_of(&folder, &format!("cannot be read: {error}"));
    for path in files(&folder).map_err(unreadable)? {
        match read(&path) {
            Ok((prompt, text)) => _ = overrides.insert(prompt, text),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(Prompts::new(&overrides)) } else { Err(Problems(problems)) }
}

/// The files of the folder, by name; empty if there is no folder. Hidden files, which belong to
/// editors or the system, are skipped.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        let entry = entry?;
        if !entry.file_name().to_string_lossy().starts_with('.') {
            paths.push(entry.path());
        }
    }
    paths.sort();
    Ok(paths)
}

fn read(path: &Path) -> Result<(Prompt, String), Problem> {
    let problem = |text: &str| problem_of(path, text);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.strip_suffix(".md");
    let Some(prompt) = stem.and_then(Prompt::by_name) else {
        let word = stem.unwrap_or_else(|| name.split('.').next().unwrap_or_default());
        let near = words::expected(word, PROMPTS.iter().map(|spec| spec.name));
        return Err(problem(&format!("unknown prompt; expected NAME.md, {near}")));
    };
    // Opening a pipe would block until it has a writer.
    if !path.is_file() {
        return Err(problem("not a file; expected the text of a prompt"));
    }
    let whole = text_file::read(path, &EXPECTED)?;
    if let Some(at) = whole.find(|c: char| c.is_control() && !c.is_whitespace()) {
        let line = 1 + whole[..at].matches('\n').count();
        let text = "a control character; expected text alone";
        return Err(Problem { line: Some(line), ..problem(text) });
    }
    let text = whole.trim().to_owned();
    prompt.spec().check(&text).map_err(|why| problem(&why))?;
    Ok((prompt, text))
}

fn problem_of(path: &Path, text: &str) -> Problem {
    Problem::of_file(path.display().to_string(), text)
}

/// Writes the built-in texts of these prompts as overrides of this workspace.
///
/// # Errors
/// One of the files exists already, in which case nothing is written; or the system's error.
pub fn write(workspace: &Path, prompts: &[&PromptSpec]) -> Result<Vec<PathBuf>, Problem> {
    let folder = workspace.join(FOLDER);
    let path = |spec: &&PromptSpec| folder.join(format!("{}.md", spec.name));
    let paths: Vec<PathBuf> = prompts.iter().map(path).collect();
    if let Some(taken) = paths.iter().find(|path| path.exists()) {
        return Err(problem_of(taken, "file exists; remove it first. Nothing was written"));
    }
    fs::create_dir_all(&folder).map_err(|error| problem_of(&folder, &error.to_string()))?;
    for (path, spec) in paths.iter().zip(prompts) {
        let file = OpenOptions::new().write(true).create_new(true).open(path);
        let written = file.and_then(|mut file| writeln!(file, "{}", spec.built_in));
        written.map_err(|error| problem_of(path, &error.to_string()))?;
    }
    Ok(paths)
}
