//! The evaluator, the reflector, and the judge of results and of decisions.

use std::cmp::Ordering;

use indexmap::IndexSet;
use serde_json::json;

use super::SimulatedSettings;
use super::request_parser::{Looks, PastCall, PromptReading};
use crate::domain::{ChainStep, Chance, Task, ToolName, markers::FINISH};

/// Scores every tool of a trajectory by its visible results: failures and empty results cost, results that the chain
/// looks for earn, and results that led to a wrong answer cost.
pub(super) fn evaluate(
    prompted: &PromptReading<'_>,
    chain: Option<&Task>,
    settings: SimulatedSettings,
    chance: Chance,
) -> String {
    if chain.is_none() {
        // The model cannot know what helps with an unknown task.
        return json!({ "scores": [] }).to_string();
    }
    let tools: IndexSet<_> = prompted.past.iter().map(|past| &past.tool).collect();
    let scores: Vec<_> = tools
        .iter()
        .map(|tool| {
            let (score, reason) = score(prompted, chain, tool);
            // A less skilled judge is sometimes off by one.
            let off = chance.with(tool.as_str().as_bytes());
            let off = match (off.unit() < (1.0 - settings.skill) / 2.0, off.bits() & 1) {
                (false, _) => 0,
                (true, 0) => -1,
                (true, _) => 1,
            };
            json!({"tool": tool, "score": (score + off).clamp(-3, 3), "reason": reason})
        })
        .collect();
    json!({ "scores": scores }).to_string()
}

/// The worst result of a tool, unless a useful one counts.
fn score(
    prompted: &PromptReading<'_>,
    chain: Option<&Task>,
    tool: &ToolName,
) -> (i32, &'static str) {
    let results: Vec<_> = prompted.past.iter().filter(|past| past.tool == *tool).collect();
    let found = results.iter().any(|past| finds(chain, past));
    let failed = results.iter().any(|past| past.looks() == Looks::Failed);
    let useless = results.iter().any(|past| past.looks() == Looks::Useless);
    match (found, failed, useless, prompted.verdict) {
        (_, true, _, _) => (-3, "it failed"),
        (false, _, true, _) => (-2, "it found nothing"),
        (true, _, _, Some(true) | None) => (1, "its result led to the answer"),
        (true, _, _, Some(false)) => (0, "its result was right, the answer is not"),
        (false, _, false, Some(false)) => (-2, "its result misled"),
        (false, _, false, Some(true) | None) => (-1, "its result was not needed"),
    }
}

/// Whether a result contains what a step of the chain looks for.
fn finds(chain: Option<&Task>, past: &PastCall) -> bool {
    match chain {
        Some(task) => task.chain.iter().any(|step| holds(step, past)),
        // Without a chain, the model only sees whether the result looks useful.
        None => past.looks() == Looks::Useful,
    }
}

/// Whether a result contains what this step looks for.
pub(super) fn holds(step: &ChainStep, past: &PastCall) -> bool {
    let result = past.result.to_lowercase();
    step.tools.contains(&past.tool)
        && step.finds.as_deref().is_none_or(|finds| result.contains(&finds.to_lowercase()))
        && past.looks() == Looks::Useful
}

/// Chooses which of two decisions at the end of a path brings the task further. Chance decides between equal ones, and
/// on a slip.
pub(super) fn prefer(
    prompted: &PromptReading<'_>,
    [first, second]: &[Vec<PastCall>; 2],
    chain: Option<&Task>,
    settings: SimulatedSettings,
    chance: Chance,
) -> String {
    let (first, second) = (reach(prompted, first, chain), reach(prompted, second, chain));
    let slips = chance.with(b"skill").unit() >= settings.skill;
    let by_chance = if chance.with(b"vote").unit() < 0.5 { 1 } else { 2 };
    let (better, why) = match first.cmp(&second) {
        _ if slips => (by_chance, "it seems more promising"),
        Ordering::Equal => (by_chance, "neither brings it further than the other"),
        Ordering::Greater => (1, "it brings the task further"),
        Ordering::Less => (2, "it brings the task further"),
    };
    json!({ "better": better, "reason": why }).to_string()
}

/// The progress of a task with this decision: the number of steps with their result, and one more
/// for an answer that all of them support. An answer without support counts as none.
fn reach(prompted: &PromptReading<'_>, decision: &[PastCall], chain: Option<&Task>) -> usize {
    let answers = decision.iter().any(|past| past.tool.as_str() == FINISH);
    let way: Vec<_> = prompted.past.iter().chain(decision).collect();
    let (found, all) = match chain {
        Some(task) => {
            let is_found = |step: &&ChainStep| way.iter().any(|past| holds(step, past));
            (task.chain.iter().filter(is_found).count(), task.chain.len())
        }
        // Without a chain, anything that looks useful may be an answer.
        None => (usize::from(way.iter().any(|past| past.looks() == Looks::Useful)), 1),
    };
    match answers {
        true if found == all => all + 1,
        true => 0,
        false => found,
    }
}

/// Whether the given result helps with the task.
pub(super) fn helps(prompted: &PromptReading<'_>, chain: Option<&Task>) -> String {
    let helps = prompted.past.last().is_some_and(|past| finds(chain, past));
    let why = if helps { "it holds what was looked for" } else { "it is beside the point" };
    json!({ "helpful": helps, "reason": why }).to_string()
}

/// Names the tools that failed or found nothing.
pub(super) fn reflect(prompted: &PromptReading<'_>) -> String {
    let bad = prompted.past.iter().filter_map(|past| match past.looks() {
        Looks::Useful => None,
        Looks::Failed => Some(format!("{} failed", past.tool)),
        Looks::Useless => Some(format!("{} found nothing", past.tool)),
    });
    let bad: Vec<String> = bad.collect::<IndexSet<_>>().into_iter().collect();
    if bad.is_empty() {
        "The results looked fine but the answer was wrong: check it with another tool.".to_owned()
    } else {
        format!("Use other tools next time: {}.", bad.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        domain::chat::{Message, Request, Role},
        domain::markers::TASK,
    };

    fn past(tool: &str, result: &str) -> PastCall {
        PastCall::new(tool.into(), json!({}), result)
    }

    fn task() -> Task {
        let step = ChainStep {
            tools: vec!["search".into()],
            arguments: json!({}),
            finds: Some("Lumenport".into()),
            takes: None,
        };
        Task { chain: vec![step], ..Task::from_text("Where?") }
    }

    /// The preferences of a judge without slips, over many draws.
    fn votes(rivals: [Vec<PastCall>; 2], chain: Option<&Task>) -> [usize; 2] {
        let request = Request::new(Role::Judge, vec![Message::user(format!("{TASK}Where?"))]);
        let prompted = PromptReading::read(&request);
        let settings = SimulatedSettings { skill: 1.0, ..SimulatedSettings::default() };
        let first = (0..200).filter(|seed| {
            let said = prefer(&prompted, &rivals, chain, settings, Chance::new(*seed));
            said.contains("\"better\":1")
        });
        let first = first.count();
        [first, 200 - first]
    }

    #[test]
    fn what_brings_a_task_further_wins_in_either_order() {
        let (good, bad) =
            (|| vec![past("search", "in Lumenport")], || vec![past("search", "a river")]);
        assert_eq!(votes([good(), bad()], Some(&task())), [200, 0]);
        assert_eq!(votes([bad(), good()], Some(&task())), [0, 200]);
        let nothing = || vec![past("search", "")];
        assert_eq!(
            votes([bad(), nothing()], None),
            [200, 0],
            "without a chain it must look useful"
        );
    }

    #[test]
    fn an_answer_wins_only_with_support() {
        let finish = || past(FINISH, "");
        let supported = || vec![past("search", "in Lumenport"), finish()];
        assert_eq!(
            votes([supported(), vec![past("search", "in Lumenport")]], Some(&task())),
            [200, 0]
        );
        assert_eq!(
            votes([vec![finish()], vec![past("search", "in Lumenport")]], Some(&task())),
            [0, 200]
        );
    }

    #[test]
    fn equals_are_decided_by_chance() {
        let same = || vec![past("search", "in Lumenport")];
        let [first, second] = votes([same(), same()], Some(&task()));
        assert!(first > 60 && second > 60, "{first} to {second}");
    }
}
