//! Rules of the house that neither the compiler nor its lints (`[lints]` in Cargo.toml) know, read from the
//! sources: who may name whom, and how long a file may be.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The longest file.
const LINES: usize = 500;

/// What a pure room names from outside that decides nothing: path, what, why.
const HARMLESS: [(&str, &str, &str); 1] =
    [("src/domain/tokens.rs", "RandomState", "keys of a cache, so that no text fills one slot")];

/// Rooms that know no clock, no chance and no world outside.
const PURE: [&str; 3] = ["domain", "papers", "strategy"];

/// Names by which the world outside comes in.
const OUTSIDE: [&str; 12] = [
    "std::fs",
    "std::io",
    "std::env",
    "std::net",
    "std::process",
    "std::time",
    "std::thread",
    "tokio",
    "jiff",
    "rand::",
    "fastrand",
    "RandomState",
];

/// A source file: its path below the crate, and its code without comments, literals and tests.
struct Source {
    path: String,
    code: String,
    lines: usize,
}

impl Source {
    /// The room that this file is in; `None`: the program, or the crate's root.
    fn room(&self) -> Option<&str> {
        let below = self.path.strip_prefix("src/")?;
        let name = below.split('/').next()?.trim_end_matches(".rs");
        (!matches!(name, "main" | "lib")).then_some(name)
    }

    /// How many modules deep its code lies below the crate.
    fn depth(&self) -> usize {
        let below = self.path.trim_start_matches("src/").trim_end_matches(".rs");
        below.split('/').filter(|part| *part != "mod").count()
    }

    /// The modules of the crate that it names, by `crate::…` or by going up to the root.
    fn names(&self) -> BTreeSet<&str> {
        let root = "super::".repeat(self.depth());
        ["crate::", &root].iter().flat_map(|root| named_after(&self.code, root)).collect()
    }
}

/// The first names of the paths that begin with `root`: one, or those of a list in braces.
fn named_after<'a>(code: &'a str, root: &str) -> Vec<&'a str> {
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
    let text = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default();
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

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All Rust files below these folders.
fn sources(folders: &[&str]) -> Vec<Source> {
    let mut folders: Vec<PathBuf> = folders.iter().map(|folder| root().join(folder)).collect();
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
    assert!(sources.len() > 20, "hardly any file was found");
    sources
}

/// Each room's line in the table of `src/lib.rs`, the lowest first.
fn layers() -> BTreeMap<String, usize> {
    let text = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let doc = text.lines().filter_map(|line| line.strip_prefix("//!"));
    let table = doc.skip_while(|line| line.trim() != "rooms").skip(1);
    let lines = table.take_while(|line| line.trim() != "```").enumerate();
    lines
        .flat_map(|(at, line)| line.split_whitespace().map(move |name| (name.into(), at)))
        .collect()
}

fn assert_none(found: &[String], rule: &str) {
    assert!(found.is_empty(), "{rule}:\n{}", found.join("\n"));
}

#[test]
fn a_room_names_only_rooms_below_it() {
    let layers = layers();
    let sources = sources(&["src"]);
    let there: BTreeSet<_> = sources.iter().filter_map(Source::room).collect();
    let listed: BTreeSet<_> = layers.keys().map(String::as_str).collect();
    assert_eq!(there, listed, "the table in src/lib.rs lists every room");
    let mut wrong = Vec::new();
    for source in &sources {
        let Some(own) = source.room() else { continue };
        for name in source.names().into_iter().filter(|name| *name != own) {
            match layers.get(name) {
                Some(layer) if *layer < layers[own] => {}
                Some(_) => wrong.push(format!("{}: {own} names {name}", source.path)),
                None => wrong.push(format!("{}: {name} is no room", source.path)),
            }
        }
    }
    assert_none(&wrong, "a room names only rooms of lower lines, see src/lib.rs");
    assert_eq!(layers["ui"], layers["engine"], "the screen and the engine never name each other");
}

#[test]
fn the_screen_alone_knows_the_terminal_and_pure_rooms_know_nothing_outside() {
    let mut wrong = Vec::new();
    for source in sources(&["src"]) {
        let room = source.room();
        let mut refuse = |names: &[&str]| {
            let is_harmless = |name: &str| {
                HARMLESS.iter().any(|(path, what, _)| *path == source.path && *what == name)
            };
            let named = names.iter().filter(|name| source.code.contains(**name));
            let named = named.filter(|name| !is_harmless(name));
            wrong.extend(named.map(|name| format!("{}: {name}", source.path)));
        };
        if room != Some("ui") {
            refuse(&["ratatui", "crossterm"]);
        }
        if room.is_some_and(|room| PURE.contains(&room)) {
            refuse(&OUTSIDE);
        }
    }
    assert_none(&wrong, "what only some rooms may name");
}

#[test]
fn only_the_effect_path_opens_the_doors_of_models_and_tools() {
    let doors = [".ask(", ".call(", ".embed(", ".reachable("];
    let mut wrong = Vec::new();
    for source in sources(&["src/engine"]) {
        if !source.path.starts_with("src/engine/effect/") {
            let open = doors.iter().filter(|door| source.code.contains(**door));
            wrong.extend(open.map(|door| format!("{}: {door}", source.path)));
        }
    }
    // A strategy acts through its context alone.
    for source in sources(&["src/strategy"]) {
        for door in doors {
            let through = |(at, _): (usize, &str)| {
                let before = &source.code[..at];
                !["ctx", "self", "search"].iter().any(|name| before.ends_with(name))
            };
            if source.code.match_indices(door).any(through) {
                wrong.push(format!("{}: {door}", source.path));
            }
        }
    }
    assert_none(&wrong, "models and tools are reached by src/engine/effect alone");
}

#[test]
fn no_file_is_too_long_to_be_read() {
    let long = sources(&["src", "tests", "benches"]).into_iter().filter(|file| file.lines > LINES);
    let long: Vec<_> = long.map(|file| format!("{}: {} lines", file.path, file.lines)).collect();
    assert_none(&long, &format!("a file has {LINES} lines at most"));
}

#[test]
fn the_reader_of_the_rules_reads_rust() {
    let text = r##"
        // crate::comment
        use crate::{one::{Deep, deeper::x}, self_made as other, two};
        fn f<'a>(x: &'a str) -> char { let _ = "crate::text \" still"; '"' /* crate::gone */ }
        const RAW: &str = r#"crate::raw " "#;
        fn g() { crate::three::call('\'', my_crate::no, super::super::four::x) }
    "##;
    let code = code(&format!("{text}\n#[cfg(test)]\nmod tests {{ use crate::five; }}"));
    let file = Source { path: "src/ui/panes.rs".into(), code, lines: 0 };
    let names: Vec<_> = file.names().into_iter().collect();
    assert_eq!(names, ["four", "one", "self_made", "three", "two"]);
}
