//! What the simulated model does with a task that it knows no chain for: the tool that seems to suit
//! the words of the task, with arguments guessed from them, and the result as the answer. It is meant
//! to be tried out with, not to be clever.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{
    Said, Settings,
    actor::{call, finish, gist, give_up, pick, untried},
    prompted::{Choice, Looks, Prompted},
};
use crate::chance::Chance;

/// After so many calls without a useful result it gives up.
const ENOUGH: usize = 4;

/// What words about a tool weigh against the kind of argument that it takes.
const TAKES_WHAT_IS_THERE: usize = 3;

/// Calls a tool that suits, or answers with what one said.
pub(super) fn improvise(prompted: &Prompted<'_>, settings: Settings, chance: Chance) -> Said {
    if let Some(past) = prompted.past.iter().rev().find(|past| past.looks() == Looks::Useful) {
        return finish(gist(&past.result));
    }
    if prompted.past.len() >= ENOUGH {
        return give_up();
    }
    let fresh = untried(&prompted.past, prompted.menu.iter(), prompted.task);
    let best = fresh.iter().map(|(choice, _)| suits(choice, prompted.task)).max().unwrap_or(0);
    let fitting: Vec<_> =
        fresh.into_iter().filter(|(choice, _)| suits(choice, prompted.task) == best).collect();
    match pick(&fitting, settings, chance) {
        Some(choice) => {
            let thought = format!("I look for a tool that suits: {}", prompted.task);
            call(thought, choice, guess(choice, prompted.task))
        }
        None => give_up(),
    }
}

/// How well a tool suits a task: words in common, and whether the task holds what the tool takes.
fn suits(choice: &Choice<'_>, task: &str) -> usize {
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

/// Words that say something, without their endings, so that `converts` and `convert` are one.
fn words(text: &str) -> HashSet<String> {
    let text = text.to_lowercase();
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3);
    words.map(|word| word.trim_end_matches(['s', 'e', 'd']).to_owned()).collect()
}

/// Arguments that fit a schema as well as a guess can: sums where expressions are wanted, the task's
/// text for other texts, its first number for numbers.
pub(super) fn guess(choice: &Choice<'_>, task: &str) -> Value {
    required(choice).map(|(name, schema)| (name.to_owned(), fitting(name, schema, task))).collect()
}

fn required<'c>(choice: &'c Choice<'_>) -> impl Iterator<Item = (&'c str, &'c Value)> {
    let properties = choice.def.parameters.get("properties").and_then(Value::as_object);
    let required = choice.def.parameters.get("required").and_then(Value::as_array);
    let names = required.into_iter().flatten().filter_map(Value::as_str);
    names.filter_map(move |name| Some((name, properties?.get(name)?)))
}

fn fitting(name: &str, schema: &Value, task: &str) -> Value {
    if let Some(first) = schema.get("enum").and_then(Value::as_array).and_then(|all| all.first()) {
        return first.clone();
    }
    let number = numbers(task).next().unwrap_or(1.0);
    match schema.get("type").and_then(Value::as_str) {
        Some("integer") => json!(number as i64),
        Some("number") => json!(number),
        Some("boolean") => json!(true),
        Some("array") => {
            json!([fitting(name, schema.get("items").unwrap_or(&Value::Null), task)])
        }
        Some("object") => json!({}),
        Some(_) | None if matches!(name, "expression" | "formula") => {
            json!(arithmetic(task).unwrap_or(task))
        }
        Some(_) | None => json!(task),
    }
}

/// The longest stretch of a text that is a sum: numbers with an operator between them.
fn arithmetic(text: &str) -> Option<&str> {
    let is_sum = |c: char| c.is_ascii_digit() || " +-*/^().%".contains(c);
    let stretches =
        text.split(|c: char| !is_sum(c)).map(|stretch| stretch.trim_matches([' ', '.']));
    let holds_sum = |stretch: &&str| {
        let digit = |part: &str| part.contains(|c: char| c.is_ascii_digit());
        stretch
            .match_indices(['+', '-', '*', '/', '^'])
            .any(|(at, _)| digit(&stretch[..at]) && digit(&stretch[at + 1..]))
    };
    stretches.filter(holds_sum).max_by_key(|stretch| stretch.len())
}

fn numbers(text: &str) -> impl Iterator<Item = f64> {
    let words = text.split(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-'));
    words.filter_map(|word| word.trim_end_matches('.').parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_found_in_sentences() {
        assert_eq!(arithmetic("What is 12*12?"), Some("12*12"));
        assert_eq!(arithmetic("Add (3 + 4) / 2 to it."), Some("(3 + 4) / 2"));
        assert_eq!(arithmetic("How long is the river in 1902?"), None);
        assert_eq!(arithmetic("a well-known - thing"), None);
    }
}
