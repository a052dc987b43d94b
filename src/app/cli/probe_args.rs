//! Arguments of `toolyard probe`.

use clap::Args;

use super::value::whole;
use crate::shell::SessionArgs;

#[derive(Debug, Args)]
pub struct ProbeArgs {
    /// Tools to probe; default: all read-only tools without a learned schema.
    ///
    /// Named tools are called even if they can change something.
    #[arg(value_name = "TOOL")]
    pub tools: Vec<String>,
    /// Number of passes that may use results of other tools; default: the knob `probe_passes`.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u32>)]
    pub passes: Option<u32>,
    /// Most programs for each tool in each pass; default: the knob `probe_samples`.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u32>)]
    pub samples: Option<u32>,
    #[command(flatten)]
    pub session: SessionArgs,
    /// Print one JSON object with the known facts of each tool.
    #[arg(long)]
    pub json: bool,
}
