//! The actor: what to call next, or the answer.

use serde_json::{Value, json};

use super::{
    Said, Settings, improvise,
    improvise::guess,
    prompted::{Choice, Looks, Past, Prompted},
};
use crate::{
    chance::{Chance, canonical},
    chat::ToolCall,
    spec::{ChainStep, Task},
    strategy::prompt::FINISH,
};

/// How often it lets one tool fail at one thing before it takes another.
const PATIENCE: usize = 2;

pub(super) fn act(
    prompted: &Prompted<'_>,
    chain: Option<&Task>,
    settings: Settings,
    chance: Chance,
) -> Said {
    if prompted.menu.is_empty() && prompted.past.is_empty() {
        // Asked without tools: it knows nothing by itself.
        return Said { text: "I do not know.".to_owned(), call: None };
    }
    match chain {
        Some(task) => follow(prompted, task, settings, chance),
        None => improvise::improvise(prompted, settings, chance),
    }
}

/// Works along a reference chain.
fn follow(prompted: &Prompted<'_>, task: &Task, settings: Settings, chance: Chance) -> Said {
    let open = task.chain.iter().position(|step| useful(&prompted.past, step).is_none());
    let Some(open) = open else { return finish(answer(prompted, task)) };
    let step = &task.chain[open];
    let thought = thought(step, task.chain.get(open + 1));
    let slips = chance.with(b"skill").unit() >= settings.skill;
    let place = |choice: &Choice<'_>| step.tools.iter().position(|tool| *tool == choice.def.name);
    let right = prompted.menu.iter().filter_map(|choice| {
        // The farther down the list of tools for this step, the less usual.
        let usual = settings.habit.powi(-i32::try_from(place(choice)?).unwrap_or(i32::MAX));
        is_worth_trying(&prompted.past, choice, &step.arguments).then_some((choice, usual))
    });
    if !slips && let Some(choice) = pick(&right.collect::<Vec<_>>(), settings, chance) {
        return call(thought, choice, step.arguments.clone());
    }
    // No tool for it here, or a slip: try something else from the menu, if anything is left.
    let others = prompted.menu.iter().filter(|choice| place(choice).is_none());
    match pick(&untried(&prompted.past, others, prompted.task), settings, chance) {
        Some(choice) => call(thought, choice, guess(choice, prompted.task)),
        None => give_up(),
    }
}

/// Whether these arguments may still bring something from this tool: a failure may pass, so it is
/// tried again; a tool that found nothing will find nothing again.
pub(super) fn is_worth_trying(past: &[Past], choice: &Choice<'_>, arguments: &Value) -> bool {
    let wanted = canonical(arguments);
    let tried = past
        .iter()
        .filter(|past| past.tool == choice.def.name && canonical(&past.arguments) == wanted);
    let mut failures = 0;
    for past in tried {
        match past.looks() {
            Looks::Failed => failures += 1,
            Looks::Useful | Looks::Useless => return false,
        }
    }
    failures < PATIENCE
}

/// Those that were not tried with what would be guessed for them.
pub(super) fn untried<'c, 'd>(
    past: &[Past],
    choices: impl Iterator<Item = &'c Choice<'d>>,
    task: &str,
) -> Vec<(&'c Choice<'d>, f64)> {
    let fresh = choices.filter(|choice| is_worth_trying(past, choice, &guess(choice, task)));
    fresh.map(|choice| (choice, 1.0)).collect()
}

/// The latest observation that looks like what this step wants.
fn useful<'p>(past: &'p [Past], step: &ChainStep) -> Option<&'p Past> {
    past.iter().rev().find(|past| {
        step.tools.contains(&past.tool)
            && canonical(&past.arguments) == canonical(&step.arguments)
            && past.looks() == Looks::Useful
    })
}

/// The answer that the observations support: the right one if every step found what it should, else
/// what the last one seems to say. A result that misleads makes a wrong answer.
fn answer(prompted: &Prompted<'_>, task: &Task) -> String {
    let found_all = task.chain.iter().all(|step| {
        let found = useful(&prompted.past, step);
        step.finds.as_deref().is_none_or(|finds| {
            found.is_some_and(|past| past.result.to_lowercase().contains(&finds.to_lowercase()))
        })
    });
    let last = task.chain.last().and_then(|step| useful(&prompted.past, step));
    let said = last.map(|past| past.result.as_str()).unwrap_or_default();
    match &task.gold {
        Some(gold) if found_all => gold.clone(),
        _ => gist(said),
    }
}

/// One of these, in proportion to its weight to the power of the sensitivity, times how usual it is.
/// A tool without a weight among weighted ones counts as a light one.
pub(super) fn pick<'c, 'd>(
    choices: &[(&'c Choice<'d>, f64)],
    settings: Settings,
    chance: Chance,
) -> Option<&'c Choice<'d>> {
    let shown: Vec<_> = choices.iter().filter_map(|(choice, _)| choice.weight).collect();
    let light = shown.iter().copied().fold(f64::INFINITY, f64::min) / 2.0;
    let light = if light.is_finite() { light } else { 1.0 };
    let heaviest = shown.iter().copied().fold(light, f64::max).max(f64::MIN_POSITIVE);
    let weights: Vec<_> = choices
        .iter()
        .map(|(choice, usual)| {
            // Relative to the heaviest, so that a high power cannot overflow; never quite nothing,
            // since a weight that is shown as 0 was rounded.
            let share = (choice.weight.unwrap_or(light) / heaviest).max(0.01);
            share.powf(settings.sensitivity) * usual
        })
        .collect();
    chance.with(b"pick").pick(&weights).map(|i| choices[i].0)
}

/// What it wants now and next, in words that a retriever can use.
fn thought(step: &ChainStep, next: Option<&ChainStep>) -> String {
    let need = |step: &ChainStep| {
        let tool = step.tools.first().map(|tool| tool.as_str().replace('_', " "));
        format!("{} for {}", tool.unwrap_or_default(), words(&step.arguments))
    };
    match next {
        Some(next) => format!("I need {}. After that {}.", need(step), need(next)),
        None => format!("I need {}.", need(step)),
    }
}

fn words(arguments: &Value) -> String {
    match arguments {
        Value::Object(map) => map.values().map(words).collect::<Vec<_>>().join(", "),
        Value::Array(items) => items.iter().map(words).collect::<Vec<_>>().join(" "),
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) => arguments.to_string(),
    }
}

/// The first sentence of a result, as an answer; without the number of the first of several hits.
pub(super) fn gist(result: &str) -> String {
    let line = result.trim().lines().next().unwrap_or_default();
    let numbered = line.split_once(". ").filter(|(number, _)| number.parse::<u32>().is_ok());
    let line = numbered.map_or(line, |(_, rest)| rest);
    let sentence = line.split_inclusive(". ").next().unwrap_or_default();
    sentence.trim().chars().take(200).collect()
}

pub(super) fn call(text: String, choice: &Choice<'_>, arguments: Value) -> Said {
    let call = ToolCall { id: "call_1".to_owned(), tool: choice.def.name.clone(), arguments };
    Said { text, call: Some(call) }
}

pub(super) fn finish(answer: String) -> Said {
    let arguments = json!({ "answer": answer });
    let call = ToolCall { id: "call_1".to_owned(), tool: FINISH.into(), arguments };
    Said { text: "I know the answer.".to_owned(), call: Some(call) }
}

pub(super) fn give_up() -> Said {
    let arguments = json!({ "answer": "", "gave_up": true });
    let call = ToolCall { id: "call_1".to_owned(), tool: FINISH.into(), arguments };
    Said { text: "None of these tools helps any further.".to_owned(), call: Some(call) }
}
