//! A thread that syncs a journal to the disk and checks that the file is still there.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::{thread, time::Duration};

use tokio::sync::Notify;

use crate::shared::Shared;

/// The interval between checks that the file is still there.
const LOOK: Duration = Duration::from_millis(200);
/// How long a sync waits for further requests: a fast session ends hundreds of tasks in a second.
const GATHER: Duration = Duration::from_millis(20);

/// A thread that waits for the disk.
#[derive(Debug)]
pub(super) struct Syncer {
    asked: SyncSender<()>,
    failed: Shared<Option<io::Error>>,
    notify: Arc<Notify>,
}

impl Syncer {
    /// # Errors
    /// The system has no thread or no second handle of the file.
    pub fn new(file: &File, watched: Watched) -> io::Result<Self> {
        let file = file.try_clone()?;
        // Requests that arrive while the disk is busy become one further wait, however many they are.
        let (asked, waits) = sync_channel(1);
        let failed = Shared::from(None);
        let notify = Arc::new(Notify::new());
        let (tell, wake) = (failed.clone(), Arc::clone(&notify));
        let sync = move || {
            loop {
                let done = match waits.recv_timeout(LOOK) {
                    Ok(()) => {
                        thread::sleep(GATHER);
                        file.sync_data().and_then(|()| watched.expect())
                    }
                    Err(RecvTimeoutError::Timeout) => watched.expect(),
                    Err(RecvTimeoutError::Disconnected) => return,
                };
                if let Err(error) = done {
                    tell.lock().get_or_insert(error);
                    wake.notify_one();
                }
            }
        };
        thread::Builder::new().name("journal".to_owned()).spawn(sync)?;
        Ok(Self { asked, failed, notify })
    }

    /// Requests a sync of everything written so far.
    pub fn ask(&self) {
        // If the channel is full, a wait that has not begun yet covers this request too.
        let _ = self.asked.try_send(());
    }

    /// Wakes when a wait has failed or the file is gone.
    pub fn notify(&self) -> Arc<Notify> {
        Arc::clone(&self.notify)
    }

    /// Returns the error of a failed wait, once.
    pub fn failure(&self) -> Option<io::Error> {
        self.failed.lock().take()
    }
}

/// A journal file that must stay in its place once it has its name, with the number of bytes written.
#[derive(Clone, Debug)]
pub(super) struct Watched {
    path: PathBuf,
    file: (u64, u64),
    written: Arc<AtomicU64>,
}

impl Watched {
    /// # Errors
    /// The system's error.
    pub fn of(path: &Path, file: &File) -> io::Result<Self> {
        let file = identity(&file.metadata()?);
        Ok(Self { path: path.to_owned(), file, written: Arc::default() })
    }

    /// Adds to the number of bytes written.
    pub fn grow(&self, bytes: u64) {
        self.written.fetch_add(bytes, Ordering::Release);
    }

    /// # Errors
    /// The name leads to another file or to none, or the file was cut.
    pub fn expect(&self) -> io::Result<()> {
        let written = self.written.load(Ordering::Acquire);
        if written == 0 {
            return Ok(());
        }
        let now = expect_file(&self.path, self.file)?;
        if now.len() < written {
            let why =
                format!("the file was cut to {} bytes, and {written} were written", now.len());
            return Err(io::Error::other(why));
        }
        Ok(())
    }
}

/// The device and the number of a file.
pub(super) fn identity(file: &Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}

/// # Errors
/// This name no longer leads to this file.
pub(super) fn expect_file(path: &Path, file: (u64, u64)) -> io::Result<Metadata> {
    match path.metadata() {
        Ok(now) if identity(&now) == file => Ok(now),
        Ok(_) => Err(io::Error::other("another file has this name now")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(io::Error::new(error.kind(), "the file was deleted or renamed"))
        }
        Err(error) => Err(error),
    }
}
