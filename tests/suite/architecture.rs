//! `docs/architecture.md` names files that there are, and names in them that there are.

use std::{fs, path::Path};

const TEXT: &str = include_str!("../../docs/architecture.md");

/// Folders and files at the top of the project by which a path is known.
const TOP: [&str; 8] =
    ["src", "tests", "docs", "fuzz", "prompts", ".ci", "config.example.toml", "README.md"];

/// What stands between backticks on one line.
fn quoted() -> Vec<&'static str> {
    let lines = TEXT.lines().filter(|line| !line.starts_with("```"));
    lines.flat_map(|line| line.split('`').skip(1).step_by(2)).collect()
}

fn is_path(word: &str) -> bool {
    TOP.iter().any(|top| word == *top || word.starts_with(&format!("{top}/")))
}

#[test]
fn every_path_in_the_architecture_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let paths: Vec<_> = quoted().into_iter().filter(|word| is_path(word)).collect();
    assert!(paths.len() > 60, "hardly any path was found: {paths:?}");
    let gone: Vec<_> = paths.into_iter().filter(|path| !root.join(path).exists()).collect();
    assert!(gone.is_empty(), "docs/architecture.md names what is not there: {gone:?}");
}

#[test]
fn every_name_is_in_a_file_that_its_paragraph_names() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let recipes = TEXT.split_once("## Recipes").unwrap().1;
    let mut checked = 0;
    for recipe in recipes.split("\n### ").skip(1) {
        let words: Vec<_> = recipe.split('`').skip(1).step_by(2).collect();
        let files = words.iter().filter(|word| is_path(word) && word.ends_with(".rs"));
        let code: String =
            files.map(|file| fs::read_to_string(root.join(file)).unwrap_or_default()).collect();
        // A type, a constant, or the two of `Type::name`.
        for word in words.iter().filter(|word| word.starts_with(char::is_uppercase)) {
            for name in word.split("::").filter(|name| !is_path(name) && !name.contains('.')) {
                let title = recipe.lines().next().unwrap_or_default();
                assert!(code.contains(name), "{title}: no file there has {name}");
                checked += 1;
            }
        }
    }
    assert!(checked > 25, "{checked} names");
}
