//! Arguments of `toolyard program`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::session_args::ConfigArgs;
use crate::app::sample::Sample;
use crate::domain::approval::Rule;

#[derive(Debug, Subcommand)]
pub enum ProgramCommand {
    /// Say what keeps a program from running, before anything is called.
    Check(CheckArgs),
    /// Run a program over the tools of a workspace, and print its calls, what it prints, and its error.
    Run(RunProgramArgs),
}

/// A program, and the tools that it may call.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The program, a file of Python.
    #[arg(required_unless_present = "replies")]
    pub file: Option<PathBuf>,
    /// Many replies of a model instead, each a line {"id": …, "reply": …}; the program is taken out of each.
    #[arg(long, value_name = "FILE.jsonl", conflicts_with = "file")]
    pub replies: Option<PathBuf>,
    /// Folder whose tools/ has the tools; the embedded demo where none is given.
    #[arg(long, value_name = "DIR", conflicts_with = "openapi")]
    pub tools: Option<PathBuf>,
    /// The embedded sample that has the tools.
    #[arg(long, value_name = "SAMPLE", conflicts_with_all = ["tools", "openapi"])]
    pub sample: Option<Sample>,
    /// The operations of an OpenAPI file instead.
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
    /// Tool calls that need nobody's consent: a tool, a class (effect:write), with a condition where needed.
    #[arg(long, value_name = "RULE")]
    pub allow: Vec<Rule>,
    /// Also print every line at which the program stops, with the variables that were set since the last one.
    /// After 10,000 stops the programs go on without stops.
    #[arg(long, value_name = "WHERE")]
    pub stop_at: Option<StopAt>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StopAt {
    /// Before every statement, in functions, too.
    EveryLine,
}
