//! `toolyard-lab cotools eval`.

use serde_json::json;

use super::answer::{CALLS, Question, answer};
use super::args::{EvalArgs, Means, Of};
use super::measure::below_words;
use super::train::knows;
use super::{bug, dimensions, judge_eval, print, shapes};
use crate::app::shell::{out, trouble::Trouble};
use crate::cotools::open;
use crate::data::with_dev;

pub fn eval(args: &EvalArgs) -> Result<(), Trouble> {
    if args.of == Of::Judge {
        return judge_eval::eval(args);
    }
    let [folder] = args.data.as_slice() else {
        let text = "several --data are for a judge; a retriever is measured on one set";
        return Err(Trouble::Usage(text.to_owned()));
    };
    let mut data = open::data(folder)?.measured();
    if let Some(file) = &args.questions {
        data = with_dev(data, file).map_err(Trouble::usage)?;
    }
    let mut encoder = open::encoder(&args.reader)?;
    let heads = open::heads(args.heads.as_deref(), &encoder, args.of.into())?;
    let is_known = heads.as_ref().is_some_and(|heads| knows(heads, &data));
    let question = Question {
        of: args.of.into(),
        means: args.means.unwrap_or(if is_known { Means::Heads } else { Means::Running }),
        heads,
        weight: open::mix(args.mix)?,
        is_named: args.questions.is_some(),
        limit: args.limit.map(usize::from),
    };
    let answer = answer(&mut encoder, &data, &question)?;
    let below: Vec<String> = answer.measured.iter().flat_map(below_words).collect();
    let dimensions = args
        .dimensions
        .then(|| dimensions::dimensions(&mut encoder, &question, &answer))
        .transpose()?;
    let shapes = args.figures.then(|| shapes::shapes(&answer, question.weight));
    let price = (args.price_of_bug && args.of == Of::Here)
        .then(|| bug::price(&mut encoder, &data, question.limit.unwrap_or(CALLS)))
        .transpose()?;
    if args.json {
        let json = json!({
            "data": data.cited(), "mix": question.weight, "line": answer.line,
            "groups": answer.measured, "below_words": below, "dimensions": dimensions,
            "figures": shapes, "price_of_bug": price,
        });
        return out::print_json(&json.to_string());
    }
    out::print_line(print::tables(&answer.measured))?;
    for part in [
        dimensions.map(|dimensions| dimensions.text()),
        shapes.map(|shapes| shapes.text()),
        price.map(|price| price.text()),
    ]
    .into_iter()
    .flatten()
    {
        out::print_line(part)?;
    }
    out::print_line(format!("{} · mix {}", data.cited(), question.weight))?;
    print::remarks(&below, &answer.line)
}
