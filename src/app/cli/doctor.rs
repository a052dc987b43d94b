//! `toolyard doctor`.

use std::io::{IsTerminal, stdout};
use std::path::PathBuf;

use clap::Args;

use super::tools::args::CheckToolsArgs;
use super::{ConfigArgs, colour, colour::Painted, out, runtime::runtime, trouble::Trouble};
use crate::doctor::{self, Finding, Subject, Terminal, Trials};
use crate::ui;

/// Arguments of `toolyard doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    #[command(flatten)]
    pub config: ConfigArgs,
    /// Folder with tools/, tasks, graph.json and learned scores.
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Check the MCP servers of this configuration, such as .mcp.json, too.
    #[arg(long, value_name = "FILE")]
    pub mcp: Vec<PathBuf>,
    /// Model for every role, as in a session.
    #[arg(long, value_name = "M")]
    pub model: Option<String>,
    /// Send one small test request with a tool to these endpoints.
    ///
    /// A local server may load its model to answer.
    #[arg(long, value_name = "WHICH", value_enum, default_value_t)]
    pub probe: Trials,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Prints the findings; returns whether nothing failed.
pub fn doctor(args: &DoctorArgs) -> Result<bool, Trouble> {
    let subject = Subject {
        config: args.config.config.as_deref(),
        workspace: args.workspace.as_deref(),
        mcp: &args.mcp,
        model: args.model.as_deref(),
        environment: &|name| std::env::var_os(name),
        trials: args.probe,
        terminal: Terminal { is_terminal: stdout().is_terminal(), size: ui::terminal::size() },
    };
    said(&runtime()?.block_on(doctor::examine(&subject)), args.json)
}

/// Prints the findings about tools alone; returns whether nothing failed.
pub fn check_tools(args: &CheckToolsArgs) -> Result<bool, Trouble> {
    let subject = Subject {
        config: args.from.config.config.as_deref(),
        workspace: args.from.workspace.as_deref(),
        mcp: &args.from.mcp,
        model: None,
        environment: &|name| std::env::var_os(name),
        trials: Trials::None,
        terminal: Terminal { is_terminal: false, size: None },
    };
    said(&runtime()?.block_on(doctor::examine_tools(&subject)), args.json)
}

fn said(findings: &[Finding], as_json: bool) -> Result<bool, Trouble> {
    if as_json {
        out::print_pretty(&findings)?;
    } else {
        // A finding may quote a foreign manifest.
        let text = findings.iter().map(|finding| format!("{finding}\n")).collect::<String>();
        out::print(text.lines().map(|line| painted(line) + "\n").collect::<Painted>())?;
    }
    Ok(doctor::is_well(findings))
}

/// A line whose verdict, if it begins with one, has its colour.
fn painted(line: &str) -> Painted {
    let verdicts = [("ok ", colour::GOOD), ("warn ", colour::WARN), ("FAIL ", colour::BAD)];
    let found = verdicts.iter().find(|(word, _)| line.starts_with(word));
    found.map_or_else(
        || line.into(),
        |(word, style)| colour::paint(*style, word.trim_end()) + &line[word.len() - 1..],
    )
}
