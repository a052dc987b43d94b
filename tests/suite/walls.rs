//! The walls between the rooms, read from the manifests of their crates: who may depend on whom. The compiler
//! keeps what the manifests say.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use toml::{Table, Value};

use crate::sources::{rooms, root, sources};

/// Only the screen knows the terminal.
const TERMINAL: [&str; 2] = ["crossterm", "ratatui"];

/// Public items that tests alone use: they look into what a room hides.
const FOR_TESTS: [&str; 2] = ["setup_with", "with_most"];

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

fn manifest(folder: &str) -> Table {
    let path = root().join(folder).join("Cargo.toml");
    fs::read_to_string(&path).unwrap_or_else(|_| panic!("{path:?}")).parse().unwrap()
}

/// The crates that a manifest names in this table.
fn named(manifest: &Table, table: &str) -> BTreeSet<String> {
    let names = manifest.get(table).and_then(Value::as_table);
    names.into_iter().flat_map(Table::keys).cloned().collect()
}

fn room_of(krate: &str) -> Option<&str> {
    krate.strip_prefix("toolyard-")
}

#[test]
fn a_room_depends_only_on_rooms_below_it() {
    let layers = layers();
    let listed: Vec<_> = layers.keys().cloned().collect();
    assert_eq!(rooms(), listed, "the table in src/lib.rs lists every room");
    let mut wrong = Vec::new();
    for room in rooms() {
        let manifest = manifest(&format!("src/{room}"));
        assert_eq!(manifest["package"]["name"].as_str(), Some(&*format!("toolyard-{room}")));
        assert_eq!(manifest["lints"]["workspace"].as_bool(), Some(true), "{room} has the lints");
        for table in ["dependencies", "build-dependencies"] {
            for other in named(&manifest, table).iter().filter_map(|krate| room_of(krate)) {
                if layers[other] >= layers[&room] {
                    wrong.push(format!("src/{room}/Cargo.toml: {room} names {other}"));
                }
            }
        }
        let terminal = named(&manifest, "dependencies");
        for krate in TERMINAL.iter().filter(|krate| terminal.contains(**krate) && room != "ui") {
            wrong.push(format!("src/{room}/Cargo.toml: only the screen names {krate}"));
        }
    }
    assert_eq!(
        wrong,
        Vec::<String>::new(),
        "a room names only rooms of lower lines, see src/lib.rs"
    );
    assert_eq!(layers["ui"], layers["engine"], "the screen and the engine never name each other");
}

/// The laboratory is a workspace of its own. Of the rooms only the program knows the stage, and it can do without.
#[test]
fn the_debugger_knows_no_laboratory_and_can_do_without_the_stage() {
    for room in rooms() {
        let manifest = manifest(&format!("src/{room}"));
        let known = named(&manifest, "dependencies");
        assert!(room == "app" || !known.contains("toolyard-stage"), "{room}");
    }
    let workspace = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    assert!(
        !workspace.contains("lab"),
        "the workspace of the program does not know the laboratory"
    );
    for folder in ["src/app", "."] {
        let stage = &manifest(folder)["dependencies"]["toolyard-stage"];
        assert_eq!(stage["optional"].as_bool(), Some(true), "{folder}");
    }
}

/// The laboratory shares the runner, the comparisons and `src/app/shell` with the workbench, and none of its commands.
#[test]
fn the_laboratory_names_no_command_of_the_workbench() {
    if !root().join("lab").is_dir() {
        return eprintln!("SKIPPED: lab is not here");
    }
    let named: Vec<_> = sources(&["lab/src", "lab/tests"])
        .into_iter()
        .filter(|source| ["app::cli", "cli::"].iter().any(|name| source.code.contains(name)))
        .map(|source| source.path)
        .collect();
    assert_eq!(named, Vec::<String>::new(), "name what is in app::cli");
}

/// The runner and what it runs are below the command line and the screen.
#[test]
fn the_runner_knows_no_command_line_and_no_screen() {
    let sources = sources(&["src/app/runner"]);
    assert!(sources.len() > 5);
    for source in sources {
        for above in ["crate::cli", "crate::shell", "crate::ui", "crate::compare", "clap"] {
            assert!(!source.code.contains(above), "{}: {above}", source.path);
        }
    }
}

/// Whether the code has this word.
fn has_word(code: &str, word: &str) -> bool {
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(word).any(|(at, _)| {
        !code[..at].ends_with(is_of_name) && !code[at + word.len()..].starts_with(is_of_name)
    })
}

#[test]
fn a_room_uses_every_crate_that_it_depends_on() {
    let mut unused = Vec::new();
    for room in rooms() {
        let folder = format!("src/{room}");
        let sources = sources(&[&folder]);
        for krate in named(&manifest(&folder), "dependencies") {
            let name = krate.replace('-', "_");
            if !sources.iter().any(|source| has_word(&source.code, &name)) {
                unused.push(format!("{folder}/Cargo.toml: {krate}"));
            }
        }
    }
    assert_eq!(unused, Vec::<String>::new(), "dependencies that no code names");
}

/// The compiler does not look for unused items behind a crate's wall. This finds those whose name stands nowhere in
/// the code but where it is declared; one that shares its name with another item is not found.
#[test]
fn a_public_item_is_used() {
    if !root().join("lab").is_dir() {
        return eprintln!("SKIPPED: lab is not here, which uses some of them");
    }
    let kinds = ["fn", "struct", "enum", "trait", "const", "static", "type"];
    let sources = sources(&["src", "lab/src"]);
    let (mut declared, mut words) = (BTreeMap::new(), BTreeMap::<&str, usize>::new());
    for source in &sources {
        let names = source.code.split(|c: char| !c.is_alphanumeric() && c != '_');
        let names: Vec<_> = names.filter(|name| !name.is_empty()).collect();
        for (at, name) in names.iter().enumerate() {
            *words.entry(name).or_default() += 1;
            let before = names[..at].split_last();
            let Some((_, before)) = before.filter(|(kind, _)| kinds.contains(*kind)) else {
                continue;
            };
            // Behind `pub(…)` the compiler looks.
            if matches!(before, [.., "pub"] | [.., "pub", "const" | "async" | "unsafe"]) {
                declared.entry(*name).or_insert_with(Vec::new).push(source.path.as_str());
            }
        }
    }
    assert!(declared.len() > 2000, "hardly any item was found");
    let unused = declared.iter().filter(|(name, paths)| words[*name] == paths.len());
    let unused: Vec<_> = unused.filter(|(name, _)| !FOR_TESTS.contains(name)).collect();
    assert!(unused.is_empty(), "public items that nobody uses: {unused:#?}");
    let gone = FOR_TESTS.iter().find(|name| words.get(*name) != Some(&1));
    assert_eq!(gone, None, "is used, or is no item any more");
}
