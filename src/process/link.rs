//! Toolyard's end of the socket to its reaper.

use std::collections::HashMap;
use std::net::Shutdown;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::{io, thread, time::Duration};

use rustix::process::Pid;

use super::wire::{Incoming, ProcessEvent, ReaperReply, ReaperRequest, send};

/// The argument that makes toolyard the reaper.
pub const REAPER: &str = "--reaper";

/// The program that is the reaper.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// The running reaper.
static LINK: Mutex<Option<Arc<Link>>> = Mutex::new(None);

/// Names the program that is the reaper if its only argument is [`REAPER`]: toolyard itself. Only the
/// first name counts.
pub fn set_reaper(program: PathBuf) {
    let _named_before = PROGRAM.set(program);
}

/// The path of this program, to start it again as another process.
///
/// # Errors
/// No program was [named](set_reaper).
pub fn own() -> io::Result<&'static Path> {
    PROGRAM.get().map(PathBuf::as_path).ok_or_else(|| io::Error::other("no reaper is named"))
}

/// The known state of a program.
#[derive(Default)]
pub struct Outcome {
    known: Mutex<ProgramStatus>,
    changed: Condvar,
}

#[derive(Default)]
struct ProgramStatus {
    /// The process id; `None` until the program has started.
    pid: Option<Pid>,
    /// The programs of its descendants that still ran at its end.
    left: Vec<String>,
    /// The end of the program; `None` while it runs.
    status: Option<Result<ExitStatus, String>>,
}

impl Outcome {
    fn set_started(&self, pid: i32) {
        locked(&self.known).pid = Pid::from_raw(pid);
        self.changed.notify_all();
    }

    /// Notes the program's end, unless that is known.
    pub fn set(&self, status: Result<ExitStatus, String>) {
        locked(&self.known).status.get_or_insert(status);
        self.changed.notify_all();
    }

    /// The programs of the program's descendants that still ran at its end.
    pub fn left(&self) -> Vec<String> {
        locked(&self.known).left.clone()
    }

    pub fn is_known(&self) -> bool {
        locked(&self.known).status.is_some()
    }

    /// Waits until the program runs, and returns its process.
    pub fn wait_started(&self) -> Result<Pid, String> {
        let known = self.wait_while(|known| known.pid.is_none() && known.status.is_none());
        match (known.pid, &known.status) {
            (Some(pid), _) => Ok(pid),
            (None, Some(Err(why))) => Err(why.clone()),
            (None, _) => Err("its process is unknown".into()),
        }
    }

    /// Waits for the program's end.
    pub fn wait(&self) -> Result<ExitStatus, String> {
        let known = self.wait_while(|known| known.status.is_none()).status.clone();
        known.unwrap_or_else(|| Err("its end is unknown".into()))
    }

    fn wait_while(
        &self,
        condition: impl Fn(&ProgramStatus) -> bool,
    ) -> MutexGuard<'_, ProgramStatus> {
        let waited = self.changed.wait_while(locked(&self.known), |known| condition(known));
        waited.unwrap_or_else(PoisonError::into_inner)
    }
}

/// A running reaper.
pub struct Link {
    socket: Arc<UnixStream>,
    /// The programs whose end was not reported yet; `None` once the reaper itself has ended.
    awaited: Mutex<Option<HashMap<u64, Arc<Outcome>>>>,
    ended: Condvar,
    /// Held while a request is written, so that two do not mix.
    writing: Mutex<()>,
}

impl Link {
    /// The reaper; starts one if none runs.
    ///
    /// # Errors
    /// The system's error if it cannot be started.
    pub fn get() -> io::Result<Arc<Self>> {
        let mut running = locked(&LINK);
        if let Some(link) = running.as_ref().filter(|link| locked(&link.awaited).is_some()) {
            return Ok(link.clone());
        }
        Ok(running.insert(Self::start()?).clone())
    }

    fn start() -> io::Result<Arc<Self>> {
        let program = own()?;
        let (ours, its) = UnixStream::pair()?;
        let mut command = Command::new(program);
        command.arg0("toolyard").arg(REAPER).env_clear().stdin(OwnedFd::from(its));
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let awaited = Mutex::new(Some(HashMap::new()));
        let (socket, ended, writing) = (Arc::new(ours), Condvar::new(), Mutex::new(()));
        let link = Arc::new(Self { socket, awaited, ended, writing });
        let listener = link.clone();
        thread::Builder::new().name("reaper".into()).spawn(move || listener.listen(child))?;
        Ok(link)
    }

    /// Sends a request; `outcome` receives the end of the program of this number.
    ///
    /// # Errors
    /// The system's error if the reaper has ended.
    pub fn start_program(
        &self,
        id: u64,
        request: &ReaperRequest,
        files: &[BorrowedFd<'_>],
        outcome: &Arc<Outcome>,
    ) -> io::Result<()> {
        let lost = || io::Error::other(LOST);
        locked(&self.awaited).as_mut().ok_or_else(lost)?.insert(id, outcome.clone());
        self.send(request, files)
    }

    /// Asks the reaper to end a program, and to kill it after this time.
    pub fn end_program(&self, id: u64, grace: Duration) {
        // Fails only if the reaper has ended.
        let _gone = self.send(&ReaperRequest::End { id, grace }, &[]);
    }

    /// Has the reaper remove this folder at the end.
    ///
    /// # Errors
    /// The reaper has ended.
    pub fn remove(&self, folder: &Path) -> io::Result<()> {
        self.send(&ReaperRequest::Remove(folder.to_owned()), &[])
    }

    fn send(&self, request: &ReaperRequest, files: &[BorrowedFd<'_>]) -> io::Result<()> {
        let _alone = locked(&self.writing);
        send(&self.socket, request, files)
    }

    fn listen(&self, mut reaper: Child) {
        let mut messages = Incoming::new(self.socket.clone());
        while let Ok(Some(ReaperReply { id, news })) = messages.next() {
            let mut awaited = locked(&self.awaited);
            let Some(programs) = awaited.as_mut() else { break };
            match news {
                ProcessEvent::Started(pid) => {
                    programs.get(&id).into_iter().for_each(|program| program.set_started(pid));
                }
                ProcessEvent::Left(names) => {
                    let program = programs.get(&id).into_iter();
                    program.for_each(|program| locked(&program.known).left.clone_from(&names));
                }
                ProcessEvent::Ended(status) => {
                    let status = status.map(ExitStatus::from_raw);
                    programs
                        .remove(&id)
                        .into_iter()
                        .for_each(|program| program.set(status.clone()));
                }
            }
        }
        // If a message was invalid, this makes the reaper end, too.
        let _closed = self.socket.shutdown(Shutdown::Both);
        let _reaped = reaper.wait();
        for outcome in locked(&self.awaited).take().unwrap_or_default().into_values() {
            outcome.set(Err(LOST.into()));
        }
        self.ended.notify_all();
    }
}

/// Why a program's end is unknown.
const LOST: &str = "the process that runs all programs (toolyard --reaper) was killed";

/// Ends every program at once, and waits up to a second until they are gone. Called at the end of toolyard itself.
pub fn end_all() {
    let Some(link) = locked(&LINK).take() else { return };
    let _closed = link.socket.shutdown(Shutdown::Write);
    let second = Duration::from_secs(1);
    let _waited = link.ended.wait_timeout_while(locked(&link.awaited), second, |a| a.is_some());
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The guarded data is consistent at every moment, even after a panic.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
