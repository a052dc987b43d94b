//! The values of assignment targets: the names on the left side of assignments, loops and comprehensions.

use ruff_python_ast::{Expr, ExprCall, ExprName};

/// Methods that put their arguments into their object.
const ADDING: [&str; 7] =
    ["append", "appendleft", "add", "extend", "insert", "update", "setdefault"];

/// A target that gets a value, or a part of it; `None`: a number that Python counts itself.
pub(super) struct Bound<'t> {
    pub target: &'t Expr,
    pub value: Option<&'t Expr>,
}

/// Distributes a value over the parts of a target. With `each` the value is iterated: `enumerate` yields numbers, and
/// `zip` gives each target an argument of its own.
pub(super) fn bound<'t>(target: &'t Expr, value: &'t Expr, each: bool) -> Vec<Bound<'t>> {
    let mut all = Vec::new();
    // A list instead of recursion, since targets nest.
    let mut open = vec![(target, Some(value), each)];
    while let Some((target, value, each)) = open.pop() {
        match (target, value) {
            (Expr::Starred(starred), _) => open.push((&starred.value, value, each)),
            (Expr::Tuple(_) | Expr::List(_), _) => {
                let parts = elements(target).unwrap_or_default();
                let values = value.and_then(|value| split(parts, value, each));
                for (at, part) in parts.iter().enumerate() {
                    open.push(match &values {
                        Some(values) => (part, values[at].0, values[at].1),
                        None => (part, value, false),
                    });
                }
            }
            _ => all.push(Bound { target, value }),
        }
    }
    all
}

/// The value of each part of a target, and whether that value is iterated; `None`: all get the whole value.
fn split<'t>(parts: &[Expr], value: &'t Expr, each: bool) -> Option<Vec<(Option<&'t Expr>, bool)>> {
    if parts.iter().any(Expr::is_starred_expr) {
        return None;
    }
    if !each {
        let values = elements(value)?;
        let is_plain = values.len() == parts.len() && !values.iter().any(Expr::is_starred_expr);
        return is_plain.then(|| values.iter().map(|value| (Some(value), false)).collect());
    }
    let call = value.as_call_expr()?;
    let arguments = &call.arguments.args;
    match (call.func.as_name_expr()?.id.as_str(), parts.len()) {
        ("enumerate", 2) => Some(vec![(None, false), (Some(arguments.first()?), true)]),
        ("zip", n) if n == arguments.len() => {
            Some(arguments.iter().map(|argument| (Some(argument), true)).collect())
        }
        _ => None,
    }
}

/// The elements of a tuple or list literal.
fn elements(expr: &Expr) -> Option<&[Expr]> {
    match expr {
        Expr::Tuple(tuple) => Some(&tuple.elts),
        Expr::List(list) => Some(&list.elts),
        _ => None,
    }
}

/// The pairs of object and value of a call such as `x.append(y)`, which adds the value to the object.
pub(super) fn adds(call: &ExprCall) -> impl Iterator<Item = (&Expr, &Expr)> {
    let method = call.func.as_attribute_expr();
    let method = method.filter(|method| ADDING.contains(&method.attr.as_str()));
    method.into_iter().flat_map(|method| {
        let values = call.arguments.args.iter();
        values.map(|value| (&*method.value, value))
    })
}

/// The variable that a chain of attributes, subscripts and method calls begins with.
pub(super) fn root(expr: &Expr) -> Option<&ExprName> {
    let mut at = expr;
    loop {
        at = match at {
            Expr::Name(name) => return Some(name),
            Expr::Attribute(attribute) => &attribute.value,
            Expr::Subscript(subscript) => &subscript.value,
            Expr::Call(call) => &call.func.as_attribute_expr()?.value,
            _ => return None,
        };
    }
}
