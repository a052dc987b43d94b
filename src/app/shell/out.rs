//! The only way to print for commands. Only our own colours reach a terminal as escape sequences: file names,
//! arguments, and all text of models and tools may be hostile. The same holds for files and pipes, whose reader may be
//! a terminal in the end.
//!
//! `println!` panics if the reader has gone, as with `| head`; this does not.

use std::io::{self, ErrorKind, Write};
use std::os::fd::BorrowedFd;
use std::path::Path;

use serde::Serialize;

use super::colour::Painted;
use super::trouble::Trouble;
use crate::files::safe_json::{safe, write_pretty};
use crate::net::known::{without_keys, without_known};
use crate::ui::output;

/// Writes a text to standard output, without known keys.
///
/// # Errors
/// The text could not be written, or the reader has gone.
pub fn write(text: impl Into<Painted>) -> io::Result<()> {
    let text = text.into();
    let text = without_known(text.as_str());
    // An earlier screen found that the terminal does not read: a write would block for ever.
    if output::is_stuck() {
        return Ok(());
    }
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush())
}

/// Prints a text.
///
/// # Errors
/// The text could not be written, unless the reader has gone, which is not an error.
pub fn print(text: impl Into<Painted>) -> Result<(), Trouble> {
    accepted(write(text))
}

/// Like [`print()`]; false if the reader has gone.
///
/// # Errors
/// As [`print()`].
pub fn print_if_read(text: &str) -> Result<bool, Trouble> {
    let written = write(text);
    let is_read = written.is_ok();
    accepted(written).map(|()| is_read)
}

/// Prints a text and an end of line.
///
/// # Errors
/// As [`print()`].
pub fn print_line(text: impl Into<Painted>) -> Result<(), Trouble> {
    print(text.into() + "\n")
}

/// Prints JSON and an end of line. A reader of JSON gets every character unchanged.
///
/// # Errors
/// As [`print()`].
pub fn print_json(json: &str) -> Result<(), Trouble> {
    print_line(&*safe(json))
}

/// Prints a value as JSON on several lines, of which only a few are in memory at a time.
///
/// # Errors
/// As [`print()`].
pub fn print_pretty(value: &impl Serialize) -> Result<(), Trouble> {
    accepted(write_pretty(value, |lines| write(lines)))
}

/// Standard output for a writer of many lines, which flushes at the end.
#[derive(Default)]
pub struct OutputBuffer(Vec<u8>);

/// The least number of bytes of one write, except the last one.
const AT_ONCE: usize = 64 << 10;

impl Write for OutputBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.extend_from_slice(bytes);
        if self.0.len() >= AT_ONCE && bytes.ends_with(b"\n") {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let written = write(&*String::from_utf8_lossy(&self.0));
        self.0.clear();
        written
    }
}

/// Prints a note for people to standard error; a failure is ignored.
pub fn warn(text: &str) {
    tell(format!("toolyard: {text}\n"));
}

/// Writes a text to standard error, without keys but otherwise unchanged; a failure is ignored.
pub fn tell(text: impl Into<Painted>) {
    let text = text.into();
    let text = without_keys(text.as_str());
    if output::is_stuck() {
        return;
    }
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Makes a panic print like everything else: its text may be hostile, or quote a key.
pub fn print_panics() {
    std::panic::set_hook(Box::new(|info| {
        let thread = std::thread::current();
        let trace = std::backtrace::Backtrace::capture();
        let trace = match trace.status() {
            std::backtrace::BacktraceStatus::Captured => trace.to_string(),
            _ => String::new(),
        };
        warn(&format!("{} {info}\n{trace}", thread.name().unwrap_or("a thread")));
    }));
}

/// The result of a write to standard output.
///
/// # Errors
/// As [`print()`].
pub fn accepted(written: io::Result<()>) -> Result<(), Trouble> {
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Trouble::Failed(format!("cannot write to standard output: {error}")))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Checks before a long session, not after it, that the folder of a file exists.
///
/// # Errors
/// The error names the missing folder.
pub(super) fn expect_folder(path: &Path) -> Result<(), Trouble> {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
            Err(Trouble::Usage(format!("{}: no such folder: {}", path.display(), folder.display())))
        }
        Some(_) | None => Ok(()),
    }
}

/// Checks before a long session, not after it, that a file can be written.
///
/// # Errors
/// The error names the obstacle.
pub fn expect_place(path: &Path) -> Result<(), Trouble> {
    expect_folder(path)?;
    let wrong = |why: String| Err(Trouble::Usage(format!("{}: {why}", path.display())));
    match path.metadata() {
        Ok(there) if there.is_dir() => wrong("is a folder; expected the name of a file".to_owned()),
        // A pipe or a device is opened only when there is something to write.
        Ok(there) if !there.is_file() => Ok(()),
        Ok(_) | Err(_) => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            // Only a file gives certainty; it is removed again at once.
            let probe = tempfile::Builder::new()
                .prefix(".toolyard-")
                .tempfile_in(folder.unwrap_or(Path::new(".")));
            match probe {
                Ok(_) => Ok(()),
                Err(error) => wrong(format!("cannot be written: {error}")),
            }
        }
    }
}

/// Passes a line of a foreign protocol to standard output unchanged, since its reader is a program.
///
/// # Errors
/// The reader has gone.
pub fn pass(line: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(line).and_then(|()| out.flush())
}

/// Standard error, for a started program that writes to it directly.
pub fn errors() -> BorrowedFd<'static> {
    rustix::stdio::stderr()
}
