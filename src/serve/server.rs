//! The server of a session: a thread that accepts other sides.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener as StdListener;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::mpsc as blocking;
use std::time::Duration;
use std::{fs, io, process, thread};

use jiff::Timestamp;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc::{Sender, UnboundedReceiver, UnboundedSender, WeakUnboundedSender};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::LocalSet;
use tokio_util::sync::CancellationToken;
use tracing::info;

use super::desk::{Desk, Notice, Notices, STARTER, SideId};
use super::guest;
use super::line::{Hello, SessionLine, VERSION, line_of};
use super::place;
use crate::Seat;
use crate::domain::Command;
use crate::domain::seat::{self, SeatKind, SeatNews, SeatRequest};
use crate::tool::foreign_calls::RelayNews;

/// The most sides at one time, besides the screen that started the session.
const MOST: usize = 16;
/// The time for which the end of a session waits until all sides have read the rest.
const FAREWELL: Duration = Duration::from_secs(1);
/// The most notices that wait for a side. A side with more does not read, and is dropped.
const NOTICES: usize = 64;

/// Description of a session for the sides that attach.
#[derive(Clone, Debug)]
pub struct Opened {
    /// The file to which it writes.
    pub journal: PathBuf,
    /// The current path of that file: it gets its name with its first event.
    pub place: PathBuf,
    /// When it was opened (RFC 3339, UTC).
    pub opened: String,
    /// For people.
    pub title: String,
    /// The channel for news of relays, if the session accepts them.
    pub relays: Option<UnboundedSender<RelayNews>>,
}

/// The server of a session. When it is dropped, the sides get the rest of the records, and the socket is deleted.
#[derive(Debug)]
pub struct Server {
    last: watch::Sender<u64>,
    /// Whether a side other than the session's own screen controls it.
    pub attached: watch::Receiver<bool>,
    /// Stops accepting sides when it is dropped. Not the end of `last`: every event would wake the thread.
    open: Option<oneshot::Sender<()>>,
    ended: blocking::Receiver<()>,
    /// Deletes the socket.
    _socket: Socket,
}

/// A socket's file, which is deleted with this.
#[derive(Debug)]
struct Socket(PathBuf);

impl Drop for Socket {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

impl Server {
    /// Opens the socket of a session, and accepts all sides that connect. Commands of the side that controls go to
    /// `commands`. A session with its own screen gives that screen a seat and, at first, control.
    ///
    /// # Errors
    /// There is no place for the socket, or the system has no thread.
    pub fn open(
        opened: Opened,
        commands: WeakUnboundedSender<Command>,
        has_screen: bool,
    ) -> io::Result<(Self, Option<Seat>)> {
        let path = place::place_for(&opened.place)?;
        let (socket, listener) = listen(&path)?;
        let (last, seen) = watch::channel(0);
        let (open, closed) = oneshot::channel();
        let (tell_end, ended) = blocking::channel();
        let (taken, attached) = watch::channel(false);
        let (seat, starter) = if has_screen { seat() } else { (None, None) };
        let work = move || {
            // The sender is dropped when the thread ends.
            let _tell_end: blocking::Sender<()> = tell_end;
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let served = runtime.and_then(|runtime| {
                let local = LocalSet::new();
                local.block_on(
                    &runtime,
                    serve(
                        listener,
                        AttachHub::new(opened, commands, taken),
                        (seen, closed),
                        starter,
                    ),
                )
            });
            if let Err(error) = served {
                info!(%error, "no screen can attach to this session");
            }
        };
        thread::Builder::new().name("attach".to_owned()).spawn(work)?;
        info!(?path, "opened a socket");
        Ok((Self { last, attached, open: Some(open), ended, _socket: socket }, seat))
    }

    /// Notes that the journal now has this event.
    pub fn note(&self, n: u64) {
        self.last.send_replace(n);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.open = None;
        // The channel is disconnected when the last side has everything.
        let _ = self.ended.recv_timeout(FAREWELL);
    }
}

/// Binds a socket under a temporary name and then renames it, so that a socket with its final name is always served.
fn listen(path: &Path) -> io::Result<(Socket, StdListener)> {
    let new = Socket(path.with_extension(format!("{}{}", process::id(), place::NEW)));
    let _ = fs::remove_file(&new.0);
    let listener = StdListener::bind(&new.0)?;
    fs::set_permissions(&new.0, fs::Permissions::from_mode(0o600))?;
    listener.set_nonblocking(true)?;
    fs::rename(&new.0, path)?;
    Ok((Socket(path.to_owned()), listener))
}

/// The other end of a seat.
struct Starter {
    news: UnboundedSender<SeatNews>,
    requests: UnboundedReceiver<SeatRequest>,
}

fn seat() -> (Option<Seat>, Option<Starter>) {
    let (tell, news) = mpsc::unbounded_channel();
    let (ask, requests) = mpsc::unbounded_channel();
    let seat = seat::Seat { kind: SeatKind::Own, news, requests: ask };
    (Some(seat), Some(Starter { news: tell, requests }))
}

/// State that all sides share. All code here runs on one thread.
pub(super) struct AttachHub {
    pub opened: Opened,
    commands: WeakUnboundedSender<Command>,
    desk: RefCell<Desk>,
    starter: RefCell<Option<UnboundedSender<SeatNews>>>,
    guests: RefCell<BTreeMap<SideId, Sender<Notice>>>,
    /// Whether one of the guests controls the session.
    taken: watch::Sender<bool>,
    next: Cell<SideId>,
    /// Whether the session has ended, so that the journal no longer grows.
    pub is_over: CancellationToken,
}

impl AttachHub {
    pub fn new(
        opened: Opened,
        commands: WeakUnboundedSender<Command>,
        taken: watch::Sender<bool>,
    ) -> Self {
        Self {
            opened,
            commands,
            desk: RefCell::default(),
            starter: RefCell::default(),
            guests: RefCell::default(),
            taken,
            next: Cell::new(STARTER + 1),
            is_over: CancellationToken::new(),
        }
    }

    pub fn hello(&self, n: u64) -> Hello {
        Hello {
            toolyard_attach: VERSION,
            journal: self.opened.journal.to_string_lossy().into_owned(),
            opened: self.opened.opened.clone(),
            title: self.opened.title.clone(),
            pid: process::id(),
            home: place::home(),
            n,
            controller: self.desk.borrow().controller(),
            relays: self.opened.relays.is_some(),
        }
    }

    /// A command of a side that controls.
    ///
    /// # Errors
    /// The command is refused, with the reason.
    pub fn command(&self, side: SideId, command: Command) -> Result<(), String> {
        let name = command.name();
        let desk = self.desk.borrow();
        if !desk.controls(side) {
            let who = desk.controller();
            let who = who.map_or_else(
                || "no screen controls it".to_owned(),
                |who| format!("controlled by {who}"),
            );
            return Err(format!("cannot {name}: {who}; take control first"));
        }
        let sent = self.commands.upgrade().is_some_and(|commands| commands.send(command).is_ok());
        if sent { Ok(()) } else { Err(format!("cannot {name}: the session has ended")) }
    }

    pub fn take(&self, side: SideId) {
        let told = self.desk.borrow_mut().take(side, &now());
        self.tell(told);
    }

    pub fn leave(&self, side: SideId) {
        let told = self.desk.borrow_mut().leave(side, &now());
        self.tell(told);
    }

    fn tell(&self, notices: Notices) {
        self.taken.send_replace(self.desk.borrow().is_taken_by_guest());
        for (side, notice) in notices {
            if side == STARTER {
                let starter = self.starter.borrow();
                // Without its screen the session ends.
                let _ = starter.as_ref().map(|starter| starter.send(news(notice)));
                continue;
            }
            let mut guests = self.guests.borrow_mut();
            if guests.get(&side).is_some_and(|guest| guest.try_send(notice).is_err()) {
                // The connection of a side ends with its notices.
                guests.remove(&side);
            }
        }
    }

    /// Adds a side; `None` if there are too many.
    fn join(&self, name: String) -> Option<(SideId, mpsc::Receiver<Notice>)> {
        let mut guests = self.guests.borrow_mut();
        if guests.len() >= MOST {
            return None;
        }
        let side = self.next.replace(self.next.get() + 1);
        let (tell, notices) = mpsc::channel(NOTICES);
        guests.insert(side, tell);
        self.desk.borrow_mut().join(side, name);
        Some((side, notices))
    }

    fn part(&self, side: SideId) {
        self.guests.borrow_mut().remove(&side);
        let told = self.desk.borrow_mut().part(side, &now());
        self.tell(told);
    }
}

fn news(notice: Notice) -> SeatNews {
    match notice {
        Notice::Control { yours, controller } => SeatNews::Control { yours, controller },
        Notice::Asked(by) => SeatNews::Asked { by },
        Notice::Refused(why) => SeatNews::Refused { why },
    }
}

fn now() -> String {
    Timestamp::now().strftime("%H:%M UTC").to_string()
}

/// Accepts sides until the session ends, and then waits until they have everything.
async fn serve(
    listener: StdListener,
    shared: AttachHub,
    (seen, mut closed): (watch::Receiver<u64>, oneshot::Receiver<()>),
    starter: Option<Starter>,
) -> io::Result<()> {
    let listener = UnixListener::from_std(listener)?;
    let shared = Rc::new(shared);
    let mut asks = starter.map(|starter| {
        *shared.starter.borrow_mut() = Some(starter.news);
        let name = format!("its own screen, pid {}", process::id());
        shared.desk.borrow_mut().join(STARTER, name);
        // The starter knows already.
        let _ = shared.desk.borrow_mut().take(STARTER, &now());
        starter.requests
    });
    let mut sides = tokio::task::JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    sides.spawn_local(meet(stream, Rc::clone(&shared), seen.clone()));
                }
                // If the system has no more files, a later attempt may succeed.
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            },
            Some(_) = sides.join_next() => {}
            Some(request) = asked(&mut asks) => match request {
                SeatRequest::Take => shared.take(STARTER),
                SeatRequest::Leave => shared.leave(STARTER),
            },
            _ = &mut closed => break,
        }
    }
    drop(listener);
    shared.is_over.cancel();
    while sides.join_next().await.is_some() {}
    Ok(())
}

async fn asked(asks: &mut Option<UnboundedReceiver<SeatRequest>>) -> Option<SeatRequest> {
    match asks {
        Some(asks) => asks.recv().await,
        None => None,
    }
}

/// Serves a side until it leaves.
async fn meet(stream: UnixStream, shared: Rc<AttachHub>, seen: watch::Receiver<u64>) {
    let pid = stream.peer_cred().ok().and_then(|peer| peer.pid());
    let name = pid.map_or_else(|| "another program".to_owned(), |pid| format!("pid {pid}"));
    match shared.join(name) {
        Some((side, notices)) => {
            let served = guest::serve(stream, side, &shared, notices, seen).await;
            if let Err(error) = served {
                info!(side, %error, "a connection to this session ended");
            }
            shared.part(side);
        }
        None => {
            let why =
                format!("{MOST} others are attached to this session already; end one of them");
            // The peer need not read it.
            let _ = stream.try_write(line_of(&SessionLine::Refused(why)).as_bytes());
        }
    }
}
