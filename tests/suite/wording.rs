//! Names and comments of the code: types are found by their names, comments begin with what they are about,
//! functions fit on a screen, and texts name no key that a person may have moved.

use std::collections::BTreeMap;
use std::fs;

use crate::sources::{Source, root, sources};

/// Types by one name at most.
const MOST_BY_ONE_NAME: usize = 3;
/// Lines of a function at most.
const LONGEST_FUNCTION: usize = 100;
/// No subject of a first sentence: a reader does not know yet what they stand for.
const PRONOUNS: &str = "It They This That These Those Who Whom Whose Which What Whatever Whoever Its Their One Ones \
                        There Here Some Such Both Nothing Everything Anything Something Nobody Somebody We You";
const KINDS: [&str; 5] = ["struct ", "enum ", "trait ", "union ", "type "];

fn assert_none(found: &[String], rule: &str) {
    assert!(found.is_empty(), "{rule}:\n{}", found.join("\n"));
}

/// The text of a source with its comments and literals.
fn text(source: &Source) -> String {
    fs::read_to_string(root().join(&source.path)).unwrap()
}

/// The type that a line declares. An associated type is indented, and belongs to its trait.
fn declared(line: &str) -> Option<&str> {
    let bare = line.trim_start();
    let bare = match bare.strip_prefix("pub") {
        Some(rest) => rest.trim_start_matches(|c: char| c != ' ').trim_start(),
        None => bare,
    };
    let kind = KINDS.iter().find(|kind| bare.starts_with(**kind))?;
    let name = &bare[kind.len()..];
    let is_associated = *kind == "type " && line.starts_with(' ');
    let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
    (!is_associated && end > 0).then(|| &name[..end])
}

#[test]
fn no_name_stands_for_many_types() {
    let all = sources(&["src", "lab/src"]);
    let mut places: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for source in &all {
        for name in source.code.lines().filter_map(declared) {
            places.entry(name).or_default().push(&source.path);
        }
    }
    let many = places.iter().filter(|(_, places)| places.len() > MOST_BY_ONE_NAME);
    let many: Vec<_> =
        many.map(|(name, places)| format!("{name}: {}", places.join(", "))).collect();
    assert_none(&many, "types by one name are no map; name each by noun and domain");
}

#[test]
fn no_doc_comment_begins_with_a_pronoun() {
    let mut found = Vec::new();
    for source in sources(&["src", "lab/src"]) {
        let mut before = None;
        for (at, line) in text(&source).lines().enumerate() {
            let line = line.trim_start();
            let mark = ["///", "//!"].into_iter().find(|mark| line.starts_with(mark));
            let first = mark.filter(|_| mark != before).and_then(|mark| {
                line[mark.len()..]
                    .split(|c: char| !c.is_alphanumeric())
                    .find(|word| !word.is_empty())
            });
            if first.is_some_and(|first| PRONOUNS.split(' ').any(|pronoun| pronoun == first)) {
                found.push(format!("{}:{}: {line}", source.path, at + 1));
            }
            before = mark;
        }
    }
    assert_none(&found, "the subject of a comment's first sentence is a noun");
}

#[test]
fn no_function_is_longer_than_a_screen() {
    let mut found = Vec::new();
    for source in sources(&["src", "lab/src"]) {
        let lines: Vec<_> = source.code.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let bare = line.trim_start();
            let words: Vec<_> = bare.split(' ').take_while(|word| !word.contains('(')).collect();
            let is_function = bare.starts_with("fn ")
                || bare.starts_with("pub") && words.contains(&"fn")
                || bare.starts_with("async fn ")
                || bare.starts_with("const fn ");
            let end = format!("{}}}", &line[..line.len() - bare.len()]);
            let length =
                lines[at..].iter().position(|line| **line == end).map_or(0, |last| last + 1);
            if is_function && length > LONGEST_FUNCTION {
                found.push(format!("{}:{}: {length} lines", source.path, at + 1));
            }
        }
    }
    assert_none(&found, "a function has at most 100 lines");
}

/// Texts say `<key:ACTION>`, and the keymap puts the key there: a key in a text is wrong once a person has moved it.
#[test]
fn texts_take_their_keys_from_the_keymap() {
    const KEYS: [&str; 8] = [
        "press enter",
        "press esc",
        "enter shows",
        "enter opens",
        "enter goes",
        "ctrl-w ",
        "press `",
        "(d)",
    ];
    let mut found = Vec::new();
    for source in sources(&["src/ui"]) {
        let text = text(&source);
        let text = text.split("#[cfg(test)]\nmod ").next().unwrap();
        for (at, line) in
            text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"))
        {
            let is_table =
                source.path.starts_with("src/ui/action/") || source.path == "src/ui/key.rs";
            if !is_table && line.contains('"') && KEYS.iter().any(|key| line.contains(key)) {
                found.push(format!("{}:{}: {}", source.path, at + 1, line.trim()));
            }
        }
    }
    assert_none(&found, "say <key:ACTION>, which the keymap fills in");
}
