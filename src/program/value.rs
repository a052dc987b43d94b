//! Values of programs as JSON, and back.

use monty_types::MontyObject;
use serde_json::{Map, Number, Value};

use crate::domain::words;

/// The most bytes of JSON of a value that is shown whole.
const SHOWN: usize = 4 << 10;

/// The most keys of a dict that an error shows.
const HAD: usize = 24;

/// The most characters of the text of an exception.
const RAISED: usize = 4 << 10;

/// The most characters of a key that an error shows.
const KEY: usize = 200;

/// The deepest nesting of a value.
const DEEPEST: usize = 100;

/// The result of a tool: JSON is parsed, everything else is text.
pub fn result(text: &str) -> MontyObject {
    match serde_json::from_str::<Value>(text) {
        Ok(value) => from_json(&value),
        Err(_) => MontyObject::String(text.to_owned()),
    }
}

pub fn from_json(value: &Value) -> MontyObject {
    match value {
        Value::Null => MontyObject::None,
        Value::Bool(is) => MontyObject::Bool(*is),
        Value::Number(number) => from_number(number),
        Value::String(text) => MontyObject::String(text.clone()),
        Value::Array(items) => MontyObject::List(items.iter().map(from_json).collect()),
        Value::Object(fields) => {
            let pairs = fields
                .iter()
                .map(|(key, value)| (MontyObject::String(key.clone()), from_json(value)));
            MontyObject::dict(pairs.collect::<Vec<_>>())
        }
    }
}

fn from_number(number: &Number) -> MontyObject {
    if let Some(whole) = number.as_i64() {
        MontyObject::Int(whole)
    } else if let Some(large) = number.as_u64() {
        MontyObject::BigInt(large.into())
    } else {
        MontyObject::Float(number.as_f64().unwrap_or(f64::NAN))
    }
}

/// An argument of a tool.
///
/// # Errors
/// The value is not JSON: the words after "argument x is".
pub fn argument(value: &MontyObject) -> Result<Value, String> {
    to_json(value, DEEPEST)
}

fn to_json(value: &MontyObject, depth: usize) -> Result<Value, String> {
    if depth == 0 {
        return Err(format!("nested deeper than {DEEPEST} levels"));
    }
    let list = |items: &[MontyObject]| {
        items.iter().map(|item| to_json(item, depth - 1)).collect::<Result<Vec<_>, _>>()
    };
    Ok(match value {
        MontyObject::None => Value::Null,
        MontyObject::Bool(is) => Value::Bool(*is),
        MontyObject::Int(whole) => Value::from(*whole),
        MontyObject::BigInt(_) => return Err("an integer of more than 64 bits".to_owned()),
        MontyObject::Float(float) => {
            let number = Number::from_f64(*float);
            number
                .map(Value::Number)
                .ok_or_else(|| format!("{}, which JSON does not have", value.py_repr()))?
        }
        MontyObject::String(text) => Value::String(text.clone()),
        MontyObject::List(items) | MontyObject::Tuple(items) => Value::Array(list(items)?),
        MontyObject::NamedTuple { values, .. } => Value::Array(list(values)?),
        MontyObject::Dict(pairs) => {
            let mut fields = Map::new();
            for (key, value) in pairs.iter() {
                let MontyObject::String(key) = key else {
                    return Err(format!("a dict with the key {}, which is no text", key.py_repr()));
                };
                fields.insert(key.clone(), to_json(value, depth - 1)?);
            }
            Value::Object(fields)
        }
        // Models expect this type for a date; a tool gets it as text.
        MontyObject::Date(date) => {
            Value::String(format!("{:04}-{:02}-{:02}", date.year, date.month, date.day))
        }
        MontyObject::Cycle(..) => return Err("a value that contains itself".to_owned()),
        other => return Err(format!("a {}, which JSON does not have", other.type_name())),
    })
}

/// A value as a person reads it: itself, or its shape if it is large or not JSON.
pub fn shown(value: &MontyObject) -> Value {
    match to_json(value, DEEPEST) {
        Ok(json) if value.deep_host_size() <= SHOWN || json.to_string().len() <= SHOWN => json,
        Ok(json) => Value::String(shape(&json)),
        Err(_) => {
            let mut text = value.py_repr();
            if text.len() > SHOWN {
                text.truncate((0..=SHOWN).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0));
                text.push('…');
            }
            Value::String(text)
        }
    }
}

/// The value, or its shape if its JSON is longer than a line or two.
pub fn short(value: Value) -> Value {
    const SHORT: usize = 200;
    match &value {
        Value::Array(_) | Value::Object(_) if value.to_string().len() > SHORT => {
            Value::String(shape(&value))
        }
        Value::String(text) if text.len() > SHORT => Value::String(words::clipped(text, SHORT)),
        _ => value,
    }
}

/// Whether a value is true in Python.
pub fn is_true(value: &MontyObject) -> bool {
    match value {
        MontyObject::None => false,
        MontyObject::Bool(is) => *is,
        MontyObject::Int(whole) => *whole != 0,
        MontyObject::Float(float) => *float != 0.0,
        MontyObject::String(text) => !text.is_empty(),
        MontyObject::Bytes(bytes) => !bytes.is_empty(),
        MontyObject::List(items) | MontyObject::Tuple(items) => !items.is_empty(),
        MontyObject::Dict(pairs) => pairs.iter().next().is_some(),
        MontyObject::Set(items) | MontyObject::FrozenSet(items) => !items.is_empty(),
        _ => true,
    }
}

/// The value of the last expression, or its shape if it is larger than `most`.
pub fn last(value: &MontyObject, most: usize) -> Value {
    match argument(value) {
        Ok(json) if value.deep_host_size() <= most => json,
        _ => shown(value),
    }
}

/// The text of an exception, cut to a limit since a program determines its length.
pub fn clipped(text: String) -> String {
    if text.len() <= RAISED { text } else { words::clipped(&text, RAISED) }
}

/// The keys of a dict that are texts, in their order.
pub fn keys(value: &MontyObject) -> Vec<&str> {
    let MontyObject::Dict(pairs) = value else { return Vec::new() };
    let texts = pairs.iter().filter_map(|(key, _)| match key {
        MontyObject::String(key) => Some(key.as_str()),
        _ => None,
    });
    texts.collect()
}

/// Describes a value with a missing part: `has: id, crew`, `is a list of 2 elements`; `None` for a value without parts,
/// which the exception itself reports.
pub fn had(value: &MontyObject) -> Option<String> {
    Some(match value {
        MontyObject::Dict(pairs) if pairs.iter().next().is_none() => "is an empty dict".to_owned(),
        MontyObject::Dict(pairs) => {
            let most = |(key, _): &(MontyObject, MontyObject)| match key {
                MontyObject::String(key) => words::clipped(key, KEY),
                other => words::clipped(&other.py_repr(), KEY),
            };
            let keys: Vec<String> = pairs.iter().take(HAD + 1).map(most).collect();
            let more = if keys.len() > HAD { ", …" } else { "" };
            format!("has: {}{more}", keys[..keys.len().min(HAD)].join(", "))
        }
        MontyObject::List(items) => sized("a list", items.len()),
        MontyObject::Tuple(items) => sized("a tuple", items.len()),
        MontyObject::String(text) => {
            let start: String = text.chars().take(40).collect();
            let more = if text.chars().nth(40).is_some() { "…" } else { "" };
            format!("is the text {:?}", start + more)
        }
        _ => return None,
    })
}

fn sized(what: &str, length: usize) -> String {
    match length {
        0 => format!("is {what} without elements"),
        1 => format!("is {what} of 1 element"),
        _ => format!("is {what} of {length} elements"),
    }
}

/// The first level of a value.
fn shape(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let first =
                items.first().map_or_else(String::new, |item| format!(" of {}", shape(item)));
            format!("list {}{first}", items.len())
        }
        Value::Object(fields) => {
            let keys: Vec<String> =
                fields.keys().take(12).map(|key| words::clipped(key, KEY)).collect();
            let more = if fields.len() > keys.len() { ", …" } else { "" };
            format!("{{{}{more}}}", keys.join(", "))
        }
        Value::String(text) => format!("str {}", text.chars().count()),
        Value::Null => "None".to_owned(),
        Value::Bool(_) => "bool".to_owned(),
        Value::Number(number) if number.is_f64() => "float".to_owned(),
        Value::Number(_) => "int".to_owned(),
    }
}
