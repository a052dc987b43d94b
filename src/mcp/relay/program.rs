//! The program of a relayed server. The reaper starts and ends it, so that no part of it outlives the relay.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{self, Command};
use std::time::Duration;

use tokio::process::{ChildStdin, ChildStdout};

use crate::process::{Launch, RunningProgram};

/// The time that it may take to end by itself before it is killed.
const GRACE: Duration = Duration::from_millis(500);

/// Starts the program of a command, which sees only the variables that the command sets. Its errors go to this file.
///
/// # Errors
/// The system's error. Whether the program itself could be started is known at its end.
pub fn start(
    command: &Command,
    errors: BorrowedFd<'_>,
) -> io::Result<(RunningProgram, ChildStdin, ChildStdout)> {
    let (its_stdin, stdin) = io::pipe()?;
    let (stdout, its_stdout) = io::pipe()?;
    let stdin = ChildStdin::from_std(process::ChildStdin::from(OwnedFd::from(stdin)))?;
    let stdout = ChildStdout::from_std(process::ChildStdout::from(OwnedFd::from(stdout)))?;
    let files = [its_stdin.as_fd(), its_stdout.as_fd(), errors];
    let program =
        RunningProgram::start_with(command, &Launch { files, terminal: false, grace: GRACE })?;
    Ok((program, stdin, stdout))
}
