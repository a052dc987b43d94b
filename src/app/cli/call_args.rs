//! Arguments of `toolyard tools call`.

use clap::Args;

use super::tools::args::FromArgs;
use super::value::whole;
use crate::domain::FaultSpec;

/// The tool to call, and its arguments.
#[derive(Debug, Args)]
pub struct CallArgs {
    /// Name of the tool.
    pub tool: String,
    /// Arguments as NAME=VALUE, or all of them as one JSON object.
    #[arg(value_name = "NAME=VALUE")]
    pub arguments: Vec<String>,
    #[command(flatten)]
    pub from: FromArgs,
    /// Make the tool fail, for example `search_web:timeout`.
    ///
    /// The end of `toolyard run --help` lists targets, kinds and keys.
    #[arg(long, value_name = "SPEC")]
    pub fault: Vec<FaultSpec>,
    /// Seed of all randomness; the same seed gives the same result.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u64>)]
    pub seed: Option<u64>,
    /// Print the whole call as one JSON object.
    #[arg(long)]
    pub json: bool,
}
