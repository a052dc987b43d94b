//! Output of a comparison: tables, or one JSON object.

use std::collections::BTreeSet;

use serde_json::json;

use super::args::CompareOptions;
use super::experiment::Experiment;
use super::table::PlainTable;
use super::{Comparison, result::CellResult};
use crate::domain::{Knob, words::counted};
use crate::shell::{colour, colour::Painted, out, trouble::Trouble};

/// Legend of a grader's columns.
const GRADED: &str = "\n\
    grader: right in the words of a model; as accuracy, as EM: how often its verdict is the same";

/// Legend of the columns of calls.
const BY_CALLS: &str = "\n\
    calls: reference calls that were made; precise: made calls that the reference has";

pub fn print(
    options: &CompareOptions,
    experiment: &Experiment,
    comparison: &Comparison,
    results: &[CellResult],
) -> Result<(), Trouble> {
    if options.json {
        return print_json(comparison, results);
    }
    let tables = (experiment.tables)(results);
    let texts: Vec<_> =
        tables.iter().map(PlainTable::text).filter(|text| !text.is_empty()).collect();
    let legend = legend(&texts.concat());
    let verdicts = (experiment.verdicts)(results);
    let verdicts: String = verdicts.iter().map(|line| format!("\n{line}\n")).collect();
    let mut title = comparison.title(results) + &(experiment.legend)(results);
    if results.iter().any(|result| result.all.quality.grader.is_some()) {
        title.push_str(GRADED);
    }
    if results.iter().any(|result| result.all.quality.calls.is_some()) {
        title.push_str(BY_CALLS);
    }
    let note = match (experiment.note)(results) {
        "" => String::new(),
        note => format!("\n{note}\n"),
    };
    let tables = texts
        .iter()
        .enumerate()
        .map(|(at, text)| Painted::from(if at == 0 { "" } else { "\n" }) + colour::headed(text, 0));
    let tables: Painted = tables.collect();
    out::print(Painted::from(format!("{title}{legend}\n\n")) + tables + verdicts + note)
}

/// The measures that tables name by their papers' abbreviations.
const ABBREVIATIONS: [(&str, &str); 10] = [
    ("AC", "average cost of a task in credits"),
    ("PR", "solved at any cost"),
    ("PBC", "solved within the budget"),
    ("RFBC", "not solved and over the budget"),
    ("B", "budget of a task in credits"),
    ("could", "tasks whose cheapest known way fits the budget: no agent solves more within it"),
    ("gains", "tasks solved within the budget here, and not by the same loop without a plan"),
    (
        "loses",
        "the other way round; an agent that reads costs is compared with +prompt if that solves more",
    ),
    ("F1", "words that an answer shares with the right one"),
    ("EM", "exact match with the right answer"),
];

/// The abbreviations that these tables use and do not explain themselves.
fn legend(tables: &str) -> String {
    let words: BTreeSet<_> = tables.split_whitespace().collect();
    let is_open = |(short, _): &&(&str, &str)| {
        words.contains(short) && !tables.contains(&format!("({short},"))
    };
    let used: Vec<_> = ABBREVIATIONS
        .iter()
        .filter(is_open)
        .map(|(short, long)| format!("{short}: {long}"))
        .collect();
    if used.is_empty() { String::new() } else { format!("\n{}", used.join("; ")) }
}

impl Comparison {
    /// A one-line title of the comparison.
    fn title(&self, results: &[CellResult]) -> String {
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
        let spec = Knob::GoldFeedback.spec();
        let values = results.iter().map(|result| spec.show(result.knobs.get(Knob::GoldFeedback)));
        let gold = values.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join("/");
        let costs = match self.costs() {
            Some(costs) => format!("costs {costs} drawn by seed"),
            None => "costs as declared".to_owned(),
        };
        let readers = self.readers().into_iter().collect::<Vec<_>>().join("/");
        format!(
            "{} on {workspace}: {} × {} ({}), {costs}, warm-up {}, gold_feedback {gold}, reader {readers}; \
             {model}",
            counted(self.cells.len(), "combination"),
            counted(tasks, "task"),
            counted(seeds, "seed"),
            self.seeds,
            self.warm_up,
        )
    }

    /// The readers of all combinations, each once; `none` for a combination without one.
    fn readers(&self) -> BTreeSet<&str> {
        let readers = self.cells.iter().map(|(_, _, checked)| checked.reader.as_deref());
        readers.map(|reader| reader.unwrap_or("none")).collect()
    }

    fn costs(&self) -> Option<String> {
        self.cells.first().and_then(|(_, args, _)| args.costs).map(|costs| costs.to_string())
    }
}

fn print_json(comparison: &Comparison, results: &[CellResult]) -> Result<(), Trouble> {
    let first = comparison.cells.first().map(|(_, _, checked)| checked);
    let object = json!({
        "workspace": first.map(|checked| &checked.workspace),
        "tasks": first.map(|checked| checked.tasks),
        "seeds": comparison.seeds.all,
        "costs": comparison.costs(),
        "warm_up": comparison.warm_up.to_string(),
        "readers": comparison.readers(),
        "leak_guard": true,
        "simulated": results.iter().any(|result| result.simulated),
        "cells": results,
    });
    out::print_pretty(&object)
}
