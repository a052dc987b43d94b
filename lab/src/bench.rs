//! `toolyard-lab bench papers`: every comparison that reproduces a paper, and one line for each of its tables
//! and figures.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::app::compare::{CompareOptions, Seeds};
use crate::app::shell::cotools::args::ReaderArgs;
use crate::app::shell::{SessionArgs, out, trouble::Trouble, value::positive};
use crate::compare::{Preset, verdicts};
use crate::cotools;

/// A paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Paper {
    /// Budget-Constrained Tool Learning with Planning.
    Btp,
    #[value(name = "toolnet")]
    ToolNet,
    /// Concurrent workers with model choice.
    Workers,
    Atc,
    #[value(name = "cotools")]
    CoTools,
}

impl Paper {
    pub fn name(self) -> &'static str {
        match self {
            Paper::Btp => "BTP",
            Paper::ToolNet => "ToolNet",
            Paper::Workers => "Concurrent workers",
            Paper::Atc => "ATC",
            Paper::CoTools => "CoTools",
        }
    }
}

#[derive(Debug, Args)]
pub struct PapersArgs {
    /// Papers to reproduce; default: all.
    #[arg(value_enum)]
    pub papers: Vec<Paper>,
    /// Seeds: every combination runs once with each. `1,2,5`, or `0..4` for 0 to 4, which is the default.
    #[arg(long, value_name = "N,…")]
    pub seeds: Option<Seeds>,
    /// Number of tasks of each session; default: all 85.
    #[arg(long, value_name = "N", value_parser = positive)]
    pub tasks_limit: Option<NonZeroUsize>,
    /// Keep journals in this folder; the same command continues after an interruption.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Number of parallel sessions; default: two per processor, since they mostly wait.
    #[arg(long, value_name = "N", value_parser = positive)]
    pub jobs: Option<NonZeroUsize>,
    /// Folder of STQuestions, for the lines of CoTools.
    #[arg(long, value_name = "DIR")]
    pub cotools_data: Option<PathBuf>,
    #[command(flatten)]
    pub reader: ReaderArgs,
}

#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// Run every comparison that reproduces a paper: one line for each table and figure.
    Papers(PapersArgs),
}

/// The comparisons, and the papers to which they belong.
const PAPERS: [(Preset, &str, &str); 6] = [
    (Preset::Btp, "BTP", "btp"),
    (Preset::Budgets, "BTP", "budgets"),
    (Preset::Taus, "BTP", "taus"),
    (Preset::ToolNet, "ToolNet", "toolnet"),
    (Preset::Pairs, "Concurrent workers", "pairs"),
    (Preset::Atc, "ATC", "atc"),
];

/// The paper that no comparison reproduces: its lines are measured separately.
const COTOOLS: &str = "CoTools";

/// Runs them one after the other, and prints each line as soon as it is known.
///
/// # Errors
/// A comparison cannot run, or was interrupted.
pub fn papers(args: &PapersArgs) -> Result<(), Trouble> {
    let wanted =
        |paper: &str| args.papers.is_empty() || args.papers.iter().any(|of| of.name() == paper);
    let all: Vec<_> = PAPERS.into_iter().filter(|(_, paper, _)| wanted(paper)).collect();
    for (at, (preset, paper, name)) in all.iter().copied().enumerate() {
        out::tell(format!("toolyard-lab bench papers: {}/{} {paper}, {name}\n", at + 1, all.len()));
        let own = CompareOptions {
            seeds: args.seeds.clone(),
            jobs: args.jobs,
            out: args.out.as_ref().map(|out| out.join(name)),
            session: SessionArgs {
                tasks_limit: args.tasks_limit.map(NonZeroUsize::get),
                ..SessionArgs::default()
            },
            ..CompareOptions::default()
        };
        for line in verdicts(preset, &own)? {
            out::print_line(format!("{paper}, {line}"))?;
        }
    }
    if !wanted(COTOOLS) {
        return Ok(());
    }
    for line in cotools::bench_lines(&args.reader, args.cotools_data.as_deref())? {
        out::print_line(format!("CoTools, {line}"))?;
    }
    Ok(())
}
