//! The grader. It reads the question, the right answers and the answer, as any grader would, and nothing else: neither
//! a reference chain nor the agent's actions.

use serde::Deserialize;
use serde_json::json;

use super::request_parser::user_texts;
use crate::domain::{Request, markers::TO_GRADE};
use crate::papers::{grading, metrics};

/// Words that negate the words after them.
const NEGATIONS: [&str; 7] = ["not", "no", "never", "neither", "nor", "isn't", "wasn't"];

/// The part of the prompt that the grader needs.
#[derive(Deserialize)]
struct GradingPrompt {
    right_answers: Vec<String>,
    answer: String,
}

pub(super) fn grade(request: &Request) -> String {
    let line = user_texts(request).rev().find_map(|text| text.rsplit_once(TO_GRADE));
    let asked = line.and_then(|(_, line)| serde_json::from_str::<GradingPrompt>(line).ok());
    let Some(GradingPrompt { right_answers, answer }) = asked else {
        return "I see no answer to grade.".to_owned();
    };
    let right = right_answers.iter().any(|gold| means(&answer, gold));
    let reason = if right { "it says the same" } else { "it does not say the same" };
    json!({ "right": right, "reason": reason }).to_string()
}

/// Whether an answer means the same as the gold one. Besides the lexical verdict it recognises hedging, an earlier
/// negation, and a `yes` or `no` within a sentence.
fn means(answer: &str, gold: &str) -> bool {
    if metrics::exact_match(answer, gold) {
        return true;
    }
    let (said, wanted) = (words(answer), words(gold));
    if let [only] = &wanted[..]
        && ["yes", "no"].contains(&only.as_str())
    {
        let decided: Vec<_> =
            said.iter().filter(|word| ["yes", "no"].contains(&word.as_str())).collect();
        return !decided.is_empty() && decided.iter().all(|word| *word == only);
    }
    let has =
        |words: &[String], all: &[&str]| words.iter().any(|word| all.contains(&word.as_str()));
    let turned = has(&said, &NEGATIONS) != has(&wanted, &NEGATIONS);
    let hedged = has(&said, &["or"]) && !has(&wanted, &["or"]);
    !turned && !hedged && grading::is_correct(answer, gold)
}

fn words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let parts = lower.split(|c: char| !c.is_alphanumeric() && c != '\'');
    parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_sees_what_a_lexical_verdict_does_not() {
        for (answer, gold, right) in [
            ("It is not very plausible.", "plausible", false),
            ("Paris or London", "London", false),
            ("The answer is yes.", "yes", true),
            ("No, yes would be wrong", "yes", false),
            ("It is London.", "London", true),
            ("London", "Paris", false),
            ("no", "no", true),
            ("not here", "not here", true),
        ] {
            assert_eq!(means(answer, gold), right, "{answer:?} for {gold:?}");
        }
    }
}
