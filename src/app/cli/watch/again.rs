//! Running a watched agent again over its recorded answers.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::cli::trouble::Trouble;
use crate::engine::{Again, Varies};

/// The arguments of a run over a record.
#[derive(Debug, Args)]
pub struct AgainArgs {
    /// Answer the agent from this journal of an earlier `toolyard watch` as long as it asks what it asked then: free, and
    /// without key and network. What differs goes to the endpoint. Faults of the journal are armed again.
    #[arg(long, value_name = "JOURNAL")]
    pub recorded: Option<PathBuf>,
    /// With --recorded: refuse what differs, end the agent, and exit with 1.
    #[arg(long, requires = "recorded", requires = "headless")]
    pub strict: bool,
    /// With --recorded: what the model reads where a tool of the agent returns something else than then.
    #[arg(long, value_name = "WHOSE", default_value = "own", requires = "recorded")]
    pub results: Results,
    /// With --recorded: when answers come.
    #[arg(long, value_name = "WHEN", default_value = "at-once", requires = "recorded")]
    pub timing: Timing,
}

/// Whose results the model reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Results {
    /// Those of the record.
    Recorded,
    /// Those that the tools return now; a request with another result differs from the record.
    Own,
}

/// When recorded answers come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Timing {
    /// After as long as they took then.
    Recorded,
    AtOnce,
}

impl AgainArgs {
    /// How the agent runs over the record. `varies`: what differs from run to run by itself.
    pub fn again(&self, varies: &[String]) -> Result<Option<Again>, Trouble> {
        if self.recorded.is_none() {
            return Ok(None);
        }
        Ok(Some(Again {
            records: Vec::new(),
            varies: Varies::new(varies.iter().cloned()).map_err(Trouble::usage)?,
            is_strict: self.strict,
            keeps_results: self.results == Results::Recorded,
            keeps_time: self.timing == Timing::Recorded,
        }))
    }
}
