//! Output of a comparison: the papers' tables, or one JSON object.

use std::collections::BTreeSet;

use serde_json::json;

use super::args::{CompareArgs, Preset};
use super::grid::{RoleBindings, Setting};
use super::table::{PlainTable, bar, number, or, percent};
use super::{Comparison, atc, resilience, result::CellResult, toolnet, verdict};
use crate::cli::{colour, colour::Painted, out, trouble::Trouble};
use crate::domain::{Blacklist, Knob, ModelName, Role, words::counted};
use crate::outside;
use crate::papers::calls::CallScore;
use crate::report::{Graded, Quality};

/// Legend of the marks of rows.
const SETTINGS: &str = "\n\
    given: the same five tools come with each task, for every strategy\n\
    paper: the same, and +btp as published: its estimates, a strict blacklist, no widening\n\
    no mark: all tools; +btp looks for candidates, and for tools that the agent misses";

/// Legend of a grader's columns.
const GRADED: &str = "\n\
    grader: right in the words of a model; as accuracy, as EM: how often its verdict is the same";

/// Legend of the columns of calls.
const BY_CALLS: &str = "\n\
    calls: reference calls that were made; precise: made calls that the reference has";

pub fn print(
    args: &CompareArgs,
    comparison: &Comparison,
    results: &[CellResult],
) -> Result<(), Trouble> {
    if args.json {
        return print_json(comparison, results);
    }
    let tables = match args.preset {
        Some(Preset::Btp) => {
            let (usual, others): (Vec<_>, Vec<_>) =
                results.iter().partition(|result| result.cell.is_of_usual_agent());
            let (agents, others): (Vec<_>, Vec<_>) =
                others.into_iter().partition(|result| result.cell.agent().is_some());
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
        Some(Preset::Budgets) => vec![sweep(results, Knob::Budget, "Figure 2")],
        Some(Preset::Taus) => vec![sweep(results, Knob::Tau, "Figure 3")],
        Some(Preset::Pairs) => vec![baselines(results), pairs(results)],
        Some(Preset::ToolNet) => toolnet::tables(results),
        Some(Preset::Resilience) => resilience::tables(results),
        Some(Preset::Atc) => atc::tables(results),
        None => vec![spent(results), answers(results)],
    };
    let texts: Vec<_> =
        tables.iter().map(PlainTable::text).filter(|text| !text.is_empty()).collect();
    let legend = legend(&texts.concat());
    let verdicts: String =
        verdicts(args.preset, results).iter().map(|line| format!("\n{line}\n")).collect();
    let mut title = comparison.title(results);
    if results.iter().any(|result| result.cell.setting != Setting::Ours) {
        title.push_str(SETTINGS);
    }
    let agents = outside::AGENTS
        .into_iter()
        .filter(|agent| results.iter().any(|result| result.cell.model_alone() == Some(agent.name)));
    for agent in agents {
        title.push_str(&format!("\nmodel={}: a scripted agent that {}", agent.name, agent.about));
    }
    if results.iter().any(|result| result.all.quality.grader.is_some()) {
        title.push_str(GRADED);
    }
    if results.iter().any(|result| result.all.quality.calls.is_some()) {
        title.push_str(BY_CALLS);
    }
    let means = match args.preset {
        Some(Preset::Atc) => format!("\n{}\n", atc::means(results)),
        _ => String::new(),
    };
    let tables = texts
        .iter()
        .enumerate()
        .map(|(at, text)| Painted::from(if at == 0 { "" } else { "\n" }) + colour::headed(text, 0));
    let tables: Painted = tables.collect();
    out::print(Painted::from(format!("{title}{legend}\n\n")) + tables + verdicts + means)
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

/// Verdicts: for a paper a line for each table and figure, else one on right answers.
pub fn verdicts(preset: Option<Preset>, results: &[CellResult]) -> Vec<String> {
    match preset {
        Some(Preset::Btp) => verdict::of_tables(results),
        Some(Preset::Budgets) => verdict::of_figure(results, Knob::Budget).into_iter().collect(),
        Some(Preset::Taus) => verdict::of_figure(results, Knob::Tau).into_iter().collect(),
        Some(Preset::ToolNet) => toolnet::verdicts(results),
        Some(Preset::Resilience) => resilience::verdicts(results),
        Some(Preset::Atc) => atc::verdicts(results),
        Some(Preset::Pairs) => verdict::of_workers(results),
        None => verdict::of_rows(results),
    }
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

/// A column: its heading, and its text for each result.
type ResultColumn<'c> = (&'c str, &'c dyn Fn(&CellResult) -> String);

const NAME: ResultColumn<'_> = ("", &|result| result.cell.name.clone());
const LABEL: ResultColumn<'_> = ("", &|result| result.cell.label());
const PR: ResultColumn<'_> = ("PR", &|result| percent(result.all.measures.pr));
const PBC: ResultColumn<'_> = ("PBC", &|result| percent(result.all.measures.pbc));
const COULD: ResultColumn<'_> = ("could", &|result| or(result.all.measures.ceiling, percent, "–"));
const RFBC: ResultColumn<'_> = ("RFBC", &|result| percent(result.all.measures.rfbc));
const OVER: ResultColumn<'_> = ("over", &|result| percent(result.all.measures.rfbc_authors));
const AC: ResultColumn<'_> = ("AC", &|result| number(result.all.measures.ac));
const SPARE: ResultColumn<'_> =
    ("spare", &|result| or(result.all.measures.spare_cost, number, "–"));
const USES: ResultColumn<'_> = ("uses", &|result| number(result.all.measures.uses));
const REFUSED: ResultColumn<'_> = ("refused", &|result| result.all.measures.refusals.to_string());

const ACCURACY: ResultColumn<'_> =
    ("accuracy", &|result| or(result.all.quality.accuracy, percent, "–"));

/// The measures of papers on planners and solvers.
const ANSWERS: [ResultColumn<'_>; 7] = [
    ACCURACY,
    ("F1", &|result| or(result.all.quality.f1, percent, "–")),
    ("EM", &|result| or(result.all.quality.exact_match, percent, "–")),
    ("tokens in", &|result| format!("{:.1}", result.all.quality.tokens_in)),
    ("out", &|result| format!("{:.1}", result.all.quality.tokens_out)),
    ("steps", &|result| number(result.all.quality.steps)),
    ("$ / 1,000", &|result| or(result.all.quality.dollars_per_1000, number, "unknown")),
];

/// Columns of a grader: its share of right answers, and its agreement with the measures that compare words.
const GRADER: [ResultColumn<'_>; 3] = [
    ("grader", &|result| of_grader(result, |grader| grader.share)),
    ("as accuracy", &|result| of_grader(result, |grader| grader.agrees_with_lexical)),
    ("as EM", &|result| of_grader(result, |grader| grader.agrees_with_exact_match)),
];

fn of_grader(result: &CellResult, share: fn(Graded) -> f64) -> String {
    or(result.all.quality.grader.map(share), percent, "–")
}

/// The calls, where tasks are scored by them: API-Bank's accuracy, and the share of made calls that
/// the reference has.
const CALLS: [ResultColumn<'_>; 2] = [
    ("calls", &|result| or(result.all.quality.calls.map(CallScore::accuracy), percent, "–")),
    ("precise", &|result| or(result.all.quality.calls.map(CallScore::precision), percent, "–")),
];

/// Columns of words, then the measures of answers, then others.
fn of_answers<'c>(
    results: &[CellResult],
    words: &[ResultColumn<'c>],
    more: &[ResultColumn<'c>],
) -> Vec<ResultColumn<'c>> {
    let is_graded = results.iter().any(|result| result.all.quality.grader.is_some());
    let grader: &[ResultColumn<'_>] = if is_graded { &GRADER } else { &[] };
    let has_calls = results.iter().any(|result| result.all.quality.calls.is_some());
    let calls: &[ResultColumn<'_>] = if has_calls { &CALLS } else { &[] };
    [words, &ANSWERS[..1], calls, grader, &ANSWERS[1..], more].concat()
}

/// Builds a table with one row per result; the first `words` columns are text.
fn table<'r>(
    title: &str,
    words: usize,
    columns: &[ResultColumn<'_>],
    results: impl IntoIterator<Item = &'r CellResult>,
) -> PlainTable {
    let headings: Vec<_> = columns.iter().map(|(heading, _)| *heading).collect();
    let mut table = PlainTable::new(title, words, &headings);
    for result in results {
        table.row(columns.iter().map(|(_, say)| say(result)).collect());
    }
    table
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
    Some(result.gained_and_lost(result.baseline(all)?))
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

fn planned_cost(heading: &str) -> ResultColumn<'_> {
    (heading, &|result| or(result.all.measures.planned_cost, number, "–"))
}

fn planned_uses(heading: &str) -> ResultColumn<'_> {
    (heading, &|result| or(result.all.measures.planned_uses, number, "–"))
}

/// Table 5 of BTP.
fn blacklist(results: &[&CellResult]) -> PlainTable {
    let strategy: ResultColumn<'_> =
        ("", &|result| format!("{}{}", result.cell.strategy, result.cell.setting.mark()));
    let list: ResultColumn<'_> =
        ("blacklist", &|result| Knob::Blacklist.spec().show(result.knobs.get(Knob::Blacklist)));
    // If the paper's own rows were compared, only they are shown.
    let has_paper = results.iter().any(|result| result.cell.setting == Setting::Paper);
    let is_shown = |result: &&CellResult| {
        result.cell.strategy.btp && (!has_paper || result.cell.setting == Setting::Paper)
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
fn sweep(results: &[CellResult], knob: Knob, figure: &str) -> PlainTable {
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

/// All measures of BTP.
fn spent(results: &[CellResult]) -> PlainTable {
    let title = "Budget (shares in %, costs in credits; averages of a task, over all seeds)";
    let tasks: ResultColumn<'_> = ("tasks", &|result| result.all.quality.tasks.to_string());
    let (cost, uses) = (planned_cost("planned"), planned_uses("planned"));
    let columns = [NAME, tasks, PR, PBC, COULD, RFBC, OVER, AC, cost, SPARE, USES, uses, REFUSED];
    table(title, 1, &columns, results)
}

fn answers(results: &[CellResult]) -> PlainTable {
    let title =
        "Answers (shares in %; averages of a task, over all seeds; US dollars for 1,000 tasks)";
    table(title, 1, &of_answers(results, &[NAME], &[]), results)
}

/// Table 3 of the paper on concurrent workers: one model alone.
fn baselines(results: &[CellResult]) -> PlainTable {
    let title = "Table 3: against baselines, with one model to plan and to solve (shares in %; averages of \
        a task; US dollars for 1,000 tasks)";
    let model: ResultColumn<'_> =
        ("model", &|result| result.cell.model_alone().unwrap_or("").to_owned());
    let baselines = results.iter().filter(|result| result.cell.model_alone().is_some());
    table(title, 2, &of_answers(results, &[LABEL, model], &[]), baselines)
}

/// Table 4 of the paper on concurrent workers: models as planner and solver.
fn pairs(results: &[CellResult]) -> PlainTable {
    let title = "Table 4: models of planner and solver (the same measures)";
    let pairs =
        || results.iter().filter(|result| matches!(result.cell.played, RoleBindings::Pair { .. }));
    let most = pairs().filter_map(|result| result.all.quality.accuracy).reduce(f64::max);
    let least = pairs().filter_map(|result| result.all.quality.dollars_per_1000).reduce(f64::min);
    let is_best = |own: Option<f64>, best| own.is_some() && own == best;
    let best = |result: &CellResult| {
        let Quality { accuracy, dollars_per_1000, .. } = result.all.quality;
        match (is_best(accuracy, most), is_best(dollars_per_1000, least)) {
            (true, true) => "accuracy, cost",
            (true, false) => "accuracy",
            (false, true) => "cost",
            (false, false) => "",
        }
        .to_owned()
    };
    let planner: ResultColumn<'_> = ("planner", &|result| model_of(result, Role::Planner));
    let solver: ResultColumn<'_> = ("solver", &|result| model_of(result, Role::Solver));
    let columns = of_answers(results, &[LABEL, planner, solver], &[("best", &best)]);
    table(title, 3, &columns, pairs())
}

fn model_of(result: &CellResult, role: Role) -> String {
    result.models.get(&role).map_or("–", ModelName::as_str).to_owned()
}
