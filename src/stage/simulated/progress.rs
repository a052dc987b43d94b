//! The progress of an agent along a reference chain, by what it has seen, whether or not that is right. It does not
//! know that a result misleads, and continues with it.

use serde_json::{Value, json};

use super::blank::{Blank, GAP, blank, blanks};
use super::choose::gist;
use super::request_parser::{Looks, PastCall};
use crate::domain::{ChainStep, Task};

/// The most words of a misleading result that are taken for the value that was looked for.
const TAKEN: usize = 6;

pub(super) struct ChainProgress<'p> {
    /// The call and its result for each completed step, in the order of the chain.
    seen: Vec<&'p PastCall>,
    /// The first open step; `None` if all are completed.
    pub open: Option<OpenStep>,
}

/// An open step.
pub(super) struct OpenStep {
    /// Index of the step in the chain.
    pub at: usize,
    /// Arguments, according to the results so far.
    pub arguments: Value,
}

impl<'p> ChainProgress<'p> {
    pub fn of(task: &Task, past: &'p [PastCall]) -> Self {
        let mut seen = Vec::new();
        let mut is_right = true;
        for (at, step) in task.chain.iter().enumerate() {
            let arguments = match is_right {
                true => step.arguments.clone(),
                false => arguments(task, at, &seen),
            };
            match observed(past, step, &arguments) {
                Some(found) => {
                    is_right &= finds(step, found);
                    seen.push(found);
                }
                None => return Self { seen, open: Some(OpenStep { at, arguments }) },
            }
        }
        Self { seen, open: None }
    }

    /// The result of the last completed step.
    pub fn last(&self) -> Option<&'p PastCall> {
        self.seen.last().copied()
    }

    /// The answer that the results support: the right one if every step found its result, else the apparent one in the
    /// last result.
    pub fn answer(&self, task: &Task) -> String {
        let all = self.seen.len() == task.chain.len()
            && task.chain.iter().zip(&self.seen).all(|(step, past)| finds(step, past));
        match &task.gold {
            Some(gold) if all => gold.clone(),
            _ => self.last().map(|past| gist(&past.result)).unwrap_or_default(),
        }
    }
}

/// The steps after the first open one whose arguments are in the task's text, and which have no result yet.
pub(super) fn ready<'t>(task: &'t Task, past: &[PastCall]) -> impl Iterator<Item = &'t ChainStep> {
    let open = ChainProgress::of(task, past).open.map_or(task.chain.len(), |open| open.at);
    let later = task.chain.iter().enumerate().skip(open + 1);
    let is_ready = |(at, step): &(usize, &ChainStep)| {
        blanks(task, *at).is_empty() && observed(past, step, &step.arguments).is_none()
    };
    later.filter(is_ready).map(|(_, step)| step)
}

/// The latest result that looks useful for this step.
fn observed<'p>(past: &'p [PastCall], step: &ChainStep, arguments: &Value) -> Option<&'p PastCall> {
    past.iter().rev().find(|past| {
        step.tools.contains(&past.tool)
            && past.arguments == *arguments
            && past.looks() == Looks::Useful
    })
}

/// Whether a result holds what the step looks for.
fn finds(step: &ChainStep, past: &PastCall) -> bool {
    let result = past.result.to_lowercase();
    step.finds.as_deref().is_none_or(|finds| result.contains(&finds.to_lowercase()))
}

/// The arguments of a step after the results of those before it. If a result lacks the value that the chain expects,
/// the agent takes the value that it has instead.
fn arguments(task: &Task, at: usize, seen: &[&PastCall]) -> Value {
    let mut arguments = task.chain[at].arguments.clone();
    for value in arguments.as_object_mut().into_iter().flat_map(|fields| fields.values_mut()) {
        let Some(blank) = blank(task, at, value) else { continue };
        let wrong = blank.needs.iter().find(|need| !finds(&task.chain[**need], seen[**need]));
        if let Some(wrong) = wrong {
            *value = filled(value, &blank, &gist(&seen[*wrong].result));
        }
    }
    arguments
}

/// An argument whose gaps are filled with the text of a misleading result.
fn filled(value: &Value, blank: &Blank, said: &str) -> Value {
    let number = numbers(said).next().unwrap_or_default();
    match value {
        Value::Number(_) => json!(number),
        Value::Array(items) => json!(vec![number; items.len()]),
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Object(_) => {
            let text = value.as_str().unwrap_or_default();
            let has_digits = text.contains(|c: char| c.is_ascii_digit());
            let taken = if has_digits { number.to_string() } else { words(said) };
            json!(blank.form.replace(GAP, &taken))
        }
    }
}

fn words(said: &str) -> String {
    said.split_whitespace().take(TAKEN).collect::<Vec<_>>().join(" ")
}

fn numbers(text: &str) -> impl Iterator<Item = f64> {
    text.split(|c: char| !c.is_ascii_digit() && c != '.')
        .filter_map(|word| word.trim_matches('.').parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task() -> Task {
        let step = |tool: &str, arguments, finds: &str| ChainStep {
            tools: vec![tool.into()],
            arguments,
            finds: Some(finds.to_owned()),
            takes: None,
        };
        let chain = vec![
            step("web", json!({"query": "year of the treaty"}), "1871"),
            step("sum", json!({"expression": "1900 - 1871"}), "29"),
        ];
        Task { gold: Some("29".into()), chain, ..Task::from_text("How many years before 1900?") }
    }

    fn past(tool: &str, arguments: Value, result: &str) -> PastCall {
        PastCall::new(tool.into(), arguments, result)
    }

    #[test]
    fn a_result_is_used_as_it_was_found() {
        let task = task();
        let query = json!({"query": "year of the treaty"});
        let open =
            |past: &[PastCall]| ChainProgress::of(&task, past).open.map(|open| open.arguments);
        assert_eq!(open(&[]), Some(query.clone()));
        let right = past("web", query.clone(), "Signed in 1871.");
        assert_eq!(open(&[right]), Some(json!({"expression": "1900 - 1871"})));
        let wrong = past("web", query.clone(), "Signed in 1850.");
        assert_eq!(open(&[wrong]), Some(json!({"expression": "1900 - 1850"})));
        let nothing = past("web", query.clone(), "Nothing was found.");
        assert_eq!(open(&[nothing]), Some(query));
    }

    #[test]
    fn a_step_that_needs_no_earlier_result_is_ready_beside_the_open_one() {
        let mut task = task();
        let second = ChainStep {
            tools: vec!["web".into()],
            arguments: json!({"query": "place of the treaty"}),
            finds: Some("Lyra".to_owned()),
            takes: None,
        };
        task.chain.insert(1, second);
        let waits = |past: &[PastCall]| -> Vec<Value> {
            ready(&task, past).map(|step| step.arguments.clone()).collect()
        };
        assert_eq!(waits(&[]), [json!({"query": "place of the treaty"})], "the sum needs the year");
        let found = past("web", json!({"query": "place of the treaty"}), "Signed in Lyra.");
        assert!(waits(&[found]).is_empty(), "it has its result");
    }

    #[test]
    fn a_misleading_result_makes_a_wrong_answer() {
        let task = task();
        let done = |year: &str, sum: &str, result: &str| {
            let past = [
                past("web", json!({"query": "year of the treaty"}), year),
                past("sum", json!({"expression": sum}), result),
            ];
            let progress = ChainProgress::of(&task, &past);
            assert!(progress.open.is_none());
            progress.answer(&task)
        };
        assert_eq!(done("Signed in 1871.", "1900 - 1871", "29"), "29");
        assert_eq!(done("Signed in 1850.", "1900 - 1850", "50"), "50");
        assert_eq!(done("Signed in 1871.", "1900 - 1871", "8812"), "8812");
    }
}
