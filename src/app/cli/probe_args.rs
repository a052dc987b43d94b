//! Arguments of `toolyard probe`.

use clap::Args;

use super::session_args::SessionArgs;
use super::value::whole;

#[derive(Debug, Args)]
pub struct ProbeArgs {
    /// Tools to probe, even if already learned or able to change something. Default: all tools that
    /// change nothing and are not learned yet.
    #[arg(value_name = "TOOL")]
    pub tools: Vec<String>,
    /// Passes that may use the results of other tools; 0: each tool alone. The knob `probe_passes`.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u32>)]
    pub passes: Option<u32>,
    /// Programs for each tool in each pass, at most. The knob `probe_samples`.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u32>)]
    pub samples: Option<u32>,
    #[command(flatten)]
    pub session: SessionArgs,
    /// Print one JSON object with the known facts of each tool.
    #[arg(long)]
    pub json: bool,
}
