//! The modules of a crate, and which modules define the names that they use: those of `use` statements, and of paths that
//! are written out in code. A re-export, such as those of `src/domain/lib.rs`, is followed to the definition.

use std::collections::{BTreeMap, BTreeSet};

use crate::sources::{Source, named_after};

/// How often a name may lead on to another before it counts as lost.
const HOPS: usize = 16;

/// A module of the crate.
pub struct Module {
    pub file: String,
    uses: Vec<Use>,
    /// Its code without `use` statements.
    code: String,
}

/// One name of a `use` statement.
struct Use {
    path: Vec<String>,
    /// The name in this module; `*` for all.
    name: String,
    is_public: bool,
}

/// What a path leads to.
enum Found {
    /// The module of this name.
    Module(String),
    /// Something that the module of this name defines.
    Item(String),
}

/// All modules by their paths, such as `domain::event`; the crate itself has the empty path.
pub struct Modules(pub BTreeMap<String, Module>);

fn join(module: &str, name: &str) -> String {
    if module.is_empty() { name.to_owned() } else { format!("{module}::{name}") }
}

impl Modules {
    /// The modules of the crate whose sources these are; its root is in this folder.
    pub fn read(folder: &str, sources: Vec<Source>) -> Self {
        let modules = sources.into_iter().filter(|source| !source.path.ends_with("/main.rs"));
        let named = modules.map(|source| (path_of(folder, &source.path), Module::read(source)));
        Self(named.collect())
    }

    /// What a name means in a module; `None` where it is not of this crate.
    fn find(&self, module: &str, name: &str, hops: usize) -> Option<Found> {
        let hops = hops.checked_sub(1)?;
        let child = join(module, name);
        if self.0.contains_key(&child) {
            return Some(Found::Module(child));
        }
        let here = self.0.get(module)?;
        if let Some(used) = here.uses.iter().find(|used| used.name == name) {
            return self.follow(module, &used.path, hops);
        }
        if here.defines(name) {
            return Some(Found::Item(module.to_owned()));
        }
        here.uses.iter().filter(|used| used.name == "*").find_map(|used| {
            match self.follow(module, &used.path, hops)? {
                Found::Module(other) if other != module => self.find(&other, name, hops),
                Found::Module(_) | Found::Item(_) => None,
            }
        })
    }

    /// What a path in a module leads to; `None` where that is not of this crate.
    fn follow(&self, module: &str, path: &[String], hops: usize) -> Option<Found> {
        let mut names = path.iter().map(String::as_str).peekable();
        let mut at = match names.next()? {
            "crate" => Found::Module(String::new()),
            "self" => Found::Module(module.to_owned()),
            "super" => {
                let mut above = parent(module);
                while names.next_if_eq(&"super").is_some() {
                    above = parent(above);
                }
                Found::Module(above.to_owned())
            }
            name => self.find(module, name, hops)?,
        };
        for name in names {
            at = match at {
                Found::Module(module) => match self.find(&module, name, hops) {
                    Some(found) => found,
                    None if self.is_from_outside(&module, name) => return None,
                    // A name that a macro makes is of the module that calls it.
                    None => Found::Item(module),
                },
                Found::Item(_) => return Some(at),
            };
        }
        Some(at)
    }

    /// Whether a module has this name from another crate.
    fn is_from_outside(&self, module: &str, name: &str) -> bool {
        self.0.get(module).is_some_and(|module| module.uses.iter().any(|used| used.name == name))
    }

    /// The modules that this one uses.
    pub fn used_by(&self, path: &str, module: &Module) -> BTreeSet<String> {
        let mut used = BTreeSet::new();
        for one in &module.uses {
            match self.follow(path, &one.path, HOPS) {
                Some(_) if one.is_public && !module.mentions(&one.name) => {}
                Some(Found::Item(other)) => _ = used.insert(other),
                Some(Found::Module(other)) if one.name == "*" => _ = used.insert(other),
                Some(Found::Module(other)) => {
                    for name in named_after(&module.code, &format!("{}::", one.name)) {
                        used.insert(match self.find(&other, name, HOPS) {
                            Some(Found::Item(other) | Found::Module(other)) => other,
                            None => other.clone(),
                        });
                    }
                }
                None => {}
            }
        }
        for written in written(&module.code) {
            if let Some(Found::Item(other) | Found::Module(other)) =
                self.follow(path, &written, HOPS)
            {
                used.insert(other);
            }
        }
        used.remove(path);
        used
    }
}

/// The paths in code that begin at the crate, at this module or at the one above.
fn written(code: &str) -> Vec<Vec<String>> {
    let of_root = |root: &'static str| {
        code.match_indices(root).filter(|(at, _)| {
            let before = code[..*at].chars().next_back();
            !before.is_some_and(|c| is_of_name(c) || c == ':')
        })
    };
    let path = |(at, _): (usize, &str)| {
        let rest = &code[at..];
        let end = rest.find(|c| !is_of_name(c) && c != ':').unwrap_or(rest.len());
        rest[..end].split("::").filter(|name| !name.is_empty()).map(str::to_owned).collect()
    };
    ["crate::", "self::", "super::"].into_iter().flat_map(of_root).map(path).collect()
}

impl Module {
    fn read(source: Source) -> Self {
        let (mut uses, mut code) = (Vec::new(), String::new());
        let mut rest = source.code.as_str();
        while let Some((before, statement)) = next_use(rest) {
            let (tree, after) = statement.split_once(';').unwrap();
            let is_public = before.trim_end().ends_with([')', 'b']);
            read_use(&[], tree, &mut |path, name| uses.push(Use { path, name, is_public }));
            code.push_str(before);
            rest = after;
        }
        code.push_str(rest);
        Self { file: source.path, uses, code }
    }

    fn defines(&self, name: &str) -> bool {
        let kinds = ["struct", "enum", "trait", "fn", "const", "static", "type", "macro_rules!"];
        let is_it = |kind: &&str| named_after(&self.code, &format!("{kind} ")).contains(&name);
        kinds.iter().any(is_it)
    }

    /// Whether its code does something with this name: a type is named, a function or a module is gone into.
    fn mentions(&self, name: &str) -> bool {
        let is_type = name.starts_with(char::is_uppercase);
        self.code.match_indices(name).any(|(at, _)| {
            let before = self.code[..at].trim_end();
            let after = &self.code[at + name.len()..];
            let is_whole = !self.code[..at].ends_with(is_of_name) && !after.starts_with(is_of_name);
            let is_declared = before.ends_with("fn") || before.ends_with('.');
            is_whole && !is_declared && (is_type || after.starts_with(['(', '!', ':']))
        })
    }
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// What stands before the next `use` statement, and what stands behind its first word.
fn next_use(code: &str) -> Option<(&str, &str)> {
    code.match_indices("use ").map(|(at, word)| (&code[..at], &code[at + word.len()..])).find(
        |(before, _)| {
            let before = before.trim_end();
            before.is_empty() || before.ends_with([';', '{', '}', ']', ')']) || {
                before.ends_with("pub") && !before.ends_with("_pub")
            }
        },
    )
}

/// Each name of the tree of a `use` statement with its path.
fn read_use(before: &[String], tree: &str, found: &mut impl FnMut(Vec<String>, String)) {
    let (path, list) = match tree.split_once('{') {
        Some((path, list)) => (path, list.trim_end().strip_suffix('}')),
        None => (tree, None),
    };
    let (path, other) = path.split_once(" as ").map_or((path, None), |(p, o)| (p, Some(o.trim())));
    let names = path.split("::").map(str::trim).filter(|name| !name.is_empty());
    let mut path: Vec<_> = before.iter().cloned().chain(names.map(str::to_owned)).collect();
    if let Some(list) = list {
        return items(list).into_iter().for_each(|item| read_use(&path, item, found));
    }
    // `use words::{self, near}` names the module, `use words::*` all that is in it.
    if path.last().is_some_and(|name| name == "self" && path.len() > 1) {
        path.pop();
    }
    let Some(name) = path.last().cloned() else { return };
    if name == "*" {
        path.pop();
    }
    found(path, other.map_or(name, str::to_owned));
}

/// The items of a list, which may have lists in them.
fn items(list: &str) -> Vec<&str> {
    let mut depth = 0;
    let comma = |c: char| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    };
    list.split(comma).filter(|item| !item.trim().is_empty()).collect()
}

/// The module of a file: in `src/domain`, `src/domain/event/mod.rs` is `event`.
fn path_of(folder: &str, file: &str) -> String {
    let below = file.trim_start_matches(folder).trim_end_matches(".rs");
    let parts = below.split('/').filter(|part| !matches!(*part, "" | "mod" | "lib"));
    parts.collect::<Vec<_>>().join("::")
}

fn parent(module: &str) -> &str {
    module.rsplit_once("::").map_or("", |(above, _)| above)
}
