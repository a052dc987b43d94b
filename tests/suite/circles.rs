//! Files that use each other in a circle can only be read together. A circle has three files at most. A file that
//! only re-exports a name does not use it.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::{algo::tarjan_scc, graphmap::DiGraphMap};

use crate::modules::Modules;
use crate::sources::{Source, rooms, sources};

/// The longest circle.
const FILES: usize = 3;

/// The files of each circle, largest first.
fn circles(modules: &Modules) -> Vec<BTreeSet<&str>> {
    let mut graph = DiGraphMap::<&str, ()>::new();
    for (path, module) in &modules.0 {
        for other in modules.used_by(path, module) {
            graph.add_edge(&module.file, modules.0[&other].file.as_str(), ());
        }
    }
    let groups = tarjan_scc(&graph).into_iter().filter(|group| group.len() > 1);
    let mut circles: Vec<BTreeSet<_>> = groups.map(BTreeSet::from_iter).collect();
    circles.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
    circles
}

#[test]
fn a_circle_of_files_is_short() {
    // Cargo refuses circles of crates.
    for room in rooms() {
        let folder = format!("src/{room}");
        let modules = Modules::read(&folder, sources(&[&folder]));
        let circles = circles(&modules);
        let long: Vec<_> = circles.iter().filter(|circle| circle.len() > FILES).collect();
        assert!(long.is_empty(), "longer than {FILES} files: {long:#?}");
    }
}

/// The code of the blocks that begin like this, up to their closing braces.
fn blocks<'a>(code: &'a str, begin: &str) -> Vec<&'a str> {
    let block = |from: usize| {
        let mut depth = 0;
        let end = code[from..].char_indices().find(|(_, c)| {
            depth += match c {
                '{' => 1,
                '}' => -1,
                _ => 0,
            };
            *c == '}' && depth == 0
        });
        end.map(|(length, _)| &code[from..from + length])
    };
    code.match_indices(begin).filter_map(|(at, _)| block(at)).collect()
}

/// The names that follow this word.
fn names_after<'a>(code: &'a str, word: &str) -> impl Iterator<Item = &'a str> {
    code.match_indices(word).map(move |(at, _)| {
        let rest = &code[at + word.len()..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
        &rest[..end.unwrap_or(rest.len())]
    })
}

/// The circles of files whose methods of one type call each other; `names`: what its values are called.
fn circles_of_methods<'s>(
    sources: &'s [Source],
    of: &str,
    names: &[&str],
) -> Vec<BTreeSet<&'s str>> {
    let begin = format!("impl {of} {{");
    let declared = sources.iter().flat_map(|source| {
        let methods =
            blocks(&source.code, &begin).into_iter().flat_map(|it| names_after(it, "fn "));
        methods.map(|method| (method, source.path.as_str()))
    });
    let declared: BTreeMap<&str, &str> = declared.collect();
    let mut graph = DiGraphMap::<&str, ()>::new();
    for source in sources.iter().filter(|source| source.code.contains(&begin)) {
        // A call may be written over several lines.
        let words: Vec<String> = names.iter().map(|name| format!("{name}.")).collect();
        let code: String = source.code.split_whitespace().collect::<Vec<_>>().join(" ");
        let code = code.replace(" .", ".");
        for word in &words {
            for file in names_after(&code, word).filter_map(|method| declared.get(method)) {
                if *file != source.path {
                    graph.add_edge(source.path.as_str(), *file, ());
                }
            }
        }
    }
    let groups = tarjan_scc(&graph).into_iter().filter(|group| group.len() > 1);
    groups.map(BTreeSet::from_iter).collect()
}

/// One object in many files hides circles from `use`: its methods call each other without one.
#[test]
fn the_methods_of_a_session_call_each_other_in_short_circles() {
    let sources = sources(&["src/engine"]);
    let circles = circles_of_methods(&sources, "Session", &["self", "session"]);
    let long: Vec<_> = circles.iter().filter(|circle| circle.len() > FILES).collect();
    assert!(long.is_empty(), "longer than {FILES} files: {long:#?}");
    let file = |path: &str, code: &str| Source { path: path.into(), code: code.into(), lines: 0 };
    let found = [
        file("a.rs", "impl Session { fn one(&self) { if x { self.two() } } }"),
        file("b.rs", "impl Other { fn three() {} } impl Session { pub fn two(&self) {} }"),
        file("c.rs", "impl Session { fn four(&self) { self.one(); } } fn f() { session\n .one() }"),
    ];
    assert_eq!(circles_of_methods(&found, "Session", &["self", "session"]), []);
    let mut round = found;
    round[1].code.push_str(" fn g() { session.four() }");
    let circle = BTreeSet::from(["a.rs", "b.rs", "c.rs"]);
    assert_eq!(circles_of_methods(&round, "Session", &["self", "session"]), [circle]);
}

#[test]
fn the_reader_of_circles_follows_re_exports() {
    let file = |path: &str, code: &str| Source { path: path.into(), code: code.into(), lines: 0 };
    let modules = Modules::read(
        "src",
        vec![
            file("src/lib.rs", "pub mod a; pub mod b; pub mod c;"),
            file("src/a/mod.rs", "mod deep; pub use self::deep::{Deep, call}; pub struct Front;"),
            file(
                "src/a/deep.rs",
                "use crate::b::{self, Other as It}; struct Deep(It); fn call() {}",
            ),
            file("src/b.rs", "use std::fs; use crate::a::{Deep, Front}; pub struct Other;"),
            file("src/c.rs", "pub fn one() { super::b::two(); crate::a::call(); std::fs::read() }"),
        ],
    );
    let c = modules.used_by("c", &modules.0["c"]);
    assert_eq!(c.into_iter().collect::<Vec<_>>(), ["a::deep", "b"]);
    let b = modules.used_by("b", &modules.0["b"]);
    assert_eq!(b.into_iter().collect::<Vec<_>>(), ["a", "a::deep"]);
    assert_eq!(circles(&modules), [BTreeSet::from(["src/a/deep.rs", "src/b.rs"])]);
}
