//! Input from the terminal: a thread reads bytes and notes when they came, [`framer`] cuts them into keys and reports,
//! [`decode`] says what these mean.
//!
//! The thread sleeps until there are bytes, and ends when [`Inputs`] is dropped, so that another program can have the
//! terminal.

mod decode;
pub mod framer;
mod grammar;

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::UnixStream;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use filedescriptor::{POLLHUP, POLLIN, poll, pollfd};
use ratatui::crossterm::event::Event as Input;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

pub use self::decode::{TerminalEvent, read};
use self::framer::Framer;
use super::terminal;

/// How long a terminal may take to answer. Even a later answer is not taken for keys.
const OWED: Duration = Duration::from_secs(3);

/// How long the loss of the terminal is held back, so that the signal for it can end the program first.
const GONE: Duration = Duration::from_millis(100);

/// Bytes that came, and when.
type InputChunk = (Vec<u8>, Instant);

/// The terminal's side of the screen.
pub struct Inputs {
    pieces: UnboundedReceiver<io::Result<InputChunk>>,
    framer: Framer,
    news: VecDeque<TerminalEvent>,
    resized: Signal,
    /// Until when the terminal owes an answer.
    owed: Option<Instant>,
    reader: InputReader,
}

/// The thread that reads; dropping it ends it.
struct InputReader {
    stop: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
}

impl Inputs {
    /// Begins to read.
    ///
    /// # Errors
    /// There is no terminal to read, or no thread.
    pub fn new() -> io::Result<Self> {
        let tty = tty()?;
        let (stop, stopped) = UnixStream::pair()?;
        let (sender, pieces) = unbounded_channel();
        let read = move || {
            if let Err(error) = pass_on(tty, &stopped, &sender) {
                thread::sleep(GONE);
                let _ = sender.send(Err(error));
            }
        };
        let thread = thread::Builder::new().name("keys".to_owned()).spawn(read)?;
        Ok(Self {
            pieces,
            framer: Framer::new(Instant::now()),
            news: VecDeque::new(),
            resized: signal(SignalKind::window_change())?,
            owed: None,
            reader: InputReader { stop: Some(stop), thread: Some(thread) },
        })
    }

    /// Ends the thread that reads; events that have arrived stay.
    pub fn end_reader(&mut self) {
        self.reader.end();
    }

    /// Puts back events that were not handled: they come next.
    pub fn put_back(&mut self, events: Vec<TerminalEvent>) {
        events.into_iter().rev().for_each(|event| self.news.push_front(event));
    }

    /// Expects answers: the terminal was just sent queries, and says when it has answered.
    pub fn expect(&mut self) {
        self.owed = Some(Instant::now() + OWED);
        self.framer.expect(self.owed);
    }

    /// Waits for the next event. Cancelling the wait loses no event.
    ///
    /// # Errors
    /// The terminal is gone.
    pub async fn next(&mut self) -> io::Result<TerminalEvent> {
        loop {
            if let Some(news) = self.ready()? {
                return Ok(news);
            }
            let due = self.framer.due().into_iter().chain(self.owed).min();
            let due = async {
                match due {
                    Some(due) => tokio::time::sleep_until(due.into()).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                piece = self.pieces.recv() => self.take(piece)?,
                _ = self.resized.recv() => {
                    let (columns, rows) = terminal::size().unwrap_or_default();
                    self.news.push_back(TerminalEvent::Input(Input::Resize(columns, rows)));
                }
                () = due => {}
            }
        }
    }

    /// Returns the next event that has already arrived.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn ready(&mut self) -> io::Result<Option<TerminalEvent>> {
        while let Ok(piece) = self.pieces.try_recv() {
            self.take(Some(piece))?;
        }
        let now = Instant::now();
        self.framer.pass(now);
        if self.owed.is_some_and(|until| until <= now) {
            self.news.push_back(TerminalEvent::Silent);
        }
        while let Some(unit) = self.framer.unit() {
            self.news.extend(read(unit));
        }
        let news = self.news.pop_front();
        if matches!(news, Some(TerminalEvent::Answered | TerminalEvent::Silent)) {
            self.owed = None;
            self.framer.expect(None);
        }
        Ok(news)
    }

    fn take(&mut self, piece: Option<io::Result<InputChunk>>) -> io::Result<()> {
        let (bytes, came) = piece.ok_or(io::ErrorKind::UnexpectedEof)??;
        self.framer.feed(&bytes, came);
        Ok(())
    }
}

impl InputReader {
    fn end(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for InputReader {
    fn drop(&mut self) {
        self.end();
    }
}

/// Standard input if it is a terminal, else the controlling terminal of the program.
fn tty() -> io::Result<File> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return stdin.as_fd().try_clone_to_owned().map(File::from);
    }
    File::open("/dev/tty")
}

/// Reads until the other end of `stopped` is closed.
fn pass_on(
    mut tty: File,
    stopped: &UnixStream,
    pieces: &UnboundedSender<io::Result<InputChunk>>,
) -> io::Result<()> {
    let mut buffer = [0; 4096];
    let waits = |fd| pollfd { fd, events: POLLIN, revents: 0 };
    loop {
        let mut all = [waits(tty.as_raw_fd()), waits(stopped.as_raw_fd())];
        match poll(&mut all, None) {
            Err(filedescriptor::Error::Poll(error))
                if error.kind() == io::ErrorKind::Interrupted =>
            {
                continue;
            }
            polled => polled.map_err(io::Error::other)?,
        };
        if all[1].revents != 0 {
            return Ok(());
        }
        if all[0].revents & (POLLIN | POLLHUP) == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        match tty.read(&mut buffer) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(n) => {
                if pieces.send(Ok((buffer[..n].to_vec(), Instant::now()))).is_err() {
                    return Ok(());
                }
            }
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock
                ) => {}
            Err(error) => return Err(error),
        }
    }
}
