//! The progress of an agent through the steps of a task. The agent takes results as they are, right or not, and fills
//! them into its next calls: it uses no value that neither a tool has returned nor the task states.

use serde_json::Value;

use super::seen::Done;
use crate::domain::{ChainStep, Task};

/// The next step, or the end.
pub(super) enum NextStep<'d> {
    Step { at: usize, arguments: Value },
    End { results: Vec<&'d Done> },
}

/// The next step after these calls.
pub(super) fn way<'d>(task: &Task, done: &'d [Done]) -> NextStep<'d> {
    let mut results: Vec<&Done> = Vec::new();
    for (at, step) in task.chain.iter().enumerate() {
        let arguments = filled(task, at, &results);
        let found = done
            .iter()
            .rev()
            .find(|done| is_of(step, done) && done.arguments == arguments && done.is_of_use());
        match found {
            Some(found) => results.push(found),
            None => return NextStep::Step { at, arguments },
        }
    }
    NextStep::End { results }
}

/// Whether this tool does the step.
fn is_of(step: &ChainStep, done: &Done) -> bool {
    step.tools.iter().any(|tool| tool.as_str() == done.tool)
}

/// The right answer if every result has what it should, else the words of the last result.
pub(super) fn answer(task: &Task, results: &[&Done]) -> String {
    let is_whole = task.chain.iter().zip(results).all(|(step, done)| says(step, done));
    match (&task.gold, results.last()) {
        (Some(gold), Some(_)) if is_whole => gold.clone(),
        (_, Some(last)) => first_words(&last.result),
        (_, None) => String::new(),
    }
}

fn says(step: &ChainStep, done: &Done) -> bool {
    let result = done.result.to_lowercase();
    step.finds.as_deref().is_none_or(|finds| result.contains(&finds.to_lowercase()))
}

/// Arguments of a step, given the results of the steps before it. A wrong result is filled in as it is.
fn filled(task: &Task, at: usize, results: &[&Done]) -> Value {
    let mut arguments = task.chain[at].arguments.clone();
    for value in arguments.as_object_mut().into_iter().flat_map(|fields| fields.values_mut()) {
        let text = text_of(value);
        let wrong = unknown(task, at, &text).into_iter().find_map(|earlier| {
            let done = results.get(earlier)?;
            (!says(&task.chain[earlier], done)).then_some(done)
        });
        let Some(wrong) = wrong else { continue };
        let number = numbers(&wrong.result).next();
        *value = match (value.is_string(), number) {
            (false, number) => number.map_or(Value::Null, |number| number.into()),
            (true, Some(number)) if text.contains(|c: char| c.is_ascii_digit()) => {
                number.to_string().into()
            }
            (true, _) => first_words(&wrong.result).into(),
        };
    }
    arguments
}

/// The earlier steps that an argument needs: those that find a word of it which the task does not state. Numbers that
/// no step finds come from the step before.
fn unknown(task: &Task, at: usize, argument: &str) -> Vec<usize> {
    let asked = task.text.to_lowercase();
    let new: Vec<String> = words(argument).filter(|word| !asked.contains(word.as_str())).collect();
    let mut needed: Vec<usize> = (0..at)
        .filter(|earlier| {
            let finds = task.chain[*earlier].finds.clone().unwrap_or_default().to_lowercase();
            new.iter().any(|word| words(&finds).any(|found| found == *word))
        })
        .collect();
    let has_number = |word: &String| word.contains(|c: char| c.is_ascii_digit());
    if needed.is_empty() && at > 0 && new.iter().any(has_number) {
        needed.push(at - 1);
    }
    needed
}

/// Describes the need of a step by its arguments. Values that are not known yet are left open.
pub(super) fn need(task: &Task, at: usize, known: Option<&Value>) -> String {
    let arguments = known.unwrap_or(&task.chain[at].arguments);
    let fields = arguments.as_object().into_iter().flat_map(|fields| fields.values());
    let said = fields.map(|value| {
        let text = text_of(value);
        let is_open = known.is_none() && !unknown(task, at, &text).is_empty();
        if is_open { "what comes out of that".to_owned() } else { text }
    });
    said.collect::<Vec<_>>().join(" / ")
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '.');
    let words = words.map(|word| word.trim_matches('.').to_lowercase());
    words.filter(|word| word.len() > 2 || word.chars().any(|c| c.is_ascii_digit()))
}

fn numbers(text: &str) -> impl Iterator<Item = f64> {
    words(text).filter_map(|word| word.parse().ok())
}

fn first_words(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    line.split_whitespace().take(8).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn task() -> Task {
        let step = |arguments, finds: &str| ChainStep {
            tools: vec!["web".into()],
            arguments,
            finds: Some(finds.to_owned()),
            takes: None,
        };
        let chain = vec![
            step(json!({"query": "author of The Salt Garden"}), "Marisol Cade"),
            step(json!({"query": "birthplace of Marisol Cade"}), "born in Bellaquay"),
        ];
        let text = "In which city was the author of The Salt Garden born?";
        Task { gold: Some("Bellaquay".into()), chain, ..Task::from_text(text) }
    }

    fn done(query: &str, result: &str) -> Done {
        let (tool, arguments) = ("web".to_owned(), json!({ "query": query }));
        Done { tool, arguments, result: result.to_owned() }
    }

    #[test]
    fn nothing_is_asked_that_no_tool_has_said() {
        let task = task();
        assert!(!need(&task, 1, None).contains("Marisol"), "{}", need(&task, 1, None));
        let wrong = [done("author of The Salt Garden", "It is by Joost Brandt.")];
        let NextStep::Step { at: 1, arguments } = way(&task, &wrong) else { panic!() };
        assert_eq!(arguments, json!({"query": "It is by Joost Brandt."}));
        let right = [done("author of The Salt Garden", "Marisol Cade wrote it.")];
        let NextStep::Step { at: 1, arguments } = way(&task, &right) else { panic!() };
        assert_eq!(arguments, json!({"query": "birthplace of Marisol Cade"}));
    }

    #[test]
    fn a_right_answer_needs_every_result() {
        let task = task();
        let first = done("author of The Salt Garden", "Marisol Cade wrote it.");
        let ends = |second: &str| {
            let done = [first.clone(), done("birthplace of Marisol Cade", second)];
            let NextStep::End { results } = way(&task, &done) else { panic!() };
            answer(&task, &results)
        };
        assert_eq!(ends("She was born in Bellaquay."), "Bellaquay");
        assert_eq!(ends("Lumenport, in spring"), "Lumenport, in spring");
        let none = [first.clone(), done("birthplace of Marisol Cade", "Error: it is down")];
        assert!(matches!(way(&task, &none), NextStep::Step { at: 1, .. }));
    }
}
