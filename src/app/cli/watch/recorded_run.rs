//! Running a watched agent again over its recorded answers.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::cli::trouble::Trouble;
use crate::engine::{Again, Varies};

/// The arguments of a run over a record.
#[derive(Debug, Args)]
pub struct AgainArgs {
    /// Answer the agent from the journal of an earlier `toolyard watch`.
    ///
    /// This is free, and needs no key and no network. Requests that differ from the record go to the endpoint. The faults
    /// of the journal are armed again. In a folder, toolyard uses the journal of the running test, or else all journals.
    #[arg(long, value_name = "JOURNAL")]
    pub recorded: Option<PathBuf>,
    /// With --recorded: if a request differs, refuse it, end the agent and exit with 1.
    #[arg(long, requires = "headless")]
    pub strict: bool,
    /// With --recorded: results that the model reads if a tool returns a different result now.
    #[arg(long, value_name = "WHOSE", default_value = "own")]
    pub results: Results,
    /// With --recorded: time before an answer.
    #[arg(long, value_name = "WHEN", default_value = "at-once")]
    pub timing: Timing,
}

/// The source of the tool results that the model reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Results {
    /// Results of the record.
    Recorded,
    /// Current results; a request with another result differs from the record.
    Own,
}

/// When recorded answers come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Timing {
    /// The recorded time.
    Recorded,
    /// No time.
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
