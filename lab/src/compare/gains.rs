//! The tasks that a plan gains and loses.

use super::cells::{is_against, reads_costs};
use crate::app::compare::result::CellResult;

/// The combination that this one is compared with: the same loop without a plan. For an agent that reads costs that
/// may be the one whose prompt states them, if it solves more.
pub fn baseline<'r>(own: &CellResult, all: &'r [CellResult]) -> Option<&'r CellResult> {
    let bare = all.iter().filter(|other| is_against(&own.cell, &other.cell));
    let pbc = |result: &&CellResult| result.all.measures.pbc;
    bare.filter(|other| !other.cell.strategy.prompt || reads_costs(&own.cell))
        .filter(|other| other.cell.name != own.cell.name)
        .max_by(|one, other| pbc(one).total_cmp(&pbc(other)))
}

/// How many tasks of all seeds this combination solves within the budget and another one does not, and how many it
/// does not and the other one does.
pub fn gained_and_lost(own: &CellResult, other: &CellResult) -> (usize, usize) {
    let pairs = || {
        let seeds = own.seeds.iter().zip(&other.seeds);
        seeds.flat_map(|(own, other)| own.within.iter().zip(&other.within))
    };
    let count = |own, other| pairs().filter(|pair| *pair == (&own, &other)).count();
    (count(true, false), count(false, true))
}
