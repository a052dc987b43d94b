//! The messages between toolyard and its reaper: lines of JSON over a socket, with open files beside them.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{self, IoSlice, IoSliceMut, Write};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::{mem::MaybeUninit, os::unix::net::UnixStream, sync::Arc, time::Duration};

use rustix::cmsg_space;
use rustix::io::{FdFlags, fcntl_setfd, retry_on_intr};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// The files that come with a program: its input, its output and its errors.
pub const FILES: usize = 3;

/// A request of toolyard to its reaper.
#[derive(Serialize, Deserialize)]
pub enum ReaperRequest {
    /// Start a program; its files come with this line.
    Start(ProgramLaunch),
    /// Remove this folder when toolyard has ended, if it is there.
    Remove(PathBuf),
    /// End the program that was started with this number.
    End {
        id: u64,
        /// The time that the program may take before it is killed.
        grace: Duration,
    },
}

/// A program to start.
#[derive(Serialize, Deserialize)]
pub struct ProgramLaunch {
    pub id: u64,
    pub program: OsString,
    pub args: Vec<OsString>,
    /// The whole environment of the program.
    pub env: Vec<(OsString, OsString)>,
    /// The working directory; `None` for toolyard's own.
    pub cwd: Option<OsString>,
    /// Whether the input is a terminal, which becomes that of the program's session.
    pub terminal: bool,
}

/// An answer to a start.
#[derive(Serialize, Deserialize)]
pub struct ReaperReply {
    pub id: u64,
    pub news: ProcessEvent,
}

/// A change in the life of a program. The last answer to each start is its end.
#[derive(Serialize, Deserialize)]
pub enum ProcessEvent {
    /// The program runs as this process.
    Started(i32),
    /// The program has ended, and these programs of its descendants still run.
    Left(Vec<String>),
    /// The status as the system encodes it, or why the program did not start.
    Ended(Result<i32, String>),
}

/// Sends a message and the files that belong to it.
///
/// # Errors
/// The system's error, as when the other side has ended.
pub fn send(
    socket: &UnixStream,
    message: &impl Serialize,
    files: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(FILES))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !files.is_empty() && !control.push(SendAncillaryMessage::ScmRights(files)) {
        return Err(io::Error::other("too many files"));
    }
    let slices = [IoSlice::new(&line)];
    let sent = retry_on_intr(|| sendmsg(socket, &slices, &mut control, SendFlags::empty()))?;
    let mut socket = socket;
    socket.write_all(&line[sent..])
}

/// The messages that arrive, and the files that came with them.
pub struct Incoming {
    socket: Arc<UnixStream>,
    bytes: Vec<u8>,
    files: VecDeque<OwnedFd>,
}

impl Incoming {
    pub fn new(socket: Arc<UnixStream>) -> Self {
        Self { socket, bytes: Vec::new(), files: VecDeque::new() }
    }

    /// The next message; `None` once the other side has ended.
    ///
    /// # Errors
    /// The system's error, or a line that is not such a message.
    pub fn next<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        let mut looked_at = 0;
        loop {
            if let Some(end) = memchr::memchr(b'\n', &self.bytes[looked_at..]) {
                let line: Vec<u8> = self.bytes.drain(..=looked_at + end).collect();
                return Ok(Some(serde_json::from_slice(&line)?));
            }
            looked_at = self.bytes.len();
            if self.read()? == 0 {
                return Ok(None);
            }
        }
    }

    /// The files of one program: they arrived before the end of its line.
    pub fn files(&mut self) -> Option<[OwnedFd; FILES]> {
        let files: Vec<OwnedFd> = self.files.drain(..FILES.min(self.files.len())).collect();
        files.try_into().ok()
    }

    fn read(&mut self) -> io::Result<usize> {
        let mut chunk = [0; 16 * 1024];
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(FILES))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let slices = &mut [IoSliceMut::new(&mut chunk)];
        let socket = &*self.socket;
        let got = retry_on_intr(|| recvmsg(socket, slices, &mut control, RecvFlags::empty()))?;
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(files) = message {
                self.files.extend(files);
            }
        }
        // Not every system can do this while it receives them. No program is started in between.
        for file in &self.files {
            fcntl_setfd(file, FdFlags::CLOEXEC)?;
        }
        self.bytes.extend_from_slice(&chunk[..got.bytes]);
        Ok(got.bytes)
    }
}
