//! A journal that grows while a screen shows it.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, OnceLock};
use std::thread;

use tokio::sync::mpsc;

use super::live::{AHEAD, FOLLOW};
use crate::domain::Mode;
use crate::store::journal::{self, JournalError, Marker};
use crate::ui::{self, Remark, view::Tone};

/// Waits until it is worth reading on; false: no more records will come.
pub type Pause = Box<dyn FnMut() -> bool + Send>;

/// Waits for a fixed time, since nothing can wake the reader of a file from another machine.
pub fn by_time() -> Pause {
    Box::new(|| {
        thread::sleep(FOLLOW);
        true
    })
}

/// Waits until the session reports a write. After its last report, the journal is read as long as somebody writes it.
pub fn by_session(grown: Receiver<()>, journal: &Path) -> Pause {
    let (journal, mut is_last) = (journal.to_owned(), false);
    Box::new(move || match grown.recv_timeout(FOLLOW) {
        Ok(()) | Err(RecvTimeoutError::Timeout) => true,
        Err(RecvTimeoutError::Disconnected) if is_last => false,
        Err(RecvTimeoutError::Disconnected) => {
            thread::sleep(FOLLOW);
            // Records written before the lock was released are still read.
            is_last = !journal::is_written(&journal).unwrap_or(false);
            true
        }
    })
}

/// The records of a journal, including those written from now on. They end with the session.
///
/// # Errors
/// The system has no thread.
pub fn records(path: &Path, mut pause: Pause) -> Result<(ui::Records, Remark), JournalError> {
    let (read, records) = mpsc::channel(AHEAD);
    let remark: Remark = Arc::new(OnceLock::new());
    let (told, journal) = (Arc::clone(&remark), path.to_owned());
    let work = move || {
        if let Err(error) = read_on(&journal, &read, &mut pause) {
            // The remark is set only once.
            let _ = told.set((Tone::Bad, error.to_string()));
        }
    };
    let io = |source| JournalError::Io { path: path.to_owned(), source };
    thread::Builder::new().name("journal".to_owned()).spawn(work).map_err(io)?;
    Ok((ui::Records::Read(records, Arc::clone(&remark)), remark))
}

/// Reads until the session ends, no more records come, or the receiver is gone.
fn read_on(
    path: &Path,
    read: &mpsc::Sender<ui::JournalItem>,
    pause: &mut Pause,
) -> Result<(), JournalError> {
    let mut marker = Marker::open(path, u64::MAX)?;
    let mut next = ui::JournalItem::Begin(Box::new(marker.state().clone()), marker.past());
    while read.blocking_send(next).is_ok() && marker.state().control.mode != Mode::Ended {
        next = loop {
            if let Some(record) = marker.read()? {
                break ui::JournalItem::Record(record);
            }
            marker.expect_same()?;
            if read.is_closed() || !pause() {
                return Ok(());
            }
        };
    }
    Ok(())
}
