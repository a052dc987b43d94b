//! The solver: the answer that the evidence supports.

use serde_json::Value;

use super::request_parser::{Looks, PastCall};
use super::{SimulatedSettings, choose::gist, judge::holds};
use crate::domain::markers::{EVIDENCE, LLM, UNKNOWN};
use crate::domain::{Chance, Task, plan::NULL};

/// The right answer if every step found its result, else the apparent one in the last evidence. A slip uses other
/// evidence.
pub(super) fn solve(
    account: &str,
    chain: Option<&Task>,
    settings: SimulatedSettings,
    chance: Chance,
) -> String {
    let shown = account.split_once(EVIDENCE).map(|(_, worklog)| found(worklog)).unwrap_or_default();
    // Text that a model extracted from evidence was requested for a further call.
    let is_useful = |past: &&PastCall| past.looks() == Looks::Useful && past.tool.as_str() != LLM;
    let useful: Vec<&PastCall> = shown.iter().filter(is_useful).collect();
    let said = |past: Option<&&PastCall>| {
        past.map(|past| gist(&past.result))
            .filter(|said| !said.is_empty())
            .unwrap_or_else(|| UNKNOWN.to_owned())
    };
    let Some(task) = chain else { return said(useful.last()) };
    if chance.with(b"skill").unit() >= settings.skill {
        let last = task.chain.last();
        let is_wrong = |past: &&PastCall| last.is_none_or(|step| !holds(step, past));
        let wrong: Vec<&PastCall> = useful.into_iter().filter(is_wrong).collect();
        let taken = chance.with(b"wrong").pick(&vec![1.0; wrong.len()]);
        return said(taken.map(|at| &wrong[at]));
    }
    let found_all = task.chain.iter().all(|step| useful.iter().any(|past| holds(step, past)));
    match &task.gold {
        Some(gold) if found_all => gold.clone(),
        Some(_) | None => said(useful.last()),
    }
}

/// The evidence that is not null: results are indented under their calls.
fn found(worklog: &str) -> Vec<PastCall> {
    let mut found: Vec<PastCall> = Vec::new();
    for line in worklog.lines() {
        match line.strip_prefix("  ") {
            Some(text) => {
                let Some(last) = found.last_mut() else { continue };
                if !last.result.is_empty() {
                    last.result.push('\n');
                }
                last.result.push_str(text);
            }
            None => found.extend(called(line)),
        }
    }
    found.retain(|past| past.result != NULL);
    found
}

/// `#E1 = tool[input]`.
fn called(line: &str) -> Option<PastCall> {
    let (_, call) = line.strip_prefix("#E")?.split_once(" = ")?;
    let (tool, _) = call.split_once('[')?;
    Some(PastCall::new(tool.into(), Value::Null, ""))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::spec::ChainStep;

    const SHOWN: &str = "Plans and evidence:\nPlan: search for it\n#E1 = web[the tide clock]\n  null\n\
        #E2 = books[the tide clock]\n  1. The tide clock is by Mira Lanthe. It ticks.\n  Plan: more\n\
        Plan: and\n#E3 = LLM[who #E2]\n  Mira Lanthe\n#E4 = lite[x]\n  Error: it is down\n";

    fn task(finds: &str) -> Task {
        let step = ChainStep {
            tools: vec!["web".into(), "books".into()],
            arguments: json!({}),
            finds: Some(finds.to_owned()),
            takes: None,
        };
        let gold = Some("Mira Lanthe".to_owned());
        Task { gold, chain: vec![step], ..Task::from_text("Who invented it?") }
    }

    fn solved(skill: f64, finds: &str) -> String {
        let settings = SimulatedSettings { skill, ..SimulatedSettings::default() };
        solve(SHOWN, Some(&task(finds)), settings, Chance::new(1))
    }

    #[test]
    fn the_answer_is_what_the_evidence_supports() {
        assert_eq!(solved(1.0, "mira lanthe"), "Mira Lanthe");
        assert_eq!(solved(1.0, "someone else"), "The tide clock is by Mira Lanthe.");
        assert_eq!(solved(0.0, "mira lanthe"), UNKNOWN, "there is no wrong evidence to take");
        let settings = SimulatedSettings::default();
        let unknown = solve("Plans and evidence:\n", None, settings, Chance::new(1));
        assert_eq!(unknown, UNKNOWN);
    }

    #[test]
    fn evidence_is_read_with_its_call() {
        let found = found(SHOWN);
        let read: Vec<_> =
            found.iter().map(|past| (past.tool.as_str(), past.result.lines().count())).collect();
        assert_eq!(read, [("books", 2), ("LLM", 1), ("lite", 1)]);
    }
}
