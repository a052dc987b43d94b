//! `toolyard-lab cotools eval judge`: precision and recall of calls, besides a rule that needs no training.

use serde::Serialize;
use serde_json::json;

use super::args::EvalArgs;
use super::judge_texts::{found, found_by_hand, read};
use super::split::{some, split};
use super::train::knows;
use super::train_judge::THRESHOLD;
use crate::app::compare::table::PlainTable;
use crate::app::shell::cotools::captions;
use crate::app::shell::{out, trouble::Trouble};
use crate::app::encoder::Encoder;
use crate::cotools::open;
use crate::data::{DataSet, Record, with_dev};
use crate::papers::cotools::{HeadFile, Heads, Use};
use crate::training::Positives;
use crate::ui::text::clean;

/// The number of texts of each set, unless another one is given.
const TEXTS: usize = 100;

/// The figures on a set.
#[derive(Clone, Debug, Serialize)]
pub struct Judged {
    pub data: String,
    pub texts: usize,
    pub tokens: usize,
    /// Tokens after which a call starts.
    pub calls: usize,
    pub judge: Rates,
    pub hand_rule: Rates,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct Rates {
    pub precision: f64,
    pub recall: f64,
    pub f1: f64,
}

impl From<Positives> for Rates {
    fn from(of: Positives) -> Self {
        Self { precision: of.precision(), recall: of.recall(), f1: of.f1() }
    }
}

pub fn eval(args: &EvalArgs) -> Result<(), Trouble> {
    let Some(path) = &args.heads else {
        let text = "a judge needs --heads FILE; train one with `toolyard-lab cotools train judge`";
        return Err(Trouble::Usage(text.to_owned()));
    };
    if args.questions.is_some() && args.data.len() != 1 {
        let text = "--questions belongs to one set; name one --data";
        return Err(Trouble::Usage(text.to_owned()));
    }
    let mut encoder = open::encoder(&args.reader)?;
    let heads = open::heads(Some(path), &encoder, Use::Judge)?;
    let Some(heads) = heads else { return Ok(()) };
    let mut judged = Vec::new();
    for folder in &args.data {
        let mut data = open::data(folder)?.measured();
        if let Some(file) = &args.questions {
            data = with_dev(data, file).map_err(Trouble::usage)?;
        }
        let limit = args.limit.map_or(TEXTS, usize::from);
        judged.push(measure(&mut encoder, &data, &heads, args.questions.is_some(), limit)?);
    }
    if args.json {
        let json = json!({ "heads": heads.about.data, "threshold": THRESHOLD, "sets": judged });
        return out::print_json(&json.to_string());
    }
    let columns = ["set", "by", "texts", "tokens", "calls", "P", "R", "F1"];
    let mut table = PlainTable::new("Tokens after which a call starts", 2, &columns);
    for set in &judged {
        for (by, rates) in [("judge", set.judge), ("hand rule", set.hand_rule)] {
            let mut row = vec![set.data.clone(), by.to_owned()];
            row.extend([set.texts, set.tokens, set.calls].map(|count| count.to_string()));
            row.extend([rates.precision, rates.recall, rates.f1].map(|rate| format!("{rate:.3}")));
            table.row(row);
        }
    }
    out::print_line(table.text())?;
    out::print_line("hand rule: the text so far ends in `=`, `= ` or `= $`")?;
    for set in judged.iter().filter(|set| set.judge.f1 < set.hand_rule.f1) {
        out::print_line(format!("the judge is below the hand rule: {}", set.data))?;
    }
    out::print_line(format!(
        "{} · {} · heads {} · a call where p > {THRESHOLD}",
        clean(encoder.name()),
        captions::place((heads.about.layer, heads.about.pooling)),
        captions::training(&heads)
    ))
}

/// Measures a judge on texts that it has not seen.
///
/// # Errors
/// Texts cannot be read, or there are none.
pub fn measure(
    encoder: &mut Encoder,
    data: &DataSet,
    heads: &HeadFile,
    is_named: bool,
    limit: usize,
) -> Result<Judged, Trouble> {
    let Heads::Judge(judge) = &heads.heads else {
        return Err(Trouble::Usage("these are not the heads of a judge".to_owned()));
    };
    let records: Vec<&Record> = if knows(heads, data) && !is_named {
        split(data, Use::Judge, heads.about.seed).left
    } else {
        data.dev.iter().collect()
    };
    let records = some(&records, 0, limit);
    if records.is_empty() {
        return Err(Trouble::Usage(format!("{}: no text is left to measure on", data.name)));
    }
    let texts = read(encoder, "texts", &records, heads.about.layer, heads.about.preparation)?;
    let labels = || texts.iter().flat_map(|text| &text.labels);
    Ok(Judged {
        data: data.cited(),
        texts: texts.len(),
        tokens: labels().count(),
        calls: labels().filter(|label| **label).count(),
        judge: found(judge, &texts, THRESHOLD)?.into(),
        hand_rule: found_by_hand(&texts).into(),
    })
}
