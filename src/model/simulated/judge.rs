//! The evaluator and the reflector.

use serde_json::json;

use super::{
    Said, Settings,
    prompted::{Looks, Past, Prompted},
};
use crate::{chance::Chance, id::ToolName, spec::Task};

/// Scores every tool of a trajectory from what can be seen of it: failures and empty results cost,
/// results that hold what the chain looks for earn, results that led to a wrong answer cost.
pub(super) fn evaluate(
    prompted: &Prompted<'_>,
    chain: Option<&Task>,
    settings: Settings,
    chance: Chance,
) -> Said {
    let mut tools: Vec<ToolName> = Vec::new();
    for past in &prompted.past {
        if !tools.contains(&past.tool) {
            tools.push(past.tool.clone());
        }
    }
    let scores: Vec<_> = tools
        .iter()
        .map(|tool| {
            let (score, reason) = score(prompted, chain, tool);
            // A less skilled judge is off by one now and then.
            let off = chance.with(tool.as_str().as_bytes());
            let off = match (off.unit() < (1.0 - settings.skill) / 2.0, off.bits() & 1) {
                (false, _) => 0,
                (true, 0) => -1,
                (true, _) => 1,
            };
            json!({"tool": tool, "score": (score + off).clamp(-3, 3), "reason": reason})
        })
        .collect();
    Said { text: json!({ "scores": scores }).to_string(), call: None }
}

/// The worst that a tool did, unless something it found counts.
fn score(prompted: &Prompted<'_>, chain: Option<&Task>, tool: &ToolName) -> (i32, &'static str) {
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

/// Whether a result holds what some step of the chain looks for.
fn finds(chain: Option<&Task>, past: &Past) -> bool {
    let result = past.result.to_lowercase();
    match chain {
        Some(task) => task.chain.iter().any(|step| {
            step.tools.contains(&past.tool)
                && step.finds.as_deref().is_none_or(|finds| result.contains(&finds.to_lowercase()))
                && past.looks() == Looks::Useful
        }),
        // Without a chain it cannot know better than that it looks useful.
        None => past.looks() == Looks::Useful,
    }
}

/// Whether the one result that it is shown helps with the task.
pub(super) fn helps(prompted: &Prompted<'_>, chain: Option<&Task>) -> Said {
    let helps = prompted.past.last().is_some_and(|past| finds(chain, past));
    let why = if helps { "it holds what was looked for" } else { "it is beside the point" };
    Said { text: json!({ "helpful": helps, "reason": why }).to_string(), call: None }
}

/// Says which tools failed or found nothing.
pub(super) fn reflect(prompted: &Prompted<'_>) -> Said {
    let mut bad: Vec<String> = Vec::new();
    for past in &prompted.past {
        let what = match past.looks() {
            Looks::Useful => continue,
            Looks::Failed => format!("{} failed", past.tool),
            Looks::Useless => format!("{} found nothing", past.tool),
        };
        if !bad.contains(&what) {
            bad.push(what);
        }
    }
    let text = if bad.is_empty() {
        "The results looked fine but the answer was wrong: check it with another tool.".to_owned()
    } else {
        format!("Use other tools next time: {}.", bad.join("; "))
    };
    Said { text, call: None }
}
