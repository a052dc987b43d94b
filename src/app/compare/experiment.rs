//! The plan of a comparison: its combinations, and how their results are printed.

use std::collections::BTreeMap;

use super::args::{CompareOptions, WarmUp};
use super::columns;
use super::grid::{self, Cell};
use super::result::CellResult;
use super::table::PlainTable;
use super::verdict;
use crate::domain::{Knob, ModelName, Retrieve};
use crate::session::SessionSpec;
use crate::shell::trouble::Trouble;

/// Sets an experiment's own defaults. The list has the models of the configuration. It fails if an option does not apply.
type Settle = fn(&CompareOptions, &mut SessionSpec, &mut Vec<String>) -> Result<(), Trouble>;

/// Starts free endpoints for some combinations: addresses by the names of their models.
type Endpoints = fn(&SessionSpec, &[Cell]) -> Result<BTreeMap<ModelName, String>, Trouble>;

/// A comparison as it was planned. Options that a person gave override it.
pub struct Experiment {
    /// The command that runs it, as users write it.
    pub command: &'static str,
    pub settle: Settle,
    /// All combinations, each once, with these models. It fails if there is nothing to compare.
    pub cells: fn(&CompareOptions, &[String]) -> Result<Vec<Cell>, Trouble>,
    pub endpoints: Endpoints,
    /// The strategies that gather past uses, if the options name none.
    pub warm_up: fn(&CompareOptions) -> WarmUp,
    /// Lines below the title, each after a line break.
    pub legend: fn(&[CellResult]) -> String,
    pub tables: fn(&[CellResult]) -> Vec<PlainTable>,
    /// Lines below the tables.
    pub verdicts: fn(&[CellResult]) -> Vec<String>,
    /// A note at the end; empty: none.
    pub note: fn(&[CellResult]) -> &'static str,
}

/// The strategies and knobs of the options.
pub const CHOSEN: Experiment = Experiment {
    command: "toolyard compare",
    settle: |_, _, _| Ok(()),
    cells: |options, _| grid::cells(options),
    endpoints: |_, _| Ok(BTreeMap::new()),
    warm_up: |_| WarmUp::default(),
    legend: |_| String::new(),
    tables: |results| vec![columns::spent(results), columns::answers(results)],
    verdicts: verdict::of_rows,
    note: |_| "",
};

/// Has tools found by words, whatever the configuration has.
pub fn without_reader(session: &mut SessionSpec) {
    let words = f64::from(Retrieve::Words as u8);
    session.knobs.entry(Knob::Retrieve).or_insert(words);
}
