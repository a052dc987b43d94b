//! The client and the server of a call whose lines pass over pipes.

use std::cell::RefCell;
use std::rc::Rc;

use tokio::sync::{Notify, mpsc, oneshot, watch};

use super::answer;
use super::assembly::Assembly;
use super::book::{Book, Came};
use super::call::{Given, Sides};
use super::message::CallRequest;

/// Why a call fails if its server has ended.
const LOST: &str = "the server ended while the call ran: its outcome is unknown";

/// State that all calls of a relay share.
pub struct StdioRelay {
    pub book: Rc<RefCell<Book>>,
    pub to_client: mpsc::Sender<Vec<u8>>,
    pub to_server: mpsc::Sender<Vec<u8>>,
    /// Ends the server's program.
    pub end_server: Notify,
    /// Signals that a call was sent on, or has its answer.
    pub settled: Notify,
    /// Whether the server has ended.
    pub lost: watch::Receiver<bool>,
}

/// The sides of one call.
pub struct StdioSides {
    pub relay: Rc<StdioRelay>,
    pub asked: CallRequest,
    /// Dropped as soon as the call is decided: later lines wait for that.
    pub decided: Option<oneshot::Sender<()>>,
    /// The line with the server's answer, and its place there.
    pub came: Option<(Rc<RefCell<Assembly>>, usize)>,
}

impl Sides for StdioSides {
    async fn say(&mut self, line: Vec<u8>) {
        // If the client is gone, the relay ends.
        let _ = self.relay.to_client.send(line).await;
    }

    async fn ask(&mut self, request: Vec<u8>) -> Result<Option<Vec<u8>>, String> {
        let came = self.relay.book.borrow_mut().send(&self.asked.id);
        let Some(came) = came else { return std::future::pending().await };
        if !request.is_empty() {
            let _ = self.relay.to_server.send(request).await;
        }
        self.decide();
        self.relay.settled.notify_waiters();
        let Came { line, at, decided } = came.await.map_err(|_| LOST.to_owned())?;
        let part = line.borrow().part(at).to_owned();
        (self.came, self.decided) = (Some((line, at)), Some(decided));
        Ok(Some(part))
    }

    fn lost(&self) -> impl Future<Output = ()> + 'static {
        let mut lost = self.relay.lost.clone();
        async move { drop(lost.wait_for(|lost| *lost).await) }
    }

    fn decide(&mut self) {
        self.decided = None;
    }

    async fn give(&mut self, given: Given) {
        let (mut now, mut ends, mut stops) = (None, false, false);
        match given {
            Given::AsCame => {}
            Given::Nothing => now = Some(Vec::new()),
            Given::Made { line, ends_server, cancels } => {
                (now, ends, stops) = (Some(line), ends_server, cancels && !ends_server);
            }
        }
        let line = match self.came.take() {
            Some((line, at)) => {
                now.into_iter().for_each(|new| line.borrow_mut().set(at, new));
                finished(line)
            }
            None => now.unwrap_or_default(),
        };
        if !line.is_empty() {
            self.say(line).await;
        }
        if ends {
            self.relay.end_server.notify_one();
        }
        if stops {
            let _ = self.relay.to_server.send(answer::cancel(&self.asked)).await;
        }
        self.decide();
        self.relay.settled.notify_waiters();
    }
}

/// The client's line, once all calls with an answer in it are decided; else nothing.
pub fn finished(line: Rc<RefCell<Assembly>>) -> Vec<u8> {
    match Rc::try_unwrap(line) {
        Ok(line) => line.into_inner().into_line(),
        Err(_) => Vec::new(),
    }
}
