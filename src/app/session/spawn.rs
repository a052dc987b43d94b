//! A session that runs on a thread of its own, so that its reader and the engine never wait for each
//! other; the two share nothing but two channels.

use std::thread::{self, JoinHandle};
use std::{path::PathBuf, sync::Arc};

use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

use super::{Prepared, SessionError};
use crate::domain::{Command, Record, State};
use crate::engine;
use crate::store::journal::{Header, JournalError};

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

impl Prepared {
    /// Starts the journal, if one is wanted, and the session.
    ///
    /// # Errors
    /// That the journal cannot be written, or that the system has no thread for it.
    pub fn spawn(self) -> Result<Session, SessionError> {
        let (command, commands) = mpsc::unbounded_channel();
        let (record, records) = mpsc::unbounded_channel();
        let header = Header::at(jiff::Timestamp::now());
        let title = self.workspace.title.clone();
        let journal = self.spec.journal.start(&self.config, &header);
        let journal = journal.map_err(SessionError::input)?;
        let path = journal.as_ref().map(|journal| journal.path().to_owned());
        let work = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.map_err(SessionError::failed)?;
            runtime.block_on(async {
                let setup = self.setup(journal)?;
                let listener = Box::new(move |seen: &Arc<Record>| {
                    // A closed receiver is no error: the journal has every event.
                    let _ = record.send(Arc::clone(seen));
                });
                engine::run(setup, commands, listener).await.map_err(unwritten)
            })
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
}

/// Why a session ended before its time.
fn unwritten(error: JournalError) -> SessionError {
    let text = format!("{error}; the journal cannot be written, so the session was ended");
    SessionError::Failed(text)
}
