//! The subexpressions that the value of an expression is built from: one step of data flow, without names and without
//! calls of tools or of the program's own functions.

use ruff_python_ast::{Expr, ExprCall, ExprFString};

/// The expressions that the value of this one is made of, or is a part of. Conditions and indexes select a value, but
/// they do not make it.
pub(super) fn parts(expr: &Expr) -> Vec<&Expr> {
    match expr {
        Expr::Attribute(attribute) => vec![&attribute.value],
        Expr::Subscript(subscript) => vec![&subscript.value],
        Expr::Starred(starred) => vec![&starred.value],
        Expr::Await(awaited) => vec![&awaited.value],
        Expr::Named(named) => vec![&named.value],
        Expr::UnaryOp(unary) => vec![&unary.operand],
        Expr::BinOp(binary) => vec![&binary.left, &binary.right],
        Expr::BoolOp(all) => all.values.iter().collect(),
        Expr::Compare(compare) => {
            [&*compare.left].into_iter().chain(&compare.comparators).collect()
        }
        Expr::If(choice) => vec![&choice.body, &choice.orelse],
        Expr::Dict(dict) => dict.items.iter().map(|item| &item.value).collect(),
        Expr::Set(set) => set.elts.iter().collect(),
        Expr::List(list) => list.elts.iter().collect(),
        Expr::Tuple(tuple) => tuple.elts.iter().collect(),
        Expr::ListComp(comp) => vec![&comp.elt],
        Expr::SetComp(comp) => vec![&comp.elt],
        Expr::Generator(comp) => vec![&comp.elt],
        Expr::DictComp(comp) => comp.key.as_deref().into_iter().chain([&*comp.value]).collect(),
        Expr::FString(text) => interpolated(text),
        _ => Vec::new(),
    }
}

/// The expressions that the result of a call of a built-in function, a class or a method is built from.
pub(super) fn parts_of_call(call: &ExprCall, is_module: impl Fn(&Expr) -> bool) -> Vec<&Expr> {
    match &*call.func {
        Expr::Name(name) if name.id == "map" => mapped(call),
        Expr::Name(_) => data(call),
        // `json.loads(x)` and `", ".join(x)` make it from their arguments, `x.get("key")` from its object.
        Expr::Attribute(method) => match &*method.value {
            Expr::StringLiteral(_) => data(call),
            module if is_module(module) => data(call),
            object => vec![object],
        },
        other => vec![other],
    }
}

/// The arguments of a call that are data, not functions.
pub(super) fn data(call: &ExprCall) -> Vec<&Expr> {
    let named = call.arguments.keywords.iter().map(|keyword| &keyword.value);
    let all = call.arguments.args.iter().chain(named);
    all.filter(|argument| !argument.is_lambda_expr()).collect()
}

/// The function that `map` applies. A name is followed if it is one of the program's functions.
fn mapped(call: &ExprCall) -> Vec<&Expr> {
    match call.arguments.args.first() {
        Some(Expr::Lambda(lambda)) => vec![&lambda.body],
        _ => data(call),
    }
}

fn interpolated(text: &ExprFString) -> Vec<&Expr> {
    let strings = text.value.f_strings();
    strings.flat_map(|text| text.elements.interpolations()).map(|part| &*part.expression).collect()
}
