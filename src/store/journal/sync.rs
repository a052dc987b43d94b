//! Syncs a journal to disk in the background, as often as the disk allows.

use std::fs::File;
use std::io;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// A thread that waits for the disk.
#[derive(Debug)]
pub(super) struct Syncer {
    asked: SyncSender<()>,
    failed: Arc<Mutex<Option<io::Error>>>,
}

impl Syncer {
    /// # Errors
    /// The system has no thread or no second handle of the file.
    pub fn new(file: &File) -> io::Result<Self> {
        let file = file.try_clone()?;
        // What is asked for while the disk is at work is one more wait, however often it was asked for.
        let (asked, waits) = sync_channel(1);
        let failed = Arc::new(Mutex::new(None));
        let tell = Arc::clone(&failed);
        let sync = move || {
            while waits.recv().is_ok() {
                if let Err(error) = file.sync_data() {
                    tell.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                }
            }
        };
        thread::Builder::new().name("journal".to_owned()).spawn(sync)?;
        Ok(Self { asked, failed })
    }

    /// Asks for everything that is written so far.
    pub fn ask(&self) {
        // Where the channel is full, a wait that has not begun yet covers this too.
        let _ = self.asked.try_send(());
    }

    /// Why a wait failed, once.
    pub fn failure(&self) -> Option<io::Error> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
