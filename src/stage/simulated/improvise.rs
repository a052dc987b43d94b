//! Tasks without a known chain: the simulated model calls the tool that best matches the words of the task, with
//! guessed arguments, and answers with the result. It is meant for trying things out, not to be clever.

use std::collections::HashSet;

use super::choose::{call, finish, gist, give_up, pick, untried};
use super::guess::{arithmetic, guess, required};
use super::request_parser::{Looks, MenuTool, PromptReading};
use super::{SimulatedSettings, Speech};
use crate::domain::Chance;

/// The number of calls without a useful result after which the model gives up.
const ENOUGH: usize = 4;

/// The weight of a matching argument, compared to one word in common.
const TAKES_WHAT_IS_THERE: usize = 3;

/// Calls a matching tool, or answers with a result.
pub(super) fn improvise(
    prompted: &PromptReading<'_>,
    settings: SimulatedSettings,
    chance: Chance,
) -> Speech {
    let useful = prompted.past.iter().rev().find(|past| past.looks() == Looks::Useful);
    let fresh = untried(prompted, prompted.menu.iter());
    let goes_on = prompted.past.len() < ENOUGH && !fresh.is_empty();
    // If the prompt forbids an end, the model does something else, if there is anything.
    match useful {
        Some(past) if !(prompted.has_finished() && goes_on) => return finish(gist(&past.result)),
        None if !goes_on => return give_up(""),
        Some(_) | None => {}
    }
    let best = fresh.iter().map(|(choice, _)| suits(choice, prompted.task)).max().unwrap_or(0);
    let fitting: Vec<_> =
        fresh.into_iter().filter(|(choice, _)| suits(choice, prompted.task) == best).collect();
    match pick(&fitting, settings, chance) {
        Some(choice) => {
            let thought = format!("I look for a tool that suits: {}", prompted.task);
            call(thought, choice, guess(choice, prompted.task))
        }
        None => give_up(""),
    }
}

/// How well a tool matches a task: words in common, and whether the task contains its kind of
/// argument.
pub(super) fn suits(choice: &MenuTool<'_>, task: &str) -> usize {
    let about =
        format!("{} {}", choice.def.name.as_str().replace('_', " "), choice.def.description);
    let common = words(&about).intersection(&words(task)).count();
    let sum = arithmetic(task).is_some();
    let takes = required(choice).any(|(name, _)| match name {
        "expression" | "formula" => sum,
        "query" | "question" | "text" => !sum && task.trim_end().ends_with('?'),
        _ => false,
    });
    common + if takes { TAKES_WHAT_IS_THERE } else { 0 }
}

/// Significant words without their endings, so that `converts` and `convert` are equal.
pub(super) fn words(text: &str) -> HashSet<String> {
    let text = text.to_lowercase();
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3);
    words.map(|word| word.trim_end_matches(['s', 'e', 'd']).to_owned()).collect()
}
