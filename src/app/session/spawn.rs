//! A running session: on this thread, for a passive reader; or on its own thread, so that a screen never waits for the
//! engine, and the engine waits only for a screen that is far behind. They share only channels.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender, WeakUnboundedSender};
use tokio::sync::watch;
use tracing::info;

use super::JournalChoice;
use super::{PreparedSession, SessionError, SessionSpec};
use crate::domain::event::json_of;
use crate::domain::{Command, Record, State, tokens};
use crate::engine::{self, Listener, Setup};
use crate::net::known;
use crate::serve::{Opened, Server};
use crate::store::journal::{self, Header, Journal, JournalError};
use crate::ui::{Remark, Seat, view::Tone};

/// A running session.
pub struct SessionHandle {
    /// Opening time of the session, as in its journal.
    pub opened: String,
    /// Title for people.
    pub title: String,
    /// Path of the journal, if one is written.
    pub journal: Option<PathBuf>,
    /// Records of the session, in order. The channel ends with the session; reading it is optional.
    pub records: UnboundedReceiver<Arc<Record>>,
    /// Takes the number of the last record read; the session does not run far ahead of it.
    pub taken: watch::Sender<u64>,
    /// Commands for the session. When all senders are gone, it ends.
    pub commands: UnboundedSender<Command>,
    /// The place of the session's own screen, if others can attach.
    pub seat: Option<Seat>,
    pub engine: Engine,
}

/// The thread of a session.
pub struct Engine {
    thread: JoinHandle<Result<State, SessionError>>,
    /// Why the session broke off; it is set before the channel of records ends.
    pub broken: Remark,
}

impl Engine {
    /// Waits for the session's end, and returns its last state.
    ///
    /// # Errors
    /// Why it could not start, or ended early.
    pub fn join(self) -> Result<State, SessionError> {
        self.thread.join().map_err(|_| SessionError::failed("the engine panicked"))?
    }
}

impl PreparedSession {
    /// Starts the journal, if requested, and runs the session to its end on this thread. Commands of attached screens
    /// go to `attached`, if that is given.
    ///
    /// # Errors
    /// The journal cannot be written, or the session could not start or ended early.
    pub async fn run(
        self,
        commands: UnboundedReceiver<Command>,
        attached: Option<WeakUnboundedSender<Command>>,
        listener: Listener,
    ) -> Result<State, SessionError> {
        Ok(self.run_kept(commands, attached, listener).await?.0)
    }

    /// As [`run`](Self::run), and returns the path of the journal, too.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub async fn run_kept(
        mut self,
        commands: UnboundedReceiver<Command>,
        attached: Option<WeakUnboundedSender<Command>>,
        mut listener: Listener,
    ) -> Result<(State, Option<PathBuf>), SessionError> {
        let header = self.header();
        let mut journal = self.start_journal(&header)?;
        if let (Some(journal), Some(copy)) = (&mut journal, self.copy.take()) {
            journal.copy_to(copy, &header).map_err(SessionError::failed)?;
        }
        let path = journal.as_ref().map(|journal| journal.path().to_owned());
        let mut seats = None;
        if let (Some(attached), Some(journal)) = (attached, &journal)
            && let Some((server, _)) = self.open_socket(journal, &header, attached, false)
        {
            seats = Some(server.attached.clone());
            listener = Box::new(move |seen: &Arc<Record>| {
                listener(seen);
                server.note(seen.n);
            });
        }
        let state = self.work(journal, commands, listener, (None, seats)).await?;
        Ok((state, path))
    }

    /// Starts the journal, if requested, and the session on its own thread.
    ///
    /// # Errors
    /// The journal cannot be written, or no thread is available.
    pub fn spawn(self) -> Result<SessionHandle, SessionError> {
        let (command, commands) = mpsc::unbounded_channel();
        let (record, records) = mpsc::unbounded_channel();
        let (taken, behind) = watch::channel(u64::MAX);
        let header = self.header();
        let title = self.workspace.title.clone();
        let journal = self.start_journal(&header)?;
        let path = journal.as_ref().map(|journal| journal.path().to_owned());
        let socket = journal
            .as_ref()
            .filter(|_| self.is_attachable)
            .and_then(|journal| self.open_socket(journal, &header, command.downgrade(), true));
        let (server, seat) = socket.unzip();
        let broken = Remark::default();
        let (why, open) = (Arc::clone(&broken), record.clone());
        let work = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.map_err(SessionError::failed)?;
            let listener = Box::new(move |seen: &Arc<Record>| {
                // A closed receiver is not an error: the journal has every event.
                let _ = record.send(Arc::clone(seen));
                if let Some(server) = &server {
                    server.note(seen.n);
                }
            });
            let ended =
                runtime.block_on(self.work(journal, commands, listener, (Some(behind), None)));
            if let Err(error) = &ended {
                let _ = why.set((Tone::Bad, format!("session interrupted: {error}")));
            }
            // The screen looks for the reason after the last record.
            drop(open);
            ended
        };
        let thread = thread::Builder::new().name("engine".to_owned()).spawn(work);
        let engine = Engine { thread: thread.map_err(SessionError::failed)?, broken };
        Ok(SessionHandle {
            opened: header.opened,
            title,
            journal: path,
            records,
            taken,
            commands: command,
            seat: seat.flatten(),
            engine,
        })
    }

    fn header(&self) -> Header {
        // Set even for a session without any work, whose events are made again: it must not be resumed twice.
        let resumed = self.spec.resumed.as_deref();
        let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
        let own = SessionSpec { resumed: None, repeats_unknown: false, ..self.spec.anchored() };
        // By now, keys that somebody wrote into a task or an address are known.
        let spec = json_of(&own);
        let spec = known::redacted(&spec, |json| serde_json::from_str(json).ok()).unwrap_or(spec);
        let fork = self.spec.fork.as_deref();
        let of = fork.map(|fork| &*fork.of).or(self.spec.recorded.as_deref());
        Header {
            parent: self.spec.parent.clone().or_else(|| name(of?)),
            parent_event: fork.map(|fork| fork.at).or(self.spec.fork_at),
            continues: resumed.and_then(name),
            continues_id: resumed
                .and_then(|path| journal::JournalReader::open(path).ok()?.header.id),
            spec: Some(spec),
            ..Header::at(jiff::Timestamp::now())
        }
    }

    /// Opens the socket for other screens. A session also runs without one.
    fn open_socket(
        &self,
        journal: &Journal,
        header: &Header,
        commands: WeakUnboundedSender<Command>,
        has_screen: bool,
    ) -> Option<(Server, Option<Seat>)> {
        let (path, place) = (journal.path(), journal.place().to_owned());
        let journal = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let (opened, title) = (header.opened.clone(), self.workspace.title.clone());
        let relays = self.feed.as_ref().and_then(|feed| feed.relays.clone());
        let opened = Opened { journal, place, opened, title, relays };
        let server = Server::open(opened, commands, has_screen);
        server.inspect_err(|error| info!(%error, "no screen can attach to this session")).ok()
    }

    fn start_journal(&self, header: &Header) -> Result<Option<Journal>, SessionError> {
        let started = self.spec.journal.start(&self.config, header);
        started.map_err(|error| match (&self.spec.journal, &error) {
            (JournalChoice::Configured, JournalError::Io { .. }) => SessionError::input(format!(
                "{error}; the journal cannot be written there: name another file with --journal FILE, set \
                 `[session] journals` in the configuration, or run with --no-journal"
            )),
            _ => SessionError::input(error),
        })
    }

    async fn work(
        self,
        journal: Option<Journal>,
        commands: UnboundedReceiver<Command>,
        listener: Listener,
        (taken, attached): (Option<watch::Receiver<u64>>, Option<watch::Receiver<bool>>),
    ) -> Result<State, SessionError> {
        // In parallel with the rest of the start, so that the first model call does not wait for the table. A paused
        // session loads it for the first count, since it takes memory.
        if !self.spec.paused {
            let _ = thread::Builder::new().name("tokens".to_owned()).spawn(tokens::load);
        }
        let setup = Setup { taken, attached, ..self.setup(journal)? };
        engine::run(setup, commands, listener).await.map_err(unwritten)
    }
}

/// Why a session ended early.
fn unwritten(error: JournalError) -> SessionError {
    let text = format!("{error}; the session ended because the journal cannot be written");
    SessionError::failed(text)
}
