//! The plan of a comparison: its combinations, and how their results are printed.

use std::collections::BTreeMap;

use super::args::{CompareOptions, WarmUp};
use super::columns;
use super::grid::{self, Cell};
use super::result::CellResult;
use super::table::PlainTable;
use super::verdict;
use crate::cli::trouble::Trouble;
use crate::domain::ModelName;
use crate::session::SessionSpec;

/// A comparison as it was planned. Options that a person gave override it.
pub trait Experiment {
    /// The command that runs it, as users write it.
    fn command(&self) -> &'static str {
        "toolyard compare"
    }

    /// Sets its own defaults. `models`: those of the configuration.
    ///
    /// # Errors
    /// An option does not apply to it.
    fn settle(
        &self,
        _options: &CompareOptions,
        _session: &mut SessionSpec,
        _models: &mut Vec<String>,
    ) -> Result<(), Trouble> {
        Ok(())
    }

    /// All combinations, each once.
    ///
    /// # Errors
    /// There is nothing to compare, or an option does not apply.
    fn cells(&self, options: &CompareOptions, models: &[String]) -> Result<Vec<Cell>, Trouble>;

    /// Free endpoints that it starts for its combinations, by the names of their models.
    ///
    /// # Errors
    /// This machine cannot serve them.
    fn endpoints(
        &self,
        _session: &SessionSpec,
        _cells: &[Cell],
    ) -> Result<BTreeMap<ModelName, String>, Trouble> {
        Ok(BTreeMap::new())
    }

    /// The strategies that gather past uses, if the options name none.
    fn warm_up(&self, _options: &CompareOptions) -> WarmUp {
        WarmUp::default()
    }

    /// Lines below the title, each after a line break.
    fn legend(&self, _results: &[CellResult]) -> String {
        String::new()
    }

    fn tables(&self, results: &[CellResult]) -> Vec<PlainTable>;

    /// Lines below the tables.
    fn verdicts(&self, results: &[CellResult]) -> Vec<String>;

    /// A note at the end; empty: none.
    fn note(&self, _results: &[CellResult]) -> &'static str {
        ""
    }
}

/// The strategies and knobs of the options.
pub struct Chosen;

impl Experiment for Chosen {
    fn cells(&self, options: &CompareOptions, _models: &[String]) -> Result<Vec<Cell>, Trouble> {
        grid::cells(options)
    }

    fn tables(&self, results: &[CellResult]) -> Vec<PlainTable> {
        vec![columns::spent(results), columns::answers(results)]
    }

    fn verdicts(&self, results: &[CellResult]) -> Vec<String> {
        verdict::of_rows(results)
    }
}
