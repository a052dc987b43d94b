//! Running a watched agent again over its recorded answers.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::cli::trouble::Trouble;
use crate::engine::{Again, Varies};

/// The arguments of a run over a record.
#[derive(Debug, Args)]
pub struct AgainArgs {
    /// Answer the agent from this journal of an earlier `toolyard watch` as long as it asks what it asked then: free, and
    /// without key and network. What differs goes to the endpoint. Faults of the journal are armed again. Of a folder, the
    /// journal of the running test, or all.
    #[arg(long, value_name = "JOURNAL")]
    pub recorded: Option<PathBuf>,
    /// With --recorded: refuse what differs, end the agent, and exit with 1.
    #[arg(long, requires = "headless")]
    pub strict: bool,
    /// With --recorded: what the model reads where a tool of the agent returns something else than then.
    #[arg(long, value_name = "WHOSE", default_value = "own")]
    pub results: Results,
    /// With --recorded: when answers come.
    #[arg(long, value_name = "WHEN", default_value = "at-once")]
    pub timing: Timing,
}

/// The source of the tool results that the model reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Results {
    /// Results of the record.
    Recorded,
    /// Results that the tools return now; a request with another result differs from the record.
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
    /// How the agent runs over the record, if there is one. `varies`: rules for request parts that differ in every run.
    pub fn again(&self, has_record: bool, varies: &[String]) -> Result<Option<Again>, Trouble> {
        let (results, timing) = (self.results != Results::Own, self.timing != Timing::AtOnce);
        if !has_record {
            let given = [(self.strict, "--strict"), (results, "--results"), (timing, "--timing")];
            let alone = given.into_iter().find(|(is_given, _)| *is_given);
            let text = |option: &str| format!("{option} needs a record: --recorded JOURNAL");
            return alone.map_or(Ok(None), |(_, option)| Err(Trouble::Usage(text(option))));
        }
        Ok(Some(Again {
            names: Vec::new(),
            records: Vec::new(),
            varies: Varies::new(varies.iter().cloned()).map_err(Trouble::usage)?,
            is_strict: self.strict,
            keeps_results: results,
            keeps_time: timing,
        }))
    }
}
