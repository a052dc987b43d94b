//! A session that runs: on this thread, for a reader that only listens; or on a thread of its own, so that a
//! screen and the engine never wait for each other. Those two share nothing but two channels.

use std::thread::{self, JoinHandle};
use std::{path::PathBuf, sync::Arc};

use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

use super::{PreparedSession, SessionError};
use crate::domain::{Command, Record, State};
use crate::engine::{self, Listener};
use crate::store::journal::{Header, Journal, JournalError};

/// A session that runs.
pub struct Session {
    /// When it was opened, as its journal says.
    pub opened: String,
    /// For people.
    pub title: String,
    /// Where its journal is written.
    pub journal: Option<PathBuf>,
    /// What happens, in order; it ends with the session. Nobody needs to read it.
    pub records: UnboundedReceiver<Arc<Record>>,
    /// What the session is told. When all senders are gone, it ends.
    pub commands: UnboundedSender<Command>,
    pub engine: Engine,
}

/// The thread of a session.
pub struct Engine(JoinHandle<Result<State, SessionError>>);

impl Engine {
    /// Waits until the session has ended, and gives its last state.
    ///
    /// # Errors
    /// Why it could not begin, or ended before its time.
    pub fn join(self) -> Result<State, SessionError> {
        self.0.join().map_err(|_| SessionError::failed("the engine panicked"))?
    }
}

impl PreparedSession {
    /// Starts the journal, if one is wanted, and runs the session to its end on this thread.
    ///
    /// # Errors
    /// That the journal cannot be written, or why the session could not begin or ended before its time.
    pub async fn run(
        self,
        commands: UnboundedReceiver<Command>,
        listener: Listener,
    ) -> Result<State, SessionError> {
        let journal = self.start_journal(&Header::at(jiff::Timestamp::now()))?;
        self.work(journal, commands, listener).await
    }

    /// Starts the journal, if one is wanted, and the session on a thread of its own.
    ///
    /// # Errors
    /// That the journal cannot be written, or that the system has no thread for it.
    pub fn spawn(self) -> Result<Session, SessionError> {
        let (command, commands) = mpsc::unbounded_channel();
        let (record, records) = mpsc::unbounded_channel();
        let header = Header::at(jiff::Timestamp::now());
        let title = self.workspace.title.clone();
        let journal = self.start_journal(&header)?;
        let path = journal.as_ref().map(|journal| journal.path().to_owned());
        let work = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.map_err(SessionError::failed)?;
            let listener = Box::new(move |seen: &Arc<Record>| {
                // A closed receiver is no error: the journal has every event.
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

    fn start_journal(&self, header: &Header) -> Result<Option<Journal>, SessionError> {
        self.spec.journal.start(&self.config, header).map_err(SessionError::input)
    }

    async fn work(
        self,
        journal: Option<Journal>,
        commands: UnboundedReceiver<Command>,
        listener: Listener,
    ) -> Result<State, SessionError> {
        engine::run(self.setup(journal)?, commands, listener).await.map_err(unwritten)
    }
}

/// Why a session ended before its time.
fn unwritten(error: JournalError) -> SessionError {
    let text = format!("{error}; the journal cannot be written, so the session was ended");
    SessionError::Failed(text)
}
