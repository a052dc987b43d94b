//! `toolyard-lab cotools train`.

use std::collections::BTreeSet;

use serde::Serialize;

use super::args::{Of, TrainArgs};
use super::lesson::{Amount, CallExamples, Lesson};
use super::split::split;
use super::train_judge;
use crate::app::shell::cotools::captions;
use crate::app::shell::cotools::clock::cpu_seconds;
use crate::app::shell::{out, trouble::Trouble};
use crate::app::encoder::{Encoder, heads};
use crate::cotools::catalogue;
use crate::cotools::open::{self, encode};
use crate::data::DataSet;
use crate::domain::Chance;
use crate::papers::cotools::{
    HeadAbout, HeadFile, Heads, Matrix, QueryTemplate, Recipe, Retriever, Use, rank_of, scores,
};
use crate::training::{Best, Figures, RetrieverData, RetrieverTraining, recipe};
use crate::ui::text::clean;

/// The number of calls for training, unless another one is given.
const CALLS: usize = 400;
/// The most calls for choosing the epoch.
const CHOOSING: usize = 100;

/// The plan of a retriever's training.
#[derive(Clone, Copy, Debug)]
pub struct RetrieverPlan {
    pub of: Use,
    pub recipe: Recipe,
    pub amount: Amount,
    pub epochs: Option<usize>,
    pub calls: CallExamples,
}

/// An epoch, and its figures on the records that choose it.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Epoch {
    /// The number of the epoch, from 1.
    pub epoch: usize,
    /// The mean loss over the epoch, in nats.
    pub loss: f64,
    #[serde(flatten)]
    pub figures: Figures,
}

/// Trained heads.
pub struct Taught {
    pub heads: HeadFile,
    pub epochs: Vec<Epoch>,
    /// The chosen epoch, from 1.
    pub best: usize,
    /// Processor seconds of training and choosing alone, without reading.
    pub cpu_seconds: Option<f64>,
}

pub fn command(args: &TrainArgs) -> Result<(), Trouble> {
    // Checked before minutes of work, not after.
    out::expect_place(&args.out)?;
    if args.of == Of::Judge {
        return train_judge::command(args);
    }
    let [folder] = args.data.as_slice() else {
        let text = "several --data are for a judge; a retriever learns from one set";
        return Err(Trouble::Usage(text.to_owned()));
    };
    let data = open::lessons(folder)?;
    let mut encoder = open::encoder(&args.reader)?;
    let usual = if args.of == Of::Here { CALLS } else { usize::MAX };
    let plan = RetrieverPlan {
        of: args.of.into(),
        recipe: args.recipe.into(),
        amount: Amount {
            hold_out: args.hold_out,
            per_tool: args.per_tool.get(),
            examples: args.examples.map_or(usual, usize::from),
            seed: args.seed,
        },
        epochs: args.epochs.map(usize::from),
        calls: CallExamples::Each,
    };
    let taught = teach(&mut encoder, &data, plan, &mut |epoch| {
        if args.json {
            return Ok(());
        }
        let Epoch { epoch, loss, figures } = epoch;
        let (first, five) = (100.0 * figures.top_1, 100.0 * figures.top_5);
        out::print_line(format!(
            "epoch {epoch:>3}  loss {loss:.4}  choice: top-1 {first:.1}  top-5 {five:.1}  MRR {:.3}",
            figures.mrr
        ))
    })?;
    heads::save(&args.out, &taught.heads).map_err(Trouble::failed)?;
    report(args, &encoder, &taught, data.tools.len())
}

fn report(
    args: &TrainArgs,
    encoder: &Encoder,
    taught: &Taught,
    tools: usize,
) -> Result<(), Trouble> {
    let Taught { heads, epochs, best, cpu_seconds } = taught;
    if args.json {
        let json = serde_json::json!({
            "out": args.out, "about": heads.about, "chosen_epoch": best, "epochs": epochs,
            "cpu_seconds": cpu_seconds,
        });
        return out::print_json(&json.to_string());
    }
    let seconds = cpu_seconds.map_or_else(String::new, |time| format!(" in {time:.1} CPU seconds"));
    let about = &heads.about;
    out::print_line(match epochs.first().map_or(0, |epoch| epoch.figures.questions) {
        0 => format!("epoch {best} is kept: no question is left to choose with{seconds}"),
        questions => {
            format!(
                "epoch {best} is best on {questions} questions that neither teach nor measure{seconds}"
            )
        }
    })?;
    out::print_line(format!(
        "{} · {} · {} of {tools} tools seen → {} → {}",
        clean(encoder.name()),
        captions::place((about.layer, about.pooling)),
        about.seen.len(),
        captions::training(heads),
        args.out.display()
    ))
}

/// Trains a retriever.
///
/// # Errors
/// Texts cannot be read, or there is nothing to learn.
pub fn teach(
    encoder: &mut Encoder,
    data: &DataSet,
    plan: RetrieverPlan,
    each: &mut dyn FnMut(Epoch) -> Result<(), Trouble>,
) -> Result<Taught, Trouble> {
    let parts = split(data, plan.of, plan.amount.seed);
    let lesson = Lesson::of_training(data, plan.of, &parts.train, plan.amount, plan.calls)?;
    let seen: BTreeSet<usize> = lesson.tools().into_iter().collect();
    let choice = match plan.of {
        Use::Question => Lesson::questions(parts.choice.iter().copied(), QueryTemplate::Knowledge),
        Use::Here | Use::Judge => Lesson::calls(&parts.choice, data, CallExamples::Each, CHOOSING)
            .map_err(Trouble::usage)?,
    };
    let choice = choice.of_tools(&seen);
    let size = encoder.size();
    let at = plan.recipe.states(plan.of, size);
    let catalogue = catalogue::of_data(&data.name, &data.tools);
    let mut tools = encode(encoder, "tools", &catalogue.texts(), at)?;
    let mut queries = encode(encoder, "training queries", &lesson.texts, at)?;
    let mut chosen = encode(encoder, "choosing queries", &choice.texts, at)?;
    let began = cpu_seconds();
    let (query_mean, tool_mean) = (queries.mean(), tools.mean());
    let preparation = plan.recipe.preparation(plan.of);
    for (states, mean) in
        [(&mut tools, &tool_mean), (&mut queries, &query_mean), (&mut chosen, &query_mean)]
    {
        preparation.apply(states, Some(mean)).map_err(Trouble::failed)?;
    }
    let mut recipe = recipe::retriever(plan.recipe, plan.of, size);
    recipe.optimiser.epochs = plan.epochs.unwrap_or(recipe.optimiser.epochs);
    let gold = choice.tools();
    let train =
        RetrieverData::new(queries, tools.clone(), lesson.tools()).map_err(Trouble::failed)?;
    let mut training = RetrieverTraining::new(&train, recipe, Chance::new(plan.amount.seed));
    let (mut best, mut epochs, mut losses) = (Best::default(), Vec::new(), Vec::new());
    while let Some(batch) = training.next() {
        losses.push(batch.loss);
        if batch.ends_epoch() {
            let figures = figures(training.heads(), &chosen, &tools, &gold)?;
            let loss = losses.iter().sum::<f64>() / losses.len().max(1) as f64;
            losses.clear();
            let epoch = Epoch { epoch: batch.epoch + 1, loss, figures };
            each(epoch)?;
            epochs.push(epoch);
            // Without a question for choosing, the last epoch is kept.
            let is_blind = figures.questions == 0;
            best.offer(training.heads(), if is_blind { batch.epoch as f64 } else { figures.mrr });
        }
    }
    let time = began.zip(cpu_seconds()).map(|(began, now)| now - began);
    let (best, retriever) = match best.best {
        Some((epoch, _, heads)) => (epoch + 1, heads),
        None => (0, training.into_heads()),
    };
    let about = HeadAbout {
        model: encoder.hash().to_owned(),
        model_name: encoder.name().to_owned(),
        width: size.width,
        of: plan.of,
        layer: at.0,
        pooling: at.1,
        preparation,
        recipe: plan.recipe,
        template: Some(if plan.of == Use::Question {
            QueryTemplate::Knowledge
        } else {
            data.template
        }),
        data: data.cited(),
        examples: lesson.len(),
        epochs: recipe.optimiser.epochs,
        seed: plan.amount.seed,
        seen: seen.iter().map(|tool| data.tools[*tool].name.clone()).collect(),
    };
    let heads = Heads::Retriever { retriever, query_mean, tool_mean };
    Ok(Taught { heads: HeadFile { about, heads }, epochs, best, cpu_seconds: time })
}

fn figures(
    heads: &Retriever<f32>,
    queries: &Matrix<f32>,
    tools: &Matrix<f32>,
    gold: &[usize],
) -> Result<Figures, Trouble> {
    if gold.is_empty() {
        return Ok(Figures::default());
    }
    let vectors = heads.query_vectors(queries).map_err(Trouble::failed)?;
    let tools = heads.tool_vectors(tools).map_err(Trouble::failed)?;
    let scores = scores(&vectors, &tools).map_err(Trouble::failed)?;
    let ranks = scores.lines().zip(gold).filter_map(|(line, gold)| {
        let line: Vec<f64> = line.iter().map(|x| f64::from(*x)).collect();
        rank_of(&line, *gold)
    });
    Ok(Figures::of_ranks(ranks))
}

/// Whether these heads learned from this set.
pub fn knows(heads: &HeadFile, data: &DataSet) -> bool {
    heads.about.data.contains(&data.cited())
}
