//! Parts of a step's arguments that are unknown before earlier steps have found them. A reference chain has all
//! arguments in full; a planner that copied them would know results in advance.

use std::collections::HashSet;

use serde_json::Value;

use crate::domain::{ChainStep, Task, words};

/// Represents an unknown part.
pub(super) const GAP: &str = "___";

/// Characters that could end the input of a call, or that begin the name of evidence.
const ENDS_INPUT: [char; 10] = ['[', ']', '［', '］', '【', '】', '"', '`', '#', '＃'];

/// The most characters of an argument that are repeated in a plan or a question.
const LONGEST: usize = 200;

/// An argument as far as the task's text determines it.
#[derive(Debug, PartialEq)]
pub(super) struct Blank {
    /// The argument with gaps for its unknown parts.
    pub form: String,
    /// The earlier steps that find the rest, by their index in the chain.
    pub needs: Vec<usize>,
}

/// The blank for an argument of this step; `None` if all of it is known in advance.
pub(super) fn blank(task: &Task, at: usize, argument: &Value) -> Option<Blank> {
    let text = told(argument);
    let (known, wanted) = (words_of(&task.text), words_of(&text));
    let mut gaps = HashSet::new();
    let mut needs = Vec::new();
    for (earlier, step) in task.chain.iter().enumerate().take(at) {
        let found = found_for(step, &text, &task.text, &known);
        if found.iter().any(|word| wanted.contains(word)) {
            needs.push(earlier);
            gaps.extend(found);
        }
    }
    // Numbers that are not in the task's text are unknown, too: the day and the month of a date
    // that was found.
    let is_gap = |word: &str| gaps.contains(word) || has_digit(word) && !known.contains(word);
    (!needs.is_empty()).then(|| Blank { form: with_gaps(&text, is_gap), needs })
}

/// The unknown parts of a step's arguments, by the arguments' names.
pub(super) fn blanks(task: &Task, at: usize) -> Vec<(String, Blank)> {
    let arguments = task.chain[at].arguments.as_object().into_iter().flatten();
    arguments.filter_map(|(name, value)| Some((name.clone(), blank(task, at, value)?))).collect()
}

/// A step's arguments for people, as far as they are known.
pub(super) fn about(arguments: &Value, blanks: &[(String, Blank)]) -> String {
    let Value::Object(fields) = arguments else { return line(arguments) };
    let shown = fields.iter().map(|(name, value)| {
        let blank = blanks.iter().find(|(blank, _)| blank == name);
        blank.map_or_else(|| line(value), |(_, blank)| blank.form.clone())
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// An argument as a line of text, without characters that could end the input of a call.
pub(super) fn line(argument: &Value) -> String {
    let text = told(argument).replace(ENDS_INPUT, " ");
    words::clipped(&text.split_whitespace().collect::<Vec<_>>().join(" "), LONGEST)
}

/// The argument's value as it is written without quotes.
pub(super) fn plain(argument: &Value) -> String {
    match argument {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            argument.to_string()
        }
    }
}

/// The argument's value with spaces between the items of a list, so that `612,840` is not a number.
fn told(argument: &Value) -> String {
    let text = plain(argument);
    if argument.is_string() { text } else { text.replace(',', ", ") }
}

/// The words of a step's result that the task does not contain: all of them if the argument
/// contains the whole result, else its numbers and names.
fn found_for(step: &ChainStep, text: &str, task: &str, known: &HashSet<String>) -> HashSet<String> {
    let Some(finds) = &step.finds else { return HashSet::new() };
    let whole = spelled(finds).to_lowercase();
    let holds = |text: &str| spelled(text).to_lowercase().contains(&whole);
    if holds(text) && !holds(task) {
        return words_of(finds);
    }
    let says_which = |word: &&str| has_digit(word) || word.starts_with(char::is_uppercase);
    let finds = spelled(finds);
    let told = finds.split(|c: char| !c.is_alphanumeric()).filter(says_which);
    told.map(str::to_lowercase).filter(|word| !known.contains(word)).collect()
}

fn with_gaps(text: &str, is_gap: impl Fn(&str) -> bool) -> String {
    let text = spelled(text);
    let mut form = String::new();
    let mut rest = text.as_str();
    while let Some(first) = rest.chars().next() {
        let same = |c: char| c.is_alphanumeric() == first.is_alphanumeric();
        let (run, left) = rest.split_at(rest.find(|c| !same(c)).unwrap_or(rest.len()));
        form.push_str(if is_gap(&run.to_lowercase()) { GAP } else { run });
        rest = left;
    }
    // A name of two words or a date is one gap.
    for between in [" ", "-", ",", ", ", "."] {
        let two = format!("{GAP}{between}{GAP}");
        while form.contains(&two) {
            form = form.replace(&two, GAP);
        }
    }
    line(&Value::String(form))
}

fn words_of(text: &str) -> HashSet<String> {
    let text = spelled(text).to_lowercase();
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

/// The text with numbers as calculators write them: `5126` for `5,126`.
fn spelled(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let is_digit = |at: usize| chars.get(at).is_some_and(char::is_ascii_digit);
    let parts_thousands = |at: usize| {
        chars[at] == ','
            && at > 0
            && is_digit(at - 1)
            && (at + 1..at + 4).all(is_digit)
            && !is_digit(at + 4)
    };
    (0..chars.len()).filter(|at| !parts_thousands(*at)).map(|at| chars[at]).collect()
}

fn has_digit(word: &str) -> bool {
    word.contains(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn task(text: &str, finds: &[&str]) -> Task {
        let step = |finds: &&str| ChainStep {
            tools: vec!["search".into()],
            arguments: json!({}),
            finds: Some((*finds).to_owned()),
            takes: None,
        };
        Task { chain: finds.iter().map(step).collect(), ..Task::from_text(text) }
    }

    #[test]
    fn what_earlier_steps_find_is_left_open() {
        for (text, finds, argument, form, needs) in [
            (
                "Where was its author born?",
                &["Marisol Cade"][..],
                json!("birthplace of Marisol Cade"),
                "birthplace of ___",
                vec![0],
            ),
            (
                "How much higher is A than B?",
                &["5,126 metres", "3,870 metres"],
                json!("5126 - 3870"),
                "___ - ___",
                vec![0, 1],
            ),
            ("When after 1973?", &["76 years"], json!("1973 + 76"), "1973 + ___", vec![0]),
            ("On which day?", &["3 May 1921"], json!("1921-05-03"), "___", vec![0]),
            (
                "Who made the bridge that Calder opened?",
                &["Calder Bridge"],
                json!("steel of the Calder Bridge"),
                "steel of the ___",
                vec![0],
            ),
            ("How many in all?", &["a", "612 km"], json!([612, 840]), "___", vec![1]),
            (
                "What does Xbeevgr name?",
                &["Korrite"],
                json!("inventor of korrite"),
                "inventor of ___",
                vec![0],
            ),
            (
                "Who proved it?",
                &["Ludmila Drazek"],
                json!("proof of the Drazek conjecture"),
                "proof of the ___ conjecture",
                vec![0],
            ),
        ] {
            let task = task(text, finds);
            let blank = blank(&task, finds.len(), &argument);
            assert_eq!(blank, Some(Blank { form: form.to_owned(), needs }), "{argument}");
        }
    }

    #[test]
    fn what_the_task_tells_is_known() {
        for (text, finds, argument) in [
            (
                "How long are the Dravna and the Silverrun?",
                "1,105 kilometres",
                json!("length of the river Silverrun"),
            ),
            ("How many feet?", "1,876 metres", json!("metres")),
            ("What is 17 times 23?", "17", json!("17 * 23")),
        ] {
            assert_eq!(blank(&task(text, &[finds]), 1, &argument), None, "{argument}");
        }
        // A step does not wait for itself.
        assert_eq!(blank(&task("Which?", &["Tharne"]), 0, &json!("Tharne")), None);
    }
}
