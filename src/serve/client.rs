//! The other end of a connection: a screen that shows a session running elsewhere.

use std::os::unix::net::UnixStream as StdStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc as blocking;
use std::time::Duration;
use std::{io, thread};

use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::time::timeout;

use super::line::{AttachLine, Hello, LineReader, SessionLine, VERSION, line_of, parse};
use super::place;
use crate::Seat;
use crate::domain::Command;
use crate::domain::seat::{self, SeatKind, SeatNews, SeatRequest};

/// The time that a session may take for its first line.
const GREETING: Duration = Duration::from_secs(10);
/// The longest line of a session that is read. No records are requested, so lines are short.
const LONGEST: usize = 1 << 20;

/// A session that runs elsewhere.
#[derive(Debug)]
pub struct Attached {
    pub hello: Hello,
    pub seat: Seat,
    /// The channel for commands. They are refused while this side does not control.
    pub commands: UnboundedSender<Command>,
    /// Signals that the journal has grown. It is disconnected when the connection ends.
    pub grown: blocking::Receiver<()>,
}

/// Why a session cannot be attached to.
#[derive(Debug, thiserror::Error)]
pub enum AttachError {
    /// No session writes this journal, or that session opened no socket.
    #[error("{}: no session on this machine has a socket for it", .0.display())]
    NoSocket(PathBuf),
    #[error("{}: the session does not answer; has it been stopped (ctrl-z)?", .0.display())]
    Silent(PathBuf),
    #[error("{}: the session speaks version {found} of the protocol, not {VERSION}; attach with the toolyard that \
             runs it", path.display())]
    Version { path: PathBuf, found: u32 },
    #[error("{}: {why}", path.display())]
    Refused { path: PathBuf, why: String },
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// Attaches to the session that writes this journal. With `takes` it takes control if nobody has it.
///
/// # Errors
/// The reason.
pub fn attach(journal: &Path, takes: bool) -> Result<Attached, AttachError> {
    let io = |source| AttachError::Io { path: journal.to_owned(), source };
    let socket = place::socket_of(journal).map_err(io)?;
    let Some(socket) = socket.filter(|socket| !place::is_stale(socket)) else {
        return Err(AttachError::NoSocket(journal.to_owned()));
    };
    let (news_out, news) = mpsc::unbounded_channel();
    let (requests, asks) = mpsc::unbounded_channel();
    let (commands, commanded) = mpsc::unbounded_channel();
    // One pending wake-up is enough, however much the journal has grown.
    let (wake, grown) = blocking::sync_channel(1);
    let (greet, greeted) = blocking::channel();
    let path = journal.to_owned();
    let work = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = match runtime {
            Ok(runtime) => runtime,
            Err(source) => return drop(greet.send(Err(AttachError::Io { path, source }))),
        };
        runtime.block_on(async {
            match greetings(&socket, &path).await {
                Ok((hello, connection)) => {
                    let takes = takes && hello.controller.is_none();
                    if !takes {
                        let controller = hello.controller.clone();
                        let _ = news_out.send(SeatNews::Control { yours: false, controller });
                    }
                    // The caller of `attach` waits for this.
                    let _ = greet.send(Ok(hello));
                    let line = ScreenLink { connection, news: news_out, asks, commanded, wake };
                    line.hold(takes).await;
                }
                Err(error) => drop(greet.send(Err(error))),
            }
        });
    };
    thread::Builder::new().name("attach".to_owned()).spawn(work).map_err(io)?;
    let hello = greeted.recv().map_err(|_| AttachError::Silent(journal.to_owned()))??;
    let seat = seat::Seat { kind: SeatKind::Attached, news, requests };
    Ok(Attached { hello, seat, commands, grown })
}

/// The halves of a connection: for reading, and for writing.
type SplitSocket = (LineReader<BufReader<OwnedReadHalf>>, OwnedWriteHalf);

/// The first lines.
async fn greetings(socket: &Path, path: &Path) -> Result<(Hello, SplitSocket), AttachError> {
    let io = |source| AttachError::Io { path: path.to_owned(), source };
    let silent = || AttachError::Silent(path.to_owned());
    let stream = match StdStream::connect(socket).and_then(|stream| {
        stream.set_nonblocking(true)?;
        UnixStream::from_std(stream)
    }) {
        Ok(stream) => stream,
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(silent()),
        Err(error) => return Err(io(error)),
    };
    let (read, mut write) = stream.into_split();
    let mut lines = LineReader::new(BufReader::new(read), LONGEST);
    let first = timeout(GREETING, lines.next()).await.map_err(|_| silent())?.map_err(io)?;
    let first = first.ok_or_else(silent)?;
    let refused = |why| AttachError::Refused { path: path.to_owned(), why };
    if let Ok(SessionLine::Refused(why)) = parse(&first) {
        return Err(refused(why));
    }
    // The version is checked before the rest, because a newer hello may look different.
    let version = parse::<serde_json::Value>(&first).map_err(refused)?;
    let version = version.get("toolyard_attach").and_then(serde_json::Value::as_u64);
    let found = version.and_then(|version| u32::try_from(version).ok()).unwrap_or_default();
    if found != VERSION {
        return Err(AttachError::Version { path: path.to_owned(), found });
    }
    let hello = parse(&first).map_err(refused)?;
    let own = line_of(&AttachLine::ToolyardAttach(VERSION));
    write.write_all(own.as_bytes()).await.map_err(io)?;
    Ok((hello, (lines, write)))
}

/// A connection, with the ends that the screen holds.
struct ScreenLink {
    connection: SplitSocket,
    news: UnboundedSender<SeatNews>,
    asks: UnboundedReceiver<SeatRequest>,
    commanded: UnboundedReceiver<Command>,
    wake: blocking::SyncSender<()>,
}

impl ScreenLink {
    /// Carries lines both ways until the session or the screen ends, and says why it ends.
    async fn hold(mut self, takes: bool) {
        if takes && self.send(&AttachLine::Take(true)).await.is_err() {
            return self.lost();
        }
        loop {
            let said = tokio::select! {
                biased;
                line = self.connection.0.next() => match line {
                    Ok(Some(line)) => {
                        if !self.hear(&line) {
                            return;
                        }
                        continue;
                    }
                    Ok(None) | Err(_) => return self.lost(),
                },
                request = self.asks.recv() => match request {
                    Some(SeatRequest::Take) => AttachLine::Take(true),
                    Some(SeatRequest::Leave) => AttachLine::Leave(true),
                    // The screen is gone.
                    None => return,
                },
                command = self.commanded.recv() => match command {
                    Some(command) => AttachLine::Command(Box::new(command)),
                    None => return,
                },
            };
            if self.send(&said).await.is_err() {
                return self.lost();
            }
        }
    }

    async fn send(&mut self, said: &AttachLine) -> io::Result<()> {
        self.connection.1.write_all(line_of(said).as_bytes()).await
    }

    /// Takes a line of the session; false if it is the last one.
    fn hear(&self, line: &[u8]) -> bool {
        let news = match parse::<SessionLine>(line) {
            Ok(SessionLine::N(_)) => {
                // If one is pending already, it covers this.
                let _ = self.wake.try_send(());
                return true;
            }
            Ok(SessionLine::Ended(_)) => return false,
            Ok(SessionLine::Control { yours, controller }) => {
                SeatNews::Control { yours, controller }
            }
            Ok(SessionLine::Asked(by)) => SeatNews::Asked { by },
            Ok(SessionLine::Refused(why)) => SeatNews::Refused { why },
            // A later version may send unknown lines.
            Err(_) => return true,
        };
        // If the screen is gone, the next request reports it.
        let _ = self.news.send(news);
        true
    }

    fn lost(&self) {
        let why = "the connection to the session is lost".to_owned();
        let _ = self.news.send(SeatNews::Lost { why });
    }
}
