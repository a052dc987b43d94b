//! The actor: chooses the next call or the answer.

use serde_json::Value;

use super::choose::{call, finish, give_up, is_worth_trying, pick, untried};
use super::progress::{ChainProgress, OpenStep, ready};
use super::request_parser::{Looks, MenuTool, PastCall, PromptReading};
use super::step_needs::{need, need_now};
use super::{SimulatedSettings, Speech, guess::guess, improvise};
use crate::domain::markers::FINISH;
use crate::domain::{ChainStep, Chance, Task};

pub(super) fn act(
    prompted: &PromptReading<'_>,
    chain: Option<&Task>,
    settings: SimulatedSettings,
    chance: Chance,
) -> Speech {
    if prompted.menu.is_empty() && prompted.past.is_empty() && !prompted.may_lack {
        // Called without tools, the model itself knows nothing.
        return Speech::text("I do not know.".to_owned());
    }
    match chain {
        Some(task) => {
            let speech = follow(prompted, task, settings, chance);
            let is_over = speech.calls.iter().all(|call| call.tool.as_str() == FINISH);
            match settings.parallel && !is_over {
                true => beside(speech, prompted, task, settings, chance),
                false => speech,
            }
        }
        None => improvise::improvise(prompted, settings, chance),
    }
}

/// Works along a reference chain.
fn follow(
    prompted: &PromptReading<'_>,
    task: &Task,
    settings: SimulatedSettings,
    chance: Chance,
) -> Speech {
    let progress = ChainProgress::of(task, &prompted.past);
    let Some(OpenStep { at, arguments }) = &progress.open else {
        return conclude(prompted, task, &progress, settings, chance);
    };
    let step = &task.chain[*at];
    let thought = thought(task, *at, arguments);
    if fruitless(&prompted.past) >= settings.patience {
        return give_up(&thought);
    }
    let fitting = || fitting(prompted, step, arguments, settings);
    let slips = chance.with(b"skill").unit() >= settings.skill;
    if !slips && let Some(choice) = pick(&fitting(), settings, chance) {
        return call(thought, choice, arguments.clone());
    }
    if !slips && prompted.may_lack {
        return give_up(&thought);
    }
    // The menu has no tool for this step, or the model slips: try another tool of the menu, if any is left.
    let others = prompted.menu.iter().filter(|choice| !step.tools.contains(&choice.def.name));
    match pick(&untried(prompted, others), settings, chance) {
        Some(choice) => call(thought, choice, guess(choice, prompted.task)),
        // If there is nothing else to slip to, it makes the right choice.
        None => match pick(&fitting(), settings, chance) {
            Some(choice) => call(thought, choice, arguments.clone()),
            None => give_up(&thought),
        },
    }
}

/// Adds the calls of later steps that need no outstanding result.
fn beside(
    speech: Speech,
    prompted: &PromptReading<'_>,
    task: &Task,
    settings: SimulatedSettings,
    chance: Chance,
) -> Speech {
    let ready = ready(task, &prompted.past);
    ready.fold(speech, |speech, step| {
        let fitting = fitting(prompted, step, &step.arguments, settings);
        match pick(&fitting, settings, chance) {
            Some(choice) => speech.and(choice.def.name.clone(), step.arguments.clone()),
            None => speech,
        }
    })
}

/// Answers. If the prompt demands another choice, another tool checks the last step, if there is such a tool.
fn conclude(
    prompted: &PromptReading<'_>,
    task: &Task,
    progress: &ChainProgress<'_>,
    settings: SimulatedSettings,
    chance: Chance,
) -> Speech {
    let last = task.chain.last().zip(progress.last());
    let check = last.filter(|_| prompted.has_finished()).and_then(|(step, done)| {
        let fitting = fitting(prompted, step, &done.arguments, settings);
        let choice = pick(&fitting, settings, chance)?;
        Some(call("I check that.".to_owned(), choice, done.arguments.clone()))
    });
    check.unwrap_or_else(|| finish(progress.answer(task)))
}

/// The tools on the menu that may still be used for this step, each with its usualness.
fn fitting<'p, 'd>(
    prompted: &'p PromptReading<'d>,
    step: &ChainStep,
    arguments: &Value,
    settings: SimulatedSettings,
) -> Vec<(&'p MenuTool<'d>, f64)> {
    let fitting = prompted.menu.iter().filter_map(|choice| {
        let place = step.tools.iter().position(|tool| *tool == choice.def.name)?;
        let is_worth = is_worth_trying(prompted, choice, arguments);
        is_worth.then_some((choice, settings.usualness(place)))
    });
    fitting.collect()
}

/// The number of results at the end of the past that did not help.
pub(super) fn fruitless(past: &[PastCall]) -> usize {
    past.iter().rev().take_while(|past| past.looks() != Looks::Useful).count()
}

/// Describes the needs of this step and the next one, in words that a retriever can use.
fn thought(task: &Task, at: usize, arguments: &Value) -> String {
    let now = need_now(arguments);
    match task.chain.get(at + 1) {
        Some(_) => format!("I need to know: {now}. After that: {}.", need(task, at + 1)),
        None => format!("I need to know: {now}."),
    }
}
