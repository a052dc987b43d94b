//! Fields in either spelling: with capitals, as clients write them, or with underscores.

use std::borrow::Cow;

use crate::node::{JsonFields, JsonNode};

/// The field of this name, which has capitals.
pub(super) fn either<'a>(fields: &JsonFields<'a>, name: &str) -> Option<JsonNode<'a>> {
    fields.get(name).or_else(|| fields.get(&with_underscores(name)))
}

/// The name with underscores in place of capitals.
pub(super) fn with_underscores(name: &str) -> Cow<'_, str> {
    if !name.contains(|c: char| c.is_ascii_uppercase()) {
        return Cow::Borrowed(name);
    }
    let mut written = String::with_capacity(name.len() + 2);
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            written.push('_');
        }
        written.push(c.to_ascii_lowercase());
    }
    Cow::Owned(written)
}

/// The name with capitals in place of underscores.
pub(super) fn with_capitals(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let (begin, rest) = word.split_at_checked(1).unwrap_or((word, ""));
        name + &begin.to_ascii_uppercase() + rest
    })
}

/// Whether one of these names, which have capitals, is this name in either spelling.
pub(super) fn is_among(name: &str, known: &[&str]) -> bool {
    known.contains(&name) || known.contains(&with_capitals(name).as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_either_spelling() {
        for (capitals, underscores) in [
            ("functionCall", "function_call"),
            ("maxOutputTokens", "max_output_tokens"),
            ("a", "a"),
        ] {
            assert_eq!(with_underscores(capitals), underscores);
            assert_eq!(with_capitals(underscores), capitals);
            assert!(is_among(underscores, &[capitals]) && is_among(capitals, &[capitals]));
        }
        assert!(!is_among("b", &["a"]) && with_capitals("é_ü_").starts_with('é'));
    }
}
