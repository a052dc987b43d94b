//! `toolyard bench papers`: every comparison that reproduces a paper, and one line for each of its tables
//! and figures.

use std::io::Write as _;
use std::num::NonZeroUsize;

use tempfile::NamedTempFile;

use super::args::{CompareArgs, PapersArgs, Preset};
use super::{compared, print};
use crate::cli::{ConfigArgs, SessionArgs, cotools, out, trouble::Trouble};
use crate::session::SessionSpec;

/// The comparisons, and the papers that they belong to.
const PAPERS: [(Preset, &str, &str); 6] = [
    (Preset::Btp, "BTP", "btp"),
    (Preset::Budgets, "BTP", "budgets"),
    (Preset::Taus, "BTP", "taus"),
    (Preset::ToolNet, "ToolNet", "toolnet"),
    (Preset::Pairs, "Concurrent workers", "pairs"),
    (Preset::Atc, "ATC", "atc"),
];

/// The paper that no comparison reproduces: its lines are measured by themselves.
const COTOOLS: &str = "CoTools";

/// A configuration with two simulated models of different skill. Pairs need two models.
const TWO: &str = "[models.able]\nkind = \"simulated\"\nskill = 0.99\n\
                   [models.plain]\nkind = \"simulated\"\nskill = 0.8\n";

/// A configuration with two models; `None`: there is one already.
fn two_models() -> Result<Option<NamedTempFile>, Trouble> {
    if super::models(&SessionSpec::default())?.len() > 1 {
        return Ok(None);
    }
    let mut file = tempfile::Builder::new().suffix(".toml").tempfile().map_err(Trouble::failed)?;
    file.write_all(TWO.as_bytes()).map_err(Trouble::failed)?;
    Ok(Some(file))
}

/// Runs them one after the other, and prints each line as soon as it is known.
///
/// # Errors
/// As [`super::compare`].
pub fn papers(args: &PapersArgs) -> Result<(), Trouble> {
    let wanted =
        |paper: &str| args.papers.is_empty() || args.papers.iter().any(|of| of.name() == paper);
    let all: Vec<_> = PAPERS.into_iter().filter(|(_, paper, _)| wanted(paper)).collect();
    for (at, (preset, paper, name)) in all.iter().copied().enumerate() {
        out::tell(format!("toolyard bench papers: {}/{} {paper}, {name}\n", at + 1, all.len()));
        let two = (preset == Preset::Pairs).then(two_models).transpose()?.flatten();
        let config = two.as_ref().map(|file| file.path().to_owned());
        let own = CompareArgs {
            preset: Some(preset),
            seeds: args.seeds.clone(),
            jobs: args.jobs,
            out: args.out.as_ref().map(|out| out.join(name)),
            session: SessionArgs {
                tasks_limit: args.tasks_limit.map(NonZeroUsize::get),
                config: ConfigArgs { config },
                ..SessionArgs::default()
            },
            ..CompareArgs::default()
        };
        let (.., results) = compared(&own)?;
        for line in print::verdicts(Some(preset), &results) {
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
