//! How close an answer is to the gold one, word by word, as papers report it: exact match and token
//! F1.
//!
//! Both follow SQuAD's evaluation (Rajpurkar et al. 2016) with HotpotQA's rule for yes and no (Yang
//! et al. 2018), so that numbers are comparable with published ones; the "character-level F1" there
//! is this token F1. Tasks are judged differently: see [`crate::grading`].

use std::collections::BTreeMap;

/// Answers that are right or wrong, without partial credit.
const ALL_OR_NOTHING: [&str; 3] = ["yes", "no", "noanswer"];

/// Whether both are equal except for case, ASCII punctuation, articles and spaces.
pub fn exact_match(given: &str, gold: &str) -> bool {
    tokens(given) == tokens(gold)
}

/// The harmonic mean of precision and recall over tokens, from 0 to 1. A repeated token counts as many times as both
/// texts have it. 0 if either is `yes`, `no` or `noanswer` and the other differs; 1 for two empty ones.
pub fn token_f1(given: &str, gold: &str) -> f64 {
    let (given, gold) = (tokens(given), tokens(gold));
    if given == gold {
        return 1.0;
    }
    if decides(&given) || decides(&gold) {
        return 0.0;
    }
    let mut left: BTreeMap<&str, usize> = BTreeMap::new();
    for token in &gold {
        *left.entry(token).or_default() += 1;
    }
    let mut same = 0;
    for token in &given {
        if let Some(count) = left.get_mut(token.as_str()).filter(|count| **count > 0) {
            *count -= 1;
            same += 1;
        }
    }
    2.0 * f64::from(same) / (given.len() + gold.len()) as f64
}

fn decides(tokens: &[String]) -> bool {
    matches!(tokens, [only] if ALL_OR_NOTHING.contains(&only.as_str()))
}

/// The words that count. Articles are dropped also next to non-ASCII marks: in `“the end”`.
pub fn tokens(text: &str) -> Vec<String> {
    let plain: String = text.to_lowercase().chars().filter(|c| !c.is_ascii_punctuation()).collect();
    let mut kept = String::with_capacity(plain.len());
    let mut rest = plain.as_str();
    while let Some(first) = rest.chars().next() {
        let is_word = first.is_alphanumeric();
        let end = rest.find(|c: char| c.is_alphanumeric() != is_word).unwrap_or(rest.len());
        let article = matches!(&rest[..end], "a" | "an" | "the");
        kept.push_str(if article { " " } else { &rest[..end] });
        rest = &rest[end..];
    }
    kept.split_whitespace().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn exact_match_is_blind_to_style_and_to_nothing_else() {
        for (given, gold) in [
            ("The Rio Sombrel.", "rio  sombrel"),
            ("an apple", "Apple"),
            ("U.S.A.", "usa"),
            ("“the end”", "“ end”"),
            ("", "the"),
            ("1,876", "1876"),
        ] {
            assert!(exact_match(given, gold), "{given:?}, {gold:?}");
        }
        for (given, gold) in [("theatre", "atre"), ("Rio", "Rio Sombrel"), ("yes it is", "yes")] {
            assert!(!exact_match(given, gold), "{given:?}, {gold:?}");
        }
    }

    #[test]
    fn f1_has_the_values_of_the_published_evaluation() {
        for (given, gold, right) in [
            ("the cat sat on the mat", "a cat sat", 2.0 * 0.5 / 1.5),
            ("Marisol Cade", "Marisol Cade", 1.0),
            ("It was Marisol Cade", "Marisol Cade", 2.0 * 0.5 / 1.5),
            ("Cade", "Marisol Cade", 2.0 / 3.0),
            ("Oslo", "Bergen", 0.0),
            ("la la la", "la la", 0.8),
            ("la", "la la la", 0.5),
            ("yes", "no", 0.0),
            ("Yes.", "yes", 1.0),
            ("yes, it is", "yes", 0.0),
            ("no", "no way out", 0.0),
            ("noanswer", "Oslo", 0.0),
            ("no way", "no way out", 0.8),
            ("", "", 1.0),
            ("", "Oslo", 0.0),
        ] {
            let f1 = token_f1(given, gold);
            assert!((f1 - right).abs() < 1e-12, "{given:?}, {gold:?}: {f1}");
        }
    }

    proptest! {
        #[test]
        fn f1_is_symmetric_between_0_and_1_and_1_for_an_exact_match(
            one in "(yes|no|the|a|Oslo|la|[.“]| ){0,8}", other in "(yes|no|the|a|Oslo|la|[.“]| ){0,8}",
        ) {
            let f1 = token_f1(&one, &other);
            prop_assert!((0.0..=1.0).contains(&f1));
            prop_assert_eq!(f1, token_f1(&other, &one));
            prop_assert!(!exact_match(&one, &other) || f1 == 1.0);
            prop_assert_eq!(token_f1(&one, &one), 1.0);
        }
    }
}
