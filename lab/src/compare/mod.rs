//! `toolyard-lab compare`: the comparisons of papers.

pub mod args;
mod atc;
mod btp;
mod btp_tables;
mod btp_verdicts;
mod cells;
mod gains;
mod pairs;
mod toolnet;
mod verdict;

use std::collections::BTreeMap;

pub use self::args::{CompareArgs, Preset};
use self::cells::{OURS, agent};
use crate::agents;
use crate::app::compare::experiment::{CHOSEN, Experiment};
use crate::app::compare::grid::Cell;
use crate::app::compare::result::CellResult;
use crate::app::compare::{self, CompareOptions, without_reader};
use crate::app::shell::trouble::Trouble;
use crate::app::session::SessionSpec;
use crate::domain::ModelName;

/// Runs all combinations and prints the results.
///
/// # Errors
/// Any fault of any combination, before the first one runs; or the comparison was interrupted.
pub fn compare(args: &CompareArgs) -> Result<(), Trouble> {
    compare::print(&args.options, experiment(args.preset))
}

/// Runs all combinations, and returns a line for each table and figure of the paper.
///
/// # Errors
/// As [`compare()`].
pub fn verdicts(preset: Preset, options: &CompareOptions) -> Result<Vec<String>, Trouble> {
    compare::verdicts(options, experiment(preset))
}

fn experiment(preset: Preset) -> &'static Experiment {
    match preset {
        Preset::Btp => &btp::TABLES,
        Preset::Budgets => &btp::BUDGETS,
        Preset::Taus => &btp::TAUS,
        Preset::ToolNet => &toolnet::TOOLNET,
        Preset::Pairs => &pairs::PAIRS,
        Preset::Atc => &atc::ATC,
    }
}

/// A paper's comparison, without its combinations. A paper without a reader is measured without one.
const OF_PAPER: Experiment = Experiment {
    command: "toolyard-lab compare",
    settle: |_, session, _| {
        without_reader(session);
        Ok(())
    },
    endpoints,
    legend,
    ..CHOSEN
};

/// Starts the scripted agents, if one of them plays.
fn endpoints(
    session: &SessionSpec,
    cells: &[Cell],
) -> Result<BTreeMap<ModelName, String>, Trouble> {
    if cells.iter().all(|cell| agent(cell).is_none()) {
        return Ok(BTreeMap::new());
    }
    let prepared = SessionSpec { costs: None, fresh: true, ..session.clone() }.prepare()?;
    let url = agents::serve(prepared.tasks.distinct().to_vec()).map_err(Trouble::failed)?;
    // The seed of a session draws habits and orders.
    let url = |agent: &agents::Habits| (agent.name.into(), format!("{url}/{{seed}}"));
    Ok(agents::AGENTS.into_iter().map(url).collect())
}

/// Legend of the marks of rows.
const SETTINGS: &str = "\n\
    given: the same five tools come with each task, for every strategy\n\
    paper: the same, and +btp as published: its estimates, a strict blacklist, no widening\n\
    no mark: all tools; +btp looks for candidates, and for tools that the agent misses";

/// Explanations of the settings and agents of some rows.
fn legend(results: &[CellResult]) -> String {
    let mut legend = String::new();
    if results.iter().any(|result| result.cell.setting != OURS) {
        legend.push_str(SETTINGS);
    }
    let plays = |name| results.iter().any(|result| result.cell.model_alone() == Some(name));
    for agent in agents::AGENTS.into_iter().filter(|agent| plays(agent.name)) {
        legend.push_str(&format!("\nmodel={}: a scripted agent that {}", agent.name, agent.about));
    }
    legend
}
