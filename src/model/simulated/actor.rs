//! The actor: chooses the next call or the answer.

use serde_json::Value;

use super::choose::{call, finish, gist, give_up, is_worth_trying, pick, untried};
use super::prompted::{Choice, Looks, Past, PromptReading};
use super::{Settings, Speech, guess::guess, improvise};
use crate::domain::{ChainStep, Chance, Task, chance::canonical};

pub(super) fn act(
    prompted: &PromptReading<'_>,
    chain: Option<&Task>,
    settings: Settings,
    chance: Chance,
) -> Speech {
    if prompted.menu.is_empty() && prompted.past.is_empty() && !prompted.may_lack {
        // Called without tools: it knows nothing by itself.
        return Speech::text("I do not know.".to_owned());
    }
    match chain {
        Some(task) => follow(prompted, task, settings, chance),
        None => improvise::improvise(prompted, settings, chance),
    }
}

/// Works along a reference chain.
fn follow(prompted: &PromptReading<'_>, task: &Task, settings: Settings, chance: Chance) -> Speech {
    let open = task.chain.iter().position(|step| useful(&prompted.past, step).is_none());
    let Some(open) = open else { return conclude(prompted, task, settings, chance) };
    let step = &task.chain[open];
    let thought = thought(step, task.chain.get(open + 1));
    let slips = chance.with(b"skill").unit() >= settings.skill;
    if !slips && let Some(choice) = pick(&fitting(prompted, step, settings), settings, chance) {
        return call(thought, choice, step.arguments.clone());
    }
    if !slips && prompted.may_lack {
        return give_up(&thought);
    }
    // No tool for it here, or a slip: try something else from the menu, if anything is left.
    let others = prompted.menu.iter().filter(|choice| !step.tools.contains(&choice.def.name));
    match pick(&untried(prompted, others), settings, chance) {
        Some(choice) => call(thought, choice, guess(choice, prompted.task)),
        // With nothing else to slip to, it does the right thing anyway.
        None => match pick(&fitting(prompted, step, settings), settings, chance) {
            Some(choice) => call(thought, choice, step.arguments.clone()),
            None => give_up(&thought),
        },
    }
}

/// Answers. If told to choose something else, it has another tool check the last step, if there is
/// one.
fn conclude(
    prompted: &PromptReading<'_>,
    task: &Task,
    settings: Settings,
    chance: Chance,
) -> Speech {
    let check = task.chain.last().filter(|_| prompted.has_finished()).and_then(|last| {
        let choice = pick(&fitting(prompted, last, settings), settings, chance)?;
        Some(call("I check that.".to_owned(), choice, last.arguments.clone()))
    });
    check.unwrap_or_else(|| finish(answer(prompted, task)))
}

/// The tools on the menu that may still do this step, with how usual each is.
fn fitting<'p, 'd>(
    prompted: &'p PromptReading<'d>,
    step: &ChainStep,
    settings: Settings,
) -> Vec<(&'p Choice<'d>, f64)> {
    let fitting = prompted.menu.iter().filter_map(|choice| {
        let place = step.tools.iter().position(|tool| *tool == choice.def.name)?;
        let is_worth = is_worth_trying(prompted, choice, &step.arguments);
        is_worth.then_some((choice, settings.usual(place)))
    });
    fitting.collect()
}

/// The latest observation that looks like this step's result.
fn useful<'p>(past: &'p [Past], step: &ChainStep) -> Option<&'p Past> {
    past.iter().rev().find(|past| {
        step.tools.contains(&past.tool)
            && canonical(&past.arguments) == canonical(&step.arguments)
            && past.looks() == Looks::Useful
    })
}

/// The answer that the observations support: the right one if every step found its result, else the
/// apparent one of the last observation. A misleading result makes a wrong answer.
fn answer(prompted: &PromptReading<'_>, task: &Task) -> String {
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

/// What it needs now and next, in words that a retriever can use.
fn thought(step: &ChainStep, next: Option<&ChainStep>) -> String {
    match next {
        Some(next) => format!("I need {}. After that {}.", need(step), need(next)),
        None => format!("I need {}.", need(step)),
    }
}

/// What a step needs, in words.
fn need(step: &ChainStep) -> String {
    let tool = step.tools.first().map(|tool| tool.as_str().replace('_', " "));
    format!("{} for {}", tool.unwrap_or_default(), words(&step.arguments))
}

fn words(arguments: &Value) -> String {
    match arguments {
        Value::Object(map) => map.values().map(words).collect::<Vec<_>>().join(", "),
        Value::Array(items) => items.iter().map(words).collect::<Vec<_>>().join(" "),
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) => arguments.to_string(),
    }
}
