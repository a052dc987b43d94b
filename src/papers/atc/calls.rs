//! Calls that are written as Python, such as `[weather(city="Lisbon"), clock()]`. They are read, never run.

use ruff_python_ast::{Expr, ExprCall, Number, Stmt, UnaryOp};
use serde_json::{Map, Value};

use super::syntax::Tree;

/// The calls that the whole text consists of: one expression, or one on each line, each a call or a list of calls. Each
/// has the function's name, with its dots, and its arguments by keyword. `None` for any other text, or if an argument
/// has no keyword or is not a literal.
pub fn calls(text: &str) -> Option<Vec<(String, Map<String, Value>)>> {
    let tree = Tree::parse(text).ok()?;
    let mut calls = Vec::new();
    for statement in tree.body() {
        let Stmt::Expr(line) = statement else { return None };
        let all = match &*line.value {
            Expr::List(list) => list.elts.as_slice(),
            Expr::Tuple(tuple) => tuple.elts.as_slice(),
            one => std::slice::from_ref(one),
        };
        for call in all {
            let Expr::Call(call) = call else { return None };
            let call = printed(call).unwrap_or(call);
            calls.push((name(&call.func)?, arguments(call)?));
        }
    }
    (!calls.is_empty()).then_some(calls)
}

/// The call whose result this one prints.
fn printed(call: &ExprCall) -> Option<&ExprCall> {
    match (&*call.func, &*call.arguments.args) {
        (Expr::Name(name), [Expr::Call(inner)]) if name.id == "print" => Some(inner),
        _ => None,
    }
}

fn name(function: &Expr) -> Option<String> {
    match function {
        Expr::Name(name) => Some(name.id.to_string()),
        Expr::Attribute(of) => Some(format!("{}.{}", name(&of.value)?, of.attr)),
        _ => None,
    }
}

fn arguments(call: &ExprCall) -> Option<Map<String, Value>> {
    if !call.arguments.args.is_empty() {
        return None;
    }
    let one = |keyword: &ruff_python_ast::Keyword| {
        Some((keyword.arg.as_ref()?.to_string(), literal(&keyword.value)?))
    };
    call.arguments.keywords.iter().map(one).collect()
}

/// The JSON value of a literal.
fn literal(expression: &Expr) -> Option<Value> {
    Some(match expression {
        Expr::StringLiteral(text) => text.value.to_str().into(),
        Expr::BooleanLiteral(truth) => truth.value.into(),
        Expr::NoneLiteral(_) => Value::Null,
        Expr::NumberLiteral(number) => match &number.value {
            Number::Int(whole) => whole.as_i64()?.into(),
            Number::Float(number) => serde_json::Number::from_f64(*number)?.into(),
            Number::Complex { .. } => return None,
        },
        Expr::UnaryOp(minus) if minus.op == UnaryOp::USub => match literal(&minus.operand)? {
            Value::Number(number) => match number.as_i64() {
                Some(whole) => whole.checked_neg()?.into(),
                None => serde_json::Number::from_f64(-number.as_f64()?)?.into(),
            },
            _ => return None,
        },
        Expr::List(list) => list.elts.iter().map(literal).collect::<Option<_>>()?,
        Expr::Tuple(list) => list.elts.iter().map(literal).collect::<Option<_>>()?,
        Expr::Dict(dict) => {
            let one = |item: &ruff_python_ast::DictItem| match literal(item.key.as_ref()?)? {
                Value::String(key) => Some((key, literal(&item.value)?)),
                _ => None,
            };
            Value::Object(dict.items.iter().map(one).collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Option<Value> {
        let calls = calls(text)?;
        Some(calls.into_iter().map(|(name, given)| json!([name, given])).collect())
    }

    #[test]
    fn calls_with_literals_are_read() {
        let oslo = json!([["weather", {"city": "Oslo"}]]);
        assert_eq!(read("weather(city='Oslo')"), Some(oslo.clone()));
        assert_eq!(read("[weather(city=\"Oslo\")]"), Some(oslo));
        assert_eq!(read("print(weather(city='Oslo'))"), read("weather(city='Oslo')"));
        let two = "[a.b(x=-1.5, y=[True, None, {'k': 2}]),\n clock()]";
        let expected = json!([["a.b", {"x": -1.5, "y": [true, null, {"k": 2}]}], ["clock", {}]]);
        assert_eq!(read(two), Some(expected.clone()));
        assert_eq!(read("a.b(x=-1.5, y=(True, None, {'k': 2}))\nclock()"), Some(expected));
    }

    #[test]
    fn nothing_else_is_a_call() {
        for text in [
            "",
            "weather",
            "weather('Oslo')",
            "weather(city=city)",
            "weather(**all)",
            "x = weather(city='Oslo')",
            "print(weather(city='Oslo')).x",
            "print(print(weather(city='Oslo')))",
            "weather(city='Oslo') + 1",
            "weather(n=1j)",
            "weather(n=99999999999999999999999)",
            "weather(city='Oslo'",
            "f()()",
            "It is sunny.",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
