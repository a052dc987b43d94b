//! The bindings of a program: for each name the places, their order, and the sources of its values. Data flow analysis
//! follows this table.

use std::collections::{HashMap, HashSet};

use ruff_python_ast::{Expr, ExprCall, Parameters};
use ruff_text_size::{TextRange, TextSize};

/// The most bindings to which one use of a name is followed. People and models write fewer.
const REACHING: usize = 64;

/// The scope and the block of a place in a program, as positions in its tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ScopePlace {
    pub scope: usize,
    pub block: usize,
}

/// A region with names of its own: the module, a function, a lambda, a comprehension.
#[derive(Debug, Default)]
pub(super) struct Scope {
    /// The scope around it; the module has none.
    pub outer: Option<usize>,
    /// Whether it runs where it is written. A function runs where it is called.
    pub runs_in_place: bool,
}

/// Statements that run together, such as a branch of an `if` or the body of a loop.
#[derive(Debug, Default)]
pub(super) struct StatementBlock {
    pub outer: Option<usize>,
    pub is_loop: bool,
}

/// A place where a name gets a value.
#[derive(Debug)]
pub(super) struct Binding<'t> {
    /// The offset of the bound name.
    pub name: TextSize,
    /// The offset from which the binding holds; for an assignment, after its value.
    pub at: TextSize,
    pub block: usize,
    /// Whether the binding replaces the value before. `x += y` and `x.append(y)` add to it.
    pub replaces: bool,
    pub source: BindingSource<'t>,
}

/// The source of a name's value.
#[derive(Clone, Copy, Debug)]
pub(super) enum BindingSource<'t> {
    /// The value of an expression, or a part of it.
    Value(&'t Expr),
    /// A parameter of the callable at this position.
    Parameter(usize, &'t str),
    /// The callable at this position.
    Callable(usize),
    Module,
    /// A value that no tool produced.
    Other,
}

/// A function or a lambda of the program.
#[derive(Debug)]
pub(super) struct Callable<'t> {
    pub range: TextRange,
    pub parameters: Option<&'t Parameters>,
    /// The expressions that the callable returns.
    pub results: Vec<&'t Expr>,
}

/// A call of a callable, or a call that gets the callable as an argument, such as `sorted(x, key=f)`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site<'t> {
    pub call: &'t ExprCall,
    pub is_handed: bool,
}

/// The tables of a program.
#[derive(Debug, Default)]
pub(super) struct ProgramTables<'t> {
    pub scopes: Vec<Scope>,
    pub blocks: Vec<StatementBlock>,
    pub callables: Vec<Callable<'t>>,
    /// All calls, outer ones before those in their arguments.
    pub calls: Vec<&'t ExprCall>,
    /// The place of each name in the program, by its offset.
    pub places: HashMap<TextSize, ScopePlace>,
    /// The bindings of a name in a scope, ordered by place.
    pub bindings: HashMap<(usize, &'t str), Vec<Binding<'t>>>,
    /// Names that a function declares `global` or `nonlocal`, and the scope that is meant.
    pub declared: HashMap<(usize, &'t str), usize>,
    /// Calls of each callable.
    pub sites: Vec<Vec<Site<'t>>>,
}

impl<'t> ProgramTables<'t> {
    /// The scope that binds a name used in this scope.
    pub(super) fn resolve(&self, scope: usize, name: &str) -> Option<usize> {
        let mut at = Some(scope);
        while let Some(scope) = at {
            if let Some(declared) = self.declared.get(&(scope, name)) {
                return Some(*declared);
            }
            if self.bindings.contains_key(&(scope, name)) {
                return Some(scope);
            }
            at = self.scopes[scope].outer;
        }
        None
    }

    /// Whether the program binds this name at this place.
    pub(super) fn binds(&self, name: &str, at: TextSize) -> bool {
        self.places.get(&at).is_some_and(|place| self.resolve(place.scope, name).is_some())
    }

    /// The bindings that a use of a name at this offset can see, the nearest before it first, at most [`REACHING`].
    ///
    /// In straight-line code it is the last one before. Bindings in branches and loops are added.
    pub(super) fn reaching<'a>(&'a self, name: &'a str, at: TextSize) -> Vec<&'a Binding<'t>> {
        let Some(place) = self.places.get(&at) else { return Vec::new() };
        let Some(scope) = self.resolve(place.scope, name) else { return Vec::new() };
        let Some(all) = self.bindings.get(&(scope, name)) else { return Vec::new() };
        if !self.runs_in_order(place.scope, scope) {
            return all.iter().take(REACHING).collect();
        }
        let (before, after) = all.split_at(all.partition_point(|binding| binding.at <= at));
        let replaces =
            |binding: &Binding| binding.replaces && self.is_within(place.block, binding.block);
        let last = before.iter().rposition(replaces);
        let killed = last.map(|last| before[last].block);
        let comes_round = |binding: &&Binding| {
            self.common_loop(place.block, binding.block)
                .is_some_and(|common| killed.is_none_or(|block| !self.is_within(block, common)))
        };
        let reaching = before[last.unwrap_or_default()..].iter().rev();
        reaching.chain(after.iter().filter(comes_round)).take(REACHING).collect()
    }

    /// Whether a use runs after the bindings before it. A function runs later than the text around it, and a
    /// comprehension names its variables before it binds them.
    fn runs_in_order(&self, scope: usize, binding: usize) -> bool {
        let mut at = scope;
        while at != binding {
            match (self.scopes[at].runs_in_place, self.scopes[at].outer) {
                (true, Some(outer)) => at = outer,
                _ => return false,
            }
        }
        !self.scopes[binding].runs_in_place
    }

    fn is_within(&self, block: usize, outer: usize) -> bool {
        self.around(block).any(|block| block == outer)
    }

    /// The innermost loop that both blocks are in.
    fn common_loop(&self, block: usize, other: usize) -> Option<usize> {
        self.around(block).find(|at| self.blocks[*at].is_loop && self.is_within(other, *at))
    }

    /// A block, and the blocks around it.
    fn around(&self, block: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(block), |block| self.blocks[*block].outer)
    }

    /// The callables that a name can mean.
    pub(super) fn callables_named(&self, name: &str, at: TextSize) -> Vec<usize> {
        let bindings = self.reaching(name, at).into_iter();
        let callables = bindings.filter_map(|binding| match binding.source {
            BindingSource::Callable(callable) => Some(callable),
            BindingSource::Value(Expr::Lambda(lambda)) => self.callable_at(lambda.range),
            _ => None,
        });
        callables.collect()
    }

    pub(super) fn callable_at(&self, range: TextRange) -> Option<usize> {
        self.callables.iter().position(|callable| callable.range == range)
    }

    /// Fills the calls of each callable.
    pub(super) fn find_sites(&mut self) {
        let mut sites = vec![Vec::new(); self.callables.len()];
        let names: HashSet<&str> = self.names_of_callables();
        for call in &self.calls {
            let mut add = |callee: &Expr, is_handed| {
                let callables = match callee {
                    Expr::Name(name) if names.contains(name.id.as_str()) => {
                        self.callables_named(&name.id, name.range.start())
                    }
                    Expr::Lambda(lambda) => self.callable_at(lambda.range).into_iter().collect(),
                    _ => Vec::new(),
                };
                callables.into_iter().for_each(|at| sites[at].push(Site { call, is_handed }));
            };
            add(&call.func, false);
            call.arguments.args.iter().for_each(|argument| add(argument, true));
            call.arguments.keywords.iter().for_each(|keyword| add(&keyword.value, true));
        }
        self.sites = sites;
    }

    fn names_of_callables(&self) -> HashSet<&'t str> {
        let is_callable = |binding: &Binding| {
            matches!(
                binding.source,
                BindingSource::Callable(_) | BindingSource::Value(Expr::Lambda(_))
            )
        };
        let named = self.bindings.iter().filter(|(_, all)| all.iter().any(is_callable));
        named.map(|((_, name), _)| *name).collect()
    }
}
