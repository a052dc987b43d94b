//! The worker that is a model: extracts the input of the next call from evidence.

use super::blank::{Blank, blank, plain};
use crate::domain::markers::{QUESTION, UNKNOWN};
use crate::domain::{Task, ToolName};

/// The planner's question for one argument of a step; `from` names the evidence.
pub(super) fn question(
    at: usize,
    tool: &ToolName,
    name: &str,
    blank: &Blank,
    from: &str,
) -> String {
    format!("{}{from}. Reply with all of it and nothing else.", head(at, tool, name, blank))
}

fn head(at: usize, tool: &ToolName, name: &str, blank: &Blank) -> String {
    let form = &blank.form;
    format!("Step {} needs the {name} for {tool}: fill in \"{form}\" from ", at + 1)
}

/// The question in a prompt of the actor, if there is one.
pub(super) fn asked(account: &str) -> Option<&str> {
    account.strip_prefix(QUESTION)
}

/// The argument, if the question's evidence supports it.
pub(super) fn answer(question: &str, chain: Option<&Task>) -> String {
    let filled = chain.and_then(|task| filled(question, task));
    filled.unwrap_or_else(|| UNKNOWN.to_owned())
}

fn filled(question: &str, task: &Task) -> Option<String> {
    for (at, step) in task.chain.iter().enumerate() {
        for (name, value) in step.arguments.as_object().into_iter().flatten() {
            let Some(blank) = blank(task, at, value) else { continue };
            let evidence = step
                .tools
                .iter()
                .find_map(|tool| question.strip_prefix(&head(at, tool, name, &blank)));
            let Some(evidence) = evidence.map(str::to_lowercase) else { continue };
            let found = blank.needs.iter().all(|need| {
                let finds = task.chain[*need].finds.as_deref();
                finds.is_none_or(|finds| evidence.contains(&finds.to_lowercase()))
            });
            return found.then(|| plain(value));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::spec::ChainStep;

    #[test]
    fn an_argument_is_read_only_out_of_evidence_that_holds_it() {
        let step = |tool: &str, arguments, finds: &str| ChainStep {
            tools: vec![tool.into()],
            arguments,
            finds: Some(finds.to_owned()),
            takes: None,
        };
        let chain = vec![
            step("search", json!({"query": "length of the bridge"}), "1,876 metres"),
            step("convert", json!({"value": 1876, "from": "metres", "to": "feet"}), "6154"),
        ];
        let task = Task { chain, ..Task::from_text("How long is the bridge in feet?") };
        let blank = blank(&task, 1, &json!(1876)).unwrap();
        let asked = |evidence| question(1, &"convert".into(), "value", &blank, evidence);
        let answered = |evidence| answer(&asked(evidence), Some(&task));
        assert_eq!(answered("null and It is 1,876 METRES long"), "1876");
        assert_eq!(answered("null"), UNKNOWN);
        assert_eq!(answer("How many feet? 1,876 metres", Some(&task)), UNKNOWN);
        assert_eq!(answer(&asked("1,876 metres"), None), UNKNOWN);
    }
}
