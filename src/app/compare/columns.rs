//! Columns of measures, and the tables of every comparison.

use super::result::CellResult;
use super::table::{PlainTable, number, or, percent};
use crate::papers::calls::CallScore;
use crate::report::Graded;

/// A column: its heading, and its text for each result.
pub type ResultColumn<'c> = (&'c str, &'c dyn Fn(&CellResult) -> String);

pub const NAME: ResultColumn<'_> = ("", &|result| result.cell.name.clone());
pub const LABEL: ResultColumn<'_> = ("", &|result| result.cell.label());
pub const PR: ResultColumn<'_> = ("PR", &|result| percent(result.all.measures.pr));
pub const PBC: ResultColumn<'_> = ("PBC", &|result| percent(result.all.measures.pbc));
pub const COULD: ResultColumn<'_> =
    ("could", &|result| or(result.all.measures.ceiling, percent, "–"));
pub const RFBC: ResultColumn<'_> = ("RFBC", &|result| percent(result.all.measures.rfbc));
pub const OVER: ResultColumn<'_> = ("over", &|result| percent(result.all.measures.rfbc_authors));
pub const AC: ResultColumn<'_> = ("AC", &|result| number(result.all.measures.ac));
pub const SPARE: ResultColumn<'_> =
    ("spare", &|result| or(result.all.measures.spare_cost, number, "–"));
pub const USES: ResultColumn<'_> = ("uses", &|result| number(result.all.measures.uses));
pub const REFUSED: ResultColumn<'_> =
    ("refused", &|result| result.all.measures.refusals.to_string());

pub const ACCURACY: ResultColumn<'_> =
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
pub fn of_answers<'c>(
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
pub fn table<'r>(
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

pub fn planned_cost(heading: &str) -> ResultColumn<'_> {
    (heading, &|result| or(result.all.measures.planned_cost, number, "–"))
}

pub fn planned_uses(heading: &str) -> ResultColumn<'_> {
    (heading, &|result| or(result.all.measures.planned_uses, number, "–"))
}

/// All measures of BTP.
pub fn spent(results: &[CellResult]) -> PlainTable {
    let title = "Budget (shares in %, costs in credits; averages of a task, over all seeds)";
    let tasks: ResultColumn<'_> = ("tasks", &|result| result.all.quality.tasks.to_string());
    let (cost, uses) = (planned_cost("planned"), planned_uses("planned"));
    let columns = [NAME, tasks, PR, PBC, COULD, RFBC, OVER, AC, cost, SPARE, USES, uses, REFUSED];
    table(title, 1, &columns, results)
}

pub fn answers(results: &[CellResult]) -> PlainTable {
    let title =
        "Answers (shares in %; averages of a task, over all seeds; US dollars for 1,000 tasks)";
    table(title, 1, &of_answers(results, &[NAME], &[]), results)
}
