//! Values that an expression reads, and the value that it has.

use std::borrow::Cow;
use std::collections::HashMap;

use cel::Value;
use cel::common::types::{CelBool, CelDouble, CelInt, CelString};
use cel::common::value::{CowVal, Val};
use serde_json::Value as Json;

use super::error;

/// The value of a field.
#[derive(Debug)]
pub enum Fact<'a> {
    Text(Cow<'a, str>),
    Count(i64),
    Amount(f64),
    Flag(bool),
    Json(&'a Json),
    /// All values of a field with keys. Computed only if an expression reads one by an index, or all.
    Amounts(HashMap<String, f64>),
    Counts(HashMap<String, i64>),
    Texts(HashMap<String, String>),
}

impl<'a> Fact<'a> {
    pub fn text(text: &'a str) -> Self {
        Fact::Text(Cow::Borrowed(text))
    }

    pub fn count(count: impl TryInto<i64>) -> Self {
        Fact::Count(count.try_into().unwrap_or(i64::MAX))
    }

    pub(super) fn into_value(self) -> CowVal<'a, 'a> {
        match self {
            Fact::Text(text) => CowVal::owned(CelString::from(text)),
            Fact::Count(count) => CowVal::owned(CelInt::from(count)),
            Fact::Amount(amount) => CowVal::owned(CelDouble::from(amount)),
            Fact::Flag(is) => CowVal::owned(CelBool::from(is)),
            Fact::Json(json) => boxed(of_json(json)),
            Fact::Amounts(map) => boxed(map.into()),
            Fact::Counts(map) => boxed(map.into()),
            Fact::Texts(map) => boxed(map.into()),
        }
    }
}

fn boxed<'a>(value: Value) -> CowVal<'a, 'a> {
    let value: Result<Box<dyn Val>, _> = value.try_into();
    // The conversion does not fail for the values that are made here.
    value.map_or_else(|_| CowVal::owned(CelBool::from(false)), CowVal::from)
}

/// Whole numbers stay whole, as they are written.
fn of_json(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(is) => Value::Bool(*is),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Value::Int(whole),
            (None, number) => Value::Float(number.unwrap_or(f64::NAN)),
        },
        Json::String(text) => text.as_str().into(),
        Json::Array(items) => items.iter().map(of_json).collect::<Vec<_>>().into(),
        Json::Object(fields) => {
            let pairs = fields.iter().map(|(key, value)| (key.clone(), of_json(value)));
            pairs.collect::<HashMap<_, _>>().into()
        }
    }
}

/// Value of an expression.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpressionValue(pub(super) Value);

impl ExpressionValue {
    /// The value as a number, for a curve or a crossed value; `None` for text, lists and maps.
    pub fn number(&self) -> Option<f64> {
        match &self.0 {
            Value::Float(number) => Some(*number).filter(|number| number.is_finite()),
            Value::Int(number) => Some(*number as f64),
            Value::UInt(number) => Some(*number as f64),
            _ => None,
        }
    }

    /// The value as a boolean, if it is one.
    pub fn flag(&self) -> Option<bool> {
        if let Value::Bool(is) = self.0 { Some(is) } else { None }
    }

    /// The value as a person reads it: numbers without needless digits, text without quotes.
    pub fn shown(&self) -> String {
        shown(&self.0)
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Float(number) => {
            let rounded = (number * 1e4).round() / 1e4;
            // Not `-0`.
            if rounded == 0.0 { "0".to_owned() } else { rounded.to_string() }
        }
        Value::Int(number) => number.to_string(),
        Value::UInt(number) => number.to_string(),
        Value::Bool(is) => is.to_string(),
        Value::String(text) => text.to_string(),
        Value::Null => "null".to_owned(),
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(shown).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Map(map) => {
            let pairs = map.map.iter().map(|(key, value)| format!("{key}: {}", shown(value)));
            let mut pairs: Vec<String> = pairs.collect();
            pairs.sort();
            format!("{{{}}}", pairs.join(", "))
        }
        other => error::of_type(other).to_owned(),
    }
}
