//! Arguments of `toolyard fork`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};

use super::value::{number, whole};
use super::watch::recorded_run::Results;
use super::watch::verify::VerifyArgs;
use crate::domain::approval::Rule;
use crate::domain::call_policy::CallPolicy;
use crate::domain::{BreakpointSpec, FaultSpec};
use crate::session::ForkEdit;
use crate::shell::ConfigArgs;

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("moment").required(true).args(["at", "call"])))]
pub struct ForkArgs {
    /// Journal of the session.
    pub journal: PathBuf,
    /// For a watched agent: its command, if the journal does not have it.
    #[arg(value_name = "COMMAND", last = true)]
    pub command: Vec<String>,
    /// Fork after this event; the screen and `replay` show its number.
    ///
    /// With a part of a call in --set: any event of that call.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u64>)]
    pub at: Option<u64>,
    /// Fork where this call is requested, or where its part in --set is known.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u32>)]
    pub call: Option<u32>,
    /// Change something there, for example `result=TEXT`.
    ///
    /// Of the call of that event: result=TEXT, arguments=JSON, reply=TEXT or prompt=TEXT. Else: score:TOOL=NUMBER,
    /// uses:TOOL=COUNT, weight:TOOL->TOOL=NUMBER, tool:TOOL=on|off or fault:NUMBER=on|off.
    #[arg(long, value_name = "CHANGE")]
    pub set: Vec<ForkEdit>,
    /// Make a tool or model fail from there on, for example `search_web:error`.
    #[arg(long, value_name = "SPEC")]
    pub fault: Vec<FaultSpec>,
    /// Set a breakpoint there, for example `search_web:after`.
    #[arg(long = "break", value_name = "SPEC")]
    pub breakpoint: Vec<BreakpointSpec>,
    /// Set a knob there, for example `alpha=0.8`.
    #[arg(long, value_name = "NAME=VALUE")]
    pub knob: Vec<String>,
    /// For a watched agent: results that the model reads if a tool returns a different result now.
    #[arg(long, value_name = "WHOSE")]
    pub results: Option<Results>,
    /// Use another model from there on, for all roles or for one.
    ///
    /// Write MODEL or ROLE=MODEL, such as `solver=openai:gpt-5-mini`. For a watched agent: a model of the same endpoint; several
    /// run one after the other, and are listed in a table.
    #[arg(long, value_name = "[ROLE=]MODEL")]
    pub model: Vec<String>,
    /// Use another strategy from the next task on.
    #[arg(long, value_name = "S")]
    pub strategy: Option<String>,
    /// Use another seed for all randomness from there on.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u64>)]
    pub seed: Option<u64>,
    /// Source of the answers to later calls, for example `write=live`, or `live` for all.
    ///
    /// A class is read (with the calls of models), idempotent, write or unknown; a source is recorded, ask or live.
    /// Recorded: an equal call of the record answers; without one the call is made. Default: read and idempotent are
    /// recorded, write and unknown ask. Without a screen, a call that asks is refused.
    #[arg(long, value_name = "CLASS=SOURCE,…", default_value_t)]
    pub calls: CallPolicy,
    /// Allow calls of a tool without asking, for example `effect:write`.
    #[arg(long, value_name = "RULE")]
    pub allow: Vec<Rule>,
    /// Go on without a screen, as `toolyard run` does.
    #[arg(long)]
    pub headless: bool,
    /// Go on without a screen, and print every event as a line of JSON.
    #[arg(long)]
    pub json: bool,
    /// With --headless: write the report as one JSON object to this file at the end.
    #[arg(long, value_name = "FILE", requires = "headless")]
    pub report: Option<PathBuf>,
    /// Write the journal to this file instead of the data folder.
    #[arg(long = "journal", value_name = "FILE", id = "own_journal")]
    pub own_journal: Option<PathBuf>,
    /// Stop before the session costs more than N US dollars, with its past.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number)]
    pub max_dollars: Option<f64>,
    /// File of learned scores and edges; default: nothing is saved.
    #[arg(long, value_name = "FILE")]
    pub learned: Option<PathBuf>,
    /// Use the workspace, configuration, MCP files and settings of the journal without asking.
    #[arg(long)]
    pub trust_journal: bool,
    /// New folder of the session's workspace, if it has moved.
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    #[command(flatten)]
    pub verify: VerifyArgs,
    #[command(flatten)]
    pub config: ConfigArgs,
}
