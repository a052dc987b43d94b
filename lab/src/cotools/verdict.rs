//! The lines of CoTools in `toolyard-lab bench papers`.

use std::path::Path;
use std::sync::Arc;

use super::answer::{Question, RetrieverMeasures, answer};
use super::args::Means;
use super::dimensions::dimensions;
use super::lesson::{Amount, CallExamples};
use super::measure::{BOTH, Measured, TRAINED, WORDS};
use super::shapes::shapes;
use super::train::{RetrieverPlan, teach};
use crate::app::shell::cotools::args::ReaderArgs;
use crate::app::shell::trouble::Trouble;
use crate::cotools::open;
use crate::papers::cotools::{MIX, Recipe, Use};
use crate::training::Figures;

/// Tables, figures and sections of the paper, each with its claim.
const CLAIMS: [(&str, &str); 4] = [
    ("Table 4", "unseen tools are found, and seen ones better"),
    ("Figures 4 to 6", "accuracy falls as the pool grows"),
    ("Figure 7", "wrong picks are spread, not a few favourites"),
    ("Section 4.3.4", "half of the dimensions lose little"),
];

/// The number of tools that are left out of training.
const HELD_OUT: usize = 300;

/// A small difference in points of top-1.
const LITTLE: f64 = 0.05;

/// The largest share of wrong picks that ten favourites may have.
const SPREAD: f64 = 0.25;

/// A line for each claim. Without a model file or data, the lines give the reason.
///
/// # Errors
/// The file or the data cannot be used.
pub fn lines(reader: &ReaderArgs, data: Option<&Path>) -> Result<Vec<String>, Trouble> {
    let named = open::model(reader)?.is_ok();
    let missing = match (named, data) {
        (false, _) => Some("no model file: name one with --reader FILE or TOOLYARD_READER_MODEL"),
        (true, None) => Some("no data: name the folder of STQuestions with --cotools-data DIR"),
        (true, Some(_)) => None,
    };
    let said = match (missing, data) {
        (None, Some(data)) => verdicts(reader, data)?,
        (missing, _) => {
            let why = format!("SKIPPED, {}", missing.unwrap_or_default());
            CLAIMS.map(|_| why.clone()).to_vec()
        }
    };
    let lines = CLAIMS.iter().zip(said);
    let mut lines: Vec<String> =
        lines.map(|((what, claim), said)| format!("{what} ({claim}): {said}")).collect();
    lines.insert(
        0,
        "Table 3 (calls help with sums): not compared, a model of this size cannot do these sums"
            .to_owned(),
    );
    Ok(lines)
}

fn verdicts(reader: &ReaderArgs, folder: &Path) -> Result<Vec<String>, Trouble> {
    let data = open::lessons(folder)?;
    let mut encoder = open::encoder(reader)?;
    let amount = Amount { hold_out: HELD_OUT, per_tool: 3, examples: usize::MAX, seed: 0 };
    let mut of = |recipe: Recipe| {
        let plan = RetrieverPlan {
            of: Use::Question,
            recipe,
            amount,
            epochs: None,
            calls: CallExamples::Each,
        };
        let heads = Arc::new(teach(&mut encoder, &data, plan, &mut |_| Ok(()))?.heads);
        let question = Question {
            of: Use::Question,
            heads: Some(heads),
            means: Means::Heads,
            weight: MIX,
            is_named: false,
            limit: None,
        };
        let answer = answer(&mut encoder, &data, &question)?;
        Ok::<_, Trouble>((question, answer))
    };
    let (_, paper) = of(Recipe::Paper)?;
    let (question, ours) = of(Recipe::Ours)?;
    let parts = dimensions(&mut encoder, &question, &ours)?;
    let shapes = shapes(&ours, MIX);
    let table_4 = table_4(&paper, &ours);
    let falls = judged(
        shapes.pools.iter().all(|pool| pool.falls()),
        shapes.pools.iter().filter_map(|pool| {
            let (first, last) = (pool.points.first()?, pool.points.last()?);
            Some(format!(
                "top-1 {:.1} among {} tools, {:.1} among {}",
                100.0 * first.both,
                first.tools,
                100.0 * last.both,
                last.tools
            ))
        }),
    );
    let most = shapes.wrong.iter().map(|wrong| wrong.favourites).fold(0.0, f64::max);
    let spread = judged(
        most < SPREAD,
        [format!("ten tools hold {:.1} % of wrong picks at most", 100.0 * most)],
    );
    let [whole, half, ..] = parts.parts.as_slice() else { return Ok(Vec::new()) };
    let control = parts.parts.iter().skip(4).map(|part| part.figures.top_1).fold(0.0, f64::max);
    let lost = whole.figures.top_1 - half.figures.top_1;
    let dimensions = judged(
        lost < LITTLE && half.figures.top_1 > control,
        [format!(
            "{} of {}: top-1 {:.1} against {:.1} with all, and {:.1} at most with as many at random",
            parts.above_mean,
            parts.count,
            100.0 * half.figures.top_1,
            100.0 * whole.figures.top_1,
            100.0 * control
        )],
    );
    Ok(vec![table_4, falls, spread, dimensions])
}

fn judged(holds: bool, facts: impl IntoIterator<Item = String>) -> String {
    let facts: Vec<String> = facts.into_iter().collect();
    let verdict = if holds { "reproduced" } else { "not reproduced" };
    format!("{verdict}; {}", facts.join("; "))
}

fn table_4(paper: &RetrieverMeasures, ours: &RetrieverMeasures) -> String {
    let of = |answer: &RetrieverMeasures, by: &str, kind: &str| -> Figures {
        let all = answer.catalogue.tools.len();
        let is = |measured: &&Measured| {
            measured.tools == all && measured.queries.contains(&format!("tools {kind} in"))
        };
        let rows = answer.measured.iter().find(is).map(|measured| measured.rows.as_slice());
        let row = rows.unwrap_or_default().iter().find(|row| row.by == by);
        row.map_or_else(Figures::default, |row| row.figures)
    };
    let both = |answer: &RetrieverMeasures, by: &str| {
        let [seen, unseen] = ["seen", "unseen"].map(|kind| 100.0 * of(answer, by, kind).top_1);
        format!("{seen:.1} seen and {unseen:.1} unseen")
    };
    let (seen, unseen) = (of(ours, TRAINED, "seen").top_1, of(ours, TRAINED, "unseen").top_1);
    judged(
        unseen > 0.0 && seen > unseen,
        [
            format!(
                "top-1 over all {} tools: heads {}",
                ours.catalogue.tools.len(),
                both(ours, TRAINED)
            ),
            format!("with words {}", both(ours, BOTH)),
            format!("words alone {}", both(ours, WORDS)),
            format!("the paper's recipe {}", both(paper, TRAINED)),
        ],
    )
}
