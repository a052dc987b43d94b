//! A hidden terminal: a tour runs in it if there is no other, as in CI.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, ExitStatus};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// Cells of the terminal.
const SIZE: (u16, u16) = (120, 40);
/// The sequence with which a program leaves the screen. The output after it is for people.
const LEFT: &[u8] = b"\x1b[?1049l";

/// Runs this program again with the same arguments in such a terminal. Returns its exit status, and its output after it
/// left the screen.
///
/// # Errors
/// There are no pseudo-terminals here, or the program cannot be started.
pub fn run_again() -> io::Result<(ExitStatus, String)> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let (columns, rows) = SIZE;
    let size = Winsize { ws_col: columns, ws_row: rows, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&master, size)?;
    let name = ptsname(&master, Vec::new())?;
    let slave =
        OpenOptions::new().read(true).write(true).open(OsStr::from_bytes(name.as_bytes()))?;
    let mut again = Command::new(std::env::current_exe()?);
    again.args(std::env::args_os().skip(1)).stdin(slave.try_clone()?).stdout(slave);
    if std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb") {
        again.env("TERM", "xterm-256color");
    }
    let mut child = again.spawn()?;
    // Only the program keeps its end of the terminal, so that reading ends with it.
    drop(again);
    let said = read(File::from(master));
    Ok((child.wait()?, said))
}

/// Reads the output after the screen was left, without escape sequences.
fn read(mut terminal: File) -> String {
    let mut kept = Vec::new();
    let mut chunk = [0; 8192];
    // On Linux reading fails once nobody writes any more.
    while let Ok(count @ 1..) = terminal.read(&mut chunk) {
        kept.extend_from_slice(&chunk[..count]);
        let found = kept.windows(LEFT.len()).rposition(|window| window == LEFT);
        // A screen is redrawn for minutes: only its end may matter.
        kept.drain(..found.unwrap_or(kept.len().saturating_sub(chunk.len())));
    }
    let said = kept.strip_prefix(LEFT).unwrap_or(&kept);
    plain(&String::from_utf8_lossy(said))
}

/// A text without escape sequences and carriage returns.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut parts = text.split('\x1b');
    plain.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let rest = match part.strip_prefix('[') {
            Some(sequence) => {
                let end = sequence.find(|c: char| ('@'..='~').contains(&c));
                end.map_or("", |end| &sequence[end + 1..])
            }
            None => part.get(1..).unwrap_or_default(),
        };
        plain.push_str(rest);
    }
    plain.replace('\r', "")
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn sequences_are_left_out() {
        assert_eq!(plain("\x1b[?25h\x1b[0mdone\x1b[K\r\nagain\r\n\x1b7"), "done\nagain\n");
    }
}
