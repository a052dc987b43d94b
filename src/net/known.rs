//! The keys that this process has read, and the texts without them.
//!
//! Servers echo requests, models repeat what they read, and tools print their environment. So every
//! record, and every text that leaves the program, passes here, no matter where it comes from. The
//! list belongs to the process: a key of one session must not appear in another one either.

use std::collections::BTreeSet;
use std::sync::{PoisonError, RwLock};

use reqwest::Url;
use serde::Serialize;
use serde_json::Value;

/// Shortest text in bytes that is hidden everywhere. Local servers take any word as a key, such as
/// `none` or `ollama`, and hiding such a word would damage ordinary texts.
const SHORTEST: usize = 8;
/// Stands for a key.
const HIDDEN: &str = "[key]";

/// All spellings of all keys.
static KNOWN: RwLock<BTreeSet<String>> = RwLock::new(BTreeSet::new());

/// Hides this key from now on, in every spelling that an echo may have.
pub(super) fn remember(key: &str) {
    // A server may repeat a header without its scheme, such as `Bearer`.
    let parts = key.split_whitespace().chain([key.trim()]);
    let parts = parts.filter(|part| part.len() >= SHORTEST);
    let spellings = parts.flat_map(|part| {
        let quoted = Value::from(part).to_string();
        let escaped = quoted[1..quoted.len() - 1].to_owned();
        let encoded: String = reqwest::Url::parse_with_params("x:?", [("k", part)])
            .map(|url| url.as_str().trim_start_matches("x:?k=").to_owned())
            .unwrap_or_default();
        [part.to_owned(), escaped, encoded]
    });
    let spellings: Vec<String> = spellings.filter(|text| text.len() >= SHORTEST).collect();
    KNOWN.write().unwrap_or_else(PoisonError::into_inner).extend(spellings);
}

/// Hides the parts of an address that may be a key: its password, and long values of its query.
pub fn remember_address(url: &Url) {
    url.password().into_iter().for_each(remember);
    let is_key = |value: &str| {
        value.len() >= 2 * SHORTEST
            && value.contains(|c: char| c.is_ascii_digit())
            && value.contains(|c: char| c.is_ascii_alphabetic())
    };
    let values = url.query_pairs().filter(|(name, _)| name != "api-version");
    values.filter(|(_, value)| is_key(value)).for_each(|(_, value)| remember(&value));
}

/// The text without any key.
pub fn without_known(text: &str) -> String {
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    // Longer ones first: one key may contain another one, such as a header with its scheme.
    let mut found: Vec<&String> = known.iter().filter(|key| text.contains(*key)).collect();
    found.sort_by_key(|key| std::cmp::Reverse(key.len()));
    found.into_iter().fold(text.to_owned(), |text, key| text.replace(key, HIDDEN))
}

/// The value without any key in its texts; `None` if it has none. `read` makes it from JSON again.
pub fn redacted<T: Serialize>(value: &T, read: impl FnOnce(&[u8]) -> Option<T>) -> Option<T> {
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    if known.is_empty() {
        return None;
    }
    let json = serde_json::to_string(value).ok()?;
    // The spellings include the one that JSON has.
    if !known.iter().any(|key| json.contains(key)) {
        return None;
    }
    drop(known);
    let mut json: Value = serde_json::from_str(&json).ok()?;
    clean(&mut json);
    read(json.to_string().as_bytes())
}

fn clean(value: &mut Value) {
    match value {
        Value::String(text) => *text = without_known(text),
        Value::Array(items) => items.iter_mut().for_each(clean),
        Value::Object(fields) => {
            let old = std::mem::take(fields);
            for (name, mut field) in old {
                clean(&mut field);
                fields.insert(without_known(&name), field);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// How many bytes at the end of a growing text may be the beginning of a key.
pub fn begun(text: &str) -> usize {
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    let begun = |key: &String| {
        let cuts = key.char_indices().map(|(at, _)| at).skip(1).collect::<Vec<_>>();
        cuts.into_iter().rev().find(|cut| text.ends_with(&key[..*cut])).unwrap_or(0)
    };
    known.iter().map(begun).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_key_is_in_no_text_however_it_is_spelt() {
        remember("Bearer pl4nted/\"k3y+of=tests");
        for text in [
            "Authorization: Bearer pl4nted/\"k3y+of=tests!",
            "only pl4nted/\"k3y+of=tests",
            "{\"k\":\"pl4nted/\\\"k3y+of=tests\"}",
            "?k=pl4nted%2F%22k3y%2Bof%3Dtests",
        ] {
            let clean = without_known(text);
            assert!(clean.contains("[key]") && !clean.contains("k3y"), "{clean}");
        }
        let value = serde_json::json!({"a": [{"pl4nted/\"k3y+of=tests": "x"}], "n": 1.5});
        let clean = redacted(&value, |json| serde_json::from_slice(json).ok());
        assert_eq!(clean, Some(serde_json::json!({"a": [{"[key]": "x"}], "n": 1.5})));
        let other = serde_json::json!("nothing here");
        assert_eq!(redacted(&other, |json| serde_json::from_slice(json).ok()), None);
    }

    #[test]
    fn a_key_that_arrives_in_pieces_is_held_back() {
        remember("p1ecew1se-tests");
        assert_eq!(begun("it is p1ecew1"), 7);
        assert_eq!(begun("nothing of it x"), 0);
    }

    #[test]
    fn words_that_local_servers_take_and_versions_are_no_keys() {
        remember("ollama");
        let url = "https://h/v1?api-version=2024-12-01-preview&sig=a1b2c3d4e5f6a7b8c9";
        remember_address(&Url::parse(url).unwrap());
        let text = "ollama 2024-12-01-preview a1b2c3d4e5f6a7b8c9";
        assert_eq!(without_known(text), "ollama 2024-12-01-preview [key]");
    }
}
