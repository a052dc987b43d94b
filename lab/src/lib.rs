//! The laboratory: measures the methods of the papers, trains heads and imports data sets. It is a separate program,
//! `toolyard-lab`; the debugger does not need it.

use toolyard_app as app;
use toolyard_domain as domain;
use toolyard_files as files;
use toolyard_papers as papers;
use toolyard_report as report;
use toolyard_store as store;
use toolyard_strategy as strategy;
use toolyard_ui as ui;

pub mod agents;
mod bench;
mod compare;
mod cotools;
pub mod data;
pub mod graph;
pub mod import;
mod program;
mod retrieval;
pub mod training;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use clap_complete::Shell;

use self::bench::BenchCommand;
use self::compare::CompareArgs;
use self::cotools::CotoolsCommand;
use self::cotools::args::RetrievalCommand;
use self::graph::GraphCommand;
use self::import::ImportCommand;
use self::program::args::ProgramCommand;
use crate::app::shell::{ManArgs, describe, log::LogArgs, trouble::Trouble};
use crate::app::start::{self, CommandLine};

/// The laboratory of toolyard: measure what papers report, train heads, import data sets.
#[derive(Debug, Parser)]
#[command(version, bin_name = "toolyard-lab", name = "toolyard-lab", after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    log: LogArgs,
}

const EXAMPLES: &str = "\
Examples:
  toolyard-lab bench papers --seeds 0
  toolyard-lab compare btp
  toolyard-lab cotools train question --data stquestions --out question.heads
  toolyard-lab cotools eval question --data stquestions --heads question.heads
  toolyard-lab retrieval eval queries.jsonl --workspace mine --json
  toolyard-lab graph show graph.json --format dot | dot -Tsvg > graph.svg
  toolyard-lab program run films.py --tools mine --stop-at every-line
  toolyard-lab import api-bank DIR --out workspace
  toolyard-lab import qa strategy_qa.csv --out mine/tasks.jsonl --licence MIT";

#[derive(Debug, Subcommand)]
enum Command {
    /// Reproduce what papers report.
    #[command(subcommand)]
    Bench(BenchCommand),
    /// Compare as a paper does, and print its tables and figures.
    Compare(Box<CompareArgs>),
    /// Train, measure and show heads that find tools with a small local model (CoTools).
    #[command(subcommand)]
    Cotools(Box<CotoolsCommand>),
    /// Measure how well tools are found for queries.
    #[command(subcommand)]
    Retrieval(Box<RetrievalCommand>),
    /// Weigh tool graphs, and print them for other programs (ToolNet).
    #[command(subcommand)]
    Graph(GraphCommand),
    /// Check and run programs over tools, without a model (ATC).
    #[command(subcommand)]
    Program(Box<ProgramCommand>),
    /// Import a data set as a workspace or as tasks.
    #[command(subcommand)]
    Import(ImportCommand),
    /// Print shell completions for commands and options.
    Completions { shell: Shell },
    /// Print the manual page of toolyard-lab, or of a command.
    Man(ManArgs),
}

/// Runs the program `toolyard-lab`.
pub fn main() -> ExitCode {
    start::start::<Cli>()
}

impl CommandLine for Cli {
    const NAME: &str = "toolyard-lab";

    fn log(&self) -> &LogArgs {
        &self.log
    }

    fn obey(self) -> Result<ExitCode, Trouble> {
        match self.command {
            Command::Bench(BenchCommand::Papers(args)) => bench::papers(&args)?,
            Command::Compare(args) => compare::compare(&args)?,
            Command::Cotools(command) => cotools::cotools(&command)?,
            Command::Graph(command) => graph::graph(&command)?,
            Command::Program(command) => {
                let is_well = program::program(&command)?;
                return Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::from(1) });
            }
            Command::Retrieval(command) => retrieval::retrieval(&command)?,
            Command::Import(command) => import::import(&command)?,
            Command::Completions { shell } => describe::completions::<Self>(shell)?,
            Command::Man(args) => describe::man::<Self>(&args)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}
