//! What came of a comparison: as the papers' tables, or as one JSON object.

use serde_json::json;

use super::args::{CompareArgs, Preset};
use super::table::{Table, bar, number, or, percent};
use super::{Comparison, grid::Played, result::Compared};
use crate::app::cli::{out, trouble::Trouble};
use crate::app::report::Quality;
use crate::domain::{Blacklist, Knob, ModelName, Role};

pub fn print(
    args: &CompareArgs,
    comparison: &Comparison,
    results: &[Compared],
) -> Result<(), Trouble> {
    if args.json {
        return print_json(comparison, results);
    }
    let tables = match args.preset {
        Some(Preset::Btp) => {
            vec![within_budget(results), solved(results), planned(results), blacklist(results)]
        }
        Some(Preset::Budgets) => vec![sweep(results, Knob::Budget, "Figure 2")],
        Some(Preset::Taus) => vec![sweep(results, Knob::Tau, "Figure 3")],
        Some(Preset::Pairs) => vec![baselines(results), pairs(results)],
        None => vec![spent(results), answers(results)],
    };
    let texts: Vec<_> = tables.iter().map(Table::text).filter(|text| !text.is_empty()).collect();
    out::print(&format!("{}\n\n{}", comparison.title(results), texts.join("\n")))
}

impl Comparison {
    /// What was run, in a line.
    fn title(&self, results: &[Compared]) -> String {
        let seeds = self.seeds.all.len();
        let (tasks, workspace) = self
            .cells
            .first()
            .map_or((0, ""), |(_, _, checked)| (checked.tasks, checked.workspace.as_str()));
        let workspace = crate::ui::text::clean(workspace);
        let model = match results.iter().filter(|result| result.simulated).count() {
            0 => "configured models",
            all if all == results.len() => "SIMULATED model",
            _ => "SIMULATED model in some",
        };
        let costs = match self.costs() {
            Some(costs) => format!("costs {costs} drawn by seed"),
            None => "costs as declared".to_owned(),
        };
        format!(
            "{} combinations on {workspace}: {tasks} tasks × {seeds} seed{} ({}), {costs}, warm-up \
             {}; {model}",
            self.cells.len(),
            if seeds == 1 { "" } else { "s" },
            self.seeds,
            self.warm_up,
        )
    }

    fn costs(&self) -> Option<String> {
        self.cells.first().and_then(|(_, args, _)| args.costs).map(|costs| costs.to_string())
    }
}

fn print_json(comparison: &Comparison, results: &[Compared]) -> Result<(), Trouble> {
    let first = comparison.cells.first().map(|(_, _, checked)| checked);
    let object = json!({
        "workspace": first.map(|checked| &checked.workspace),
        "tasks": first.map(|checked| checked.tasks),
        "seeds": comparison.seeds.all,
        "costs": comparison.costs(),
        "warm_up": comparison.warm_up.to_string(),
        "leak_guard": true,
        "simulated": results.iter().any(|result| result.simulated),
        "cells": results,
    });
    let text = serde_json::to_string_pretty(&object).map_err(Trouble::failed)?;
    out::print_line(&text)
}

/// Table 2 of BTP.
fn within_budget(results: &[Compared]) -> Table {
    let title = "Table 2: solved within the budget (PBC, %), average cost of a task (AC, credits; \
        least and most of a seed)";
    let mut table = Table::new(title, 1, &["", "PBC", "AC", "least", "most", "B"]);
    for result in protected(results) {
        let measures = &result.all.measures;
        table.row(vec![
            result.cell.name.clone(),
            percent(measures.pbc),
            number(measures.ac),
            number(result.ac_range.0),
            number(result.ac_range.1),
            number(measures.budget),
        ]);
    }
    table
}

/// Table 3 of BTP.
fn solved(results: &[Compared]) -> Table {
    let title = "Table 3: solved whatever it cost (PR, %), not solved and over the budget (RFBC, %), \
        over the budget, solved or not (%, what the authors' script counts)";
    let mut table = Table::new(title, 1, &["", "PR", "RFBC", "over", "right"]);
    for result in protected(results) {
        let measures = &result.all.measures;
        table.row(vec![
            result.cell.name.clone(),
            percent(measures.pr),
            percent(measures.rfbc),
            percent(measures.rfbc_authors),
            or(result.all.quality.accuracy, percent, "–"),
        ]);
    }
    table
}

/// Table 4 of BTP.
fn planned(results: &[Compared]) -> Table {
    let title = "Table 4: planned against actual, averages of a task (cost in credits, uses of tools), \
        and calls refused in all";
    let columns = ["", "planned cost", "AC", "planned uses", "uses", "refused"];
    let mut table = Table::new(title, 1, &columns);
    for result in protected(results) {
        let measures = &result.all.measures;
        let Some(cost) = measures.planned_cost else { continue };
        table.row(vec![
            result.cell.name.clone(),
            number(cost),
            number(measures.ac),
            or(measures.planned_uses, number, "–"),
            number(measures.uses),
            measures.refusals.to_string(),
        ]);
    }
    table
}

/// Table 5 of BTP.
fn blacklist(results: &[Compared]) -> Table {
    let mut table = Table::new(
        "Table 5: with and without the blacklist",
        2,
        &["", "blacklist", "PBC", "AC", "PR"],
    );
    for result in results.iter().filter(|result| result.cell.strategy.btp) {
        let measures = &result.all.measures;
        let list = Knob::Blacklist.spec().show(result.knobs.get(Knob::Blacklist));
        table.row(vec![
            result.cell.strategy.to_string(),
            list,
            percent(measures.pbc),
            number(measures.ac),
            percent(measures.pr),
        ]);
    }
    table
}

/// What tables 2 to 4 are about: table 5 has those without the blacklist.
fn protected(results: &[Compared]) -> impl Iterator<Item = &Compared> {
    let off = f64::from(Blacklist::Off as u8);
    results.iter().filter(move |result| result.cell.turned_to(Knob::Blacklist) != Some(off))
}

/// A figure of BTP, as a table with bars.
fn sweep(results: &[Compared], knob: Knob, figure: &str) -> Table {
    let title = format!(
        "{figure}: solved within the budget (PBC, %) and average cost (AC, credits) against {knob}"
    );
    let mut table = Table::new(title, 1, &["", knob.spec().name, "PBC", "", "AC", "", "PR"]);
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
            number(measures.ac),
            bar(measures.ac, most),
            percent(measures.pr),
        ]);
    }
    table
}

/// All that BTP measures.
fn spent(results: &[Compared]) -> Table {
    let title = "Budget (shares in %, costs in credits; averages of a task, over all seeds)";
    let columns =
        ["", "tasks", "PR", "PBC", "RFBC", "over", "AC", "planned", "uses", "planned", "refused"];
    let mut table = Table::new(title, 1, &columns);
    for result in results {
        let measures = &result.all.measures;
        table.row(vec![
            result.cell.name.clone(),
            result.all.quality.tasks.to_string(),
            percent(measures.pr),
            percent(measures.pbc),
            percent(measures.rfbc),
            percent(measures.rfbc_authors),
            number(measures.ac),
            or(measures.planned_cost, number, "–"),
            number(measures.uses),
            or(measures.planned_uses, number, "–"),
            measures.refusals.to_string(),
        ]);
    }
    table
}

/// What papers on planners and solvers measure.
const ANSWERS: [&str; 7] = ["accuracy", "F1", "EM", "tokens in", "out", "steps", "$ / 1,000"];

fn answer(quality: &Quality) -> [String; 7] {
    [
        or(quality.accuracy, percent, "–"),
        or(quality.f1, percent, "–"),
        or(quality.exact_match, percent, "–"),
        format!("{:.1}", quality.tokens_in),
        format!("{:.1}", quality.tokens_out),
        number(quality.steps),
        or(quality.dollars_per_1000, number, "unknown"),
    ]
}

fn answers(results: &[Compared]) -> Table {
    let title =
        "Answers (shares in %; averages of a task, over all seeds; US dollars for 1,000 tasks)";
    let mut table = Table::new(title, 1, &[&[""], &ANSWERS[..]].concat());
    for result in results {
        let name = [result.cell.name.clone()];
        table.row([&name[..], &answer(&result.all.quality)].concat());
    }
    table
}

/// Table 3 of the paper on concurrent workers: one model alone.
fn baselines(results: &[Compared]) -> Table {
    let title = "Table 3: against baselines, with one model to plan and to solve (shares in %; averages of \
        a task; US dollars for 1,000 tasks)";
    let mut table = Table::new(title, 2, &[&["", "model"], &ANSWERS[..]].concat());
    for result in results {
        let model = match &result.cell.played {
            Played::By(model) => model.clone(),
            Played::Pair { planner: Some(planner), solver } if Some(planner) == solver.as_ref() => {
                planner.clone()
            }
            Played::Pair { .. } | Played::AsConfigured => continue,
        };
        let name = [result.cell.label(), model];
        table.row([&name[..], &answer(&result.all.quality)].concat());
    }
    table
}

/// Table 4 of the paper on concurrent workers: which model plans, and which one solves.
fn pairs(results: &[Compared]) -> Table {
    let title = "Table 4: models of planner and solver (the same measures)";
    let mut table =
        Table::new(title, 3, &[&["", "planner", "solver"], &ANSWERS[..], &["best"]].concat());
    let of_pairs =
        || results.iter().filter(|result| matches!(result.cell.played, Played::Pair { .. }));
    let most = of_pairs().filter_map(|result| result.all.quality.accuracy).reduce(f64::max);
    let least =
        of_pairs().filter_map(|result| result.all.quality.dollars_per_1000).reduce(f64::min);
    for result in of_pairs() {
        let quality = &result.all.quality;
        let model = |role| result.models.get(&role).map_or("–", ModelName::as_str).to_owned();
        let name = [result.cell.label(), model(Role::Planner), model(Role::Solver)];
        let best: Vec<&str> = [
            ("accuracy", quality.accuracy.is_some() && quality.accuracy == most),
            ("cost", quality.dollars_per_1000.is_some() && quality.dollars_per_1000 == least),
        ]
        .into_iter()
        .filter_map(|(what, is_best)| is_best.then_some(what))
        .collect();
        table.row([&name[..], &answer(quality), &[best.join(", ")]].concat());
    }
    table
}
