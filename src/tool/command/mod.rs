//! Tools that are programs: arguments as one line of JSON on stdin, the answer on stdout. No shell runs in between, and
//! the program sees only the environment variables listed in the manifest.
//!
//! A call stays bounded regardless of the program: its output is drained and cut, its descendants
//! end with it, and a dropped call ends the program.

mod capture;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};
use std::{collections::BTreeMap, ffi::OsStr, fmt};

use serde_json::Value;
use tokio::{io::AsyncWriteExt, process::ChildStdin, time::sleep};
use tracing::info;

use self::capture::{Capture, Keep};
use crate::domain::words::counted;
use crate::process::{Pipes, RunningProgram};
use crate::{ToolError, ToolErrorKind, ToolOutput, output::from_bytes};

/// The most bytes from the end of stderr that an error shows, which usually contain the reason.
const STDERR: usize = 2 * 1024;

/// The time for output to arrive after the program has ended. A daemon that left the group can hold the pipes open for
/// ever; the program's own output is already in them.
const DRAIN: Duration = Duration::from_millis(250);

/// How a program is run.
#[derive(Clone, PartialEq)]
pub struct CommandSource {
    /// A name that is looked up in `PATH`, or a path relative to `cwd`.
    pub program: String,
    pub args: Vec<String>,
    /// Names of variables that are passed on from toolyard's own environment.
    pub env: Vec<String>,
    /// Variables that are set. Values may be secret and are never shown.
    pub set: BTreeMap<String, String>,
    /// The working directory of the program; `None` for toolyard's own.
    pub cwd: Option<PathBuf>,
    /// The most bytes of stdout that are kept.
    pub max_output: usize,
}

impl fmt::Debug for CommandSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandSource")
            .field("program", &self.program)
            .field("args", &self.args)
            .field("env", &self.env)
            .field("set", &self.set.keys())
            .field("cwd", &self.cwd)
            .field("max_output", &self.max_output)
            .finish()
    }
}

impl CommandSource {
    /// The path of the program.
    ///
    /// # Errors
    /// [`ToolErrorKind::Unavailable`] with the program and the searched places.
    pub fn find(&self) -> Result<PathBuf, ToolError> {
        if self.program.contains('/') {
            let base = self.cwd.as_deref().unwrap_or(Path::new(""));
            let path = std::path::absolute(base.join(&self.program));
            return path.map_err(|error| self.unavailable(error));
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path)
            .map(|folder| folder.join(&self.program))
            .find(|file| is_executable(file))
            .ok_or_else(|| self.not_found(&path))
    }

    fn not_found(&self, path: &OsStr) -> ToolError {
        let text = format!(
            "the program `{}` is not in PATH ({}); install it, or give its full path in the \
             manifest's source.command",
            self.program,
            counted(std::env::split_paths(path).count(), "folder"),
        );
        ToolError::new(ToolErrorKind::Unavailable, text)
    }

    fn unavailable(&self, error: impl fmt::Display) -> ToolError {
        let text = format!("the program `{}` cannot be started: {error}", self.program);
        ToolError::new(ToolErrorKind::Unavailable, text)
    }

    fn start(&self) -> Result<(RunningProgram, Pipes), ToolError> {
        let mut command = Command::new(self.find()?);
        command.args(&self.args).env_clear();
        for name in &self.env {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command.envs(&self.set);
        if let Some(cwd) = &self.cwd {
            command.current_dir(cwd);
        }
        RunningProgram::start(&command).map_err(|error| self.unavailable(error))
    }

    /// Runs the program with these arguments, and returns its output.
    ///
    /// # Errors
    /// [`ToolErrorKind::Unavailable`] if it cannot be started, [`ToolErrorKind::Failed`] if it
    /// reports a failure.
    pub async fn run(&self, arguments: &Value) -> Result<ToolOutput, ToolError> {
        let (running, Pipes { stdin, stdout, stderr }) = self.start()?;
        let (program, started) = (&self.program, Instant::now());
        info!(program, "a program started");
        let mut out = Capture::new(Keep::First, self.max_output);
        let mut err = Capture::new(Keep::Last, STDERR);
        let pipes =
            async { tokio::join!(feed(stdin, arguments), out.fill(stdout), err.fill(stderr)) };
        tokio::select! {
            // Output in the pipes is read before the end of the wait for it.
            biased;
            _ = pipes => {}
            () = async { running.ended().await.ok(); drained().await } => {}
        }
        // A program may close its output and continue to work.
        let status = running.ended().await.map_err(|why| self.unavailable(why))?;
        let ms = started.elapsed().as_millis() as u64;
        info!(program, status = tracing::field::display(status), ms, "a program ended");
        self.answer(status, &out, &err)
    }

    fn answer(
        &self,
        status: ExitStatus,
        out: &Capture,
        err: &Capture,
    ) -> Result<ToolOutput, ToolError> {
        if status.success() {
            return Ok(from_bytes(out.kept(), out.total()));
        }
        let said = if err.total() > 0 { err } else { out };
        let text = format!("`{}` failed ({status}): {}", self.program, said.tail(STDERR));
        Err(ToolError::new(ToolErrorKind::Failed, text))
    }
}

/// Waits for late output. The time is split, since a delayed thread may find it over before it reads the pipes: it
/// reads them between the two parts.
async fn drained() {
    const PIECES: u32 = 5;
    for _ in 0..PIECES {
        sleep(DRAIN / PIECES).await;
    }
}

/// Writes the arguments as one line. A program may ignore them.
async fn feed(mut stdin: ChildStdin, arguments: &Value) {
    let line = format!("{arguments}\n");
    if stdin.write_all(line.as_bytes()).await.is_ok() {
        let _closed = stdin.shutdown().await;
    }
}

/// Whether this is an executable file.
pub fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}
