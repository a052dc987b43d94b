//! `toolyard bench papers`: every comparison that reproduces a paper, and one line for each of its tables
//! and figures.

use std::num::NonZeroUsize;

use super::args::{CompareArgs, PapersArgs, Preset};
use super::{compared, print};
use crate::app::cli::{SessionArgs, cotools, out, trouble::Trouble};

/// The comparisons, and the papers that they belong to.
const PAPERS: [(Preset, &str, &str); 6] = [
    (Preset::Btp, "BTP", "btp"),
    (Preset::Budgets, "BTP", "budgets"),
    (Preset::Taus, "BTP", "taus"),
    (Preset::ToolNet, "ToolNet", "toolnet"),
    (Preset::Pairs, "Concurrent workers", "pairs"),
    (Preset::Atc, "ATC", "atc"),
];

/// Runs them one after the other, and prints each line as soon as it is known.
///
/// # Errors
/// As [`super::compare`].
pub fn papers(args: &PapersArgs) -> Result<(), Trouble> {
    for (preset, paper, name) in PAPERS {
        let own = CompareArgs {
            preset: Some(preset),
            seeds: args.seeds.clone(),
            jobs: args.jobs,
            out: args.out.as_ref().map(|out| out.join(name)),
            session: SessionArgs {
                tasks_limit: args.tasks_limit.map(NonZeroUsize::get),
                ..SessionArgs::default()
            },
            ..CompareArgs::default()
        };
        let (.., results) = compared(&own)?;
        for line in print::verdicts(Some(preset), &results) {
            out::print_line(format!("{paper}, {line}"))?;
        }
    }
    for line in cotools::bench_lines(&args.reader, args.cotools_data.as_deref())? {
        out::print_line(format!("CoTools, {line}"))?;
    }
    Ok(())
}
