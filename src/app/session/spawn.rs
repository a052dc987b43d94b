//! A running session: on this thread, for a passive reader; or on a thread of its own, so that a
//! screen and the engine never wait for each other. Those two share only two channels.

use std::thread::{self, JoinHandle};
use std::{path::PathBuf, sync::Arc};

use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

use super::{PreparedSession, SessionError};
use crate::domain::{Command, Record, State, tokens};
use crate::engine::{self, Listener};
use crate::store::journal::{Header, Journal, JournalError};

/// A running session.
pub struct Session {
    /// Its opening time, as in its journal.
    pub opened: String,
    /// For people.
    pub title: String,
    /// Where its journal is written.
    pub journal: Option<PathBuf>,
    /// Its records, in order; the channel ends with the session. Reading it is optional.
    pub records: UnboundedReceiver<Arc<Record>>,
    /// Commands for the session. When all senders are gone, it ends.
    pub commands: UnboundedSender<Command>,
    pub engine: Engine,
}

/// The thread of a session.
pub struct Engine(JoinHandle<Result<State, SessionError>>);

impl Engine {
    /// Waits for the session's end, and returns its last state.
    ///
    /// # Errors
    /// Why it could not start, or ended early.
    pub fn join(self) -> Result<State, SessionError> {
        self.0.join().map_err(|_| SessionError::failed("the engine panicked"))?
    }
}

impl PreparedSession {
    /// Starts the journal, if requested, and runs the session to its end on this thread.
    ///
    /// # Errors
    /// The journal cannot be written, or the session could not start or ended early.
    pub async fn run(
        self,
        commands: UnboundedReceiver<Command>,
        listener: Listener,
    ) -> Result<State, SessionError> {
        let journal = self.start_journal(&self.header())?;
        self.work(journal, commands, listener).await
    }

    /// Starts the journal, if requested, and the session on a thread of its own.
    ///
    /// # Errors
    /// The journal cannot be written, or no thread is available.
    pub fn spawn(self) -> Result<Session, SessionError> {
        let (command, commands) = mpsc::unbounded_channel();
        let (record, records) = mpsc::unbounded_channel();
        let header = self.header();
        let title = self.workspace.title.clone();
        let journal = self.start_journal(&header)?;
        let path = journal.as_ref().map(|journal| journal.path().to_owned());
        let work = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.map_err(SessionError::failed)?;
            let listener = Box::new(move |seen: &Arc<Record>| {
                // A closed receiver is not an error: the journal has every event.
                let _ = record.send(Arc::clone(seen));
            });
            runtime.block_on(self.work(journal, commands, listener))
        };
        let engine = thread::Builder::new().name("engine".to_owned()).spawn(work);
        let engine = Engine(engine.map_err(SessionError::failed)?);
        Ok(Session {
            opened: header.opened,
            title,
            journal: path,
            records,
            commands: command,
            engine,
        })
    }

    fn header(&self) -> Header {
        Header { parent: self.spec.parent.clone(), ..Header::at(jiff::Timestamp::now()) }
    }

    fn start_journal(&self, header: &Header) -> Result<Option<Journal>, SessionError> {
        self.spec.journal.start(&self.config, header).map_err(SessionError::input)
    }

    async fn work(
        self,
        journal: Option<Journal>,
        commands: UnboundedReceiver<Command>,
        listener: Listener,
    ) -> Result<State, SessionError> {
        // Beside the rest of the start, so that the first model call does not wait for it. A session that
        // is paused leaves it to the first count, since the table takes memory.
        if !self.spec.paused {
            let _ = thread::Builder::new().name("tokens".to_owned()).spawn(tokens::load);
        }
        engine::run(self.setup(journal)?, commands, listener).await.map_err(unwritten)
    }
}

/// Why a session ended early.
fn unwritten(error: JournalError) -> SessionError {
    let text = format!("{error}; the session ended because the journal cannot be written");
    SessionError::Failed(text)
}
