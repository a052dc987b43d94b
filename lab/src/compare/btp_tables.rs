//! Tables 2 to 5 and figures 2 and 3 of BTP.

use super::cells::{PAPER, agent, is_of_usual_agent};
use super::gains::{baseline, gained_and_lost};
use crate::app::compare::columns::{
    AC, ACCURACY, COULD, NAME, OVER, PBC, PR, REFUSED, RFBC, ResultColumn, SPARE, USES,
    planned_cost, planned_uses, table,
};
use crate::app::compare::result::CellResult;
use crate::app::compare::table::{PlainTable, bar, number, or, percent};
use crate::domain::{Blacklist, Knob};

/// The tables, with all results.
pub fn tables(results: &[CellResult]) -> Vec<PlainTable> {
    let (usual, others): (Vec<_>, Vec<_>) =
        results.iter().partition(|result| is_of_usual_agent(&result.cell));
    let (agents, others): (Vec<_>, Vec<_>) =
        others.into_iter().partition(|result| agent(&result.cell).is_some());
    let (parts, usual): (Vec<_>, Vec<_>) =
        usual.into_iter().partition(|result| result.cell.without.is_some());
    let (without, agents): (Vec<_>, Vec<_>) =
        agents.into_iter().partition(|result| result.cell.without.is_some());
    let parts: Vec<_> = parts.into_iter().chain(without).collect();
    vec![
        within_budget(&usual, results),
        solved(&usual),
        planned(&usual),
        blacklist(&usual),
        characters(&usual, &others),
        by_agent(
            "Other agents: the measures of tables 2 and 3, over orders of tools drawn by seed",
            &agents,
            results,
        ),
        by_agent("Our plan without one of its parts", &parts, results),
    ]
}

/// Table 2 of BTP. `all`: every result, for baselines.
fn within_budget(results: &[&CellResult], all: &[CellResult]) -> PlainTable {
    let title = "Table 2: solved within the budget (PBC, %), average cost of a task (AC, credits; \
        least and most of a seed)";
    let least: ResultColumn<'_> = ("least", &|result| number(result.ac_range.0));
    let most: ResultColumn<'_> = ("most", &|result| number(result.ac_range.1));
    let budget: ResultColumn<'_> = ("B", &|result| number(result.all.measures.budget));
    let (gains, loses) = (|result: &_| gains(result, all), |result: &_| loses(result, all));
    let changes: [ResultColumn<'_>; 2] = [("gains", &gains), ("loses", &loses)];
    let [gains, loses] = changes;
    table(title, 1, &[NAME, PBC, COULD, gains, loses, AC, least, most, budget], protected(results))
}

fn gains(result: &CellResult, all: &[CellResult]) -> String {
    changed(result, all).map_or("–".to_owned(), |(gained, _)| gained.to_string())
}

fn loses(result: &CellResult, all: &[CellResult]) -> String {
    changed(result, all).map_or("–".to_owned(), |(_, lost)| lost.to_string())
}

/// The tasks of all seeds that a combination solves and its baseline does not, and the other way round.
fn changed(result: &CellResult, all: &[CellResult]) -> Option<(usize, usize)> {
    Some(gained_and_lost(result, baseline(result, all)?))
}

/// Table 3 of BTP.
fn solved(results: &[&CellResult]) -> PlainTable {
    let title = "Table 3: solved at any cost (PR, %), not solved and over the budget (RFBC, %), \
        over the budget, solved or not (%, what the authors' script counts)";
    table(title, 1, &[NAME, PR, RFBC, OVER, ("right", ACCURACY.1)], protected(results))
}

/// Table 4 of BTP.
fn planned(results: &[&CellResult]) -> PlainTable {
    let title = "Table 4: planned against actual, averages per task (cost in credits, uses of tools; spare: \
        credits that `spread` adds to the plan), and calls refused in all";
    let cost = planned_cost("planned cost");
    let uses = planned_uses("planned uses");
    let planned = protected(results).filter(|result| result.all.measures.planned_cost.is_some());
    table(title, 1, &[NAME, cost, AC, SPARE, uses, USES, REFUSED], planned)
}

/// Table 5 of BTP.
fn blacklist(results: &[&CellResult]) -> PlainTable {
    let strategy: ResultColumn<'_> =
        ("", &|result| format!("{}{}", result.cell.strategy, result.cell.setting.mark()));
    let list: ResultColumn<'_> =
        ("blacklist", &|result| Knob::Blacklist.spec().show(result.knobs.get(Knob::Blacklist)));
    // If the paper's own rows were compared, only they are shown.
    let has_paper = results.iter().any(|result| result.cell.setting == PAPER);
    let is_shown = |result: &&CellResult| {
        result.cell.strategy.btp && (!has_paper || result.cell.setting == PAPER)
    };
    let with_btp = results.iter().copied().filter(is_shown);
    table("Table 5: with and without the blacklist", 2, &[strategy, list, PBC, AC, PR], with_btp)
}

/// The table of other settings of the simulated model; none of them is the paper's.
fn characters(usual: &[&CellResult], others: &[&CellResult]) -> PlainTable {
    let title = "Other settings of the simulated model (thrift 1 and patience 4 above): the measures of tables 2 \
        and 3";
    let row = |result: &CellResult| (result.cell.strategy, result.cell.setting);
    let is_varied = |result: &&CellResult| others.iter().any(|other| row(other) == row(result));
    let rows = protected(usual).filter(is_varied).chain(others.iter().copied());
    table(title, 1, &[NAME, PBC, AC, PR, RFBC], rows)
}

/// Rows of several agents, with the least and the most of a seed, and so of an order of tools.
fn by_agent(title: &str, results: &[&CellResult], all: &[CellResult]) -> PlainTable {
    let least: ResultColumn<'_> = ("least", &|result| percent(result.pbc_range.0));
    let most: ResultColumn<'_> = ("most", &|result| percent(result.pbc_range.1));
    let (gains, loses) = (|result: &_| gains(result, all), |result: &_| loses(result, all));
    let changes: [ResultColumn<'_>; 2] = [("gains", &gains), ("loses", &loses)];
    let [gains, loses] = changes;
    let columns = [NAME, PBC, least, most, COULD, gains, loses, AC, USES, PR, RFBC];
    table(title, 1, &columns, results.iter().copied())
}

/// The results for tables 2 to 4; those without the blacklist are in table 5.
fn protected<'r>(results: &[&'r CellResult]) -> impl Iterator<Item = &'r CellResult> {
    let off = f64::from(Blacklist::Off as u8);
    results
        .iter()
        .copied()
        .filter(move |result| result.cell.turned_to(Knob::Blacklist) != Some(off))
}

/// A figure of BTP, as a table with bars.
pub fn sweep(results: &[CellResult], knob: Knob, figure: &str) -> PlainTable {
    let title = format!(
        "{figure}: solved within the budget (PBC, %) and average cost (AC, credits) against {knob}"
    );
    let mut table =
        PlainTable::new(title, 1, &["", knob.spec().name, "PBC", "", "could", "AC", "", "PR"]);
    let most = results.iter().map(|result| result.all.measures.ac).fold(0.0, f64::max);
    let mut before = None;
    for result in results {
        let (measures, strategy) = (&result.all.measures, result.cell.strategy);
        let same = before.replace(strategy) == Some(strategy);
        table.row(vec![
            if same { String::new() } else { strategy.to_string() },
            number(result.knobs.get(knob)),
            percent(measures.pbc),
            bar(measures.pbc, 1.0),
            or(measures.ceiling, percent, "–"),
            number(measures.ac),
            bar(measures.ac, most),
            percent(measures.pr),
        ]);
    }
    table
}
