//! Pages for those who work on the code name files that there are, and names in them that there are.

use std::{fs, path::Path};

const TEXT: &str = include_str!("../../docs/architecture.md");
const GLOSSARY: &str = include_str!("../../docs/glossary.md");
/// Other pages that name files.
const PAGES: [(&str, &str); 7] = [
    ("docs/glossary.md", GLOSSARY),
    ("SECURITY.md", include_str!("../../SECURITY.md")),
    ("docs/design/journal-format-3.md", include_str!("../../docs/design/journal-format-3.md")),
    ("docs/design/journal-format-4.md", include_str!("../../docs/design/journal-format-4.md")),
    ("docs/design/watched-agents.md", include_str!("../../docs/design/watched-agents.md")),
    ("docs/design/wires-and-runs.md", include_str!("../../docs/design/wires-and-runs.md")),
    ("docs/design/mcp.md", include_str!("../../docs/design/mcp.md")),
];
/// Words of the glossary at most.
const MOST_WORDS: usize = 40;

/// Folders and files at the top of the project by which a path is known.
const TOP: [&str; 8] =
    ["src", "tests", "docs", "fuzz", "prompts", ".ci", "config.example.toml", "README.md"];

/// What stands between backticks on one line.
fn quoted(text: &str) -> Vec<&str> {
    let lines = text.lines().filter(|line| !line.starts_with("```"));
    lines.flat_map(|line| line.split('`').skip(1).step_by(2)).collect()
}

fn is_path(word: &str) -> bool {
    TOP.iter().any(|top| word == *top || word.starts_with(&format!("{top}/")))
}

#[test]
fn every_path_in_the_architecture_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let paths: Vec<_> = quoted(TEXT).into_iter().filter(|word| is_path(word)).collect();
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

#[test]
fn every_path_of_the_other_pages_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (page, text) in PAGES {
        let paths = quoted(text).into_iter().filter(|word| is_path(word));
        let gone: Vec<_> = paths.filter(|path| !root.join(path).exists()).collect();
        assert!(gone.is_empty(), "{page} names what is not there: {gone:?}");
    }
}

/// A file that is named alone is somewhere.
#[test]
fn every_file_without_a_path_is_there() {
    let mut known = std::collections::BTreeSet::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            match entry.file_type().unwrap().is_dir() {
                true => folders.push(entry.path()),
                false => _ = known.insert(entry.file_name().into_string().unwrap()),
            }
        }
    }
    for (page, text) in PAGES.into_iter().chain([("docs/architecture.md", TEXT)]) {
        let is_file = |word: &&str| word.ends_with(".rs") && !word.contains(['/', ' ', '*']);
        let gone: Vec<_> = quoted(text).into_iter().filter(is_file).collect();
        let gone: Vec<_> = gone.into_iter().filter(|name| !known.contains(*name)).collect();
        assert!(gone.is_empty(), "{page} names what is not there: {gone:?}");
    }
}

/// A line of the glossary names a type or a constant before the file that declares it.
#[test]
fn every_name_of_the_glossary_is_in_its_file() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let rows = GLOSSARY.lines().filter(|line| line.starts_with("| ") && line.contains('`'));
    let (mut rows_seen, mut checked) = (0, 0);
    for row in rows {
        rows_seen += 1;
        let words = quoted(row);
        for pair in words.windows(2).filter(|pair| pair[0].starts_with(char::is_uppercase)) {
            let code = fs::read_to_string(root.join(pair[1])).unwrap_or_default();
            let name = pair[0];
            let kinds = ["struct", "enum", "trait", "const", "type", "static"];
            let is_declared = kinds.iter().any(|kind| {
                code.match_indices(&format!("{kind} {name}")).any(|(at, found)| {
                    !code[at + found.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_')
                })
            });
            assert!(is_declared, "{} does not declare {name}", pair[1]);
            checked += 1;
        }
    }
    assert!(checked > 20, "{checked} names");
    assert!(rows_seen <= MOST_WORDS, "{rows_seen} words; the glossary has at most {MOST_WORDS}");
}
