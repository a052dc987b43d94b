//! The tool behind an error, by data flow: from the failing expression through names to the tool calls that made its
//! value. The arguments of such a call are not followed, since another call made them.

use std::collections::HashSet;

use ruff_python_ast::{Expr, ExprCall};
use ruff_text_size::{Ranged, TextRange, TextSize};
use serde::{Deserialize, Serialize};

use super::super::builtins::is_builtin;
use super::super::place::ProgramLines;
use super::super::syntax::Tree;
use super::failing_place::{failing, of_line};
use super::parts::{data, parts, parts_of_call};
use super::program::{BindingSource, ProgramTables, Site};
use super::read::read;
use crate::domain::program::Span;

/// The most expressions that are followed, so that the analysis of any program takes bounded time.
const MOST: usize = 40_000;
/// The most nested calls of the program's functions that are followed. Deeper ones count as any call.
const CALLS: usize = 16;

/// A call of a tool that a program made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallMade<'c> {
    pub tool: &'c str,
    /// The line of the call, counted from 1.
    pub line: u32,
    /// Whether it returned a result: it neither failed nor was refused.
    pub answered: bool,
}

/// A step on the path from the failing expression to the tool: a variable, parameter or function, and the line where it
/// gets its value; at the end the tool and the line of its call. Lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowStep {
    pub name: String,
    pub line: u32,
}

/// The result of tracing the data flow of an error.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blame {
    /// The tool, if it is exactly one. A tool that was called but not offered is blamed as well.
    pub tool: Option<String>,
    /// The path to the tool's call; empty without a blamed tool.
    pub way: Vec<FlowStep>,
    /// All tools that the flow leads to, the nearest first. If there are several, a model decides.
    pub tools: Vec<String>,
}

/// Blames a tool for the error of a program at a place. `tools` are the names that were offered, and `calls` the calls
/// that were made: they decide between paths of which only one was taken. Nothing is blamed if the program is not
/// Python, or the place is not in it.
pub fn by_flow(program: &str, span: Span, tools: &[&str], calls: &[CallMade]) -> Blame {
    let lines = ProgramLines::of(program);
    let Some(range) = lines.range(span) else { return Blame::default() };
    let Ok(tree) = Tree::parse(program) else { return Blame::default() };
    let program = read(&tree);
    let mut flow = Flow::of(&program, &lines, tools);
    let failing = failing(&tree, range);
    if let [Expr::Call(call)] = failing[..]
        && let Some(tool) = flow.unknown_tool(call)
    {
        let way = vec![FlowStep { name: tool.to_owned(), line: lines.line(call.start()) }];
        return Blame { tool: Some(tool.to_owned()), way, tools: vec![tool.to_owned()] };
    }
    let roots = failing.len();
    failing.into_iter().for_each(|expr| flow.follow(expr, None, None, None));
    flow.run();
    flow.blame(roots, calls)
}

/// The paths from the value of a line back to the calls that made it, the shortest first. `failed`: the relevant place,
/// if not the whole line. If the line calls a tool itself, the arguments of that call are traced.
pub fn ways(program: &str, line: u32, failed: Option<Span>, tools: &[&str]) -> Vec<Vec<FlowStep>> {
    let lines = ProgramLines::of(program);
    let Ok(tree) = Tree::parse(program) else { return Vec::new() };
    let program = read(&tree);
    let mut flow = Flow::of(&program, &lines, tools);
    let place = failed.and_then(|span| lines.range(span));
    let roots = match place {
        Some(range) => failing(&tree, range),
        None => of_line(&tree, &lines, line),
    };
    for root in roots {
        match root {
            Expr::Call(call) if !flow.called_tools(call).is_empty() => {
                data(call).into_iter().for_each(|given| flow.follow(given, None, None, None));
            }
            root => flow.follow(root, None, None, None),
        }
    }
    flow.run();
    let mut ways: Vec<Vec<FlowStep>> = Vec::new();
    for hit in &flow.hits {
        let way = flow.way(hit);
        if !ways.iter().any(|known| known.last() == way.last()) {
            ways.push(way);
        }
    }
    ways
}

/// An expression that is followed.
struct FlowItem<'t> {
    expr: &'t Expr,
    /// The item before it on the path.
    from: Option<usize>,
    /// The step that led here: a name, and the place where it gets its value.
    step: Option<(&'t str, TextSize)>,
    /// The call through which the function around it was entered.
    entered: Option<usize>,
}

/// A call of a function of the program that the flow went into.
struct Entered<'t> {
    callable: usize,
    call: &'t ExprCall,
    outer: Option<usize>,
    depth: usize,
}

/// A call of a tool that the flow leads to.
struct Hit<'t> {
    tool: &'t str,
    range: TextRange,
    item: usize,
}

/// The flow back from the failing expression, breadth first, so that the shortest path is found.
struct Flow<'t, 'p> {
    program: &'p ProgramTables<'t>,
    lines: &'p ProgramLines<'p>,
    tools: HashSet<&'p str>,
    items: Vec<FlowItem<'t>>,
    seen: HashSet<(TextRange, Option<usize>)>,
    entered: Vec<Entered<'t>>,
    hits: Vec<Hit<'t>>,
}

impl<'t, 'p> Flow<'t, 'p> {
    fn of(program: &'p ProgramTables<'t>, lines: &'p ProgramLines<'p>, tools: &[&'p str]) -> Self {
        Self {
            program,
            lines,
            tools: tools.iter().copied().collect(),
            items: Vec::new(),
            seen: HashSet::new(),
            entered: Vec::new(),
            hits: Vec::new(),
        }
    }

    fn run(&mut self) {
        let mut at = 0;
        while at < self.items.len() && at < MOST {
            self.expand(at);
            at += 1;
        }
    }

    fn follow(
        &mut self,
        expr: &'t Expr,
        from: Option<usize>,
        step: Option<(&'t str, TextSize)>,
        entered: Option<usize>,
    ) {
        if self.items.len() < MOST && self.seen.insert((expr.range(), entered)) {
            self.items.push(FlowItem { expr, from, step, entered });
        }
    }

    fn expand(&mut self, at: usize) {
        let FlowItem { expr, entered, .. } = self.items[at];
        match expr {
            Expr::Name(name) => {
                for binding in self.program.reaching(&name.id, name.range.start()) {
                    match binding.source {
                        BindingSource::Value(value) => {
                            let step = (name.id.as_str(), binding.name);
                            self.follow(value, Some(at), Some(step), entered);
                        }
                        BindingSource::Parameter(callable, parameter) => {
                            self.follow_parameter(at, callable, parameter);
                        }
                        BindingSource::Callable(_)
                        | BindingSource::Module
                        | BindingSource::Other => {}
                    }
                }
            }
            Expr::Call(call) => self.expand_call(at, call),
            other => parts(other).into_iter().for_each(|part| {
                self.follow(part, Some(at), None, entered);
            }),
        }
    }

    fn expand_call(&mut self, at: usize, call: &'t ExprCall) {
        let tools = self.called_tools(call);
        if !tools.is_empty() {
            let hit = |tool| Hit { tool, range: call.range(), item: at };
            self.hits.extend(tools.into_iter().map(hit));
            return;
        }
        let entered = self.items[at].entered;
        let callables = self.returning(call);
        if callables.is_empty() {
            let program = self.program;
            let is_module = |object: &Expr| is_module(program, object);
            for part in parts_of_call(call, is_module) {
                self.follow(part, Some(at), None, entered);
            }
        }
        for (name, callable) in callables {
            let inside = self.enter(callable, call, entered);
            for result in &self.program.callables[callable].results {
                let step = (name, result.start());
                self.follow(result, Some(at), Some(step), inside);
            }
        }
    }

    /// The functions of the program whose result a call returns, by name: its own, or the one that `map` applies.
    fn returning(&self, call: &'t ExprCall) -> Vec<(&'t str, usize)> {
        let callee = match &*call.func {
            Expr::Name(name) if name.id == "map" => call.arguments.args.first(),
            callee => Some(callee),
        };
        let Some(name) = callee.and_then(Expr::as_name_expr) else { return Vec::new() };
        let callables = self.program.callables_named(&name.id, name.range.start()).into_iter();
        callables.map(|callable| (name.id.as_str(), callable)).collect()
    }

    fn enter(
        &mut self,
        callable: usize,
        call: &'t ExprCall,
        outer: Option<usize>,
    ) -> Option<usize> {
        let depth = outer.map_or(0, |outer| self.entered[outer].depth + 1);
        if depth >= CALLS {
            return None;
        }
        self.entered.push(Entered { callable, call, outer, depth });
        Some(self.entered.len() - 1)
    }

    /// Follows a parameter to the argument of the call through which its function was entered, or else of any call.
    fn follow_parameter(&mut self, at: usize, callable: usize, parameter: &'t str) {
        let entered = self.items[at].entered;
        let through = std::iter::successors(entered, |at| self.entered[*at].outer)
            .find(|at| self.entered[*at].callable == callable);
        match through {
            Some(through) => {
                let Entered { call, outer, .. } = self.entered[through];
                let is_handed = !self.program.sites[callable]
                    .iter()
                    .any(|site| !site.is_handed && std::ptr::eq(site.call, call));
                self.follow_arguments(at, callable, parameter, Site { call, is_handed }, outer);
            }
            None => {
                let program = self.program;
                for site in &program.sites[callable] {
                    self.follow_arguments(at, callable, parameter, *site, None);
                }
            }
        }
    }

    fn follow_arguments(
        &mut self,
        at: usize,
        callable: usize,
        parameter: &'t str,
        site: Site<'t>,
        outer: Option<usize>,
    ) {
        let step = (parameter, site.call.start());
        for argument in self.arguments(callable, parameter, site) {
            self.follow(argument, Some(at), Some(step), outer);
        }
    }

    /// The expressions that a parameter receives at a call. A function that is passed to another call receives a part
    /// of that call's other arguments.
    fn arguments(&self, callable: usize, parameter: &str, site: Site<'t>) -> Vec<&'t Expr> {
        let Some(parameters) = self.program.callables[callable].parameters else {
            return Vec::new();
        };
        let given = &site.call.arguments;
        match parameters.index(parameter) {
            _ if site.is_handed => data(site.call),
            Some(position) => {
                let value = given.find_argument_value(parameter, position);
                let is_spread = given.args.iter().any(Expr::is_starred_expr)
                    || given.keywords.iter().any(|keyword| keyword.arg.is_none());
                let default = parameters.find(parameter).and_then(|found| found.default());
                match value {
                    None if is_spread => data(site.call),
                    value => value.or(default).into_iter().collect(),
                }
            }
            // `*rest` and `**named`.
            None => data(site.call),
        }
    }

    /// The tools that a call calls itself, or passes to another function, as `all_of(tool, …)` and `map(tool, …)` do.
    fn called_tools(&self, call: &'t ExprCall) -> Vec<&'t str> {
        let handed = call.arguments.args.iter().filter_map(|argument| self.tool(argument));
        self.tool(&call.func).map_or_else(|| handed.collect(), |tool| vec![tool])
    }

    /// The tool that an expression names. A function of that name in the program is not a tool.
    fn tool(&self, expr: &'t Expr) -> Option<&'t str> {
        let name = expr.as_name_expr()?;
        let is_own = || self.program.binds(&name.id, name.range.start());
        (self.tools.contains(name.id.as_str()) && !is_own()).then_some(name.id.as_str())
    }

    /// The name of a called function that neither the program nor Python defines.
    fn unknown_tool(&self, call: &'t ExprCall) -> Option<&'t str> {
        let name = call.func.as_name_expr()?;
        let is_known = self.tools.contains(name.id.as_str())
            || is_builtin(&name.id)
            || self.program.binds(&name.id, name.range.start());
        (!is_known).then_some(name.id.as_str())
    }

    /// The tools of the hits. A failing tool call is always to blame; all other values come from calls that returned a
    /// result.
    fn blame(&self, roots: usize, calls: &[CallMade]) -> Blame {
        let was_made = |hit: &&Hit| {
            let lines = self.lines.line(hit.range.start())..=self.lines.line(hit.range.end());
            let is_it = |call: &CallMade| call.tool == hit.tool && lines.contains(&call.line);
            hit.item < roots || calls.iter().any(|call| call.answered && is_it(call))
        };
        let made: Vec<&Hit> = self.hits.iter().filter(was_made).collect();
        let hits = if made.is_empty() { self.hits.iter().collect() } else { made };
        let mut tools: Vec<String> = Vec::new();
        for hit in &hits {
            if !tools.iter().any(|tool| tool == hit.tool) {
                tools.push(hit.tool.to_owned());
            }
        }
        match (&tools[..], hits.first()) {
            ([only], Some(hit)) => {
                Blame { tool: Some(only.clone()), way: self.way(hit), tools: tools.clone() }
            }
            _ => Blame { tool: None, way: Vec::new(), tools },
        }
    }

    fn way(&self, hit: &Hit<'t>) -> Vec<FlowStep> {
        let items = std::iter::successors(Some(hit.item), |item| self.items[*item].from);
        let mut way: Vec<_> = items.filter_map(|item| self.items[item].step).collect();
        way.reverse();
        way.push((hit.tool, hit.range.start()));
        let step = |(name, at): (&str, TextSize)| FlowStep {
            name: name.to_owned(),
            line: self.lines.line(at),
        };
        way.into_iter().map(step).collect()
    }
}

/// Whether an expression means a module, or a part of one such as `datetime.datetime`. Only the interpreter knows names
/// that the program does not bind.
fn is_module(program: &ProgramTables<'_>, expr: &Expr) -> bool {
    match expr {
        Expr::Attribute(part) => is_module(program, &part.value),
        Expr::Name(name) => {
            let bindings = program.reaching(&name.id, name.range.start());
            bindings.iter().all(|binding| matches!(binding.source, BindingSource::Module))
        }
        _ => false,
    }
}
