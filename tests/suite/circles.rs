//! Files that use each other in a circle can only be read together. A circle has three files at most. A file that
//! only re-exports a name does not use it.

use std::collections::BTreeSet;

use petgraph::{algo::tarjan_scc, graphmap::DiGraphMap};

use crate::modules::Modules;
use crate::sources::{Source, sources};

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
    let modules = Modules::read(sources(&["src"]));
    let circles = circles(&modules);
    let long: Vec<_> = circles.iter().filter(|circle| circle.len() > FILES).collect();
    assert!(long.is_empty(), "longer than {FILES} files: {long:#?}");
}

#[test]
fn the_reader_of_circles_follows_re_exports() {
    let file = |path: &str, code: &str| Source { path: path.into(), code: code.into(), lines: 0 };
    let modules = Modules::read(vec![
        file("src/lib.rs", "pub mod a; pub mod b;"),
        file("src/a/mod.rs", "mod deep; pub use self::deep::{Deep, call}; pub struct Front;"),
        file("src/a/deep.rs", "use crate::b::{self, Other as It}; struct Deep(It); fn call() {}"),
        file("src/b.rs", "use std::fs; use crate::a::{Deep, Front}; pub struct Other;"),
    ]);
    let b = modules.used_by("b", &modules.0["b"]);
    assert_eq!(b.into_iter().collect::<Vec<_>>(), ["a", "a::deep"]);
    assert_eq!(circles(&modules), [BTreeSet::from(["src/a/deep.rs", "src/b.rs"])]);
}
