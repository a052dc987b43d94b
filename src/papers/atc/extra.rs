//! Expressions of a person in the scope of a program's statements: they are checked when they are entered, and written
//! into the program before it runs.

use std::collections::BTreeSet;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, Stmt};

use super::bound::Bound;
use super::flaws::ALL_OF;
use super::syntax::Tree;
use crate::domain::program::{Extra, Moment};

/// The function that is called after an assignment, with its line, the name and the value.
pub const IS: &str = "__is__";
/// The function that decides whether an extra is due, given the extra's number.
pub const DUE: &str = "__due__";
/// The function that receives the value of an extra, or the exception that its expression raised.
pub const TELL: &str = "__tell__";
/// The exception of an extra.
const RAISED: &str = "__raised__";
/// The function that sets a variable of the module from inside a function.
const SETTER: &str = "__set__";

/// Checks an expression that a person writes.
///
/// # Errors
/// The text is not an expression of Python, or it calls a tool.
pub fn check_expression(text: &str, tools: &[&str]) -> Result<(), String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("an expression of Python is missing".to_owned());
    }
    let tree = Tree::parse(text).map_err(|error| format!("not a Python expression: {error}"))?;
    let [Stmt::Expr(only)] = &tree.body()[..] else {
        return Err("expected one expression of Python, such as len(results) > 3".to_owned());
    };
    let mut names = ExtraNames::default();
    names.visit_expr(&only.value);
    let is_tool = |name: &str| name == ALL_OF || tools.contains(&name);
    if let Some(tool) = names.read.iter().find(|name| is_tool(name)) {
        return Err(format!("{tool} is a tool; expressions cannot call tools"));
    }
    match names.waits {
        true => Err("an expression neither awaits nor yields".to_owned()),
        false => Ok(()),
    }
}

/// Checks the name of a variable that a person sets.
///
/// # Errors
/// The text is not the name of a variable.
pub fn check_name(name: &str) -> Result<(), String> {
    let tree = Tree::parse(name.trim()).ok();
    let is_name = tree.is_some_and(
        |tree| matches!(&tree.body()[..], [Stmt::Expr(only)] if only.value.is_name_expr()),
    );
    match is_name {
        true => Ok(()),
        false => Err(format!("`{name}` is not the name of a variable")),
    }
}

#[derive(Default)]
struct ExtraNames {
    read: BTreeSet<String>,
    waits: bool,
}

impl<'a> Visitor<'a> for ExtraNames {
    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) => {
                self.read.insert(name.id.to_string());
            }
            Expr::Await(_) | Expr::Yield(_) | Expr::YieldFrom(_) => self.waits = true,
            _ => {}
        }
        visitor::walk_expr(self, expr);
    }
}

/// The code to insert before a statement on this line: the extras that are due there. `locals` are the variables of the
/// enclosing function; `None` at module level.
pub(super) fn before(
    extras: &[Extra],
    line: u32,
    indent: &str,
    locals: Option<&BTreeSet<String>>,
) -> String {
    let due = extras.iter().enumerate().filter(|(_, extra)| extra.when.is_at(line));
    due.map(|(number, extra)| written((number, extra), line, indent, locals)).collect()
}

fn written(
    (number, extra): (usize, &Extra),
    line: u32,
    indent: &str,
    locals: Option<&BTreeSet<String>>,
) -> String {
    // In brackets the expression may have several lines; the line break ends a comment.
    let value = format!("({}\n)", extra.expression.trim());
    let set = |does: String, name: &String| format!("{does}; {IS}({line}, {name:?}, {name})");
    let does = match &extra.sets {
        None => format!("{TELL}({number}, {value})"),
        Some(name) if locals.is_some_and(|locals| !locals.contains(name)) => {
            set(format!("{SETTER}{number}({value})"), name)
        }
        Some(name) => set(format!("{name} = {value}"), name),
    };
    let does = match extra.when {
        Moment::Hit { .. } => format!("if {DUE}({number}): {does}"),
        Moment::Always | Moment::Line(_) => does,
    };
    let raised = format!("{TELL}({number}, None, type({RAISED}).__name__, str({RAISED}))");
    format!(
        "{indent}try:\n{indent} {does}\n{indent}except Exception as {RAISED}:\n{indent} {raised}\n"
    )
}

/// The code to insert at the beginning of a program: a setter for each extra that sets a variable.
pub(super) fn at_first(extras: &[Extra]) -> String {
    let sets = extras.iter().enumerate().filter_map(|(i, extra)| Some((i, extra.sets.as_ref()?)));
    let setter = |(number, name): (usize, &String)| {
        format!("def {SETTER}{number}({RAISED}):\n global {name}\n {name} = {RAISED}\n")
    };
    sets.map(setter).collect()
}

/// The variables of a function.
pub(super) fn locals(body: &[Stmt], parameters: &[&str]) -> BTreeSet<String> {
    let mut names = Bound::of(body).names;
    let global = body.iter().filter_map(|stmt| match stmt {
        Stmt::Global(global) => Some(global.names.iter().map(ToString::to_string)),
        _ => None,
    });
    for name in global.flatten() {
        names.remove(&name);
    }
    names.extend(parameters.iter().map(ToString::to_string));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_one_and_calls_no_tool() {
        let check = |text: &str| check_expression(text, &["search"]);
        for right in ["x", "len(results) > 3", "[a for a in b if a]", "x  # why", "(1,\n 2)"] {
            assert_eq!(check(right), Ok(()), "{right}");
        }
        for (wrong, why) in [
            ("", "an expression of Python is missing"),
            ("x = 1", "expected one expression of Python, such as len(results) > 3"),
            ("x; y", "expected one expression of Python, such as len(results) > 3"),
            ("search(q=1)", "search is a tool; expressions cannot call tools"),
            ("all_of(f, [])", "all_of is a tool; expressions cannot call tools"),
            ("await x", "an expression neither awaits nor yields"),
        ] {
            assert_eq!(check(wrong), Err(why.to_owned()), "{wrong}");
        }
        assert!(check("len(").unwrap_err().starts_with("not a Python expression: line 1: "));
    }

    #[test]
    fn a_name_is_one() {
        assert_eq!(check_name("pid"), Ok(()));
        for wrong in ["", "a.b", "a b", "1", "a[0]", "if"] {
            assert!(check_name(wrong).is_err(), "{wrong}");
        }
    }
}
