//! Recognises results without information. They reach the solver as null: text that says "not
//! found" in many words costs tokens and adds nothing (the paper's exception handling; section
//! "Work Flow").
//!
//! The paper replaces any result that contains "not find". But a long article in which something
//! was not found, in some year, is a good result, and so is "the margin of error is 3 %". Hence:
//!
//! - a **phrase** of several words counts at the beginning of a result, where tools report a
//!   failure before they list what they searched. It also counts anywhere in a short result; in a
//!   long one it is only a part;
//! - a **word** alone is part of too many good answers: it must be the whole result, or begin it
//!   and be followed by a mark, as in `Error: timed out`;
//! - a result without letters and numbers, or JSON whose lists and texts are all empty, is null
//!   regardless of the patterns; a bare `0` or `false` is an answer.

use std::{borrow::Cow, fmt};

use indexmap::IndexMap;
use memchr::memchr_iter;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::ToolName;
use crate::plan::EvidenceId;

/// Characters up to which a result is short: a sentence or two.
pub const SHORT: usize = 200;

/// Shorter texts need not consist of words.
const WORDY: usize = 10;

/// Longer JSON is not parsed again; it is unlikely to be empty.
const LONGEST_JSON: usize = 10_000;

/// Common replies of tools that find nothing; `not find` is the paper's own.
const DEFAULT: [&str; 17] = [
    "not find",
    "not found",
    "couldn't find",
    "can't find",
    "no result",
    "no results",
    "no match",
    "no matches",
    "nothing found",
    "nothing was found",
    "no information",
    "no data",
    "does not exist",
    "error",
    "none",
    "null",
    "n/a",
];

/// The patterns, for all tools and in addition for one tool or one class. Names of tools and
/// classes are compared case-insensitively.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NullFilter {
    pub all: Vec<String>,
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub tools: IndexMap<String, Vec<String>>,
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub classes: IndexMap<String, Vec<String>>,
}

/// Why a result is null, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NullReason {
    /// The call failed: there is no result.
    Failed,
    /// The result contains no information.
    Empty,
    /// The result is JSON that reports an error.
    Error,
    /// The result is mostly signs, not words.
    Garbled,
    /// The call needs this evidence, which is null, and was not made.
    Needs(EvidenceId),
    /// The result matches this pattern, as configured.
    Pattern(String),
}

impl fmt::Display for NullReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NullReason::Failed => f.pad("the call failed"),
            NullReason::Empty => f.pad("it is empty"),
            NullReason::Error => f.pad("it is an error"),
            NullReason::Garbled => f.pad("it is garbled"),
            NullReason::Needs(id) => write!(f, "it needs {}, which is null", id.mark()),
            NullReason::Pattern(pattern) => write!(f, "pattern {pattern:?}"),
        }
    }
}

impl Default for NullFilter {
    fn default() -> Self {
        let all = DEFAULT.map(str::to_owned).to_vec();
        Self { all, tools: IndexMap::new(), classes: IndexMap::new() }
    }
}

impl NullFilter {
    /// Whether this result is null, and why. `result` is `None` for a failed call; `classes` are
    /// the tool's class and, if any, its domain. Of several matching patterns the first counts:
    /// those of the tool, then those of its class, then those for all.
    pub fn nulled(
        &self,
        tool: &ToolName,
        classes: &[&str],
        result: Option<&str>,
    ) -> Option<NullReason> {
        let Some(text) = result else { return Some(NullReason::Failed) };
        if is_empty(text) {
            return Some(NullReason::Empty);
        }
        let said = NormalizedResult::new(text);
        let own = of(&self.tools, tool.as_str());
        let of_class = classes.iter().flat_map(|class| of(&self.classes, class));
        let mut patterns = own.chain(of_class).chain(&self.all);
        match patterns.find(|pattern| said.matches(pattern)) {
            Some(pattern) => Some(NullReason::Pattern(pattern.clone())),
            None => without_sense(text),
        }
    }
}

fn of<'f>(
    patterns: &'f IndexMap<String, Vec<String>>,
    name: &str,
) -> impl Iterator<Item = &'f String> {
    let name = name.to_lowercase();
    patterns.iter().filter(move |(key, _)| key.to_lowercase() == name).flat_map(|(_, list)| list)
}

fn is_empty(text: &str) -> bool {
    let hollow = |c: char| c.is_whitespace() || "\"'`[]{}(),.:;-–—_*/|#".contains(c);
    text.chars().all(hollow) || json(text).is_some_and(|value| says_nothing(&value))
}

fn json(text: &str) -> Option<Value> {
    let begins = text.trim_start().starts_with(['{', '[']) && text.len() <= LONGEST_JSON;
    begins.then(|| serde_json::from_str(text).ok()).flatten()
}

/// Whether a result makes no sense, regardless of the patterns.
fn without_sense(text: &str) -> Option<NullReason> {
    match json(text) {
        Some(value) => tells_of_an_error(&value).then_some(NullReason::Error),
        None => is_garbled(text).then_some(NullReason::Garbled),
    }
}

fn tells_of_an_error(value: &Value) -> bool {
    value.get("error").is_some_and(|error| !says_nothing(error) && *error != Value::Bool(false))
}

/// Whether two in five of the first characters are neither letters, numbers nor space. A short text may be
/// mostly marks and still say something, such as `±5 %` or `-12.5 °C`.
fn is_garbled(text: &str) -> bool {
    let text = text.trim();
    let (mut all, mut signs) = (0, 0);
    for c in text.chars().take(SHORT) {
        all += 1;
        signs += usize::from(!c.is_alphanumeric() && !c.is_whitespace());
    }
    all >= WORDY && signs * 5 > all * 2
}

fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(_) | Value::Number(_) => false,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(list) => list.iter().all(says_nothing),
        Value::Object(fields) => fields.values().all(says_nothing),
    }
}

/// A result prepared for comparison with patterns.
struct NormalizedResult {
    /// Beginning of the result: lower case, one space between words, no leading quotes or marks.
    text: String,
    /// Whether `text` is the whole result.
    short: bool,
}

impl NormalizedResult {
    fn new(text: &str) -> Self {
        let short = text.trim().chars().nth(SHORT).is_none();
        // No pattern is longer than this.
        let text = text.trim_start();
        let end = text.char_indices().nth(2 * SHORT).map_or(text.len(), |(end, _)| end);
        let mut text = plain(&text[..end]).into_owned();
        text.drain(..text.find(char::is_alphanumeric).unwrap_or(0));
        Self { text, short }
    }

    fn matches(&self, pattern: &str) -> bool {
        let pattern = plain(pattern);
        if pattern.is_empty() || pattern.len() > self.text.len() {
            return false;
        }
        let is_phrase = pattern.contains(' ');
        let here = |at: usize| {
            let begins = !self.text[..at].ends_with(char::is_alphanumeric);
            begins && !self.text[at + pattern.len()..].starts_with(char::is_alphanumeric)
        };
        if self.text.starts_with(&*pattern) && here(0) {
            let mark = |c: char| !c.is_alphanumeric() && !c.is_whitespace();
            let rest = &self.text[pattern.len()..];
            return is_phrase || rest.is_empty() || rest.trim_start().starts_with(mark);
        }
        // The text is short: to prepare a search for each pattern takes longer than to look at each place.
        let bytes = self.text.as_bytes();
        let is_here = |at: &usize| bytes[*at..].starts_with(pattern.as_bytes());
        let places = || memchr_iter(pattern.as_bytes()[0], bytes).filter(is_here);
        is_phrase && self.short && places().any(here)
    }
}

/// Lower case, one space between words, straight quotes. Patterns mostly are so already, and every result is
/// compared with all of them.
fn plain(text: &str) -> Cow<'_, str> {
    // A space is removed at the beginning, at the end and after another one.
    let mut before = b' ';
    let is_plain = text.bytes().all(|b| {
        let after_space = std::mem::replace(&mut before, b) == b' ';
        matches!(b, b'!'..=b'@' | b'['..=b'~') || b == b' ' && !after_space
    });
    if is_plain && before != b' ' {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !plain.is_empty() {
            plain.push(' ');
        }
        plain.push_str(word);
    }
    match plain.is_ascii() {
        true => plain.make_ascii_lowercase(),
        false => plain = plain.replace('’', "'").to_lowercase(),
    }
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn why(text: &str) -> Option<NullReason> {
        NullFilter::default().nulled(&"Google".into(), &[], Some(text))
    }

    fn pattern(text: &str) -> Option<NullReason> {
        Some(NullReason::Pattern(text.to_owned()))
    }

    #[test]
    fn what_says_nothing_is_null_with_its_reason() {
        for text in ["", " \n", "[]", "{}", "\"\"", "—", "[null]", "{\"hits\": [], \"next\": null}"]
        {
            assert_eq!(why(text), Some(NullReason::Empty), "{text:?}");
        }
        for (text, expected) in [
            ("None", "none"),
            ("'None.'", "none"),
            ("ERROR: timed out", "error"),
            ("  Error - no route", "error"),
            ("The page was not  found.", "not found"),
            ("Could not find [Acme]. Similar: ['Acme Corp']", "not find"),
            ("{\"error\": \"City not found\"}", "not found"),
            ("I couldn’t find that", "couldn't find"),
            ("N/A", "n/a"),
            ("Sorry, no results for “acme”", "no results"),
        ] {
            assert_eq!(why(text), pattern(expected), "{text:?}");
        }
        let long = format!("No results found. Perhaps you meant: {}", "another page, ".repeat(40));
        assert_eq!(why(&long), pattern("no results"));
        let failed = NullFilter { all: Vec::new(), ..NullFilter::default() }.nulled(
            &"Google".into(),
            &[],
            None,
        );
        assert_eq!(failed, Some(NullReason::Failed));
    }

    #[test]
    fn good_results_stay_whatever_words_they_are_made_of() {
        let story = "Elbrus is the highest mountain of Europe. ".repeat(6);
        for text in [
            &format!("{story}Its eastern peak was not found on early maps.") as &str,
            "The margin of error is 3 %.",
            "None of the crew survived.",
            "Error bars show one standard deviation.",
            "He was not founded.",
            "Knot findings",
            "0",
            "false",
            "∞",
            "{\"count\": 0, \"hits\": []}",
            "[false]",
            "terror: a novel",
        ] {
            assert_eq!(why(text), None, "{text:?}");
        }
    }

    #[test]
    fn only_json_that_is_not_too_long_is_read_again() {
        let nothing = |length: usize| format!("{{\"hits\": []{}}}", " ".repeat(length - 12));
        assert_eq!(why(&nothing(LONGEST_JSON)), Some(NullReason::Empty));
        assert_eq!(why(&nothing(LONGEST_JSON + 1)), None);
        assert_eq!(why("null"), pattern("null"), "a word, not a list or an object");
    }

    #[test]
    fn an_error_in_json_is_null_unless_it_says_that_there_was_none() {
        for (error, right) in [
            ("\"boom\"", Some(NullReason::Error)),
            ("{\"code\": 5}", Some(NullReason::Error)),
            ("true", Some(NullReason::Error)),
            ("false", None),
            ("null", None),
            ("\"\"", None),
        ] {
            let text = format!("{{\"status\": 7, \"error\": {error}}}");
            assert_eq!(why(&text), right, "{text}");
        }
    }

    #[test]
    fn signs_are_counted_in_texts_that_should_have_words() {
        for (text, right) in [
            ("a+b+c+d+e+", Some(NullReason::Garbled)),
            ("ab+c+d+e+f", None),
            ("a+++++++b", None),
            ("a+++++++++", Some(NullReason::Garbled)),
        ] {
            assert_eq!(why(text), right, "{text}");
        }
        // Only the beginning counts.
        let (words, signs) = ("word ".repeat(SHORT / 5), "+".repeat(SHORT));
        assert_eq!(why(&format!("{words}{signs}")), None);
        assert_eq!(why(&format!("a{signs}{words}{words}")), Some(NullReason::Garbled));
    }

    #[test]
    fn a_phrase_counts_anywhere_in_a_result_up_to_the_length_of_a_short_one() {
        let text =
            |length: usize| format!("{}not found", "a ".repeat(length).split_at(length - 9).0);
        assert_eq!(text(SHORT + 1).len(), SHORT + 1);
        assert_eq!(why(&text(SHORT - 1)), pattern("not found"));
        assert_eq!(why(&text(SHORT + 1)), None);
        let whole =
            format!("{}not found", "aa ".repeat(64).split_at(SHORT - 10).0.to_owned() + " ");
        assert_eq!((whole.len(), why(&whole)), (SHORT, pattern("not found")));
    }

    #[test]
    fn a_tools_and_a_classes_patterns_count_for_them_alone() {
        let mut filter = NullFilter { all: Vec::new(), ..NullFilter::default() };
        filter.tools.insert("Google".into(), vec!["try again later".into()]);
        filter.classes.insert("Information Retrieval".into(), vec!["later".into(), "soon".into()]);
        let nulled = |tool: &str, classes: &[&str], text: &str| {
            filter.nulled(&tool.into(), classes, Some(text))
        };
        let retrieval = ["information retrieval", "Accommodation"];
        assert_eq!(nulled("google", &[], "Please try again later"), pattern("try again later"));
        assert_eq!(nulled("Bing", &[], "Please try again later"), None);
        assert_eq!(nulled("Bing", &retrieval, "Soon!"), pattern("soon"));
        assert_eq!(nulled("Google", &retrieval, "later"), pattern("later"));
        assert_eq!(nulled("Bing", &["Task Completion"], "Soon!"), None);
        assert_eq!(nulled("Bing", &[], "not found"), None);
    }

    #[test]
    fn patterns_are_compared_whatever_their_case_and_spaces() {
        for given in [" Try  again later ", " try again later", "try again later "] {
            let filter = NullFilter { all: vec![given.into()], ..NullFilter::default() };
            for text in ["try again later", "TRY AGAIN\nLATER!", "please  try again later"] {
                let nulled = filter.nulled(&"x".into(), &[], Some(text));
                assert_eq!(nulled, pattern(given), "{given:?}: {text:?}");
            }
        }
        for given in [" later", "later ", "LATER"] {
            let filter = NullFilter { all: vec![given.into()], ..NullFilter::default() };
            assert_eq!(
                filter.nulled(&"x".into(), &[], Some("Later!")),
                pattern(given),
                "{given:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_text_and_any_pattern_can_be_compared(text in "\\PC{0,300}", given in "\\PC{0,20}") {
            let mut filter = NullFilter { all: Vec::new(), ..NullFilter::default() };
            filter.all.push(given);
            filter.nulled(&"x".into(), &["y"], Some(&text));
        }

        #[test]
        fn a_phrase_inside_a_long_text_never_nulls_it(words in "([a-z]{4,9} ){60,80}", at in 1usize..50) {
            let mut words: Vec<&str> = words.split_whitespace().collect();
            words.insert(at, "not found");
            let filter = NullFilter { all: vec!["not found".into()], ..NullFilter::default() };
            prop_assert_eq!(filter.nulled(&"x".into(), &[], Some(&words.join(" "))), None);
        }
    }
}
