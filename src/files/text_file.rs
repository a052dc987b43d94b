//! Reads a whole text file safely: with a size limit, and only as UTF-8.

use std::io::{self, Read};
use std::{fs::File, path::Path};

use crate::toml_file::Problem;

/// The expected file, for messages.
#[derive(Clone, Copy, Debug)]
pub struct Expectation {
    /// The kind of file, such as `a configuration file`.
    pub what: &'static str,
    /// Advice if there is no such file.
    pub missing: &'static str,
    /// The most bytes. A larger file is something else, and reading it would only be slow.
    pub largest: u64,
}

/// The text of a file, without a byte order mark.
///
/// # Errors
/// The file cannot be read, is too large or is not UTF-8, with the place.
pub fn read(path: &Path, expected: &Expectation) -> Result<String, Problem> {
    let problem = |text: String| Problem::of_file(path.display().to_string(), text);
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(expected.largest + 1).read_to_end(&mut bytes))
        .map_err(|error| problem(why(path, &error, expected)))?;
    if bytes.len() as u64 > expected.largest {
        let (most, what) = (expected.largest / 1024, expected.what);
        return Err(problem(format!("longer than {most} KiB; expected {what}")));
    }
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + good.iter().filter(|byte| **byte == b'\n').count();
        let text = "not UTF-8; save the file as UTF-8 without changing its content".to_owned();
        Problem { line: Some(line), ..problem(text) }
    })?;
    let mark = text.len() - without_mark(&text).len();
    text.drain(..mark);
    Ok(text)
}

/// The text of a file without the byte order mark that some editors write at its beginning.
pub fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn why(path: &Path, error: &io::Error, expected: &Expectation) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => format!("no such file; {}", expected.missing),
        _ if path.is_dir() => format!("a directory; expected {}", expected.what),
        _ => format!("cannot be read: {error}"),
    }
}
