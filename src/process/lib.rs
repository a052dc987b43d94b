//! Programs that toolyard starts. Neither they nor their descendants continue after the call for which they were
//! started, nor after toolyard, however toolyard ends. Any child process can be started here.
//!
//! Another process starts and ends them: the [`reaper`]. It needs no runtime, and toolyard need not clean up.

mod link;
pub mod reaper;
mod strays;
mod wire;

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{io, path::Path, process, sync::Arc, time::Duration};

use rustix::process::Pid;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

use self::link::{Link, Outcome};
pub use self::link::{REAPER, end_all, own, set_reaper};
pub use self::strays::below;
use self::wire::{ProgramLaunch, ReaperRequest};

/// The time that a program may take to end by itself before it is killed.
const GRACE: Duration = Duration::from_millis(500);

/// Numbers of programs.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// The program's pipes.
pub struct Pipes {
    pub stdin: ChildStdin,
    pub stdout: ChildStdout,
    pub stderr: ChildStderr,
}

/// The files and the grace period of a program that is started without new pipes.
pub struct Launch<'f> {
    /// The program's standard input, output and error.
    pub files: [BorrowedFd<'f>; 3],
    /// Whether the input is a terminal, which becomes that of the program's session.
    pub terminal: bool,
    /// The time that the program may take to end by itself before it is killed.
    pub grace: Duration,
}

/// Has this folder removed when toolyard has ended, however it ends.
///
/// # Errors
/// The system's error if the reaper cannot be started.
pub fn remove_at_end(folder: &Path) -> io::Result<()> {
    Link::get()?.remove(folder)
}

/// A running program and its descendants; dropping it ends them.
pub struct RunningProgram {
    id: u64,
    grace: Duration,
    link: Arc<Link>,
    outcome: Arc<Outcome>,
}

impl RunningProgram {
    /// Starts a program in its own session. It sees only the environment variables that the command sets.
    ///
    /// # Errors
    /// The system's error if the pipes or the reaper cannot be created. Whether the program itself
    /// could be started is known at its [end](Self::ended).
    pub fn start(command: &Command) -> io::Result<(Self, Pipes)> {
        let (its_stdin, stdin) = io::pipe()?;
        let (stdout, its_stdout) = io::pipe()?;
        let (stderr, its_stderr) = io::pipe()?;
        let pipes = Pipes {
            stdin: ChildStdin::from_std(process::ChildStdin::from(OwnedFd::from(stdin)))?,
            stdout: ChildStdout::from_std(process::ChildStdout::from(OwnedFd::from(stdout)))?,
            stderr: ChildStderr::from_std(process::ChildStderr::from(OwnedFd::from(stderr)))?,
        };
        let files = [its_stdin.as_fd(), its_stdout.as_fd(), its_stderr.as_fd()];
        let launch = Launch { files, terminal: false, grace: GRACE };
        Ok((Self::start_with(command, &launch)?, pipes))
    }

    /// Starts a program with the caller's files.
    ///
    /// # Errors
    /// The system's error if the reaper cannot be created.
    pub fn start_with(command: &Command, launch: &Launch<'_>) -> io::Result<Self> {
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let variables = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
        let request = ReaperRequest::Start(ProgramLaunch {
            id,
            program: command.get_program().to_owned(),
            args: command.get_args().map(Into::into).collect(),
            env: variables.map(|(name, value)| (name.into(), value.into())).collect(),
            cwd: command.get_current_dir().map(Into::into),
            terminal: launch.terminal,
        });
        let (link, outcome) = (Link::get()?, Arc::new(Outcome::default()));
        link.start_program(id, &request, &launch.files, &outcome)?;
        Ok(Self { id, grace: launch.grace, link, outcome })
    }

    /// Waits until the program runs, and returns its process.
    ///
    /// # Errors
    /// The program could not be started, with the reason.
    pub async fn started(&self) -> Result<Pid, String> {
        self.wait(Outcome::wait_started).await
    }

    /// Waits for the end of the program itself.
    ///
    /// # Errors
    /// The program could not be started, or its end is unknown, with the reason.
    pub async fn ended(&self) -> Result<ExitStatus, String> {
        self.wait(Outcome::wait).await
    }

    /// The programs of its descendants that still ran when it ended, and were ended then.
    pub fn left(&self) -> Vec<String> {
        self.outcome.left()
    }

    /// Asks the program and its group to end, and kills them after their time.
    pub fn end(&self) {
        self.link.end_program(self.id, self.grace);
    }

    /// Waits on a thread that may block: so the runtime knows that work is pending, and a clock that tests have paused
    /// does not run ahead of a real program.
    async fn wait<T: Send + 'static>(
        &self,
        wait: fn(&Outcome) -> Result<T, String>,
    ) -> Result<T, String> {
        let outcome = self.outcome.clone();
        let waited = tokio::task::spawn_blocking(move || wait(&outcome)).await;
        waited.unwrap_or_else(|error| Err(error.to_string()))
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        if !self.outcome.is_known() {
            self.end();
            self.outcome.set(Err("nobody awaits it any more".into()));
        }
    }
}
