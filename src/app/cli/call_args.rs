//! Arguments of `toolyard call`.

use std::path::PathBuf;

use clap::Args;

use super::session_args::ConfigArgs;
use super::value::whole;
use crate::domain::FaultSpec;
use crate::stage::Sample;

/// Which tool to call, and with what.
#[derive(Debug, Args)]
pub struct CallArgs {
    /// The tool's name.
    pub tool: String,
    /// Arguments as NAME=VALUE, or all of them as one JSON object.
    #[arg(value_name = "NAME=VALUE")]
    pub arguments: Vec<String>,
    /// Folder with tools/; default: the embedded demo.
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Start the MCP servers of this configuration, such as .mcp.json, whose tools can be called then.
    #[arg(long, value_name = "FILE")]
    pub mcp: Vec<PathBuf>,
    /// Embedded sample with the tool.
    #[arg(long, value_name = "SAMPLE", conflicts_with = "workspace")]
    pub sample: Option<Sample>,
    /// Arm a fault, such as `search_web:error:p=0.5`; `toolyard run --help` lists targets, kinds and keys.
    #[arg(long, value_name = "SPEC")]
    pub fault: Vec<FaultSpec>,
    /// Seed of all randomness; the same seed gives the same result.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u64>)]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub config: ConfigArgs,
    /// Print the whole call, one JSON object.
    #[arg(long)]
    pub json: bool,
}
