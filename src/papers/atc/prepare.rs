//! Rewrites a program before it runs: tool calls carry their place, generator expressions become iterators, and a
//! program that is to be stopped stops before every statement. Places of the rewritten text lead back to the original.

use std::collections::BTreeSet;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, ExprCall, Stmt};
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::blame;
use super::bound::{Bound, targets};
use super::extra::{self, IS};
use super::flaws::{ALL_OF, is_toolbox};
use super::place::ProgramLines;
use super::source::ParsedProgram;
use crate::domain::program::{Extra, Function, ProgramStart, Span};

/// The function that is called before a statement, with its line.
pub const AT: &str = "__at__";
/// The function that receives the value of which the failing expression takes a part, and returns that value.
pub const HAD: &str = "__had__";
/// The separator between a tool's name and the number of its call.
const MARK: &str = "__call_";

/// A program in the form in which it runs.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub code: String,
    /// The function of each numbered call, and its place in the original.
    calls: Vec<(String, Span)>,
    original: String,
    edits: Vec<Edit>,
}

/// A replacement in the original: at byte `at`, `removed` bytes become the text.
#[derive(Clone, Debug)]
struct Edit {
    at: usize,
    removed: usize,
    text: String,
}

/// A text in which the marked names of calls are the names of their tools again.
pub fn unmarked(text: &str) -> String {
    let mut parts = text.split(MARK);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.trim_start_matches(|c: char| c.is_ascii_digit()))
}

impl Prepared {
    pub fn of(source: &ParsedProgram<'_>, start: &ProgramStart) -> Self {
        Self::new(source, start, None)
    }

    /// The same program, which also reports the value that the expression at this place takes a part of; `None` if it
    /// takes no part of a value.
    pub fn telling(source: &ParsedProgram<'_>, start: &ProgramStart, failed: Span) -> Option<Self> {
        let base = blame::base_of(&source.tree, source.lines.range(failed)?)?;
        Some(Self::new(source, start, Some(base)))
    }

    fn new(source: &ParsedProgram<'_>, start: &ProgramStart, told: Option<TextRange>) -> Self {
        let body = source.tree.body();
        let mut rewrite = Rewrite {
            source,
            functions: &start.functions,
            extras: &start.extras,
            bound: Bound::of(body),
            stoppable: start.stoppable,
            edits: Vec::new(),
            calls: Vec::new(),
            in_class: false,
            locals: None,
            toolboxes: Vec::new(),
            told,
        };
        let first = extra::at_first(rewrite.extras);
        if start.stoppable && !first.is_empty() {
            rewrite.edit(0, 0, first);
        }
        rewrite.visit_body(body);
        let Rewrite { mut edits, calls, .. } = rewrite;
        // Insertions at one place keep their order: a stop comes before the other insertions of its statement.
        edits.sort_by_key(|edit| edit.at);
        let mut code = String::with_capacity(source.text.len() * 2);
        let mut from = 0;
        for edit in &edits {
            code.push_str(source.text.get(from..edit.at).unwrap_or_default());
            code.push_str(&edit.text);
            from = edit.at + edit.removed;
        }
        code.push_str(source.text.get(from..).unwrap_or_default());
        let original = source.text.to_owned();
        Self { code, calls, original, edits }
    }

    /// The tool and the place of a call, by the name in the code.
    pub fn call(&self, name: &str) -> Option<(&str, Span)> {
        let (_, number) = name.rsplit_once(MARK)?;
        let (tool, span) = self.calls.get(number.parse::<usize>().ok()?)?;
        Some((tool, *span))
    }

    /// The part of the original at this place.
    pub fn text(&self, span: Span) -> &str {
        let range = ProgramLines::of(&self.original).range(span).unwrap_or_default();
        self.original.get(range.start().to_usize()..range.end().to_usize()).unwrap_or_default()
    }

    /// The place in the original of a place in the code; for inserted text, the place of the insertion.
    pub fn span(&self, code: Span) -> Span {
        let range = ProgramLines::of(&self.code).range(code).unwrap_or_default();
        let start = self.back(range.start().to_usize(), false);
        let end = self.back(range.end().to_usize(), true).max(start);
        let size = |at: usize| TextSize::try_from(at).unwrap_or_default();
        ProgramLines::of(&self.original).span(&TextRange::new(size(start), size(end)))
    }

    /// The byte in the original of a byte in the code. Within inserted text: the place of the insertion, or the end of
    /// the replaced text.
    fn back(&self, at: usize, is_end: bool) -> usize {
        let (mut now, mut was) = (0, 0);
        for edit in &self.edits {
            let begins = now + (edit.at - was);
            if at < begins || at == begins && (is_end || edit.text.is_empty()) {
                break;
            }
            if at < begins + edit.text.len() {
                return if is_end { edit.at + edit.removed } else { edit.at };
            }
            (now, was) = (begins + edit.text.len(), edit.at + edit.removed);
        }
        was + (at - now)
    }
}

/// The names that a statement binds before its body runs, and its line.
#[derive(Default)]
struct Bindings<'b> {
    names: Vec<&'b str>,
    line: u32,
}

struct Rewrite<'a, 's> {
    source: &'a ParsedProgram<'s>,
    functions: &'a [Function],
    extras: &'a [Extra],
    bound: Bound,
    stoppable: bool,
    edits: Vec<Edit>,
    calls: Vec<(String, Span)>,
    /// Whether the statement is in the body of a class, but not in a method.
    in_class: bool,
    /// The variables of the function that the statement is in.
    locals: Option<BTreeSet<String>>,
    /// Names of modules that represent the tools.
    toolboxes: Vec<String>,
    /// The expression whose value is reported.
    told: Option<TextRange>,
}

impl Rewrite<'_, '_> {
    fn edit(&mut self, at: usize, removed: usize, text: impl Into<String>) {
        self.edits.push(Edit { at, removed, text: text.into() });
    }

    fn is_tool(&self, name: &str) -> bool {
        !self.bound.has(name) && self.functions.iter().any(|function| function.name == name)
    }

    /// Stops before a statement that begins its own line.
    fn stop(&mut self, stmt: &Stmt, bound: &Bindings<'_>) {
        // A call in the body of a class does not become part of the class, but is not always allowed there.
        if !self.stoppable || self.in_class {
            return;
        }
        let at = begin(stmt);
        let Some((start, indent)) = self.own_line(at) else { return };
        let line = self.line(at);
        let mut text = String::new();
        for name in &bound.names {
            text += &format!("{indent}{IS}({}, {name:?}, {name})\n", bound.line);
        }
        text += &extra::before(self.extras, line, &indent, self.locals.as_ref());
        text += &format!("{indent}{AT}({line})\n");
        self.edit(start, 0, text);
    }

    fn line(&self, at: usize) -> u32 {
        self.source.lines.line(TextSize::try_from(at).unwrap_or_default())
    }

    /// The start of the line of a byte, and the text before the byte, if that is only white space.
    fn own_line(&self, at: usize) -> Option<(usize, String)> {
        let head = self.source.text.get(..at)?;
        let start = head.rfind('\n').map_or(0, |end| end + 1);
        let indent = &head[start..];
        let is_room = indent.chars().all(|c| c == ' ' || c == '\t' || c == '\u{c}');
        let continues = head[..start].trim_end_matches(['\n', '\r']).ends_with('\\');
        (is_room && !continues).then(|| (start, indent.to_owned()))
    }

    /// Reports the values of names after a statement that ends its line.
    fn tell(&mut self, stmt: &Stmt, names: &[&str]) {
        if !self.stoppable || self.in_class {
            return;
        }
        let Some((_, indent)) = self.own_line(stmt.start().to_usize()) else { return };
        let end = stmt.end().to_usize();
        let rest = self.source.text.get(end..).unwrap_or_default();
        let length = rest.find('\n').unwrap_or(rest.len());
        let behind = rest[..length].trim_start();
        if !behind.is_empty() && !behind.starts_with('#') {
            return;
        }
        let line = self.line(stmt.start().to_usize());
        let told = names.iter().map(|name| format!("\n{indent}{IS}({line}, {name:?}, {name})"));
        let told: String = told.collect();
        self.edit(end + length, 0, told);
    }

    fn call(&mut self, call: &ExprCall) {
        let (at, end, tool) = match &*call.func {
            Expr::Name(name)
                if self.is_tool(name.id.as_str())
                    || name.id == ALL_OF && !self.bound.has(ALL_OF) =>
            {
                (name.start(), name.end(), name.id.to_string())
            }
            // `tools.search(…)` after `import tools`.
            Expr::Attribute(part)
                if let Expr::Name(module) = &*part.value
                    && self.toolboxes.iter().any(|name| *name == module.id.as_str())
                    && self
                        .functions
                        .iter()
                        .any(|function| function.name == part.attr.as_str()) =>
            {
                (part.start(), part.end(), part.attr.to_string())
            }
            _ => return,
        };
        let text = format!("{tool}{MARK}{}", self.calls.len());
        self.calls.push((tool, self.source.span(call)));
        self.edit(at.to_usize(), (end - at).to_usize(), text);
    }

    /// `(x for x in y)` and `f(x for x in y)`: lists are iterated, and `next` needs an iterator.
    fn generator(&mut self, expr: &Expr) {
        let (start, end) = (expr.start().to_usize(), expr.end().to_usize());
        let text = self.source.text.get(start..end).unwrap_or_default();
        if text.starts_with('(') && text.ends_with(')') {
            self.edit(start, 1, "(iter([");
            self.edit(end - 1, 1, "]))");
        } else {
            self.edit(start, 0, "iter([");
            self.edit(end, 0, "])");
        }
    }

    /// Makes the argument of a raised exception a text.
    fn raised(&mut self, exception: &Expr) {
        let Expr::Call(call) = exception else { return };
        let [argument] = &*call.arguments.args else { return };
        let is_text = argument.is_string_literal_expr()
            || argument.is_f_string_expr()
            || argument.is_starred_expr();
        if is_text || !call.arguments.keywords.is_empty() || !call.func.is_name_expr() {
            return;
        }
        self.edit(argument.start().to_usize(), 0, "str(");
        self.edit(argument.end().to_usize(), 0, ")");
    }

    /// Replaces an import of the tools by `pass`.
    fn import(&mut self, stmt: &Stmt) {
        let is_it = match stmt {
            Stmt::Import(import) => {
                let is_it = import
                    .names
                    .iter()
                    .all(|alias| is_toolbox(alias.name.as_str(), &[], self.functions));
                if is_it {
                    let names = import
                        .names
                        .iter()
                        .map(|alias| alias.asname.as_ref().unwrap_or(&alias.name).to_string());
                    self.toolboxes.extend(names);
                }
                is_it
            }
            Stmt::ImportFrom(import) => {
                let names: Vec<&str> =
                    import.names.iter().map(|alias| alias.name.as_str()).collect();
                let is_it = is_toolbox(
                    import.module.as_ref().map_or(".", |it| it.as_str()),
                    &names,
                    self.functions,
                );
                if is_it {
                    // Only this import binds these names.
                    names.iter().for_each(|name| {
                        self.bound.names.remove(*name);
                    });
                    self.bound.any = false;
                }
                is_it
            }
            _ => false,
        };
        if is_it {
            self.edit(stmt.start().to_usize(), stmt.range().len().to_usize(), "pass");
        }
    }

    fn body(&mut self, body: &[Stmt], bound: &Bindings<'_>) {
        let none = Bindings::default();
        for (i, stmt) in body.iter().enumerate() {
            self.statement(stmt, if i == 0 { bound } else { &none });
        }
    }

    /// Rewrites the body of a function or a class.
    fn inner(&mut self, body: &[Stmt], is_class: bool, bound: &Bindings<'_>) {
        let outside = std::mem::replace(&mut self.in_class, is_class);
        self.body(body, bound);
        self.in_class = outside;
    }

    fn statement(&mut self, stmt: &Stmt, bound: &Bindings<'_>) {
        self.stop(stmt, bound);
        let line = self.line(stmt.start().to_usize());
        match stmt {
            Stmt::FunctionDef(function) => {
                function
                    .decorator_list
                    .iter()
                    .for_each(|decorator| self.visit_decorator(decorator));
                visitor::walk_parameters(self, &function.parameters);
                let parameters: Vec<&str> =
                    function.parameters.iter().map(|each| each.name().as_str()).collect();
                let locals = Some(extra::locals(&function.body, &parameters));
                let outside = std::mem::replace(&mut self.locals, locals);
                self.inner(&function.body, false, &Bindings { names: parameters, line });
                self.locals = outside;
            }
            Stmt::ClassDef(class) => {
                class.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                self.inner(&class.body, true, &Bindings::default());
            }
            Stmt::For(each) => {
                self.visit_expr(&each.iter);
                let mut names = Vec::new();
                targets(&each.target, &mut names);
                self.body(&each.body, &Bindings { names, line });
                self.body(&each.orelse, &Bindings::default());
            }
            Stmt::With(with) => {
                let mut names = Vec::new();
                for item in &with.items {
                    self.visit_with_item(item);
                    item.optional_vars.iter().for_each(|target| targets(target, &mut names));
                }
                self.body(&with.body, &Bindings { names, line });
            }
            _ => {
                let names = self.simple(stmt);
                visitor::walk_stmt(self, stmt);
                // Comes after the insertions within the statement: insertions at one place keep their order.
                if !names.is_empty() {
                    self.tell(stmt, &names);
                }
            }
        }
    }

    /// The names whose values a statement sets.
    fn simple<'b>(&mut self, stmt: &'b Stmt) -> Vec<&'b str> {
        let mut names = Vec::new();
        match stmt {
            Stmt::Assign(assign) => {
                assign.targets.iter().for_each(|target| targets(target, &mut names))
            }
            Stmt::AugAssign(assign) => targets(&assign.target, &mut names),
            Stmt::AnnAssign(assign) if assign.value.is_some() => {
                targets(&assign.target, &mut names)
            }
            // `titles.append(x)` changes `titles`.
            Stmt::Expr(expr) => {
                if let Expr::Call(call) = &*expr.value
                    && let Expr::Attribute(method) = &*call.func
                    && let Expr::Name(name) = &*method.value
                    && self.bound.has(name.id.as_str())
                {
                    names.push(name.id.as_str());
                }
            }
            Stmt::Raise(raise) => raise.exc.iter().for_each(|exception| self.raised(exception)),
            Stmt::Import(_) | Stmt::ImportFrom(_) => self.import(stmt),
            _ => {}
        }
        names
    }
}

impl<'a> Visitor<'a> for Rewrite<'_, '_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        self.statement(stmt, &Bindings::default());
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        let told = self.told.take_if(|told| *told == expr.range());
        if told.is_some() {
            self.edit(expr.start().to_usize(), 0, format!("{HAD}("));
        }
        match expr {
            Expr::Generator(_) => self.generator(expr),
            Expr::Call(call) => self.call(call),
            _ => {}
        }
        visitor::walk_expr(self, expr);
        if told.is_some() {
            self.edit(expr.end().to_usize(), 0, ")");
        }
    }
}

/// The beginning of a statement, including its decorators.
fn begin(stmt: &Stmt) -> usize {
    let decorators = match stmt {
        Stmt::FunctionDef(function) => &function.decorator_list,
        Stmt::ClassDef(class) => &class.decorator_list,
        _ => return stmt.start().to_usize(),
    };
    decorators.first().map_or(stmt.start(), Ranged::start).to_usize()
}
