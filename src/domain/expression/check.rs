//! Checks an expression before it is used: its syntax, then every part of it over made-up fields of the
//! right types, the innermost part first, so that an error names the place that causes it.

use std::collections::HashMap;

use cel::common::ast::{EntryExpr, Expr, IdedExpr, LiteralValue, SourceInfo, operators};
use cel::{ExecutionError, Value};

use super::{
    ENV, Evaluator, ExpressionError, Fact, FieldSource, FieldSpec, FieldType, Resolver, Scope,
    error,
};
use crate::words;

/// Most characters of an expression.
const MOST: usize = 4096;

/// Reads the syntax.
pub(super) fn parse(text: &str) -> Result<(IdedExpr, SourceInfo), ExpressionError> {
    if text.trim().is_empty() {
        return Err(ExpressionError::new(text, 0, "the expression is empty"));
    }
    if text.chars().count() > MOST {
        let why = format!("an expression may have at most {MOST} characters");
        return Err(ExpressionError::new("", 0, why));
    }
    ENV.parser().parse_with_source_info(text).map_err(|errors| {
        // The others follow from the first one.
        let first = errors.errors.first();
        let (at, said) = first.map_or((0, ""), |error| (error.pos.1, error.msg.as_str()));
        let at = usize::try_from(at - 1).unwrap_or(0);
        ExpressionError::new(text, at, syntax(said))
    })
}

/// The parser's message in plain words.
fn syntax(said: &str) -> String {
    let said = said.strip_prefix("Syntax error: ").unwrap_or(said);
    let quoted = said.split('\'').nth(1).unwrap_or_default();
    if said.starts_with("token recognition error") {
        let token = said.split_once("at: '").map_or("", |(_, token)| token);
        return match token.chars().next() {
            Some('=') => "`=` is not an operator; `==` compares".to_owned(),
            Some('&') => "`&` is not an operator; `&&` means and".to_owned(),
            Some('|') => "`|` is not an operator; `||` means or".to_owned(),
            Some(quote @ ('\'' | '"')) => format!("the text has no closing {quote}"),
            other => format!("unexpected `{}`", other.unwrap_or(' ')),
        };
    }
    match quoted {
        "<EOF>" if said.starts_with("mismatched") => "something is missing here".to_owned(),
        "and" => "unexpected `and`; write `&&`".to_owned(),
        "or" => "unexpected `or`; write `||`".to_owned(),
        "not" => "unexpected `not`; write `!`".to_owned(),
        missing if said.starts_with("missing") => format!("`{missing}` is missing here"),
        "" => said.to_owned(),
        other => format!("unexpected `{other}`"),
    }
}

/// Checks every part of an expression.
pub(super) fn check(
    expression: &IdedExpr,
    source: &SourceInfo,
    scope: Scope,
) -> Result<(), ExpressionError> {
    let wrong = |part: &IdedExpr, why: String| {
        let start = source.offset_for(part.id).map_or(0, |(start, _)| start);
        Err(ExpressionError::new(&source.source, usize::try_from(start).unwrap_or(0), why))
    };
    if let Expr::Ident(name) = &expression.expr {
        return match FieldSpec::named(name) {
            Some(field) if scope == Scope::Session && field.scope == Scope::Call => {
                wrong(expression, format!("`{name}` belongs to a call, but there is none here"))
            }
            Some(_) => Ok(()),
            None => {
                let known = || FieldSpec::in_scope(scope).map(|field| field.name);
                let hint = match words::nearest(name, known()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("known: {}", known().collect::<Vec<_>>().join(", ")),
                };
                wrong(expression, format!("there is no field `{name}`; {hint}"))
            }
        };
    }
    for part in parts(expression) {
        check(part, source, scope)?;
    }
    match sample(expression, scope) {
        Ok(_) => Ok(()),
        Err(failed)
            if is_open(&failed)
                || parts(expression).iter().any(|part| sample(part, scope).is_err()) =>
        {
            Ok(())
        }
        Err(failed) => wrong(expression, error::said(&failed)),
    }
}

/// Whether real fields may have a value although made-up ones have none.
fn is_open(failed: &ExecutionError) -> bool {
    matches!(
        failed,
        ExecutionError::NoSuchKey(_)
            | ExecutionError::IndexOutOfBounds(_)
            | ExecutionError::DivisionByZero(_)
            | ExecutionError::RemainderByZero(_)
    )
}

/// The parts of an expression that have a value of their own.
fn parts(expression: &IdedExpr) -> Vec<&IdedExpr> {
    match &expression.expr {
        Expr::Call(call) => call.target.as_deref().into_iter().chain(&call.args).collect(),
        Expr::Select(select) => vec![&select.operand],
        Expr::List(list) => list.elements.iter().collect(),
        Expr::Map(map) => {
            let both = map.entries.iter().map(|entry| match &entry.expr {
                EntryExpr::MapEntry(entry) => vec![&entry.key, &entry.value],
                EntryExpr::StructField(field) => vec![&field.value],
            });
            both.flatten().collect()
        }
        // `exists` and similar macros have local names inside.
        Expr::Comprehension(all) => vec![&all.iter_range],
        Expr::Struct(_) | Expr::Ident(_) | Expr::Literal(_) | Expr::Unspecified => Vec::new(),
    }
}

/// The names of `args` that an expression reads.
pub(super) fn arguments(expression: &IdedExpr) -> Vec<&str> {
    let own = match &expression.expr {
        Expr::Select(select) if matches!(&select.operand.expr, Expr::Ident(name) if name == "args") => {
            Some(select.field.as_str())
        }
        _ => None,
    };
    own.into_iter().chain(parts(expression).into_iter().flat_map(arguments)).collect()
}

/// Whether an expression may be true while a text field has this value. Of other fields nothing is known.
pub(super) fn can_hold(expression: &IdedExpr, field: &str, value: &str) -> bool {
    let Expr::Call(call) = &expression.expr else { return true };
    let [one, other] = call.args.as_slice() else { return true };
    let can = |part| can_hold(part, field, value);
    let is_equal = match (&one.expr, &other.expr) {
        (Expr::Ident(name), Expr::Literal(LiteralValue::String(text)))
        | (Expr::Literal(LiteralValue::String(text)), Expr::Ident(name))
            if name == field =>
        {
            Some(text.inner() == value)
        }
        _ => None,
    };
    match (call.func_name.as_str(), is_equal) {
        (operators::LOGICAL_AND, _) => can(one) && can(other),
        (operators::LOGICAL_OR, _) => can(one) || can(other),
        (operators::EQUALS, Some(is_equal)) => is_equal,
        (operators::NOT_EQUALS, Some(is_equal)) => !is_equal,
        _ => true,
    }
}

/// The value over made-up fields.
pub(super) fn sample(expression: &IdedExpr, scope: Scope) -> Result<Value, ExecutionError> {
    let fields = Samples(scope);
    let resolver = Resolver(&fields);
    let evaluator = Evaluator::new(&resolver);
    Value::resolve(expression, &evaluator.0)
}

/// A made-up value for every field.
struct Samples(Scope);

impl FieldSource for Samples {
    fn field(&self, path: &str) -> Option<Fact<'_>> {
        let mut keys = path.split('.');
        let field = FieldSpec::named(keys.next()?)?;
        if self.0 == Scope::Session && field.scope == Scope::Call {
            return None;
        }
        let depth = keys.count();
        Some(match (field.kind, depth) {
            (FieldType::Text, 0) | (FieldType::Texts, 1) => Fact::text("text"),
            (FieldType::Count, 0) | (FieldType::Counts, 1) => Fact::Count(1),
            (FieldType::Amount, 0) | (FieldType::Amounts, 1) | (FieldType::Edges, 2) => {
                Fact::Amount(0.5)
            }
            (FieldType::Flag, 0) => Fact::Flag(true),
            (FieldType::Amounts | FieldType::Edges, 0) | (FieldType::Edges, 1) => {
                Fact::Amounts(HashMap::new())
            }
            (FieldType::Counts, 0) => Fact::Counts(HashMap::new()),
            (FieldType::Texts, 0) => Fact::Texts(HashMap::new()),
            // A map, which can be compared with anything.
            (FieldType::Json, 0) => Fact::Texts(HashMap::new()),
            (FieldType::Json, _) => return None,
            _ => return None,
        })
    }
}
