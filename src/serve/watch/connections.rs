//! The connections of a listener. Idle ones give way to new ones, so that nobody can stop a listener by holding them.

use std::cell::{Cell, RefCell};
use std::error::Error;
use std::net::TcpListener as StdListener;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{future, io};

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1::{self, Parts};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, oneshot};
use tokio::task::spawn_local;
use tokio::time::{Instant, sleep};
use tokio_rustls::server::TlsStream;
use tracing::info;

use super::{AnswerResult, Outgoing, Reset};

/// The most connections that are open while one of them is idle.
const MOST: usize = 256;
/// The time that a client may take to send the head of its first request.
const FIRST: Duration = Duration::from_secs(10);
/// The wait if the system has no more sockets.
const FULL: Duration = Duration::from_millis(50);

/// A connection of a client, plain or encrypted.
pub trait ClientStream: AsyncRead + AsyncWrite + Unpin + Send {
    /// Has the connection reset when it is closed.
    fn reset(&self);
}

impl ClientStream for TcpStream {
    fn reset(&self) {
        let _ = self.set_zero_linger();
    }
}

impl ClientStream for TlsStream<Box<dyn ClientStream>> {
    fn reset(&self) {
        self.get_ref().0.reset();
    }
}

/// A connection that left HTTP, with the bytes that came behind its last request.
pub type Left = (Box<dyn ClientStream>, Bytes);

/// Takes the connection of a request from HTTP.
#[derive(Clone, Default)]
pub struct Upgrade(Arc<Mutex<Option<oneshot::Sender<Left>>>>);

impl Upgrade {
    /// Asks for the connection, which is there once the answer to the request is sent.
    pub fn ask(&self) -> oneshot::Receiver<Left> {
        let (give, take) = oneshot::channel();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(give);
        take
    }

    fn asked(&self) -> Option<oneshot::Sender<Left>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A connection of a client.
struct Connection {
    /// The number of its requests that have no answer yet.
    asked: Cell<usize>,
    has_asked: Cell<bool>,
    /// When it was opened, or its last answer ended.
    since: Cell<Instant>,
    close: Notify,
}

impl Connection {
    fn new() -> Self {
        Self {
            asked: Cell::default(),
            has_asked: Cell::default(),
            since: Cell::new(Instant::now()),
            close: Notify::new(),
        }
    }
}

/// A request at work: as long as its answer goes out.
struct Asked(Rc<Connection>);

impl Asked {
    fn of(connection: &Rc<Connection>) -> Self {
        connection.asked.update(|asked| asked + 1);
        connection.has_asked.set(true);
        Self(Rc::clone(connection))
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.0.asked.update(|asked| asked - 1);
        self.0.since.set(Instant::now());
    }
}

/// Answers requests until this is dropped. Needs a local set.
///
/// # Errors
/// The socket does not work.
pub async fn serve<A: Future<Output = AnswerResult> + 'static>(
    socket: StdListener,
    answer: impl Fn(Request<Incoming>) -> A + Clone + 'static,
) -> io::Result<()> {
    socket.set_nonblocking(true)?;
    let listener = TcpListener::from_std(socket)?;
    let open = Rc::<RefCell<Vec<Rc<Connection>>>>::default();
    loop {
        let accepted = listener.accept().await;
        if accepted.is_err() || open.borrow().len() >= MOST {
            close_oldest(&mut open.borrow_mut());
        }
        let Ok((stream, _)) = accepted else {
            // Usually there are too many open files, and some will be closed.
            sleep(FULL).await;
            continue;
        };
        // Otherwise small frames may wait for one another.
        let _ = stream.set_nodelay(true);
        let connection = Rc::new(Connection::new());
        open.borrow_mut().push(Rc::clone(&connection));
        let (open, answer) = (Rc::clone(&open), answer.clone());
        spawn_local(async move {
            tokio::select! {
                () = serve_one(Box::new(stream), &connection, answer) => {}
                () = connection.close.notified() => {}
                () = without_head(&connection) => {}
            }
            open.borrow_mut().retain(|other| !Rc::ptr_eq(other, &connection));
        });
    }
}

/// Closes the connection that has been idle for the longest time, if one is idle.
fn close_oldest(open: &mut Vec<Rc<Connection>>) {
    let idle = open.iter().enumerate().filter(|(_, connection)| connection.asked.get() == 0);
    if let Some((at, _)) = idle.min_by_key(|(_, connection)| connection.since.get()) {
        open.swap_remove(at).close.notify_one();
    }
}

/// Returns when the first request is too late.
async fn without_head(connection: &Connection) {
    sleep(FIRST).await;
    if connection.has_asked.get() {
        future::pending().await
    }
}

/// Answers the requests of a connection that was opened.
pub async fn serve_opened<A: Future<Output = AnswerResult> + 'static>(
    stream: Box<dyn ClientStream>,
    answer: impl Fn(Request<Incoming>) -> A,
) {
    serve_one(stream, &Rc::new(Connection::new()), answer).await;
}

async fn serve_one<A: Future<Output = AnswerResult> + 'static>(
    stream: Box<dyn ClientStream>,
    client: &Rc<Connection>,
    answer: impl Fn(Request<Incoming>) -> A,
) {
    let upgrade = Upgrade::default();
    let serve = service_fn(|mut request: Request<Incoming>| {
        request.extensions_mut().insert(upgrade.clone());
        let (asked, answered) = (Asked::of(client), answer(request));
        // HTTP ends without the connection, which an upgrade needs.
        Box::pin(async move {
            let answer = answered.await?;
            let until_it_is_sent = move |frame| {
                let _ = &asked;
                frame
            };
            Ok::<_, super::Broken>(
                answer.map(|body| Box::pin(body.map_frame(until_it_is_sent)) as Outgoing),
            )
        })
    });
    let mut builder = http1::Builder::new();
    // The upstream's own date is passed on.
    builder.auto_date_header(false);
    let mut connection = builder.serve_connection(TokioIo::new(stream), serve);
    let ended = future::poll_fn(|cx| connection.poll_without_shutdown(cx)).await;
    let Parts { io, read_buf, .. } = connection.into_parts();
    let mut stream = io.into_inner();
    match (ended, upgrade.asked()) {
        (Ok(()), Some(asked)) => _ = asked.send((stream, read_buf)),
        (Ok(()), None) => _ = stream.shutdown().await,
        (Err(error), _) => {
            info!(%error, "a connection of an agent ended");
            if error.source().is_some_and(|why| why.is::<Reset>()) {
                // With a zero linger, closing it is a reset.
                stream.reset();
            }
        }
    }
}
