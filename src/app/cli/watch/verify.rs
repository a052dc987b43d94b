//! `--verify`: a check of what an agent has done, after its end.

use std::fs::File;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use clap::Args;
use tokio::time::timeout;

use crate::process::{Launch, RunningProgram};
use crate::shell::out::{errors, warn};
use crate::shell::trouble::Trouble;

/// The time that a check may take to end by itself before it is killed.
const GRACE: Duration = Duration::from_secs(2);

/// The arguments of a check.
#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// Run this command of a shell in the agent's folder after it has ended; exit with 1 if it fails.
    ///
    /// The command does not get the variables that lead the agent to toolyard. Its output goes to standard error.
    #[arg(long, value_name = "COMMAND", requires = "headless")]
    pub verify: Option<String>,
    /// End that command with everything that it started after N seconds; it has failed then.
    #[arg(long, value_name = "N", default_value = "600", requires = "verify", value_parser = crate::shell::value::seconds)]
    pub verify_limit: f64,
}

impl VerifyArgs {
    /// Runs the check, in this folder or the working directory. Returns whether it passed; `None` without one.
    ///
    /// # Errors
    /// It cannot be started.
    pub async fn passes(&self, folder: Option<&Path>) -> Result<Option<bool>, Trouble> {
        let Some(check) = &self.verify else { return Ok(None) };
        let mut command = Command::new("sh");
        // The program sees only variables that are set here.
        command.args(["-c", check]).envs(std::env::vars_os());
        if let Some(folder) = folder {
            command.current_dir(folder);
        }
        let nothing = File::open("/dev/null").map_err(Trouble::failed)?;
        let files = [nothing.as_fd(), errors(), errors()];
        let launch = Launch { files, terminal: false, grace: GRACE };
        let program = RunningProgram::start_with(&command, &launch).map_err(Trouble::failed)?;
        let ended = timeout(Duration::from_secs_f64(self.verify_limit), program.ended()).await;
        let (passed, told) = match ended {
            Ok(Ok(status)) => (status.success(), status.to_string()),
            Ok(Err(why)) => return Err(Trouble::Failed(format!("--verify {check}: {why}"))),
            Err(_) => (false, format!("ended after its {} s", self.verify_limit)),
        };
        warn(&format!("verify {}: {told}", if passed { "passed" } else { "FAILED" }));
        Ok(Some(passed))
    }
}
