//! Finds the running sessions of this user.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream as StdStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::timeout;

use super::line::LONGEST;
use crate::line::{AttachLine, Hello, LineReader, VERSION, line_of, parse};
use crate::place;

/// The time that a session may take for its first line, on a busy machine.
const GREETING: Duration = Duration::from_secs(3);

/// A session that takes relays, with an open connection to it.
#[derive(Debug)]
pub struct RelaySession {
    pub hello: Hello,
    pub(super) lines: LineReader<BufReader<OwnedReadHalf>>,
    pub(super) out: OwnedWriteHalf,
}

/// The sockets of this user.
#[derive(Debug, Default)]
pub struct SocketScan {
    pub running: Vec<RelaySession>,
    /// Sessions that take no relays.
    pub others: Vec<Hello>,
    /// Sockets of sessions that have ended without deleting them, or do not answer.
    pub dead: Vec<PathBuf>,
}

impl RelaySession {
    /// Whether the session has the home folder of this process.
    pub fn is_of_this_home(&self) -> bool {
        self.hello.home == place::home()
    }
}

/// Looks for the sessions of this user on this machine.
pub async fn find() -> SocketScan {
    let mut found = SocketScan::default();
    for folder in place::folders() {
        if place::expect_private(&folder).is_err() {
            continue;
        }
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        let is_socket = |entry: &fs::DirEntry| {
            entry.file_type().is_ok_and(|kind| kind.is_socket())
                && entry.path().extension().is_some_and(|extension| extension == "sock")
        };
        for entry in entries.flatten().filter(is_socket) {
            let path = entry.path();
            match timeout(GREETING, meet(&path)).await {
                Ok(Some(running)) if running.hello.relays => found.running.push(running),
                Ok(Some(other)) => found.others.push(other.hello),
                Ok(None) | Err(_) => found.dead.push(path),
            }
        }
    }
    found
}

/// The session behind a socket; `None` if there is none, or one of another version.
async fn meet(socket: &Path) -> Option<RelaySession> {
    // Connecting may block if a session is stopped.
    if place::is_stale(socket) {
        return None;
    }
    let stream = StdStream::connect(socket).ok()?;
    stream.set_nonblocking(true).ok()?;
    let (read, mut out) = UnixStream::from_std(stream).ok()?.into_split();
    let mut lines = LineReader::new(BufReader::new(read), LONGEST);
    let first = lines.next().await.ok()??;
    let hello: Hello = parse(&first).ok()?;
    (hello.toolyard_attach == VERSION).then_some(())?;
    out.write_all(line_of(&AttachLine::ToolyardAttach(VERSION)).as_bytes()).await.ok()?;
    Some(RelaySession { hello, lines, out })
}
