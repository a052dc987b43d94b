//! A running program and all its descendants: one process group, which ends when the program ends,
//! when the call is dropped, and when toolyard exits. The group has a session of its own, so that
//! no program can open the terminal behind the screen and ask for a password there.
//!
//! A separate thread waits for each program. So the program is reaped even if nothing awaits it and
//! the runtime has stopped. The thread learns of the end before it reaps, so the group's number is
//! never used after the system may have reused it.

use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{io, os::unix::process::CommandExt, thread};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

/// How long a program may take to end by itself before it is killed.
const GRACE: Duration = Duration::from_millis(500);

/// Groups that are running, for [`end_all`].
static RUNNING: Mutex<Vec<Arc<Leader>>> = Mutex::new(Vec::new());

/// Ends every program that a tool started, at once, and waits up to a second until they are gone.
/// For the end of toolyard itself, when the threads that would do it gently end as well.
pub fn end_all() {
    let running = locked(&RUNNING).clone();
    for leader in &running {
        leader.signal(Signal::KILL);
    }
    let deadline = Instant::now() + Duration::from_secs(1);
    for leader in &running {
        leader.is_reaped_within(deadline.saturating_duration_since(Instant::now()));
    }
}

/// The first process of a group; its number is the group's.
struct Leader {
    state: Mutex<Leading>,
    changed: Condvar,
}

struct Leading {
    /// `None` once it is reaped.
    pid: Option<Pid>,
    /// Its exit status; `None` before, and if the system does not report it.
    status: Option<ExitStatus>,
    /// Whether the answer is still awaited.
    wanted: bool,
}

impl Leader {
    /// Sends a signal to the whole group, if it still exists.
    fn signal(&self, signal: Signal) {
        if let Some(pid) = locked(&self.state).pid {
            // Fails only if the group is empty.
            let _gone = kill_process_group(pid, signal);
        }
    }

    fn is_reaped_within(&self, time: Duration) -> bool {
        let waited = self
            .changed
            .wait_timeout_while(locked(&self.state), time, |state| state.pid.is_some())
            .unwrap_or_else(PoisonError::into_inner);
        waited.0.pid.is_none()
    }

    /// Waits until the process has ended, or nothing awaits it any more.
    fn status(&self) -> Option<ExitStatus> {
        let running = |state: &mut Leading| state.pid.is_some() && state.wanted;
        let waited = self.changed.wait_while(locked(&self.state), running);
        waited.unwrap_or_else(PoisonError::into_inner).status
    }

    /// Asks the group to end, and kills it if necessary.
    fn end(self: Arc<Self>) {
        if self.is_reaped_within(Duration::ZERO) {
            return;
        }
        self.signal(Signal::TERM);
        // A stopped process receives the signal above only when it continues.
        self.signal(Signal::CONT);
        let leader = self.clone();
        let waiting = thread::Builder::new().name("tool-end".into()).spawn(move || {
            if !leader.is_reaped_within(GRACE) {
                leader.signal(Signal::KILL);
            }
        });
        if waiting.is_err() {
            self.signal(Signal::KILL);
        }
    }
}

/// The program's pipes.
pub struct Pipes {
    pub stdin: ChildStdin,
    pub stdout: ChildStdout,
    pub stderr: ChildStderr,
}

/// A running group; dropping it ends it.
pub struct Group(Arc<Leader>);

impl Group {
    /// Starts a program as the leader of a new group.
    ///
    /// # Errors
    /// The system's error if the program, its pipes or the waiting thread cannot be created.
    pub fn start(mut command: Command) -> io::Result<(Self, Pipes)> {
        own_session(&mut command);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let group = Self::watch(child)?;
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(io::Error::other("no pipes"));
        };
        let pipes = Pipes {
            stdin: ChildStdin::from_std(stdin)?,
            stdout: ChildStdout::from_std(stdout)?,
            stderr: ChildStderr::from_std(stderr)?,
        };
        Ok((group, pipes))
    }

    fn watch(child: Child) -> io::Result<Self> {
        let pid = Pid::from_child(&child);
        let state = Leading { pid: Some(pid), status: None, wanted: true };
        let leader = Arc::new(Leader { state: Mutex::new(state), changed: Condvar::new() });
        locked(&RUNNING).push(leader.clone());
        // The thread owns the child. If no thread is available, the child stays unreaped, but does
        // not run: this group is dropped, which ends it.
        let group = Self(leader.clone());
        thread::Builder::new().name("tool-wait".into()).spawn(move || {
            reap(child, pid, &leader);
            locked(&RUNNING).retain(|running| !Arc::ptr_eq(running, &leader));
        })?;
        Ok(group)
    }

    /// Waits for the end of the first process. `None` if the system does not report its status.
    ///
    /// On a thread that may block: so the runtime knows that something is going on, and a clock
    /// that tests have paused does not run ahead of a real program.
    pub async fn ended(&self) -> Option<ExitStatus> {
        let leader = self.0.clone();
        tokio::task::spawn_blocking(move || leader.status()).await.ok().flatten()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        locked(&self.0.state).wanted = false;
        self.0.changed.notify_all();
        self.0.clone().end();
    }
}

/// Makes the program the leader of a new session, and with it of a new group.
fn own_session(command: &mut Command) {
    let start_session = || rustix::process::setsid().map(drop).map_err(io::Error::from);
    #[expect(unsafe_code, reason = "the system call that makes a session has no safe wrapper")]
    // SAFETY: between fork and exec only async-signal-safe code may run. This is one system call:
    // it allocates nothing, takes no lock and touches no memory of the parent.
    unsafe {
        command.pre_exec(start_session);
    }
}

/// Waits for the program, ends the rest of its group, and only then releases its number.
fn reap(mut child: Child, pid: Pid, leader: &Leader) {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(pid), look) {}
    let mut state = locked(&leader.state);
    let _nobody_left = kill_process_group(pid, Signal::KILL);
    state.status = child.wait().ok();
    state.pid = None;
    leader.changed.notify_all();
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The guarded data is consistent at every moment, even after a panic.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
