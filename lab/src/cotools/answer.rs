//! Measures a retriever on the records of a set.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::args::Means;
use super::lesson::{CallExamples, Lesson};
use super::measure::{Group, Measured, measure};
use super::score::{Scores, Ways};
use super::split::{some, split};
use super::train::knows;
use crate::app::shell::cotools::captions;
use crate::app::shell::cotools::catalogue::Catalogue;
use crate::app::shell::trouble::Trouble;
use crate::app::encoder::Encoder;
use crate::cotools::catalogue;
use crate::data::{DataSet, Record};
use crate::papers::cotools::{HeadFile, QueryTemplate, Use};

/// The number of measured calls, unless another one is given.
pub const CALLS: usize = 200;

/// A measurement: the use of heads, the heads, and their settings.
pub struct Question {
    pub of: Use,
    pub heads: Option<Arc<HeadFile>>,
    pub means: Means,
    pub weight: f64,
    /// Whether the records come from a file that the user named.
    pub is_named: bool,
    pub limit: Option<usize>,
}

/// All results of a measurement.
pub struct RetrieverMeasures {
    pub catalogue: Catalogue,
    pub lesson: Lesson,
    pub scores: Vec<Scores>,
    pub groups: Vec<Group>,
    pub measured: Vec<Measured>,
    pub line: String,
}

/// Measures a retriever.
///
/// # Errors
/// Texts cannot be read, or there is no record for the measurement.
pub fn answer(
    encoder: &mut Encoder,
    data: &DataSet,
    question: &Question,
) -> Result<RetrieverMeasures, Trouble> {
    let known = question.heads.as_ref().filter(|heads| knows(heads, data) && !question.is_named);
    let records: Vec<&Record> = match known {
        Some(heads) => split(data, question.of, heads.about.seed).left,
        None => data.dev.iter().collect(),
    };
    let records = match question.of {
        Use::Question => some(&records, 0, question.limit.unwrap_or(usize::MAX)),
        Use::Here | Use::Judge => some(&records, 0, usize::MAX),
    };
    let lesson = match question.of {
        Use::Question => Lesson::questions(records, QueryTemplate::Knowledge),
        Use::Here | Use::Judge => {
            Lesson::calls(&records, data, CallExamples::Each, question.limit.unwrap_or(CALLS))
                .map_err(Trouble::usage)?
        }
    };
    if lesson.len() == 0 {
        let text = format!("{}: no record with a call is left to measure on", data.name);
        return Err(Trouble::Usage(text));
    }
    let catalogue = catalogue::of_data(&data.name, &data.tools);
    let mut ways = Ways::new(encoder, question.of, question.heads.clone(), question.means)?;
    let scores = ways.score(encoder, &catalogue, &lesson)?;
    let groups = groups(&catalogue, &lesson, question.heads.as_deref(), question.of);
    let measured = groups
        .iter()
        .map(|group| measure(group, &catalogue, &lesson, &scores, question.weight))
        .collect();
    let means = question.means.text(lesson.len());
    let line = captions::line(encoder, ways.at(), question.heads.as_deref(), &means);
    Ok(RetrieverMeasures { catalogue, lesson, scores, groups, measured, line })
}

/// Queries whose tool was seen in training, and the others, each over all tools and over the tools of their kind.
fn groups(catalogue: &Catalogue, lesson: &Lesson, heads: Option<&HeadFile>, of: Use) -> Vec<Group> {
    let count = catalogue.tools.len();
    let all: Vec<usize> = (0..count).collect();
    let kind = if of == Use::Question { "questions" } else { "calls" };
    let group = |queries: String, pool: String, of: Vec<usize>, tools: Vec<usize>| Group {
        queries,
        pool,
        of,
        tools,
    };
    let everything = || {
        let queries = (0..lesson.len()).collect();
        vec![group(kind.to_owned(), format!("all {count} tools"), queries, all.clone())]
    };
    let Some(heads) = heads else { return everything() };
    let seen: BTreeSet<&str> = heads.about.seen.iter().map(String::as_str).collect();
    let is_seen = |place: &usize| seen.contains(catalogue.tools[*place].name.as_str());
    let (known, unknown): (Vec<usize>, Vec<usize>) = all.iter().partition(|place| is_seen(place));
    if known.is_empty() || unknown.is_empty() {
        return everything();
    }
    let mut groups = Vec::new();
    for (name, tools, wanted) in [("seen", known, true), ("unseen", unknown, false)] {
        let queries: Vec<usize> =
            (0..lesson.len()).filter(|n| lesson.gold[*n].iter().any(&is_seen) == wanted).collect();
        if queries.is_empty() {
            continue;
        }
        let said = format!("{kind} with tools {name} in training");
        let own = format!("these {} tools", tools.len());
        groups.push(group(
            said.clone(),
            format!("all {count} tools"),
            queries.clone(),
            all.clone(),
        ));
        groups.push(group(said, own, queries, tools));
    }
    groups
}
