//! Expressions of conditions, watches and filters: Common Expression Language over the fields that a
//! person sees. They have no loops, so each one ends.
//!
//! An expression is checked when it is entered: syntax, names of fields and functions, and types. Only missing keys are
//! found later, such as an argument that a call does not have.

mod answer;
mod check;
mod error;
mod field;

use std::fmt;
use std::sync::{Arc, LazyLock};

use cel::common::ast::IdedExpr;
use cel::common::value::CowVal;
use cel::context::VariableResolver;
use cel::{Context, Env, Value};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

pub use self::answer::{ExpressionValue, Fact};
pub use self::error::ExpressionError;
pub use self::field::{FIELDS, FieldSpec, FieldType, Scope};

/// The language: its operators and standard functions.
static ENV: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(Env::stdlib()));

/// The fields that an expression reads, by their paths, such as `score.search_web`. Only fields that an
/// expression reads are computed.
pub trait FieldSource: Sync {
    fn field(&self, path: &str) -> Option<Fact<'_>>;
}

/// A checked expression.
#[derive(Clone)]
pub struct Expression {
    text: Arc<str>,
    parsed: Arc<IdedExpr>,
}

impl Expression {
    /// Reads and checks an expression over the fields of this scope.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn read(text: &str, scope: Scope) -> Result<Self, ExpressionError> {
        let (parsed, source) = check::parse(text)?;
        check::check(&parsed, &source, scope)?;
        Ok(Self::new(text, parsed))
    }

    /// Reads an expression that must be true or false.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn condition(text: &str, scope: Scope) -> Result<Self, ExpressionError> {
        let read = Self::read(text, scope)?;
        // The type of some fields, such as arguments, is known only later.
        match check::sample(&read.parsed, scope) {
            Ok(value) if !matches!(value, Value::Bool(_)) => {
                let why = format!("expected true or false, found {}", error::of_type(&value));
                Err(ExpressionError::new(text, 0, why))
            }
            _ => Ok(read),
        }
    }

    /// Reads an expression and checks only its syntax, as a newer version may have written it.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub(crate) fn unchecked(text: &str) -> Result<Self, ExpressionError> {
        check::parse(text).map(|(parsed, _)| Self::new(text, parsed))
    }

    fn new(text: &str, parsed: IdedExpr) -> Self {
        Self { text: text.trim().into(), parsed: Arc::new(parsed) }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// The arguments of a call that it reads, as `query` in `args.query`.
    pub fn arguments(&self) -> Vec<&str> {
        check::arguments(&self.parsed)
    }

    /// Whether the expression may be true at a call whose text field, such as `tool`, has this value.
    pub fn can_hold(&self, field: &str, value: &str) -> bool {
        check::can_hold(&self.parsed, field, value)
    }
}

/// Evaluates expressions over the same fields.
pub struct Evaluator<'a>(Context<'a, 'a>);

impl<'a> Evaluator<'a> {
    pub fn new<F: FieldSource>(fields: &'a Resolver<'a, F>) -> Self {
        let mut context = Context::with_env(Arc::clone(&ENV));
        context.set_variable_resolver(fields);
        Self(context)
    }

    /// The value of an expression.
    ///
    /// # Errors
    /// A key that is not there, a division by zero, or an overflow.
    pub fn value(&self, expression: &Expression) -> Result<ExpressionValue, String> {
        let value = Value::resolve(&expression.parsed, &self.0);
        value.map(ExpressionValue).map_err(|error| error::said(&error))
    }

    /// Whether a condition holds. A condition without a value, such as one on a missing argument, does not hold.
    pub fn holds(&self, condition: &Expression) -> bool {
        matches!(Value::resolve(&condition.parsed, &self.0), Ok(Value::Bool(true)))
    }
}

/// The fields as the language looks them up: `score.search_web` by its whole name first.
pub struct Resolver<'a, F>(pub &'a F);

impl<F: FieldSource> VariableResolver for Resolver<'_, F> {
    fn resolve<'b>(&'b self, path: &str) -> Option<CowVal<'b, 'b>> {
        self.0.field(path).map(Fact::into_value)
    }
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.text, f)
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for Expression {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Expression {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::unchecked(&text).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests;
