//! The rows of a list that match the input, the best first, with the characters that match.

use std::cmp::Reverse;

use nucleo_matcher::pattern::{Atom, AtomKind, CaseMatching, Normalization};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use crate::text;

/// The texts by which a row is found.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// Name, matched by some of its letters in their order.
    pub name: String,
    /// Description, matched as a substring.
    pub about: String,
    /// Keys, matched as substrings, without highlights.
    pub keys: Vec<String>,
}

impl Words {
    pub fn new(name: &str, about: &str) -> Self {
        let clean = |words| text::clean(words).into_owned();
        Self { name: clean(name), about: clean(about), keys: Vec::new() }
    }
}

/// A row that matches.
#[derive(Clone, Debug, Default)]
pub(super) struct FuzzyMatch {
    /// The row's index in the whole list.
    pub id: usize,
    /// Indices of the name's characters that match.
    pub name: Vec<u32>,
    /// Indices of the characters of `about` that match.
    pub about: Vec<u32>,
    rank: Rank,
}

/// The rank of a row: the higher, the better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// Whether the name or a key equals the input.
    exact: bool,
    /// How many of the typed words are in the name.
    in_name: usize,
    score: u32,
    shortest: Reverse<usize>,
}

/// The rows that contain every word of `typed`, the best first. Equally good rows keep their order.
pub(super) fn narrow(typed: &str, all: &[Words]) -> Vec<FuzzyMatch> {
    let atom =
        |word, kind| Atom::new(word, CaseMatching::Ignore, Normalization::Smart, kind, false);
    let words = typed.split_whitespace();
    let wanted: Vec<QueryWord> = words
        .map(|word| QueryWord {
            letters: atom(word, AtomKind::Fuzzy),
            word: atom(word, AtomKind::Substring),
        })
        .collect();
    let mut matcher = Matcher::new(Config::DEFAULT);
    let rows = all.iter().enumerate();
    let mut found: Vec<FuzzyMatch> = rows
        .filter_map(|(id, words)| {
            let found = fit(&wanted, words, &mut matcher)?;
            let is_it = |text: &String| text == typed.trim();
            let exact = is_it(&words.name) || words.keys.iter().any(is_it);
            Some(FuzzyMatch { id, rank: Rank { exact, ..found.rank }, ..found })
        })
        .collect();
    if !wanted.is_empty() {
        found.sort_by_key(|found| Reverse(found.rank));
    }
    found
}

/// A typed word: its letters match a name, and the whole word any other text.
struct QueryWord {
    letters: Atom,
    word: Atom,
}

/// Looks for each word; `None` if one is missing.
fn fit(wanted: &[QueryWord], words: &Words, matcher: &mut Matcher) -> Option<FuzzyMatch> {
    let mut buf = Vec::new();
    let mut found = FuzzyMatch::default();
    found.rank.shortest = Reverse(words.name.len());
    for QueryWord { letters, word } in wanted {
        let name = Utf32Str::new(&words.name, &mut buf);
        if let Some(score) = letters.indices(name, matcher, &mut found.name) {
            found.rank.in_name += 1;
            found.rank.score += u32::from(score);
            continue;
        }
        let about = Utf32Str::new(&words.about, &mut buf);
        if let Some(score) = word.indices(about, matcher, &mut found.about) {
            found.rank.score += u32::from(score);
            continue;
        }
        let key = |key: &String| word.score(Utf32Str::new(key, &mut buf), matcher);
        found.rank.score += u32::from(words.keys.iter().find_map(key)?);
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names(typed: &str, all: &[(&str, &str)]) -> Vec<String> {
        let all: Vec<Words> = all.iter().map(|(name, about)| Words::new(name, about)).collect();
        narrow(typed, &all).into_iter().map(|found| all[found.id].name.clone()).collect()
    }

    #[test]
    fn the_best_is_first_and_names_go_before_what_is_said_of_them() {
        let all = [
            ("task-step", "to the step of a task"),
            ("step-out", "run to the end of this task"),
            ("step", "run to the next boundary"),
            ("stop", "end the session"),
        ];
        assert_eq!(names("step", &all), ["step", "step-out", "task-step"]);
        assert_eq!(names("SO", &all), ["step-out", "stop"]);
        assert_eq!(names("stp task", &all), ["task-step", "step-out"]);
        assert_eq!(names("session", &all), ["stop"]);
        assert!(names("xyz", &all).is_empty());
        assert_eq!(names(" ", &all), all.map(|(name, _)| name), "in their own order");
    }

    #[test]
    fn a_key_is_found_as_it_is_and_letters_are_where_they_are_said_to_be() {
        let keyed = Words { keys: vec!["^".into()], ..Words::new("first-event", "look") };
        let other = Words { keys: vec!["X".into()], ..Words::new("cancel", "x-rated") };
        let all = [other, keyed];
        assert_eq!(narrow("^", &all)[0].id, 1);
        let found = narrow("fev", &all);
        let letters: String = found[0].name.iter().map(|at| char_at("first-event", *at)).collect();
        assert_eq!(letters, "fev");
        assert_eq!(narrow("x", &all)[0].about, [0]);
    }

    fn char_at(text: &str, at: u32) -> char {
        text.chars().nth(at as usize).unwrap()
    }

    proptest! {
        #[test]
        fn whatever_is_typed_is_searched_for(typed: String, name: String, about: String) {
            let all = [Words::new(&name, &about)];
            for found in narrow(&typed, &all) {
                let chars = all[0].name.chars().count() as u32;
                prop_assert!(found.name.iter().all(|at| *at < chars));
            }
        }
    }
}
