//! Journals of tests in a folder, each named after its test.

use std::path::{Path, PathBuf};

use crate::shell::trouble::Trouble;
use crate::store::journal::folder;

/// Variables by which test runners tell a started program the name of the running test.
const NAMES: [&str; 3] = ["TOOLYARD_TEST", "PYTEST_CURRENT_TEST", "BATS_TEST_NAME"];

/// Characters of a file's name.
const LONGEST: usize = 100;

/// The path of a new journal in this folder.
///
/// # Errors
/// The folder cannot be created.
pub fn journal(within: &Path) -> Result<PathBuf, Trouble> {
    std::fs::create_dir_all(within)
        .map_err(|error| Trouble::usage(format!("{}: {error}", within.display())))?;
    Ok(test().map_or_else(|| unnamed(within), |test| within.join(file(&test))))
}

/// The record to use: in a folder the journal of the running test, if a test is known; else the path itself.
///
/// # Errors
/// The test has no journal in the folder.
pub fn record(path: &Path) -> Result<PathBuf, Trouble> {
    let Some(test) = test().filter(|_| path.is_dir()) else { return Ok(path.to_owned()) };
    let name = name(&test);
    let files = folder::names(&name).map(|name| path.join(name));
    if let Some(file) = files.into_iter().find(|file| file.exists()) {
        return Ok(file);
    }
    let file = path.join(folder::file_name(&name));
    let text = format!("{}: the test {test} was not recorded there", file.display());
    Err(Trouble::Usage(text))
}

/// Names the journal of this run by its first message, if no test has named it.
///
/// # Errors
/// The journal cannot be renamed.
pub fn name_by(within: &Path, first: &str) -> Result<(), Trouble> {
    let from = unnamed(within);
    if !from.exists() {
        return Ok(());
    }
    let name = |number: u32| match number {
        1 => within.join(file(first)),
        number => within.join(file(&format!("{first} {number}"))),
    };
    let free = (1..).map(name).find(|name| !name.exists());
    let renamed = free.map_or(Ok(()), |to| std::fs::rename(&from, to));
    renamed.map_err(|error| Trouble::failed(format!("{}: {error}", from.display())))
}

fn unnamed(within: &Path) -> PathBuf {
    within.join(folder::file_name(&format!("recording-{}", std::process::id())))
}

/// The test that started this program.
fn test() -> Option<String> {
    let named = NAMES.iter().find_map(|name| std::env::var(name).ok());
    // pytest also says how far the test is: `tests/test_a.py::test_b (call)`.
    let test = named.map(|test| match test.rsplit_once(" (") {
        Some((test, _)) => test.to_owned(),
        None => test,
    });
    test.filter(|test| !test.is_empty())
}

fn file(text: &str) -> String {
    folder::file_name(&name(text))
}

/// The name of a journal for a text: its letters and digits, with a dash for everything between them.
fn name(text: &str) -> String {
    let (mut name, mut is_cut) = (String::new(), false);
    for c in text.chars() {
        if name.chars().count() == LONGEST {
            is_cut = true;
            break;
        }
        match c {
            c if c.is_alphanumeric() || c == '_' => name.push(c),
            _ if !name.is_empty() && !name.ends_with('-') => name.push('-'),
            _ => {}
        }
    }
    let name = name.trim_end_matches('-');
    let name = if name.is_empty() { "unnamed" } else { name };
    match is_cut {
        true => format!("{name}-{:08x}", checksum(text)),
        false => name.to_owned(),
    }
}

/// Tells apart long names with the same beginning (FNV-1a).
fn checksum(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_the_names_of_tests_and_messages() {
        assert_eq!(file("tests/test_a.py::test_b[1.5]"), "tests-test_a-py-test_b-1-5.jsonl.zst");
        assert_eq!(file("  How is it in Köln?\n"), "How-is-it-in-Köln.jsonl.zst");
        assert_eq!(file("../.."), "unnamed.jsonl.zst");
        let long = ["a", "b"].map(|end| file(&format!("{}{end}", "x ".repeat(100))));
        assert_ne!(long[0], long[1]);
        assert!(long[0].len() < 120, "{}", long[0]);
    }

    #[test]
    fn a_journal_without_a_test_gets_the_name_of_its_first_message() {
        let folder = tempfile::tempdir().unwrap();
        for expected in ["hello.jsonl.zst", "hello-2.jsonl.zst"] {
            std::fs::write(unnamed(folder.path()), "").unwrap();
            name_by(folder.path(), "hello!").unwrap();
            assert!(folder.path().join(expected).exists(), "{expected}");
        }
        name_by(folder.path(), "hello").unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
