//! Arguments of `toolyard tools`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::call_args::CallArgs;
use crate::cli::session_args::ConfigArgs;
use crate::stage::Sample;

#[derive(Debug, Subcommand)]
pub enum ToolsCommand {
    /// List all tools: of the workspace, and of MCP servers. The exit code is 1 if a server cannot be started.
    List(ListArgs),
    /// Print one tool with its arguments.
    Show(ShowArgs),
    /// Call one tool by hand, and print what it returns.
    Call(CallArgs),
    /// Start all MCP servers, and print what each offers, how fast, and what is wrong with it. The exit code is 1 if
    /// something does not work.
    Check(CheckToolsArgs),
    /// Accept the changed definitions of these MCP tools, or print the changes of all.
    Accept(AcceptArgs),
    /// Add an MCP server to the configuration: a program after `--`, or an address.
    Add(AddArgs),
}

/// Where the tools are.
#[derive(Clone, Debug, Default, Args)]
pub struct FromArgs {
    /// Folder with tools/; default: the embedded demo.
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Start the MCP servers of this configuration, such as .mcp.json, too.
    #[arg(long, value_name = "FILE")]
    pub mcp: Vec<PathBuf>,
    /// Embedded sample with the tools.
    #[arg(long, value_name = "SAMPLE", conflicts_with = "workspace")]
    pub sample: Option<Sample>,
    #[command(flatten)]
    pub config: ConfigArgs,
}

#[derive(Debug, Args)]
pub struct ListArgs {
    #[command(flatten)]
    pub from: FromArgs,
    /// Print a JSON array.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The tool's name.
    pub tool: String,
    #[command(flatten)]
    pub from: FromArgs,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct CheckToolsArgs {
    #[command(flatten)]
    pub from: FromArgs,
    /// Print a JSON array.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct AcceptArgs {
    /// Names of tools, such as files__read_file. Without a name nothing is accepted.
    pub tools: Vec<String>,
    #[command(flatten)]
    pub from: FromArgs,
}

#[derive(Debug, Args)]
pub struct AddArgs {
    /// Key of the server, with which the names of its tools begin.
    pub key: String,
    /// The program of the server with its arguments.
    #[arg(last = true, required_unless_present = "url")]
    pub command: Vec<String>,
    /// The address of a server that speaks streamable HTTP.
    #[arg(long, conflicts_with = "command")]
    pub url: Option<String>,
    /// A variable of the program, as NAME=VALUE; write keys as NAME='${NAME}'.
    #[arg(long, value_name = "NAME=VALUE", conflicts_with = "url")]
    pub env: Vec<String>,
    /// A header of each request, as NAME=VALUE; write keys as NAME='${NAME}'.
    #[arg(long, value_name = "NAME=VALUE", requires = "url")]
    pub header: Vec<String>,
    #[command(flatten)]
    pub config: ConfigArgs,
}
