//! Arguments of `toolyard tools`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::{call_args::CallArgs, examples};
use crate::shell::ConfigArgs;
use crate::stage::Sample;

#[derive(Debug, Subcommand)]
pub enum ToolsCommand {
    /// List the tools of the workspace and of MCP servers.
    ///
    /// The exit code is 1 if a server cannot be started.
    List(ListArgs),
    /// Print one tool with its arguments.
    Show(ShowArgs),
    /// Call one tool by hand, and print its result.
    #[command(after_help = examples::CALL)]
    Call(CallArgs),
    /// Start all MCP servers, and print their tools, response times and problems.
    ///
    /// The exit code is 1 if something does not work.
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
    /// Also start the MCP servers of this file, such as .mcp.json.
    #[arg(long, value_name = "FILE")]
    pub mcp: Vec<PathBuf>,
    /// Use the tools of this embedded sample.
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
    /// Name of the tool.
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
    /// Names of tools, such as files__read_file. Without a name, nothing is accepted.
    pub tools: Vec<String>,
    #[command(flatten)]
    pub from: FromArgs,
}

#[derive(Debug, Args)]
pub struct AddArgs {
    /// Key of the server; the names of its tools begin with it.
    pub key: String,
    /// Program of the server and its arguments.
    #[arg(last = true, required_unless_present = "url")]
    pub command: Vec<String>,
    /// Address of a server that uses streamable HTTP.
    #[arg(long, conflicts_with = "command")]
    pub url: Option<String>,
    /// Variable of the program, as NAME=VALUE; write keys as NAME='${NAME}'.
    #[arg(long, value_name = "NAME=VALUE", conflicts_with = "url")]
    pub env: Vec<String>,
    /// Header of each request, as NAME=VALUE; write keys as NAME='${NAME}'.
    #[arg(long, value_name = "NAME=VALUE", requires = "url")]
    pub header: Vec<String>,
    #[command(flatten)]
    pub config: ConfigArgs,
}
