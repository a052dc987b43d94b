//! The path of a place in a JSON text. A parser says at which byte it failed; a person wants the field.

use std::mem;

use serde_json::Value;

/// Returns the path of the value that serde_json could not read in this text, such as `a.b[2]`; empty for the whole text.
pub fn path_of(text: &str, error: &serde_json::Error) -> String {
    path(&open_at(text, byte_of(text, error)))
}

/// As [`path_of`], also where a type refuses what serde_json has read: such an error has its place behind the next comma, or
/// behind the list or object with the value. The value is found by `read`, which reads a text as the error's type.
pub fn path_of_value(
    text: &str,
    error: &serde_json::Error,
    read: impl Fn(&str) -> Result<(), serde_json::Error>,
) -> String {
    let byte = byte_of(text, error);
    let mut open = open_at(text, byte);
    let before = text.get(..byte).unwrap_or(text).trim_end();
    if before.ends_with(',') {
        // This is the place of the next child.
        open.pop();
    }
    let said = bare(error);
    // These are about the list or object itself.
    let of_whole = ["missing field", "invalid length"].iter().any(|begin| said.starts_with(begin));
    if !of_whole && text.len() < LARGE && before.ends_with([',', ']', '}']) {
        let has_fault = |text: &str| read(text).is_err_and(|error| bare(&error) == said);
        open.extend(refused(text, &open, has_fault));
    }
    path(&open)
}

/// The bytes of a text that is not read again and again: of a larger one, the list or object is named.
const LARGE: usize = 1 << 20;

/// The last child of the list or object at this place that the fault needs: without it and all after it, there is no such
/// fault.
fn refused(text: &str, place: &[Open], has_fault: impl Fn(&str) -> bool) -> Option<Open> {
    let mut whole: Value = serde_json::from_str(text).ok()?;
    let all = inside(&mut whole, place)?.take();
    let has = |most: usize| {
        let mut cut = whole.clone();
        if let Some(parent) = inside(&mut cut, place) {
            *parent = first(&all, most);
        }
        has_fault(&cut.to_string())
    };
    let keys: Vec<Open> = match &all {
        Value::Object(fields) => fields.keys().map(|key| Open::Object(Some(key.clone()))).collect(),
        Value::Array(values) => (0..values.len()).map(Open::List).collect(),
        _ => return None,
    };
    let numbers: Vec<usize> = (0..=keys.len()).collect();
    let least = numbers.partition_point(|most| !has(*most));
    keys.into_iter().nth(least.checked_sub(1)?)
}

/// The value at this place, behind which the rest is left out.
fn inside<'v>(whole: &'v mut Value, place: &[Open]) -> Option<&'v mut Value> {
    place.iter().try_fold(whole, |value, step| match (step, value) {
        (Open::Object(key), Value::Object(fields)) => {
            let key = key.as_deref()?;
            let at = fields.keys().position(|other| other == key)?;
            *fields = mem::take(fields).into_iter().take(at + 1).collect();
            fields.get_mut(key)
        }
        (Open::List(index), Value::Array(values)) => {
            values.truncate(index + 1);
            values.get_mut(*index)
        }
        _ => None,
    })
}

/// A list or object with at most this many of its first values.
fn first(all: &Value, most: usize) -> Value {
    match all {
        Value::Array(values) => values.iter().take(most).cloned().collect(),
        Value::Object(fields) => {
            let fields = fields.iter().take(most);
            Value::Object(fields.map(|(key, value)| (key.clone(), value.clone())).collect())
        }
        other => other.clone(),
    }
}

/// serde_json's message without its place.
pub fn bare(error: &serde_json::Error) -> String {
    let said = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    said.strip_suffix(&place).unwrap_or(&said).to_owned()
}

fn byte_of(text: &str, error: &serde_json::Error) -> usize {
    let before = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len);
    before.sum::<usize>() + error.column()
}

/// The lists and objects around the value that begins or ends at this byte.
fn open_at(text: &str, byte: usize) -> Vec<Open> {
    let mut open: Vec<Open> = Vec::new();
    let mut rest = text.get(..byte).unwrap_or(text).char_indices();
    while let Some((at, c)) = rest.next() {
        match c {
            '{' => open.push(Open::Object(None)),
            '[' => open.push(Open::List(0)),
            '}' | ']' => _ = open.pop(),
            ',' => match open.last_mut() {
                Some(Open::Object(key)) => *key = None,
                Some(Open::List(index)) => *index += 1,
                None => {}
            },
            '"' => {
                let end = end_of_text(text, at);
                while rest.offset() < end && rest.next().is_some() {}
                if let Some(Open::Object(key @ None)) = open.last_mut() {
                    *key = text.get(at..end).and_then(|raw| serde_json::from_str(raw).ok());
                }
            }
            _ => {}
        }
    }
    open
}

fn path(open: &[Open]) -> String {
    open.iter().fold(String::new(), |path, open| match open {
        Open::Object(None) => path,
        Open::Object(Some(key)) if path.is_empty() => key.clone(),
        Open::Object(Some(key)) => format!("{path}.{key}"),
        Open::List(index) => format!("{path}[{index}]"),
    })
}

/// A list or an object that has begun.
enum Open {
    /// The key of its present value.
    Object(Option<String>),
    /// The number of its present item.
    List(usize),
}

/// The byte behind the text that begins here with a quote.
fn end_of_text(text: &str, start: usize) -> usize {
    let mut is_escaped = false;
    let end = text[start + 1..].bytes().position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    });
    end.map_or(text.len(), |end| start + 1 + end + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Outer {
        #[expect(dead_code, reason = "it is only read")]
        inner: Vec<Inner>,
    }

    #[derive(Debug, Deserialize)]
    struct Inner {
        #[expect(dead_code, reason = "it is only read")]
        small: u8,
    }

    fn place(text: &str) -> String {
        let error = serde_json::from_str::<Outer>(text).unwrap_err();
        path_of(text, &error)
    }

    #[test]
    fn errors_of_types_have_their_field() {
        for (text, path) in [
            ("{\"inner\": [{\"small\": 1}, {\"small\": \"x\"}]}", "inner[1].small"),
            ("{\"inner\":\n [{\"small\": 300}\n]}", "inner[0].small"),
            ("{\"inner\": [{\"a\\\"}b\": [1, {}], \"small\": []}]}", "inner[0].small"),
            ("{\"inner\": [{}]}", "inner[0]"),
            ("{\"inner\": [[]]}", "inner[0]"),
            ("{\"inner\": {\"a\": 1}}", "inner"),
            ("{\"inner\": [], \"outer\": 1}", "outer"),
            ("{}", ""),
            ("[]", ""),
        ] {
            assert_eq!(place(text), path, "{text}");
        }
    }

    #[test]
    fn what_a_type_refuses_has_its_own_field() {
        #[derive(Debug, Deserialize)]
        #[serde(try_from = "u8")]
        struct Even;
        impl TryFrom<u8> for Even {
            type Error = String;
            fn try_from(number: u8) -> Result<Self, String> {
                if number.is_multiple_of(2) { Ok(Self) } else { Err(format!("{number} is odd")) }
            }
        }
        #[derive(Debug, Deserialize)]
        struct Evens {
            #[expect(dead_code, reason = "it is only read")]
            all: Vec<Even>,
            #[expect(dead_code, reason = "it is only read")]
            last: Even,
        }
        for (text, path) in [
            (r#"{"all": [2, 3, 3, 4], "last": 2}"#, "all[1]"),
            (r#"{"all": [2, 4, 5], "last": 5}"#, "all[2]"),
            (r#"{"all": [2, 4], "more": [3], "last": 5}"#, "last"),
            (r#"{"all": [2]}"#, ""),
            (r#"{"all": [[]], "last": 2}"#, "all[0]"),
        ] {
            let read = |text: &str| serde_json::from_str::<Evens>(text).map(drop);
            assert_eq!(path_of_value(text, &read(text).unwrap_err(), read), path, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_has_a_place(text in "[\\[\\]{}\":,\\\\a1ü ]{0,40}", byte in 0usize..60) {
            path(&open_at(&text, byte));
        }
    }
}
