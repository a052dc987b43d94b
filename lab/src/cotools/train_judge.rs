//! `toolyard-lab cotools train judge`.

use std::collections::BTreeSet;

use serde_json::json;

use super::args::TrainArgs;
use super::judge_texts::{JudgeText, found, read};
use super::split::{some, split};
use crate::app::shell::cotools::captions;
use crate::app::shell::cotools::clock::cpu_seconds;
use crate::app::shell::{out, trouble::Trouble};
use crate::app::encoder::{Encoder, heads};
use crate::cotools::open;
use crate::data::{DataSet, Record};
use crate::domain::Chance;
use crate::papers::cotools::{HeadAbout, HeadFile, Heads, Recipe, Use};
use crate::training::{JudgeData, JudgeTraining, Positives, recipe};
use crate::ui::text::clean;

/// The number of texts of each set for training, unless another one is given.
const TEXTS: usize = 200;
/// The number of texts of each set for choosing the epoch.
const CHOOSING: usize = 100;
/// The threshold for which an epoch is chosen.
pub const THRESHOLD: f64 = 0.5;

pub fn command(args: &TrainArgs) -> Result<(), Trouble> {
    let sets =
        args.data.iter().map(|folder| open::lessons(folder)).collect::<Result<Vec<_>, _>>()?;
    let mut encoder = open::encoder(&args.reader)?;
    let texts = args.examples.map_or(TEXTS, usize::from);
    let mut epochs = Vec::new();
    let plan = JudgePlan {
        recipe: args.recipe.into(),
        texts,
        epochs: args.epochs.map(usize::from),
        seed: args.seed,
    };
    let (heads, best, seconds) = teach(&mut encoder, &sets, plan, &mut |epoch, loss, of| {
        epochs.push(json!({
            "epoch": epoch, "loss": loss, "precision": of.precision(), "recall": of.recall(), "f1": of.f1(),
        }));
        if args.json {
            return Ok(());
        }
        let (precision, recall, f1) = (of.precision(), of.recall(), of.f1());
        out::print_line(format!(
            "epoch {epoch:>3}  loss {loss:.4}  choice: P {precision:.3}  R {recall:.3}  F1 {f1:.3}"
        ))
    })?;
    heads::save(&args.out, &heads).map_err(Trouble::failed)?;
    if args.json {
        let json = json!({
            "out": args.out, "about": heads.about, "chosen_epoch": best, "epochs": epochs,
            "cpu_seconds": seconds,
        });
        return out::print_json(&json.to_string());
    }
    let time = seconds.map_or_else(String::new, |time| format!(" in {time:.1} CPU seconds"));
    out::print_line(format!("epoch {best} is best on texts that neither teach nor measure{time}"))?;
    out::print_line(format!(
        "{} · {} · {} → {}",
        clean(encoder.name()),
        captions::place((heads.about.layer, heads.about.pooling)),
        captions::training(&heads),
        args.out.display()
    ))
}

/// The plan of a judge's training.
#[derive(Clone, Copy)]
pub struct JudgePlan {
    pub recipe: Recipe,
    pub texts: usize,
    pub epochs: Option<usize>,
    pub seed: u64,
}

/// Trains a judge; returns also the chosen epoch, from 1, and the processor seconds of training and choosing.
///
/// # Errors
/// Texts cannot be read, or there are none.
pub fn teach(
    encoder: &mut Encoder,
    sets: &[DataSet],
    plan: JudgePlan,
    each: &mut dyn FnMut(usize, f64, Positives) -> Result<(), Trouble>,
) -> Result<(HeadFile, usize, Option<f64>), Trouble> {
    let (mut train, mut choice): (Vec<&Record>, Vec<&Record>) = Default::default();
    let mut seen = BTreeSet::new();
    for set in sets {
        let parts = split(set, Use::Judge, plan.seed);
        let own = some(&parts.train, plan.seed, plan.texts);
        let tools = own.iter().flat_map(|record| &record.tools);
        seen.extend(tools.map(|tool| set.tools[*tool].name.clone()));
        train.extend(own);
        choice.extend(some(&parts.choice, plan.seed, CHOOSING));
    }
    if train.is_empty() {
        return Err(Trouble::Usage("no text to train a judge on".to_owned()));
    }
    let (layer, pooling) = plan.recipe.states(Use::Judge, encoder.size());
    let preparation = plan.recipe.preparation(Use::Judge);
    let texts = read(encoder, "training texts", &train, layer, preparation)?;
    let choice = read(encoder, "choosing texts", &choice, layer, preparation)?;
    let examples = texts.len();
    let began = cpu_seconds();
    let pair = |JudgeText { states, labels, .. }| (states, labels);
    let data = JudgeData::new(texts.into_iter().map(pair).collect()).map_err(Trouble::failed)?;
    let mut recipe = recipe::judge(plan.recipe, encoder.size());
    recipe.optimiser.epochs = plan.epochs.unwrap_or(recipe.optimiser.epochs);
    let mut training = JudgeTraining::new(&data, recipe, Chance::new(plan.seed));
    let (mut offered, mut losses) = (Vec::new(), Vec::new());
    while let Some(batch) = training.next() {
        losses.push(batch.loss);
        if batch.ends_epoch() {
            let loss = losses.iter().sum::<f64>() / losses.len().max(1) as f64;
            losses.clear();
            let positives = found(training.heads(), &choice, THRESHOLD)?;
            each(batch.epoch + 1, loss, positives)?;
            offered.push((positives, training.heads().clone()));
        }
    }
    let seconds = began.zip(cpu_seconds()).map(|(began, now)| now - began);
    let figures: Vec<Positives> = offered.iter().map(|(positives, _)| *positives).collect();
    let best = best_of(&figures);
    let judge = match offered.into_iter().nth(best) {
        Some((_, judge)) => judge,
        None => training.into_heads(),
    };
    let about = HeadAbout {
        model: encoder.hash().to_owned(),
        model_name: encoder.name().to_owned(),
        width: encoder.size().width,
        of: Use::Judge,
        layer,
        pooling,
        preparation,
        recipe: plan.recipe,
        template: None,
        data: sets.iter().map(DataSet::cited).collect::<Vec<_>>().join(" + "),
        examples,
        epochs: recipe.optimiser.epochs,
        seed: plan.seed,
        seen: seen.into_iter().collect(),
    };
    Ok((HeadFile { about, heads: Heads::Judge(judge) }, best + 1, seconds))
}

/// The place of the epoch with the best F1; of equal ones the last, since learning rates fall.
fn best_of(epochs: &[Positives]) -> usize {
    let best = epochs.iter().map(|of| of.f1()).fold(0.0, f64::max);
    epochs.iter().rposition(|of| of.f1() >= best).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_epoch_is_chosen_and_of_equal_ones_the_last() {
        let of = |found, wrong| Positives { found, wrong, missed: 100 - found };
        assert_eq!(best_of(&[of(60, 9), of(96, 4), of(95, 5), of(80, 5)]), 1);
        assert_eq!(best_of(&[of(60, 9), of(96, 4), of(96, 4)]), 2);
        // There are no figures to choose by.
        assert_eq!(best_of(&[Positives::default(); 3]), 2);
        assert_eq!(best_of(&[]), 0);
    }
}
