//! Arguments of `toolyard-lab program`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::app::shell::ConfigArgs;
use crate::app::stage::Sample;
use crate::domain::approval::Rule;

#[derive(Debug, Subcommand)]
pub enum ProgramCommand {
    /// Check whether a program can run, without calling anything.
    Check(CheckArgs),
    /// Run a program over the tools of a workspace; print its calls, output and error.
    Run(RunProgramArgs),
}

/// A program, and the tools that it may call.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Python file of the program.
    #[arg(required_unless_present = "replies")]
    pub file: Option<PathBuf>,
    /// File of model replies, one {"id": …, "reply": …} per line; toolyard extracts a program from each.
    #[arg(long, value_name = "FILE.jsonl", conflicts_with = "file")]
    pub replies: Option<PathBuf>,
    /// Folder with tools/; default: the embedded demo.
    #[arg(long, value_name = "DIR", conflicts_with = "openapi")]
    pub tools: Option<PathBuf>,
    /// Use the tools of this embedded sample.
    #[arg(long, value_name = "SAMPLE", conflicts_with_all = ["tools", "openapi"])]
    pub sample: Option<Sample>,
    /// OpenAPI file; its operations become the tools.
    #[arg(long, value_name = "FILE", requires = "base")]
    pub openapi: Option<PathBuf>,
    /// Address of the server of --openapi.
    #[arg(long, value_name = "URL", requires = "openapi")]
    pub base: Option<String>,
    #[command(flatten)]
    pub config: ConfigArgs,
    /// Print one JSON object for each program.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct RunProgramArgs {
    #[command(flatten)]
    pub check: CheckArgs,
    /// Allow calls of a tool without asking, for example `effect:write`.
    #[arg(long, value_name = "RULE")]
    pub allow: Vec<Rule>,
    /// Print each stop: the line, and the variables set since the last stop.
    ///
    /// After 10,000 stops the program continues without stops.
    #[arg(long, value_name = "WHERE")]
    pub stop_at: Option<StopAt>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StopAt {
    /// Before every statement, also in functions.
    EveryLine,
}
