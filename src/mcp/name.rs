//! Names of tools in a session: `KEY__TOOL`, of the configuration's key and the server's name of the tool. The server's
//! name for itself is not part of it: two servers may use the same one, and the person has chosen the key.
//!
//! Endpoints accept letters, digits, `_` and `-`, at most 64 of them. Other characters become `_`. Digits of a hash
//! distinguish names that would become equal, or that are cut. Nothing else affects a name, so it is the same in every
//! session.

use std::collections::{HashMap, HashSet};

use crate::files::sha256;

/// The separator of key and tool. No prefix contains it.
const BETWEEN: &str = "__";
/// Most characters of a name.
const LONGEST: usize = 64;
/// Most characters of a prefix, so that a good part of the tool's own name is left.
const LONGEST_PREFIX: usize = 40;
/// Digits of a hash.
const DIGITS: usize = 6;

/// The prefix of the names of all tools of the server with this key, without the separator; `None` if the key has no
/// letter and no digit that a name can have.
pub fn prefix(key: &str) -> Option<String> {
    let mut prefix = String::with_capacity(key.len());
    for c in key.chars().map(allowed) {
        // Two underscores would be taken for the end of the prefix.
        if c != '_' || !prefix.ends_with('_') {
            prefix.push(c);
        }
    }
    prefix.truncate(prefix.trim_end_matches('_').len());
    if !prefix.contains(|c: char| c.is_ascii_alphanumeric()) {
        return None;
    }
    if prefix.len() > LONGEST_PREFIX {
        prefix.truncate(LONGEST_PREFIX - DIGITS - 1);
        let kept = prefix.trim_end_matches('_');
        prefix = format!("{kept}_{}", digits(&[key]));
    }
    Some(prefix)
}

/// The names of a server's tools, in their order and all different; `None`: see [`prefix`].
pub fn names<'t>(key: &str, tools: impl IntoIterator<Item = &'t str>) -> Option<Vec<String>> {
    let prefix = prefix(key)?;
    let tools: Vec<&str> = tools.into_iter().collect();
    let plain: Vec<String> = tools.iter().map(|tool| plain(&prefix, tool)).collect();
    let mut uses = HashMap::<&str, usize>::new();
    for name in &plain {
        *uses.entry(name).or_default() += 1;
    }
    let mut taken: HashSet<String> = plain.iter().cloned().collect();
    let mut listed = HashMap::<&str, usize>::new();
    let names = tools.iter().zip(&plain).map(|(tool, plain)| {
        if uses[plain.as_str()] == 1 {
            return plain.clone();
        }
        // A server may list one tool twice.
        let time = listed.entry(tool).or_default();
        loop {
            let name = told_apart(&prefix, tool, *time);
            *time += 1;
            if taken.insert(name.clone()) {
                return name;
            }
        }
    });
    Some(names.collect())
}

/// Whether a tool of this name belongs to the server with this key.
pub fn is_of(name: &str, key: &str) -> bool {
    let of = name.split_once(BETWEEN).map(|(of, _)| of);
    of.is_some() && of == prefix(key).as_deref()
}

/// The name of a tool if no other tool has it.
fn plain(prefix: &str, tool: &str) -> String {
    let cleaned: String = tool.chars().map(allowed).collect();
    let name = format!("{prefix}{BETWEEN}{cleaned}");
    if cleaned.is_empty() || name.len() > LONGEST { told_apart(prefix, tool, 0) } else { name }
}

/// The name with digits, which differ each time.
fn told_apart(prefix: &str, tool: &str, time: usize) -> String {
    let room = LONGEST - prefix.len() - BETWEEN.len() - DIGITS - 1;
    let cleaned: String = tool.chars().map(allowed).take(room).collect();
    let time = time.to_string();
    format!("{prefix}{BETWEEN}{cleaned}_{}", digits(&[prefix, tool, &time]))
}

fn allowed(c: char) -> char {
    if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }
}

fn digits(texts: &[&str]) -> String {
    let mut digits = sha256::of_texts(texts.iter().copied());
    digits.truncate(DIGITS);
    digits
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn named(key: &str, tools: &[&str]) -> Vec<String> {
        super::names(key, tools.iter().copied()).unwrap()
    }

    #[test]
    fn a_name_has_key_and_tool() {
        assert_eq!(named("git", &["status", "log-all"]), ["git__status", "git__log-all"]);
        assert_eq!(named("my files", &["read/text.file"]), ["my_files__read_text_file"]);
        assert_eq!(named("a__b_", &["_c"]), ["a_b___c"]);
        for key in ["", "_", "--", "日本", "…"] {
            assert_eq!(prefix(key), None, "{key}");
        }
    }

    #[test]
    fn digits_tell_names_apart() {
        let told = named("k", &["a.b", "a/b", "c", "c", "a_c"]);
        assert!(told[0].starts_with("k__a_b_") && told[1].starts_with("k__a_b_"), "{told:?}");
        assert_eq!((told[0].len(), told[4].as_str()), (13, "k__a_c"));
        // Other tools do not affect the names.
        let swapped = named("k", &["a/b", "a.b"]);
        assert_eq!([&swapped[1], &swapped[0]], [&told[0], &told[1]]);
        let long = named("k", &["x".repeat(80).as_str(), "x".repeat(81).as_str()]);
        assert!(long.iter().all(|name| name.len() == LONGEST) && long[0] != long[1], "{long:?}");
        let keys = ["k".repeat(50), "k".repeat(51)].map(|key| prefix(&key).unwrap());
        assert!(keys[0] != keys[1] && keys.iter().all(|key| key.len() == LONGEST_PREFIX));
    }

    #[test]
    fn a_name_is_of_one_key() {
        assert!(is_of("git__status", "git") && is_of("a_b___c", "a__b_"));
        for (name, key) in
            [("git__status", "gi"), ("git_status", "git"), ("git", "git"), ("__a", "")]
        {
            assert!(!is_of(name, key), "{name} {key}");
        }
        // Only the first separator ends the prefix.
        assert!(is_of("a__b__c", "a") && !is_of("a__b__c", "a__b"));
    }

    proptest! {
        #[test]
        fn every_name_is_accepted_unique_and_of_its_key(
            key in "\\PC{0,60}",
            tools in prop::collection::vec("[a./_]{0,3}|\\PC{0,90}", 0..20),
        ) {
            let tools: Vec<&str> = tools.iter().map(String::as_str).collect();
            let Some(names) = super::names(&key, tools.iter().copied()) else {
                prop_assert!(prefix(&key).is_none());
                return Ok(());
            };
            prop_assert_eq!(names.len(), tools.len());
            prop_assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
            for name in &names {
                let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
                prop_assert!(name.len() <= LONGEST && name.chars().all(is_allowed), "{}", name);
                prop_assert!(is_of(name, &key));
            }
            prop_assert_eq!(super::names(&key, tools), Some(names));
        }
    }
}
