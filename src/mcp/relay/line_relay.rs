//! Passes the lines between a client and a server.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::task::{JoinSet, LocalSet};
use tokio::time::timeout;

use super::assembly::Assembly;
use super::book::{AnswerKind, Book, Came};
use super::call::{ListDecision, RelayedCall, listed};
use super::message::{batch, read};
use super::pieces::{LinePiece, Splitter};
use super::pipes::{StdioRelay, StdioSides, finished};

/// The time that a line waits for the decision on the call before it, which comes at once unless the call is held.
const ORDER: Duration = Duration::from_secs(1);
/// The time that a server may take to end after its client has, if no call is open.
const FAREWELL: Duration = Duration::from_secs(5);
/// Bytes that are read at once.
const READ: usize = 64 << 10;
/// The line that ends the server's input.
const END: Vec<u8> = Vec::new();

/// The four ends of the streams between which lines pass.
pub struct Ends<I, O> {
    /// Lines from the client. The channel ends with the client.
    pub client: mpsc::Receiver<LinePiece>,
    /// Lines to the client. The channel is closed when the client is gone.
    pub to_client: mpsc::Sender<Vec<u8>>,
    /// The server's output.
    pub server: O,
    /// The server's input.
    pub to_server: I,
}

/// Passes lines until the server's output ends and every open call has its answer. Returns also if the client is gone
/// and the server does not end, or if a fault ends it.
pub async fn relay<I, O>(book: Book, ends: Ends<I, O>)
where
    I: AsyncWrite + Unpin + 'static,
    O: AsyncRead + Unpin + 'static,
{
    let Ends { client, to_client, server, to_server } = ends;
    let (lose, lost) = watch::channel(false);
    // One line waits while another one is written: more would only fill the memory.
    let (write, written) = mpsc::channel(1);
    let shared = Rc::new(StdioRelay {
        book: Rc::new(RefCell::new(book)),
        to_client,
        to_server: write,
        end_server: Notify::new(),
        settled: Notify::new(),
        lost,
    });
    let relay = Relay { shared: Rc::clone(&shared), calls: RefCell::default() };
    let passing = async {
        tokio::task::spawn_local(write_to(to_server, written));
        let up = async {
            relay.up(client).await;
            // Held calls must reach the server before it sees the end of its input.
            shared.until(Book::is_all_sent).await;
            let _ = shared.to_server.send(END).await;
            shared.until(Book::is_closed).await;
            tokio::time::sleep(FAREWELL).await;
        };
        tokio::select! {
            () = relay.down(server) => {}
            () = up => {}
            () = shared.end_server.notified() => {}
            () = shared.to_client.closed() => {}
        }
        shared.book.borrow_mut().lose_server();
        let _ = lose.send(true);
        let mut calls = relay.calls.take();
        tokio::select! {
            () = async { while calls.join_next().await.is_some() {} } => {}
            () = shared.to_client.closed() => {}
        }
        shared.book.borrow().end();
    };
    LocalSet::new().run_until(passing).await;
}

impl StdioRelay {
    /// Waits until this condition holds for the open calls.
    async fn until(&self, holds: impl Fn(&Book) -> bool) {
        while !holds(&self.book.borrow()) {
            self.settled.notified().await;
        }
    }
}

async fn write_to(mut server: impl AsyncWrite + Unpin, mut lines: mpsc::Receiver<Vec<u8>>) {
    while let Some(line) = lines.recv().await {
        if line == END || server.write_all(&line).await.is_err() || server.flush().await.is_err() {
            break;
        }
    }
    // The server's input ends here. A server that no longer reads can still write.
    let _ = server.shutdown().await;
    drop(server);
    while lines.recv().await.is_some() {}
}

struct Relay {
    shared: Rc<StdioRelay>,
    calls: RefCell<JoinSet<()>>,
}

impl Relay {
    /// Passes the client's lines, until it has ended.
    async fn up(&self, mut client: mpsc::Receiver<LinePiece>) {
        while let Some(piece) = client.recv().await {
            let line = match piece {
                LinePiece::Line(line) => self.heard(line).await,
                LinePiece::Part(part) => part,
            };
            if !line.is_empty() {
                // The writer takes lines as long as this relay lives.
                let _ = self.shared.to_server.send(line).await;
            }
        }
    }

    /// Reads a line of the client, and returns what the server gets of it now.
    async fn heard(&self, line: Vec<u8>) -> Vec<u8> {
        let book = &self.shared.book;
        let Some((text, message)) = read(&line) else { return self.list(line).await };
        if let Some(asked) = message.call(text) {
            let refusal = book.borrow().refusal(&asked);
            if let Some(answer) = refusal {
                self.tell(answer).await;
                return Vec::new();
            }
            let Some(call) = RelayedCall::of(book, asked, &line, &Rc::default()) else {
                return line;
            };
            let decided = self.start(call);
            let _ = timeout(ORDER, decided).await;
            return Vec::new();
        }
        if message.method.as_deref() == Some("tools/list") {
            message.id().into_iter().for_each(|id| book.borrow_mut().list(id));
        }
        let is_needless = message.cancelled().is_some_and(|id| !book.borrow_mut().give_up(&id));
        if is_needless { Vec::new() } else { line }
    }

    /// Passes a list of requests, unless a call in it is held or changed.
    async fn list(&self, line: Vec<u8>) -> Vec<u8> {
        if batch(&line).is_empty() {
            return line;
        }
        match listed(&self.shared.book, &line, "", &Rc::default()).await {
            ListDecision::On(calls) => {
                for call in calls {
                    let _ = self.start(call).await;
                }
                line
            }
            ListDecision::Refused(answer) => {
                self.tell(answer).await;
                Vec::new()
            }
        }
    }

    /// Starts the way of a call; the receiver ends when the call is sent, held or answered.
    fn start(&self, call: RelayedCall) -> oneshot::Receiver<()> {
        let (decided, is_decided) = oneshot::channel();
        let (relay, asked) = (Rc::clone(&self.shared), call.asked.clone());
        let mut sides = StdioSides { relay, asked, decided: Some(decided), came: None };
        let mut calls = self.calls.borrow_mut();
        while calls.try_join_next().is_some() {}
        calls.spawn_local(async move { call.pass(&mut sides).await });
        is_decided
    }

    /// Passes the server's lines, until its output ends.
    async fn down(&self, mut server: impl AsyncRead + Unpin) {
        let (mut splitter, mut pieces) = (Splitter::default(), Vec::new());
        let mut bytes = vec![0; READ];
        // A broken pipe is an end, too.
        while let Ok(n @ 1..) = server.read(&mut bytes).await {
            splitter.take(&bytes[..n], |piece| pieces.push(piece));
            for piece in pieces.drain(..) {
                self.said(piece).await;
            }
        }
        if let Some(rest) = splitter.rest() {
            self.said(rest).await;
        }
    }

    async fn said(&self, piece: LinePiece) {
        let line = match piece {
            LinePiece::Line(line) if self.shared.book.borrow().waits() => line,
            other => return self.tell(other.into_bytes()).await,
        };
        let line = Rc::new(RefCell::new(Assembly::of(line)));
        let (mut decisions, parts) = (Vec::new(), line.borrow().count());
        for at in 0..parts {
            let part = line.borrow().part(at).to_owned();
            let kind = self.shared.book.borrow_mut().came(&part);
            match kind {
                AnswerKind::Call(answer) => {
                    let (decided, is_decided) = oneshot::channel();
                    // If the client has just given up, the answer passes.
                    if answer.send(Came { line: Rc::clone(&line), at, decided }).is_ok() {
                        decisions.push(is_decided);
                    }
                }
                AnswerKind::TooLate => line.borrow_mut().set(at, Vec::new()),
                AnswerKind::List => {
                    let changed = self.shared.book.borrow_mut().listed(&part);
                    changed.into_iter().for_each(|new| line.borrow_mut().set(at, new));
                }
                AnswerKind::Other => {}
            }
        }
        self.tell(finished(line)).await;
        for decided in decisions {
            let _ = timeout(ORDER, decided).await;
        }
    }

    async fn tell(&self, line: Vec<u8>) {
        if !line.is_empty() {
            // If the client is gone, the relay ends.
            let _ = self.shared.to_client.send(line).await;
        }
    }
}
