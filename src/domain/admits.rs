//! Whether an answer tells its reader that something failed: a heuristic for English answers.

/// Phrases by which answers say that something failed. Some answers have them for another reason, and some say it in
/// other words.
const PHRASES: [&str; 14] = [
    "could not",
    "couldn't",
    "was not able",
    "wasn't able",
    "unable",
    "failed",
    "failure",
    "not available",
    "unavailable",
    "no access",
    "not reachable",
    "did not work",
    "didn't work",
    "went wrong",
];
/// The shortest error by whose text an answer is recognised.
const TELLING: usize = 4;
/// Characters of an answer that are read: a task may have any number of failed calls.
const READ: usize = 4000;

/// Whether an answer seems to say that a call failed: it has one of [`PHRASES`], the text of the error, or the name of the
/// tool. A name of letters only, such as `weather`, does not count, since it may be an ordinary word. Only the beginning of
/// the answer is read.
pub fn failure(answer: &str, tool: &str, error: &str) -> bool {
    let lower = |text: &str| text.trim().to_lowercase().replace('\u{2019}', "'");
    let answer: String = answer.chars().take(READ).collect();
    let (answer, tool, error) = (lower(&answer), lower(tool), lower(error));
    let is_word = tool.chars().all(char::is_alphabetic);
    PHRASES.iter().any(|phrase| answer.contains(phrase))
        || error.chars().count() >= TELLING && answer.contains(&error)
        || !is_word && answer.contains(&tool)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_says_it_by_a_phrase_the_error_or_the_tool() {
        let says = |answer: &str| failure(answer, "get_weather", "503 Service Unavailable");
        assert!(says("I couldn\u{2019}t look that up."));
        assert!(says("The service said: 503 service unavailable."));
        assert!(says("Without GET_WEATHER I can only guess."));
        assert!(!says("It rains in Oslo."));
        assert!(!failure("The weather is fine.", "weather", ""));
        assert!(!failure("", "", ""));
    }
}
