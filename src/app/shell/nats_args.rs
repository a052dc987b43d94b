//! Options of commands that run many sessions, for sessions on other machines. Without the feature `nats` there are none.

use clap::Args;

use super::trouble::Trouble;
use crate::runner::Runner;

/// Where the sessions of a command run.
#[derive(Clone, Debug, Default, Args)]
pub struct NatsArgs {
    /// Run the sessions on the workers of this NATS server.
    ///
    /// Each machine that runs `toolyard worker` with the same address is one. User and password, or a token, are in the
    /// address or in NATS_USER, NATS_PASSWORD and NATS_TOKEN.
    #[cfg(feature = "nats")]
    #[arg(long, value_name = "URL", hide_short_help = true)]
    nats: Option<toolyard_nats::NatsAddress>,
    /// With --nats: only workers with this tag take the sessions.
    #[cfg(feature = "nats")]
    #[arg(long, value_name = "TAG", requires = "nats", value_parser = super::value::tag, hide_short_help = true)]
    tag: Option<String>,
    /// With --nats: do not send files of this name or path.
    #[cfg(feature = "nats")]
    #[arg(long, value_name = "NAME", requires = "nats", hide_short_help = true)]
    exclude: Vec<std::path::PathBuf>,
}

/// Sessions that wait for workers at the same time, unless --jobs says another number.
#[cfg(feature = "nats")]
const AT_ONCE: usize = 256;

impl NatsArgs {
    /// Whether sessions are to run elsewhere.
    pub fn is_given(&self) -> bool {
        cfg_select! {
            feature = "nats" => { self.nats.is_some() }
            _ => { false }
        }
    }

    /// Lets the sessions of a runner run on the workers. `jobs`: how many at the same time, if that was said.
    ///
    /// # Errors
    /// The server cannot be used.
    #[cfg(feature = "nats")]
    pub fn settle(&self, runner: &mut Runner, jobs: Option<usize>) -> Result<(), Trouble> {
        use crate::machines::{Excluded, Machines};
        let Some(address) = &self.nats else { return Ok(()) };
        let excluded = Excluded { names: self.exclude.clone() };
        let machines = Machines::connect(address.clone(), self.tag.clone(), excluded)?;
        runner.elsewhere = Some(std::sync::Arc::new(machines));
        runner.at_once = jobs.unwrap_or(AT_ONCE);
        Ok(())
    }

    /// Changes nothing.
    ///
    /// # Errors
    /// None.
    #[cfg(not(feature = "nats"))]
    pub fn settle(&self, _: &mut Runner, _: Option<usize>) -> Result<(), Trouble> {
        Ok(())
    }
}
