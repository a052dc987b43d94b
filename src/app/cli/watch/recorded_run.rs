//! Running a watched agent again over its recorded answers.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::domain::{EffectId, Role};
use crate::engine::{Again, Varies};
use crate::session::{ForkEdit, ForkSpec};
use crate::shell::trouble::Trouble;
use crate::shell::value::whole;

/// The arguments of a run over a record.
#[derive(Debug, Args)]
pub struct AgainArgs {
    /// Answer the agent from the journal of an earlier `toolyard watch`.
    ///
    /// This is free, and needs no key and no network. Requests that differ from the record go to the endpoint. The faults
    /// of the journal are armed again. In a folder, toolyard uses the journal of the running test, or else all journals.
    #[arg(long, value_name = "JOURNAL")]
    pub recorded: Option<PathBuf>,
    /// With --recorded: let a conversation go live after this event.
    ///
    /// It is the conversation of that event; others are answered as long as they ask the same. Faults and breakpoints of the
    /// command line act from there on. `toolyard fork` does this with the command that the journal has.
    #[arg(long, value_name = "N", requires = "recorded", allow_negative_numbers = true, value_parser = whole::<u64>)]
    pub until: Option<u64>,
    /// With --recorded: the same after this call, or where its part in --set is known.
    #[arg(long, value_name = "N", requires = "recorded", conflicts_with = "until", allow_negative_numbers = true, value_parser = whole::<u32>)]
    pub call: Option<u32>,
    /// Change the call of that event: result=TEXT, arguments=JSON, reply=TEXT or prompt=TEXT.
    #[arg(long, value_name = "CHANGE")]
    pub set: Vec<ForkEdit>,
    /// From that event on, ask this model of the same endpoint.
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// With --recorded: if a request differs, refuse it, end the agent and exit with 1.
    #[arg(long, requires = "headless", conflicts_with_all = ["until", "call"])]
    pub strict: bool,
    /// With --recorded: exit with 1 if a tool returns something else than in the record.
    ///
    /// Each such result is listed, in the report and the JUnit XML, too. `varies` of the agent's recipe names what may differ.
    #[arg(long, value_name = "WHAT", requires_all = ["headless", "recorded"])]
    pub fail_on: Option<FailOn>,
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

impl Results {
    /// The word of the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Recorded => "recorded",
            Self::Own => "own",
        }
    }
}

/// The things for which a run over a record fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// A result that differs from the recorded one.
    Drift,
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
    pub fn fails_on_drift(&self) -> bool {
        self.fail_on == Some(FailOn::Drift)
    }

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
            fork: None,
        }))
    }

    /// The moment at which the agent goes its own way, in this record.
    ///
    /// # Errors
    /// A change has no moment, or the record is a folder.
    pub fn fork(&self, record: Option<&Path>) -> Result<Option<Box<ForkSpec>>, Trouble> {
        let has_moment = self.until.is_some() || self.call.is_some();
        let Some(of) = record.filter(|_| has_moment) else {
            let set = self.set.first().map(|set| format!("--set {set}"));
            let model = self.model.as_ref().map(|model| format!("--model {model}"));
            let why = |option| format!("{option}: nothing says when: add --until N or --call N");
            return set.or(model).map_or(Ok(None), |option| Err(Trouble::Usage(why(option))));
        };
        if of.is_dir() {
            let text =
                format!("{}: --until and --call need one journal, not a folder", of.display());
            return Err(Trouble::Usage(text));
        }
        Ok(Some(Box::new(ForkSpec {
            of: of.to_owned(),
            at: self.until.unwrap_or_default(),
            call: self.call.map(EffectId),
            set: self.set.clone(),
            roles: self.model.iter().map(|model| (Role::Actor, model.as_str().into())).collect(),
            ..ForkSpec::default()
        })))
    }
}
