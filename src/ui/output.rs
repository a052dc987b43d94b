//! Output of the screen to the terminal. What the terminal takes at once is written at once, since to wake a thread takes
//! its time on a busy machine. A thread writes the rest, so that a slow or stuck terminal blocks neither the keys nor the
//! end of the program.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags, open};
use rustix::termios::{QueueSelector, tcflush, ttyname};
use tokio::sync::Notify;

use super::pace::Taken;

/// How long the end of the screen waits for the terminal, twice. Unread bytes are then thrown away.
const PATIENCE: Duration = Duration::from_millis(200);

/// Bytes of one write. Between two writes the thread checks whether the rest is still wanted.
const PIECE: usize = 4096;

static OUTPUT: LazyLock<Output> = LazyLock::new(Output::default);

/// The terminal, opened again, so that not to wait is no setting of other programs that share it; `None` where that fails.
static AT_ONCE: LazyLock<Option<OwnedFd>> = LazyLock::new(|| {
    let name = ttyname(io::stdout(), Vec::new()).ok()?;
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    open(name, flags, Mode::empty()).ok()
});

#[derive(Default)]
struct Output {
    queue: Mutex<Queue>,
    /// Signals that there is something to write, or that all is written.
    changed: Condvar,
    written: Notify,
}

#[derive(Default)]
struct Queue {
    bytes: Vec<u8>,
    /// When the oldest byte that the terminal has not taken was sent.
    since: Option<Instant>,
    /// The number of bytes sent since the terminal had last taken everything.
    sent: usize,
    /// Bytes that the terminal took last, and the time for that.
    taken: Taken,
    error: Option<io::Error>,
    has_thread: bool,
    /// Whether the bytes being written are no longer wanted.
    is_dropped: bool,
}

impl Output {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes sent bytes, for ever.
    fn serve(&self) {
        let mut queue = self.lock();
        loop {
            if queue.bytes.is_empty() {
                if let Some(since) = queue.since.take() {
                    let bytes = std::mem::take(&mut queue.sent);
                    queue.taken = Taken { bytes, took: since.elapsed() };
                }
                self.changed.notify_all();
                self.written.notify_one();
                queue = self
                    .changed
                    .wait_while(queue, |queue| queue.bytes.is_empty())
                    .unwrap_or_else(PoisonError::into_inner);
            }
            let bytes = std::mem::take(&mut queue.bytes);
            queue.is_dropped = false;
            drop(queue);
            let written = self.write(&bytes);
            queue = self.lock();
            if let Err(error) = written {
                queue.bytes.clear();
                queue.error = Some(error);
            }
        }
    }

    fn write(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() && !self.lock().is_dropped {
            let piece = &bytes[..bytes.len().min(PIECE)];
            match rustix::io::write(io::stdout(), piece) {
                Ok(n) => bytes = &bytes[n..],
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => thread::sleep(Duration::from_millis(10)),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Whether the terminal takes all sent bytes within this time.
    fn waits(&self, most: Duration) -> bool {
        let queue = self.lock();
        let waited = self.changed.wait_timeout_while(queue, most, |queue| queue.since.is_some());
        waited.is_ok_and(|(queue, _)| queue.since.is_none())
    }
}

/// Writes what the terminal takes without waiting; returns the rest.
fn write_at_once(mut bytes: &[u8]) -> io::Result<&[u8]> {
    let Some(terminal) = &*AT_ONCE else { return Ok(bytes) };
    while !bytes.is_empty() {
        match rustix::io::write(terminal, bytes) {
            Ok(n) => bytes = &bytes[n..],
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::AGAIN) => break,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(bytes)
}

/// Sends these bytes to the terminal, and does not wait for it.
///
/// # Errors
/// The terminal is gone, or the system has no thread.
pub fn send(bytes: &[u8]) -> io::Result<()> {
    let mut queue = OUTPUT.lock();
    if let Some(error) = queue.error.take() {
        return Err(error);
    }
    let mut rest = bytes;
    let begun = Instant::now();
    // Otherwise the thread still writes.
    if queue.since.is_none() {
        rest = write_at_once(bytes)?;
        if rest.is_empty() {
            if !bytes.is_empty() {
                queue.taken = Taken { bytes: bytes.len(), took: begun.elapsed() };
            }
            return Ok(());
        }
    }
    if !queue.has_thread {
        thread::Builder::new().name("terminal".to_owned()).spawn(|| OUTPUT.serve())?;
        queue.has_thread = true;
    }
    queue.bytes.extend_from_slice(rest);
    queue.sent += bytes.len();
    queue.since.get_or_insert(begun);
    OUTPUT.changed.notify_all();
    Ok(())
}

/// Returns how many bytes the terminal was last sent, and how long it took for them; `None`: it still reads.
pub fn taken() -> Option<Taken> {
    let queue = OUTPUT.lock();
    queue.since.is_none().then_some(queue.taken)
}

/// Returns when the terminal has taken something.
pub async fn written() {
    OUTPUT.written.notified().await;
}

/// Waits until the terminal has taken all sent bytes, and then these. If it does not read, the rest is thrown away, and
/// these come first when it reads again.
pub fn end_with(bytes: &[u8]) {
    if send(bytes).is_err() || OUTPUT.waits(PATIENCE) {
        return;
    }
    let mut queue = OUTPUT.lock();
    queue.is_dropped = true;
    queue.bytes = bytes.to_vec();
    drop(queue);
    // The terminal's own queue is full of unread bytes; flushing it makes room.
    let _ = tcflush(io::stdout(), QueueSelector::OFlush);
    OUTPUT.waits(PATIENCE);
}

/// Whether the terminal does not read, so that a write to it would never return.
pub fn is_stuck() -> bool {
    OUTPUT.lock().since.is_some()
}
