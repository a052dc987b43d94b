//! Output of commands. `println!` panics if the reader has gone, as with `| head`; this does not.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::{panic, thread};

use super::trouble::Trouble;
use crate::files::safe_json::safe;
use crate::net::known::{without_keys, without_known};
use crate::ui::text::clean;

/// Prints a text, without known keys and otherwise unchanged.
///
/// # Errors
/// It could not be written, unless the reader has gone, which is not an error.
pub fn print(text: &str) -> Result<(), Trouble> {
    let mut out = io::stdout().lock();
    accepted(out.write_all(without_known(text).as_bytes()).and_then(|()| out.flush()))
}

/// The same; false if the reader has gone.
///
/// # Errors
/// As [`print()`].
pub fn print_if_read(text: &str) -> Result<bool, Trouble> {
    let mut out = io::stdout().lock();
    let written = out.write_all(without_known(text).as_bytes()).and_then(|()| out.flush());
    let is_read = written.is_ok();
    accepted(written).map(|()| is_read)
}

/// The same with an end of line.
///
/// # Errors
/// As [`print()`].
pub fn print_line(text: &str) -> Result<(), Trouble> {
    print(&format!("{text}\n"))
}

/// Prints a text of a model or a tool and an end of line. A terminal obeys what a program only reads: control characters
/// go only to a program.
///
/// # Errors
/// As [`print()`].
pub fn print_foreign(text: &str) -> Result<(), Trouble> {
    if !io::stdout().is_terminal() {
        return print_line(text);
    }
    let lines: Vec<_> = text.lines().map(clean).collect();
    print_line(&lines.join("\n"))
}

/// Prints JSON and an end of line, safe for a terminal.
///
/// # Errors
/// As [`print()`].
pub fn print_json(json: &str) -> Result<(), Trouble> {
    print_line(&safe(json))
}

/// Prints a note for people to standard error; a failure is ignored. A text may quote a hostile
/// file; control characters are removed before it reaches a terminal.
pub fn warn(text: &str) {
    let text = without_keys(text);
    let lines: Vec<_> = text.lines().map(clean).collect();
    let _ = writeln!(io::stderr(), "toolyard: {}", lines.join("\n"));
}

/// Prints panics without known keys from now on: a message can quote the text that it is about.
pub fn hide_keys_in_panics() {
    panic::set_hook(Box::new(|info| {
        let name = thread::current().name().unwrap_or("without a name").to_owned();
        let trace = Backtrace::capture();
        let trace = (trace.status() == BacktraceStatus::Captured).then(|| format!("\n{trace}"));
        warn(&format!("thread {name} {info}{}", trace.unwrap_or_default()));
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

/// Finds out before a long session, and not after it, that its file has no place.
///
/// # Errors
/// Which folder is not there.
pub(super) fn expect_folder(path: &Path) -> Result<(), Trouble> {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
            Err(Trouble::Usage(format!("{}: no such folder: {}", path.display(), folder.display())))
        }
        Some(_) | None => Ok(()),
    }
}

/// Finds out before a long session, and not after it, that a file cannot be written.
///
/// # Errors
/// What is in its way.
pub(super) fn expect_place(path: &Path) -> Result<(), Trouble> {
    expect_folder(path)?;
    let wrong = |why: String| Err(Trouble::Usage(format!("{}: {why}", path.display())));
    match path.metadata() {
        Ok(there) if there.is_dir() => wrong("is a folder; expected the name of a file".to_owned()),
        // A pipe or a device is opened when there is something to write.
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
