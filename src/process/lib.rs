//! Programs that toolyard starts. None of them, and nothing that they start, runs on after the call
//! for which it was started, nor after toolyard, however toolyard ends. Any child process can be
//! started here.
//!
//! Another process starts them and ends them: the [`reaper`]. It needs no runtime, and no moment in
//! which toolyard could tidy up.

mod link;
pub mod reaper;
mod strays;
mod wire;

use std::os::fd::{AsFd, OwnedFd};
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{io, process, sync::Arc};

use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

use self::link::{Link, Outcome};
pub use self::link::{REAPER, end_all, own, set_reaper};
use self::wire::{Request, Start};

/// Numbers of programs.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// The program's pipes.
pub struct Pipes {
    pub stdin: ChildStdin,
    pub stdout: ChildStdout,
    pub stderr: ChildStderr,
}

/// A running program and all that it started; dropping it ends them.
pub struct Program {
    id: u64,
    link: Arc<Link>,
    outcome: Arc<Outcome>,
}

impl Program {
    /// Starts a program in a session of its own. It sees those variables of the environment that the
    /// command sets, and no others.
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
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let variables = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
        let request = Request::Start(Start {
            id,
            program: command.get_program().to_owned(),
            args: command.get_args().map(Into::into).collect(),
            env: variables.map(|(name, value)| (name.into(), value.into())).collect(),
            cwd: command.get_current_dir().map(Into::into),
        });
        let (link, outcome) = (Link::get()?, Arc::new(Outcome::default()));
        let files = [its_stdin.as_fd(), its_stdout.as_fd(), its_stderr.as_fd()];
        link.start_program(id, &request, &files, &outcome)?;
        Ok((Self { id, link, outcome }, pipes))
    }

    /// Waits for the end of the program itself.
    ///
    /// On a thread that may block: so the runtime knows that something is going on, and a clock
    /// that tests have paused does not run ahead of a real program.
    ///
    /// # Errors
    /// Why it could not be started, or why its end is unknown.
    pub async fn ended(&self) -> Result<ExitStatus, String> {
        let outcome = self.outcome.clone();
        let waited = tokio::task::spawn_blocking(move || outcome.wait()).await;
        waited.unwrap_or_else(|error| Err(error.to_string()))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if !self.outcome.is_known() {
            self.link.end_program(self.id);
            self.outcome.set(Err("nobody awaits it any more".into()));
        }
    }
}
