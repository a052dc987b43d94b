//! Checks a program for unsupported constructs before its first call. All of them are reported together, so that each
//! one does not cost a revision.

mod modules;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, ExprCall, ExprName, Operator, Stmt, StmtClassDef, StmtImportFrom};
use ruff_text_size::Ranged;

use self::modules::{Missing, missing};
use super::builtins::is_builtin;
use super::{bound::Bound, source::ParsedProgram};
use crate::domain::program::{Function, Raised};
use crate::domain::words::nearest;

/// Lists the parts of a program that would fail, in source order. Each error names a replacement.
fn flaws(source: &ParsedProgram<'_>, functions: &[Function]) -> Vec<Raised> {
    let body = source.tree.body();
    let bound = Bound::of(body);
    let mut look = FlawSearch { source, functions, bound, found: Vec::new(), in_class: false };
    look.visit_body(body);
    look.found.sort_by_key(|flaw| flaw.span.map(|span| (span.line, span.column)));
    look.found
}

/// Lists the errors that keep a text from running as a program.
pub fn flaws_of(text: &str, functions: &[Function]) -> Vec<Raised> {
    match ParsedProgram::parse(text) {
        Ok(source) => flaws(&source, functions),
        Err(flaw) => vec![*flaw],
    }
}

struct FlawSearch<'a, 's> {
    source: &'a ParsedProgram<'s>,
    functions: &'a [Function],
    bound: Bound,
    found: Vec<Raised>,
    in_class: bool,
}

/// The functions that replace running a text. A model that is only told to write something else tries the same again.
macro_rules! there_are {
    () => {
        "there are int and float for texts of numbers, and abs, all, any, divmod, enumerate, filter, isinstance, len, \
         map, max, min, pow, range, reversed, round, sorted, sum and zip"
    };
}

/// Python's own functions that the interpreter lacks, and their replacements.
const BUILTINS: &[(&str, &str)] = &[
    ("eval", concat!("write the expression itself, such as `17 * 23`; ", there_are!())),
    ("exec", concat!("write the statements themselves; ", there_are!())),
    ("compile", concat!("write the statements themselves; ", there_are!())),
    ("globals", "name the variable"),
    ("locals", "name the variable"),
    ("vars", "name the variable"),
    ("dir", "name the attribute"),
    ("callable", "call it in a try"),
    ("input", "there is nobody to ask; the task says what is known"),
    ("__import__", "use import"),
    ("super", "classes have no parents here"),
    ("delattr", "set it to None"),
    ("issubclass", "use isinstance"),
    ("format", "use an f-string"),
    ("ascii", "use repr"),
    ("bytearray", "use bytes"),
    ("memoryview", "use bytes"),
    ("complex", "use two floats"),
    ("breakpoint", "print the value"),
    ("help", "the documents of the functions are above"),
];

impl FlawSearch<'_, '_> {
    fn add(
        &mut self,
        at: &impl Ranged,
        kind: &str,
        text: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.found.push(Raised::new(kind, text).hint(hint).at(self.source.span(at)));
    }

    fn unsupported(&mut self, at: &impl Ranged, what: &str, hint: &str) {
        self.add(at, "NotImplementedError", format!("there is no {what} here"), hint);
    }

    fn class(&mut self, class: &StmtClassDef) {
        if class.arguments.as_ref().is_some_and(|arguments| !arguments.is_empty()) {
            self.unsupported(
                &class.name,
                "class with parents",
                "use a plain class, or a built-in exception",
            );
        }
    }

    fn import(&mut self, module: &str, names: &[&str], at: &impl Ranged) {
        if is_toolbox(module, names, self.functions) {
            return;
        }
        match missing(module, names) {
            Some(Missing::Module(instead)) => {
                self.add(at, "ModuleNotFoundError", format!("No module named '{module}'"), instead);
            }
            Some(Missing::Name(name)) => {
                let text = format!("cannot import name '{name}' from '{module}'");
                self.add(at, "ImportError", text, "write what you need yourself");
            }
            None => {}
        }
    }

    fn import_from(&mut self, import: &StmtImportFrom) {
        let names: Vec<&str> = import.names.iter().map(|alias| alias.name.as_str()).collect();
        let module = import.module.as_ref().map_or(".", |module| module.as_str());
        self.import(module, &names, import);
    }

    fn call(&mut self, call: &ExprCall) {
        let Expr::Name(name) = &*call.func else { return };
        let name = name.id.as_str();
        if self.bound.has(name) {
            return;
        }
        if let Some(function) = self.functions.iter().find(|function| function.name == name) {
            self.arguments(call, function.clone());
        } else if name == ALL_OF {
            if call.arguments.args.len() != 2 || !call.arguments.keywords.is_empty() {
                let hint = format!("write {ALL_OF}(tool, [{{…}}, {{…}}])");
                self.add(
                    call,
                    "TypeError",
                    format!("{ALL_OF}() takes 2 positional arguments"),
                    hint,
                );
            }
        } else if !self.lacks(call, name) && !is_builtin(name) {
            let known = self.functions.iter().map(|function| function.name.as_str());
            let hint = nearest(name, known).map_or_else(
                || "call only functions that are offered".to_owned(),
                |near| format!("did you mean {near}?"),
            );
            self.add(call, "NameError", format!("name '{name}' is not defined"), hint);
        }
        if name == "print"
            && let Some(keyword) = call.arguments.find_keyword("file")
        {
            let text = "print() 'file' argument is not supported";
            self.add(keyword, "TypeError", text, "leave it out: what is printed is the answer");
        }
    }

    /// Whether a name means a Python function that the interpreter lacks; if so, adds the flaw.
    fn lacks(&mut self, at: &impl Ranged, name: &str) -> bool {
        let known = BUILTINS.iter().find(|(builtin, _)| *builtin == name);
        let Some((_, instead)) = known.filter(|_| !self.bound.has(name)) else { return false };
        self.add(at, "NameError", format!("name '{name}' is not defined"), *instead);
        true
    }

    /// Checks a function that is passed on, such as `map(eval, texts)`.
    fn passed(&mut self, name: &ExprName) {
        let is_tool = self.functions.iter().any(|function| function.name == name.id.as_str());
        if name.ctx.is_load() && !is_tool {
            self.lacks(name, name.id.as_str());
        }
    }

    /// Checks the names and the number of a tool's arguments, as far as they are written in the text.
    fn arguments(&mut self, call: &ExprCall, function: Function) {
        for keyword in &call.arguments.keywords {
            let Some(name) = &keyword.arg else { continue };
            if !function.takes_more
                && !function.parameters.iter().any(|known| known == name.as_str())
            {
                let known = function.parameters.iter().map(String::as_str);
                let hint = nearest(name.as_str(), known.clone())
                    .map_or_else(|| listed(known), |near| format!("did you mean {near}?"));
                let text =
                    format!("{}() got an unexpected keyword argument '{name}'", function.name);
                self.add(call, "TypeError", text, hint);
                return;
            }
        }
        let given = call.arguments.args.iter();
        if given.clone().any(Expr::is_starred_expr) || given.len() <= function.parameters.len() {
            return;
        }
        let (most, given) = (function.parameters.len(), given.len());
        let text =
            format!("{}() takes {most} positional arguments but {given} were given", function.name);
        self.add(call, "TypeError", text, listed(function.parameters.iter().map(String::as_str)));
    }
}

/// The function that makes several calls together.
pub const ALL_OF: &str = "all_of";

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    if names.is_empty() {
        "it takes none".to_owned()
    } else {
        format!("it takes {}", names.join(", "))
    }
}

/// Names of modules that models import their tools from.
const TOOLBOXES: &[&str] = &["tools", "toolbox", "functions", "apis", "api"];

/// Whether an import is of the tools themselves, which exist without an import.
pub fn is_toolbox(module: &str, names: &[&str], functions: &[Function]) -> bool {
    let is_tool = |name: &&str| *name == "*" || functions.iter().any(|it| it.name == **name);
    if names.is_empty() {
        TOOLBOXES.contains(&module)
    } else {
        !modules::is_known(module) && names.iter().all(is_tool)
    }
}

impl<'a> Visitor<'a> for FlawSearch<'_, '_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Delete(delete) => {
                self.unsupported(delete, "del", "use pop, or make a new list or dict")
            }
            Stmt::Match(it) => self.unsupported(it, "match", "use if and elif"),
            Stmt::ClassDef(class) => {
                self.class(class);
                let outside = std::mem::replace(&mut self.in_class, true);
                visitor::walk_stmt(self, stmt);
                self.in_class = outside;
                return;
            }
            Stmt::FunctionDef(function) => {
                if self.in_class
                    && let Some(decorator) = function.decorator_list.first()
                {
                    self.unsupported(
                        decorator,
                        "decorator of a method",
                        "use a plain method or a function",
                    );
                }
                let outside = std::mem::replace(&mut self.in_class, false);
                visitor::walk_stmt(self, stmt);
                self.in_class = outside;
                return;
            }
            Stmt::Import(import) => {
                for alias in &import.names {
                    self.import(alias.name.as_str(), &[], alias);
                }
            }
            Stmt::ImportFrom(import) => self.import_from(import),
            _ => {}
        }
        visitor::walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Yield(_) | Expr::YieldFrom(_) => {
                self.unsupported(expr, "yield", "collect into a list and return it");
            }
            Expr::BinOp(operation) if operation.op == Operator::Mod && is_text(&operation.left) => {
                self.unsupported(expr, "% formatting", "use an f-string");
            }
            Expr::BinOp(operation)
                if operation.op == Operator::BitOr
                    && operation.left.is_dict_expr()
                    && operation.right.is_dict_expr() =>
            {
                self.unsupported(expr, "| of dicts", "use {**a, **b}");
            }
            Expr::Call(call) => {
                self.call(call);
                if call.func.is_name_expr() {
                    self.visit_arguments(&call.arguments);
                    return;
                }
            }
            Expr::Name(name) => self.passed(name),
            Expr::Attribute(part) => {
                if let Expr::Name(module) = &*part.value
                    && modules::is_known(module.id.as_str())
                    && modules::lacks(module.id.as_str(), part.attr.as_str())
                {
                    let text = format!("module '{}' has no attribute '{}'", module.id, part.attr);
                    self.add(expr, "AttributeError", text, "write what you need yourself");
                }
            }
            _ => {}
        }
        visitor::walk_expr(self, expr);
    }
}

fn is_text(expr: &Expr) -> bool {
    expr.is_string_literal_expr() || expr.is_f_string_expr()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_that_is_not_there_is_found_where_it_is_called_and_where_it_is_passed_on() {
        for (program, count) in [
            ("print(eval('17 * 23'))", 1),
            ("print(list(map(eval, ['1', '2'])))", 1),
            ("run = eval\nprint(run('1'))", 1),
            ("def eval(text):\n    return int(text)\nprint(eval('1'), list(map(eval, ['2'])))", 0),
        ] {
            let found = flaws_of(program, &[]);
            assert_eq!(found.len(), count, "{program}: {found:?}");
            for flaw in found {
                let hint = flaw.hint.unwrap_or_default();
                assert!(hint.contains("17 * 23") && hint.contains("int and float"), "{hint}");
            }
        }
    }
}
