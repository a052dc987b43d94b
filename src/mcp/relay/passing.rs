//! Passes the lines between a client and a server.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::task::{JoinSet, LocalSet};
use tokio::time::timeout;

use super::book::{AnswerKind, Book, Came, PendingCall};
use super::call::{StdioCall, StdioRelay};
use super::learn;
use super::message::{CallRequest, read};
use super::pieces::{LinePiece, Splitter};
use crate::tool::relayed::{self, RelayNews, way};

/// The time that a line waits for the decision on the call before it, which comes at once unless the call is held.
const ORDER: Duration = Duration::from_secs(1);
/// The time that a server may take to end after its client has, if no call is open.
const FAREWELL: Duration = Duration::from_secs(5);
/// The time that clients wait for an answer without progress notes.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// The largest arguments, in bytes, about which a session decides.
const MOST: usize = 4 << 20;
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
/// and the server does not end, or if a fault ends it. `key`: the name of the server, for the session that gets `news`.
pub async fn relay<I, O>(key: Arc<str>, ends: Ends<I, O>, news: mpsc::UnboundedSender<RelayNews>)
where
    I: AsyncWrite + Unpin + 'static,
    O: AsyncRead + Unpin + 'static,
{
    let Ends { client, to_client, server, to_server } = ends;
    let (lose, lost) = watch::channel(false);
    // One line waits while another one is written: more would only fill the memory.
    let (write, written) = mpsc::channel(1);
    let shared = Rc::new(StdioRelay {
        book: RefCell::default(),
        to_client,
        to_server: write,
        end_server: Notify::new(),
        settled: Notify::new(),
        lost,
    });
    let relay = Relay { key, news, shared: Rc::clone(&shared), calls: RefCell::default() };
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
        // The session may have ended before.
        let _ = relay.news.send(RelayNews::Ended { server: Arc::clone(&relay.key) });
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
    key: Arc<str>,
    news: mpsc::UnboundedSender<RelayNews>,
    shared: Rc<StdioRelay>,
    calls: RefCell<JoinSet<()>>,
}

impl Relay {
    /// Passes the client's lines, until it has ended.
    async fn up(&self, mut client: mpsc::Receiver<LinePiece>) {
        while let Some(piece) = client.recv().await {
            let line = match piece {
                LinePiece::Line(line) => line,
                LinePiece::Part(part) => {
                    let _ = self.shared.to_server.send(part).await;
                    continue;
                }
            };
            match self.heard(&line) {
                Heard::Call(asked) => self.call(*asked, line).await,
                Heard::Needless => {}
                Heard::Other if line.is_empty() => {}
                Heard::Other => {
                    // The writer takes lines as long as this relay lives.
                    let _ = self.shared.to_server.send(line).await;
                }
            }
        }
    }

    fn heard(&self, line: &[u8]) -> Heard {
        let Some((text, message)) = read(line) else { return Heard::Other };
        if let Some(asked) = message.call(text) {
            return Heard::Call(Box::new(asked));
        }
        let mut book = self.shared.book.borrow_mut();
        if message.method.as_deref() == Some("tools/list") {
            message.id().into_iter().for_each(|id| book.list(id));
        }
        match message.cancelled() {
            Some(id) if !book.give_up(&id) => Heard::Needless,
            Some(_) | None => Heard::Other,
        }
    }

    /// Hands a call to the session, and waits until the call is decided or held.
    async fn call(&self, asked: CallRequest, line: Vec<u8>) {
        if line.len() > MOST {
            let (tool, bytes) = (&asked.tool, line.len());
            let text = format!(
                "a call of {tool} has {bytes} bytes: it went to {} unread, since at most {MOST} are read",
                self.key
            );
            let _ = self.news.send(RelayNews::Noticed(text));
            return drop(self.shared.to_server.send(line).await);
        }
        let (to_session, way) = way();
        let given_up = Rc::new(Notify::new());
        let token = asked.token.clone();
        let open = PendingCall {
            given_up: Rc::clone(&given_up),
            is_sent: false,
            answer: None,
            token,
            progress: 0.0,
        };
        let called = relayed::ForeignCall {
            server: Arc::clone(&self.key),
            id: asked.id.shown().into(),
            tool: asked.tool.clone(),
            arguments: asked.arguments.clone(),
            patience: asked.token.is_none().then_some(PATIENCE),
            way: to_session,
        };
        let is_told =
            !self.news.is_closed() && self.shared.book.borrow_mut().open(asked.id.clone(), open);
        if !is_told || self.news.send(RelayNews::Called(Box::new(called))).is_err() {
            // Without a session all calls pass.
            if is_told {
                self.shared.book.borrow_mut().close(&asked.id);
            }
            return drop(self.shared.to_server.send(line).await);
        }
        let (decided, is_decided) = oneshot::channel();
        let structure = self.shared.book.borrow().listing.structure(&asked.tool);
        let decided = Some(decided);
        let call = StdioCall { asked, line, way, given_up, decided, structure, relist: None };
        {
            let mut calls = self.calls.borrow_mut();
            while calls.try_join_next().is_some() {}
            calls.spawn_local(call.pass(Rc::clone(&self.shared)));
        }
        let _ = timeout(ORDER, is_decided).await;
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
        match self.answered(&line) {
            AnswerKind::Call(answer) => {
                let (decided, is_decided) = oneshot::channel();
                match answer.send(Came { line, decided }) {
                    Ok(()) => drop(timeout(ORDER, is_decided).await),
                    // The client has just given up.
                    Err(came) => self.tell(came.line).await,
                }
            }
            AnswerKind::TooLate => {}
            AnswerKind::List => {
                let line = self.listed(line);
                self.tell(line).await;
            }
            AnswerKind::Other => self.tell(line).await,
        }
    }

    fn answered(&self, line: &[u8]) -> AnswerKind {
        let Some((_, message)) = read(line) else { return AnswerKind::Other };
        let mut book = self.shared.book.borrow_mut();
        if message.method.is_some() {
            let progress = message.progress();
            progress.into_iter().for_each(|(token, progress)| book.note_progress(token, progress));
            return AnswerKind::Other;
        }
        message.id().map_or(AnswerKind::Other, |id| book.answer(&id))
    }

    /// The client's version of a list, which the session gets too.
    fn listed(&self, line: Vec<u8>) -> Vec<u8> {
        let line = self.shared.book.borrow().listing.line(&line).unwrap_or(line);
        if let Some((_, message)) = read(&line) {
            let (server, tools) = (Arc::clone(&self.key), learn::tools(&self.key, &message));
            self.shared.book.borrow_mut().listing.learn(&tools);
            // The session may have ended.
            let _ = self.news.send(RelayNews::Offered { server, tools });
        }
        line
    }

    async fn tell(&self, line: Vec<u8>) {
        // If the client is gone, the relay ends.
        let _ = self.shared.to_client.send(line).await;
    }
}

/// Kind of a client's line.
enum Heard {
    Call(Box<CallRequest>),
    /// A cancellation of a call that the server never got.
    Needless,
    Other,
}
