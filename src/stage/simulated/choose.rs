//! Chooses among tools, and words that decision.

use serde_json::{Value, json};

use super::request_parser::{Looks, MenuTool, PromptReading};
use super::{SimulatedSettings, Speech, guess::guess};
use crate::domain::{Chance, chance::canonical, markers::FINISH};

/// Failures of a tool with the same arguments before another tool is tried.
const RETRIES: usize = 2;

/// Credits below which costs count as equal: a free tool is not infinitely cheaper than a cheap one.
const LEAST_COST: f64 = 0.01;

/// Whether this call may still bring something: a failure may pass, so the call is repeated; a tool that found nothing
/// will find nothing again. A choice that the prompt excludes is not repeated.
pub(super) fn is_worth_trying(
    prompted: &PromptReading<'_>,
    choice: &MenuTool<'_>,
    arguments: &Value,
) -> bool {
    if prompted.was_chosen(choice.def.name.as_str(), arguments) {
        return false;
    }
    let wanted = canonical(arguments);
    let mut tried = prompted
        .past
        .iter()
        .filter(|past| past.tool == choice.def.name && canonical(&past.arguments) == wanted);
    tried.clone().count() < RETRIES && tried.all(|past| past.looks() == Looks::Failed)
}

/// The choices that were not tried at all. Their arguments are a guess, and a guess that failed is not repeated.
pub(super) fn untried<'c, 'd>(
    prompted: &PromptReading<'_>,
    choices: impl Iterator<Item = &'c MenuTool<'d>>,
) -> Vec<(&'c MenuTool<'d>, f64)> {
    let fresh = choices.filter(|choice| {
        let was_tried = prompted.past.iter().any(|past| past.tool == choice.def.name);
        let guessed = guess(choice, prompted.task);
        !was_tried && is_worth_trying(prompted, choice, &guessed)
    });
    fresh.map(|choice| (choice, 1.0)).collect()
}

/// Draws one of these, in proportion to its weight to the power of the sensitivity, its usualness and its cheapness. A
/// tool without a weight among weighted ones counts as a light one.
pub(super) fn pick<'c, 'd>(
    choices: &[(&'c MenuTool<'d>, f64)],
    settings: SimulatedSettings,
    chance: Chance,
) -> Option<&'c MenuTool<'d>> {
    let shown: Vec<_> = choices.iter().filter_map(|(choice, _)| choice.weight).collect();
    let light = shown.iter().copied().fold(f64::INFINITY, f64::min) / 2.0;
    let light = if light.is_finite() { light } else { 1.0 };
    let heaviest = shown.iter().copied().fold(light, f64::max).max(f64::MIN_POSITIVE);
    let told = choices.iter().filter_map(|(choice, _)| choice.cost);
    let cheapest = told.fold(f64::INFINITY, f64::min).max(LEAST_COST);
    let cheap = |choice: &MenuTool<'_>| {
        let times = choice.cost.map_or(1.0, |cost| cost.max(LEAST_COST) / cheapest);
        times.powf(-settings.thrift)
    };
    let weights: Vec<_> = choices
        .iter()
        .map(|(choice, usual)| {
            // Relative to the heaviest, so that a high power cannot overflow; never quite 0, since a displayed weight
            // of 0 was rounded.
            let share = (choice.weight.unwrap_or(light) / heaviest).max(0.01);
            share.powf(settings.sensitivity) * usual * cheap(choice)
        })
        .collect();
    chance.with(b"pick").pick(&weights).map(|i| choices[i].0)
}

/// The first sentence of a result, as an answer; without the number of the first of several hits.
pub(super) fn gist(result: &str) -> String {
    let line = result.trim().lines().next().unwrap_or_default();
    let numbered = line.split_once(". ").filter(|(number, _)| number.parse::<u32>().is_ok());
    let line = numbered.map_or(line, |(_, rest)| rest);
    let sentence = line.split_inclusive(". ").next().unwrap_or_default();
    sentence.trim().chars().take(200).collect()
}

pub(super) fn call(text: String, choice: &MenuTool<'_>, arguments: Value) -> Speech {
    Speech::call(text, choice.def.name.clone(), arguments)
}

pub(super) fn finish(answer: String) -> Speech {
    Speech::call("I know the answer.".to_owned(), FINISH.into(), json!({ "answer": answer }))
}

/// Gives up; `needed` is the missing capability.
pub(super) fn give_up(needed: &str) -> Speech {
    let text = if needed.is_empty() { "I cannot get any further." } else { needed };
    let arguments = json!({ "answer": "", "gave_up": true });
    Speech::call(text.to_owned(), FINISH.into(), arguments)
}
