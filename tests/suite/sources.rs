//! The sources of the program's crates as the rules of the house read them: files, and their code without comments,
//! literals and tests.

use std::fs;
use std::path::{Path, PathBuf};

/// A source file: its path below the project's folder, and its code without comments, literals and tests.
pub struct Source {
    pub path: String,
    pub code: String,
    pub lines: usize,
}

/// The first names of the paths that begin with `root`: one, or those of a list in braces.
pub fn named_after<'a>(code: &'a str, root: &str) -> Vec<&'a str> {
    let mut names = Vec::new();
    for (at, _) in code.match_indices(root) {
        let before = code[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || "_:".contains(c)) {
            continue;
        }
        let rest = &code[at + root.len()..];
        match rest.strip_prefix('{') {
            Some(list) => names.extend(first_names(list)),
            None => names.extend(first_name(rest)),
        }
    }
    names
}

/// The first name of each item of a list, which ends at its closing brace.
fn first_names(list: &str) -> Vec<&str> {
    let (mut depth, mut from, mut names) = (0, 0, Vec::new());
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' | ',' if depth == 0 => {
                names.extend(first_name(&list[from..at]));
                from = at + 1;
                if c == '}' {
                    break;
                }
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    names
}

fn first_name(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    (end > 0).then(|| &text[..end])
}

/// Code alone: comments, the insides of literals and modules of tests become nothing.
fn code(text: &str) -> String {
    let tests = text.match_indices("\n#[cfg(test)]\nmod ").find(|(at, found)| {
        let line = text[at + found.len()..].lines().next();
        line.is_some_and(|line| line.ends_with('{'))
    });
    let text = tests.map_or(text, |(at, _)| &text[..at]);
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let skipped = literal(rest, code.chars().next_back()).or_else(|| comment(rest));
        let taken = skipped.unwrap_or(c.len_utf8());
        match skipped {
            Some(_) => code.extend(rest[..taken].matches('\n')),
            None => code.push(c),
        }
        rest = &rest[taken..];
    }
    code
}

/// The length of the comment that the text begins with.
fn comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    let inside = text.strip_prefix("/*")?;
    Some(inside.find("*/").map_or(text.len(), |end| end + 4))
}

/// The length of the string or character that the text begins with.
fn literal(text: &str, before: Option<char>) -> Option<usize> {
    let inside_name = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
    if let Some(raw) = text.strip_prefix('r').filter(|_| !inside_name || before == Some('b')) {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        if raw[hashes..].starts_with('"') {
            let close = format!("\"{}", "#".repeat(hashes));
            let from = 1 + hashes + 1;
            return Some(
                text[from..].find(&close).map_or(text.len(), |at| from + at + close.len()),
            );
        }
    }
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return Some(at + 1),
            // A lifetime, and no character.
            _ if quote == '\'' && !text[1..].starts_with('\\') && at > 1 => return None,
            _ => {}
        }
    }
    None
}

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The rooms: the folders of `src`, each a crate.
pub fn rooms() -> Vec<String> {
    let entries = fs::read_dir(root().join("src")).unwrap().map(|entry| entry.unwrap());
    // Failed properties of a room are kept in a folder beside it.
    let rooms = entries.filter(|entry| entry.path().join("Cargo.toml").exists());
    let mut rooms: Vec<_> = rooms.map(|entry| entry.file_name().into_string().unwrap()).collect();
    rooms.sort_unstable();
    rooms
}

/// All Rust files below these folders. The laboratory is left out where it is not there.
pub fn sources(folders: &[&str]) -> Vec<Source> {
    let folders = folders.iter().map(|folder| root().join(folder));
    let mut folders: Vec<PathBuf> =
        folders.filter(|path| !path.starts_with(root().join("lab")) || path.exists()).collect();
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                let path = path.strip_prefix(root()).unwrap().display().to_string();
                sources.push(Source { path, lines: text.lines().count(), code: code(&text) });
            }
        }
    }
    sources.sort_by(|one, other| one.path.cmp(&other.path));
    assert!(!sources.is_empty(), "no file was found");
    sources
}

#[test]
fn the_reader_of_sources_reads_rust() {
    let text = r##"
        // crate::comment
        use crate::{one::{Deep, deeper::x}, self_made as other, two};
        fn f<'a>(x: &'a str) -> char { let _ = "crate::text \" still"; '"' /* crate::gone */ }
        const RAW: &str = r#"crate::raw " "#;
        fn g() { crate::three::call('\'', my_crate::no) }
    "##;
    let code = code(&format!("{text}\n#[cfg(test)]\nmod tests {{\n use crate::five; }}"));
    assert_eq!(named_after(&code, "crate::"), ["one", "self_made", "two", "three"]);
}
