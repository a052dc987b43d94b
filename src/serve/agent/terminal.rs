//! A terminal for an agent, shown in toolyard's own. The agent has its own session, so that it ends with toolyard, and
//! a session needs its own terminal: keys, sizes and output are passed between the two.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, PipeWriter, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::mpsc::{self, Receiver, Sender};
use std::{thread, time::Duration};

use filedescriptor::{POLLIN, poll, pollfd};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, Termios};
use rustix::termios::{tcgetattr, tcgetwinsize, tcsetattr, tcsetwinsize};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinHandle;

/// The time that the last output may take after the agent's end.
const DRAIN: Duration = Duration::from_millis(500);

/// An agent's terminal, and toolyard's own. Dropping it waits for the last output, and restores toolyard's terminal.
pub struct Handed {
    outer: File,
    before: Termios,
    /// Closed once all output of the agent is written.
    written: Receiver<()>,
    /// Closed when keys are no longer passed on.
    _keys: PipeWriter,
    sizes: JoinHandle<()>,
}

impl Handed {
    /// Opens a terminal in this one, and returns the agent's end of it.
    ///
    /// # Errors
    /// The descriptor is not a terminal, or the system has no more of them.
    pub fn start(outer: OwnedFd) -> io::Result<(Self, OwnedFd)> {
        let outer = File::from(outer);
        let before = tcgetattr(&outer)?;
        let (inner, its) = opened()?;
        tcsetattr(&its, OptionalActions::Now, &before)?;
        tcsetwinsize(&inner, tcgetwinsize(&outer)?)?;
        let (stopped, keys) = io::pipe()?;
        let (done, written) = mpsc::channel();
        let changes = signal(SignalKind::window_change())?;
        let sizes = tokio::spawn(pass_sizes(changes, outer.try_clone()?, inner.try_clone()?));
        let (from, to) = (outer.try_clone()?, inner.try_clone()?);
        let keys_thread = thread::Builder::new().name("agent-keys".into());
        keys_thread.spawn(move || pass_keys(from, to, &OwnedFd::from(stopped)))?;
        let to = outer.try_clone()?;
        let output_thread = thread::Builder::new().name("agent-output".into());
        output_thread.spawn(move || pass_output(inner, to, done))?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(&outer, OptionalActions::Now, &raw)?;
        Ok((Self { outer, before, written, _keys: keys, sizes }, its))
    }
}

impl Drop for Handed {
    fn drop(&mut self) {
        let _closed = self.written.recv_timeout(DRAIN);
        self.sizes.abort();
        // Fails only if the terminal is gone.
        let _gone = tcsetattr(&self.outer, OptionalActions::Now, &self.before);
    }
}

/// Opens a new terminal; returns both of its ends.
fn opened() -> io::Result<(File, OwnedFd)> {
    let inner = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    fcntl_setfd(&inner, FdFlags::CLOEXEC)?;
    grantpt(&inner)?;
    unlockpt(&inner)?;
    let name = ptsname(&inner, Vec::new())?;
    let mut its = OpenOptions::new();
    // The new terminal must not become that of toolyard's own session, which may have none.
    its.read(true).write(true).custom_flags(OpenptFlags::NOCTTY.bits().cast_signed());
    Ok((File::from(inner), its.open(OsStr::from_bytes(name.as_bytes()))?.into()))
}

async fn pass_sizes(mut changes: Signal, outer: File, inner: File) {
    while changes.recv().await.is_some() {
        // Fails only if a terminal is gone.
        let _gone = tcgetwinsize(&outer).and_then(|size| tcsetwinsize(&inner, size));
    }
}

fn pass_keys(mut outer: File, mut inner: File, stopped: &OwnedFd) {
    let wanted = |fd| pollfd { fd, events: POLLIN, revents: 0 };
    let mut chunk = [0; 4096];
    loop {
        let mut both = [wanted(outer.as_raw_fd()), wanted(stopped.as_raw_fd())];
        match poll(&mut both, None) {
            // A signal reached this thread, such as that of a new size.
            Err(filedescriptor::Error::Poll(error))
                if error.kind() == io::ErrorKind::Interrupted =>
            {
                continue;
            }
            Err(_) => return,
            Ok(_) => {}
        }
        let [keys, stop] = both;
        if stop.revents != 0 {
            return;
        }
        if keys.revents == 0 {
            continue;
        }
        match outer.read(&mut chunk) {
            Ok(read @ 1..) if inner.write_all(chunk.get(..read).unwrap_or_default()).is_ok() => {}
            _ => return,
        }
    }
}

fn pass_output(mut inner: File, mut outer: File, _done: Sender<()>) {
    let mut chunk = [0; 16 * 1024];
    // On Linux, reading fails once nobody holds the agent's end.
    while let Ok(read @ 1..) = inner.read(&mut chunk) {
        if outer.write_all(chunk.get(..read).unwrap_or_default()).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use rustix::termios::{LocalModes, Winsize};

    use super::*;
    use crate::agent::testing::with_reaper;
    use crate::process::{Launch, RunningProgram};

    #[tokio::test]
    async fn an_agent_has_a_terminal_that_shows_in_ours() {
        with_reaper();
        // A terminal that replaces a person's.
        let (mut person, ours) = opened().unwrap();
        let size = Winsize { ws_col: 91, ws_row: 17, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&person, size).unwrap();
        let ours = File::from(ours);
        let is_raw = |terminal: &File| {
            !tcgetattr(terminal).unwrap().local_modes.contains(LocalModes::ICANON)
        };
        let (handed, its) = Handed::start(ours.try_clone().unwrap().into()).unwrap();
        assert!(is_raw(&ours));
        let script = "test -t 1 && stty size && read line < /dev/tty && echo \"got $line\"; \
                      trap 'exit 3' TSTP; echo ready; while :; do sleep 0.05; done";
        let mut command = std::process::Command::new("/bin/sh");
        command.args(["-c", script]).env("PATH", std::env::var_os("PATH").unwrap());
        let files = [std::os::fd::AsFd::as_fd(&its); 3];
        let launch = Launch { files, terminal: true, grace: Duration::ZERO };
        let program = RunningProgram::start_with(&command, &launch).unwrap();
        drop(its);
        let seen = tokio::task::spawn_blocking(move || {
            let (mut seen, mut chunk) = (String::new(), [0; 1024]);
            person.write_all(b"hello\r").unwrap();
            while !seen.contains("ready") {
                let read = person.read(&mut chunk).unwrap();
                seen += &String::from_utf8_lossy(&chunk[..read]);
            }
            // Where tests run in the background, an interrupt is ignored, and a shell cannot change that.
            person.write_all(b"\x1a").unwrap();
            (person, seen)
        });
        let (_person, seen) =
            tokio::time::timeout(Duration::from_secs(20), seen).await.unwrap().unwrap();
        assert!(seen.contains("17 91\r\n") && seen.contains("got hello\r\n"), "{seen}");
        assert_eq!(program.ended().await.unwrap().code(), Some(3));
        drop(handed);
        assert!(!is_raw(&ours));
    }
}
